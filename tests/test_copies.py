"""Copies and pickles of games and environments play on like the original and leave it alone."""

import copy
import pickle
from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from deals import fixed_choice

from ddz_env import Game, env, parallel_env, raw_env, vec_env

WAYS = [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
ROOMS = ["play_only", "happy", "happy_laizi"]
ways = pytest.mark.parametrize("way", WAYS, ids=["deepcopy", "pickle"])
rooms = pytest.mark.parametrize("room", ROOMS)


def aec_steps(environment, n):
    """Step; what each decision saw."""
    seen = []
    for ply in range(n):
        observation, _, over, _, info = environment.last()
        if over:
            break
        seen.append((observation["observation"].tobytes(), info["legal_actions"].tolist()))
        environment.step(fixed_choice(info["legal_actions"], ply))
    return seen


@ways
@rooms
@pytest.mark.parametrize("make", [env, raw_env])
def test_aec(way, room, make):
    environment = make(room)
    environment.reset(seed=3)
    aec_steps(environment, 12)
    before = environment.unwrapped.game.to_bytes()
    other = way(environment)
    ahead = aec_steps(other, 20)
    assert environment.unwrapped.game.to_bytes() == before
    assert aec_steps(environment, 20) == ahead and len(ahead) > 10
    again = way(environment)
    for one in (environment, again):
        one.reset()  # the next deal, of which the copy knows the key
    assert environment.unwrapped.game.to_bytes() == again.unwrapped.game.to_bytes()


@ways
@rooms
def test_parallel(way, room):
    def steps(environment, infos, n):
        seen = []
        for ply in range(n):
            ids = {a: infos[a]["legal_actions"] for a in environment.agents}
            if not ids:
                break
            chosen = {a: fixed_choice(i, ply) for a, i in ids.items()}
            observations, _, _, _, infos = environment.step(chosen)
            seen += [observations[a]["observation"].tobytes() for a in sorted(observations)]
        return seen, infos

    environment = parallel_env(room)
    _, infos = environment.reset(seed=3)
    _, infos = steps(environment, infos, 9)
    other = way(environment)
    assert steps(other, infos, 20)[0] == steps(environment, infos, 20)[0]


@ways
@rooms
def test_batches(way, room):
    batch = vec_env(3, room, seed=1)
    for _ in range(9):
        batch.step(batch.sample())
    other = way(batch)
    before = batch.states.tobytes()
    for _ in range(30):
        other.step(other.sample())
    assert batch.states.tobytes() == before
    for _ in range(30):
        batch.step(batch.sample())
    assert batch.states.tobytes() == other.states.tobytes()


@ways
@rooms
def test_one_seat(way, room):
    def steps(environment, n):
        seen = []
        for ply in range(n):
            ids = np.flatnonzero(environment.unwrapped.action_masks())
            observation, reward, over, _, _ = environment.step(fixed_choice(ids, ply))
            seen.append((observation["observation"].tobytes(), reward, over))
            if over:
                break
        return seen

    environment = gymnasium.make("ddz_env/DouDizhu-v0", rules=room)
    environment.reset(seed=4)
    steps(environment, 2)
    other = way(environment)
    assert steps(other, 6) == steps(environment, 6)


@ways
def test_one_seat_vectors(way):
    envs = gymnasium.make_vec(
        "ddz_env/DouDizhu-v0", 4, vectorization_mode="vector_entry_point", rules="happy_laizi"
    )
    envs.reset(seed=4)

    def steps(environments):
        seen = []
        for ply in range(12):
            offsets, ids = environments.unwrapped.legal()
            rows = [ids[a:b] for a, b in pairwise(offsets)]
            actions = np.array([fixed_choice(row, ply) if len(row) else 0 for row in rows])
            observations, rewards, *_ = environments.step(actions)
            seen.append((observations["observation"].tobytes(), rewards.tolist()))
        return seen

    other = way(envs)
    assert steps(other) == steps(envs)


@rooms
def test_games(room):
    game = Game(room, seed=2)
    for way in (*WAYS, copy.copy, Game.clone):
        other = way(game)
        before = game.to_bytes()
        assert other.to_bytes() == before
        other.step(int(other.legal_ids()[0]))
        assert game.to_bytes() == before != other.to_bytes()
