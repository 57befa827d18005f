"""Turns of the PettingZoo faces: twice in a row, resets in any phase, the same 200 steps."""

import numpy as np
import pytest
from deals import fixed_choice

from ddz_env import PRESETS, Game, env, parallel_env, vec_env

AGENTS = ["player_0", "player_1", "player_2"]
rooms = pytest.mark.parametrize("room", PRESETS)
TWICE = {
    "qq_classic": {("call_points", "play")},
    "jj_classic": {("call_points", "play")},
    "happy": {("call", "show_after_bottom")},
    "happy_blind": {("blind", "call"), ("blind", "show_after_bottom")},
    "happy_laizi": {("play", "fill"), ("fill", "fill")},
    "crazy_laizi": {("play", "fill"), ("fill", "fill"), ("show_after_bottom", "play")},
    "laidou": {("call_points", "play"), ("play", "fill")},
}
"""Phases in which one seat is asked twice in a row, some of each room's."""


@pytest.mark.parametrize("room", TWICE)
def test_a_seat_is_asked_twice_in_a_row(room):
    """It sees the position anew, gets no reward between, and what it chose counts."""
    seen, environment = set(), env(room)
    for seed in range(300):
        environment.reset(seed=seed)
        game, former, ply = environment.unwrapped.game, None, 0
        for agent in environment.agent_iter():
            observation, reward, over, _, info = environment.last()
            if over:
                environment.step(None)
                continue
            assert reward == 0 and len(info["legal_actions"]) > 0
            if former is not None and former[0] == agent:
                seen.add((former[1], game.phase))
                assert not np.array_equal(former[2], observation["observation"])
            former = (agent, game.phase, observation["observation"])
            environment.step(fixed_choice(info["legal_actions"], seed + ply))
            ply += 1
        if seen >= TWICE[room]:
            return
    raise AssertionError(f"never seen: {TWICE[room] - seen}")


class Face:
    """Either PettingZoo face: what all agents are given now, and a step of fixed choices."""

    def __init__(self, make, room):
        self.environment, self.given = make(room), None

    def reset(self, seed):
        self.given = self.environment.reset(seed=seed)

    def see(self):
        if self.given is None:  # AEC
            aec = self.environment
            given = {a: aec.observe(a) for a in AGENTS}, {a: aec.infos[a] for a in AGENTS}
        else:
            given = self.given
        observations, infos = given
        return [
            (observations[a]["observation"], observations[a]["action_mask"],
             infos[a]["legal_actions"])
            for a in AGENTS
        ]  # fmt: skip

    def move(self, ply):
        if self.given is None:
            agent = AGENTS.index(self.environment.agent_selection)
            self.environment.step(fixed_choice(self.see()[agent][2], ply))
            return
        choices = [fixed_choice(legal, ply) for _, _, legal in self.see()]
        result = self.environment.step(dict(zip(AGENTS, choices, strict=True)))
        self.given = result[0], result[4]


@rooms
@pytest.mark.parametrize("make", [env, parallel_env])
def test_reset_in_any_phase(room, make):
    """What came before leaves nothing behind: the deal of a seed is that of a new environment."""
    used, phases = Face(make, room), set()
    for seed in range(60):
        fresh = Face(make, room)
        for face in (used, fresh):
            face.reset(seed)
        for one, two in zip(used.see(), fresh.see(), strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
        game = used.environment.unwrapped.game
        assert game.to_bytes() == Game(room, seed=seed).to_bytes()
        for ply in range(seed):  # leave it somewhere
            if game.over:
                break
            used.move(seed + ply)
        phases.add(game.phase)
    assert len(phases) > 1


@rooms
def test_200_steps_alone_and_as_row_7_of_64(room):
    """The same through the AEC environment, a batch of one, and row 7 of a batch of 64."""
    alone, many = vec_env(1, room, seed=[77]), vec_env(64, room, seed=[*range(70, 134)])
    aec = env(room)
    aec.reset(seed=77)
    for ply in range(200):
        assert alone.states[0].tobytes() == many.states[7].tobytes()
        if aec.agents and not all(aec.terminations.values()):
            agent = aec.agent_selection
            rows = alone.features()[0], many.features()[7], aec.observe(agent)["observation"]
            assert rows[0].tobytes() == rows[1].tobytes() == rows[2].tobytes()
        listed = alone.legal()
        choice = fixed_choice(listed.ids, ply)
        assert listed.ids.tolist() == row_of(many, 7)
        others = many.sample()
        others[7] = choice
        done = many.step(others)[7]
        assert alone.step(np.array([choice]))[0] == done
        if aec.agents and not all(aec.terminations.values()):
            aec.step(choice)
        if done:
            assert aec.unwrapped.game.over
            aec.reset()


def row_of(batch, row):
    """The legal ids of one row."""
    listed = batch.legal()
    return listed.ids[listed.offsets[row] : listed.offsets[row + 1]].tolist()
