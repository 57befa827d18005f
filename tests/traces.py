"""The courses of some deals as digests; run as a program it prints them, for other processes."""

import hashlib
import sys

import numpy as np
from deals import fixed_choice

from ddz_env import PRESETS, Game, env, vec_env

WIDE = PRESETS["play_only"].replace(
    kicker_four_solos=True, kicker_both_jokers=True, trio_with_pair=False
)
ROOMS = {**PRESETS, "wide": WIDE}


def deal_trace(name: str) -> str:
    """One whole deal: choices, records, views of all seats, scores."""
    game, ply, digest = Game(ROOMS[name], seed=5), 0, hashlib.sha256()
    while not game.over:
        ids = game.legal_ids()
        digest.update(ids.tobytes() + game.state.tobytes())
        digest.update(b"".join(game.view(seat).tobytes() for seat in range(3)))
        game.step(fixed_choice(ids, ply))
        ply += 1
    digest.update(game.to_bytes() + str(game).encode())
    return f"{name} deal {ply} {digest.hexdigest()[:16]}"


def env_trace(name: str) -> str:
    """One whole deal of the AEC environment: observations, infos, rewards."""
    environment, ply, digest = env(ROOMS[name]), 0, hashlib.sha256()
    environment.reset(seed=9)
    for _ in environment.agent_iter():
        observation, reward, over, _, info = environment.last()
        digest.update(observation["observation"].tobytes() + observation["action_mask"].tobytes())
        digest.update(np.float64(reward).tobytes())
        environment.step(None if over else fixed_choice(info["legal_actions"], ply))
        ply += 1
    return f"{name} env {ply} {digest.hexdigest()[:16]}"


def batch_trace(name: str) -> str:
    """Some steps of a batch: sampled choices, features, records."""
    batch, digest = vec_env(3, ROOMS[name], seed=4), hashlib.sha256()
    for _ in range(90 if batch.params.wild == 0 else 30):
        actions = batch.sample()
        digest.update(actions.tobytes() + batch.features().tobytes())
        digest.update(batch.views().tobytes() + batch.step(actions).tobytes())
        digest.update(batch.states.tobytes())
    return f"{name} batch {digest.hexdigest()[:16]}"


def all_traces() -> list[str]:
    """Every digest."""
    return [trace(name) for trace in (deal_trace, env_trace, batch_trace) for name in ROOMS]


if __name__ == "__main__":
    sys.stdout.write("\n".join(all_traces()))
