"""What the PettingZoo faces take beside a room: forms of observations, illegal ids, critics."""

import random

import numpy as np
import pytest
from deals import fixed_choice
from pettingzoo.test import api_test, parallel_api_test

from ddz_env import (
    PRESETS,
    DdzError,
    Game,
    IllegalActionError,
    action_id,
    env,
    n_actions,
    parallel_env,
    schema,
)

AGENTS = ["player_0", "player_1", "player_2"]
WAIT = action_id("wait")
rooms = pytest.mark.parametrize("room", PRESETS)


def advance(environment, plies):
    """Make some choices through an AEC environment."""
    for ply in range(plies):
        ids = environment.infos[environment.agent_selection]["legal_actions"]
        environment.step(fixed_choice(ids, ply))


@rooms
def test_fields_by_name(room):
    """The dictionary form holds the numbers of the dense one, in the shapes of the schema."""
    dense, named = env(room), env(room, obs="dict")
    for environment in (dense, named):
        environment.reset(seed=8)
    for ply in range(40):
        for agent in AGENTS:
            row, parts = (e.observe(agent)["observation"] for e in (dense, named))
            assert [f.name for f in schema().fields] == list(parts)
            assert all(parts[f.name].shape == f.shape for f in schema().fields)
            assert np.array_equal(np.concatenate([p.ravel() for p in parts.values()]), row)
            assert named.observation_space(agent).contains(named.observe(agent))
        ids = dense.infos[dense.agent_selection]["legal_actions"]
        if len(ids) == 0:
            break
        for environment in (dense, named):
            environment.step(fixed_choice(ids, ply))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo_takes_fields_by_name():
    api_test(env("happy", obs="dict"), num_cycles=200)
    parallel_api_test(parallel_env("happy", obs="dict"), num_cycles=200)


@rooms
@pytest.mark.parametrize("reward", ["score", "win"])
def test_illegal_ids_end_the_deal_for_the_movers_side(room, reward):
    rng, seen = random.Random(1), set()
    for plies in (0, 1, 2, 4, 7, 12, 20, 31, 45):
        environment = env(room, illegal="terminate", reward=reward)
        environment.reset(seed=plies)
        advance_to(environment, plies)
        game = environment.unwrapped.game
        if game.over:
            continue
        mover, before = environment.agent_selection, game.to_bytes()
        legal = set(environment.infos[mover]["legal_actions"].tolist())
        action = rng.choice([a for a in (-1, WAIT, *range(64, 90), 10**9) if a not in legal])
        environment.step(action)
        assert game.to_bytes() == before and all(environment.terminations.values())
        rewards, order = {}, []
        for agent in environment.agent_iter():
            observation, got, over, _, info = environment.last()
            assert over and observation["action_mask"].sum() == 0
            assert ("illegal_action" in info) == (agent == mover)
            rewards[agent] = got
            order.append(agent)
            environment.step(None)
        assert order == AGENTS
        assert reward == "win" or sum(rewards.values()) == 0
        check_sides(game, AGENTS.index(mover), [rewards[a] for a in AGENTS], reward)
        seen.add(game.phase)
    assert "play" in seen


def advance_to(environment, plies):
    """As `advance`, but not beyond the end."""
    for ply in range(plies):
        ids = environment.infos[environment.agent_selection]["legal_actions"]
        if len(ids) == 0:
            return
        environment.step(fixed_choice(ids, ply))


def check_sides(game, mover, rewards, reward):
    """The mover's side has lost what is at stake, the other side has won it."""
    lord = mover if game.landlord is None else game.landlord
    lost = [lord] if mover == lord else [s for s in range(3) if s != lord]
    assert all(rewards[seat] < 0 for seat in lost)
    assert all(rewards[seat] > 0 for seat in range(3) if seat not in lost)
    if reward == "win":
        assert {abs(value) for value in rewards} == {1.0}
        return
    doubles = game.state["doubles"]
    stakes = [max(game.base, 1) * game.multiplier * 2 ** int(doubles[s] + doubles[lord])
              for s in range(3) if s != lord]  # fmt: skip
    quarter = 0.25 if game.rules.name == "happy_laizi" else 1
    assert abs(rewards[lord]) == quarter * sum(stakes)


def test_an_illegal_id_among_three():
    """In the parallel environment nobody's choice is made when one is illegal."""
    parallel = parallel_env("happy", illegal="terminate")
    parallel.reset(seed=1)
    before = parallel.game.to_bytes()
    observations, rewards, over, _, infos = parallel.step(
        {"player_0": 0, "player_1": 99, "player_2": 98}
    )
    assert parallel.game.to_bytes() == before and all(over.values()) and parallel.agents == []
    assert rewards == {"player_0": 1.0, "player_1": -2.0, "player_2": 1.0}
    assert infos["player_1"]["illegal_action"] == 99 and "illegal_action" not in infos["player_2"]
    assert all(seen["action_mask"].sum() == 0 for seen in observations.values())
    with pytest.raises(IllegalActionError, match="reset"):
        parallel.step(dict.fromkeys(AGENTS, 0))
    parallel.reset(seed=2)
    assert parallel.agents == AGENTS
    waiting = {"player_0": 0, "player_1": 0, "player_2": 0}
    for _ in range(3):
        parallel.step(waiting)
    asked = parallel.game.seat
    out_of_turn = {a: WAIT if i != asked else 0 for i, a in enumerate(AGENTS)}
    out_of_turn[AGENTS[(asked + 1) % 3]] = 0
    assert all(parallel.step(out_of_turn)[2].values())


def test_what_is_no_id_is_never_an_illegal_action():
    environment, parallel = env(illegal="terminate"), parallel_env(illegal="terminate")
    environment.reset(seed=1)
    parallel.reset(seed=1)
    for action in (None, 1.0, "3", [64]):
        with pytest.raises(DdzError, match="action"):
            environment.step(action)
        with pytest.raises(DdzError, match="player_0"):
            parallel.step({**dict.fromkeys(AGENTS, WAIT), "player_0": action})
    assert not any(environment.terminations.values())


@rooms
def test_critics_see_all_hands(room):
    """The state is what the seat on turn observes, then all hands; the same in both faces."""
    aec, parallel = env(room), parallel_env(room)
    size = schema().size
    with pytest.raises(Exception, match="reset"):
        parallel.state()
    aec.reset(seed=3)
    parallel.reset(seed=3)
    for ply in range(30):
        game, state = aec.unwrapped.game, aec.state()
        assert np.array_equal(state, parallel.state())
        assert aec.state_space.contains(state) and parallel.state_space.contains(state)
        assert np.array_equal(state[:size], aec.observe(aec.agent_selection)["observation"])
        for k in range(3):
            hand = state[size + 58 * k : size + 58 * (k + 1)]
            assert hand.sum() == len(game.hands[(game.seat + k) % 3])
        assert state[size + 174 : size + 232].sum() == 3
        seats = game.asked
        infos = aec.infos[aec.agent_selection]["legal_actions"]
        if len(infos) == 0:
            break
        actions = dict.fromkeys(AGENTS, WAIT)
        for seat in seats:
            choice = fixed_choice(aec.infos[AGENTS[seat]]["legal_actions"], ply)
            actions[AGENTS[seat]] = choice
            aec.step(choice)
        parallel.step(actions)


def test_critics_see_hidden_choices_and_hands():
    """Two games that differ in what the seat on turn can't know have different states."""
    one, other = env("happy"), env("happy")
    for environment, choice in ((one, 0), (other, 1)):
        environment.reset(seed=5)
        assert environment.unwrapped.game.phase == "show_before_deal"
        choices = environment.infos["player_0"]["legal_actions"]
        environment.step(int(choices[choice]))
    seen = [e.observe("player_1")["observation"] for e in (one, other)]
    assert np.array_equal(*seen) and not np.array_equal(one.state(), other.state())


BAD = {
    "rules": ["mahjong", 3, None],
    "render_mode": ["opengl", 3, ""],
    "reward": ["money", None, 1, ["score"]],
    "obs": ["flat", None, 0],
    "illegal": ["ignore", None, False],
    "deal": ["fair", None, 5],
}


@pytest.mark.parametrize("make", [env, parallel_env])
@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_bad_arguments_of_constructors(make, name, value):
    with pytest.raises(DdzError) as error:
        make(**{name: value})
    text = str(error.value)
    assert "\n" not in text and (name in text or (name == "rules" and "room" in text)), text


@pytest.mark.parametrize("make", [env, parallel_env])
def test_unknown_arguments_of_constructors(make):
    with pytest.raises(TypeError, match="colour"):
        make(colour="red")


@pytest.mark.parametrize("make", [env, parallel_env])
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"seed": "1"}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"seed": True}, "seed"),
        ({"options": "deal"}, "options"),
        ({"options": {"first": "0"}}, "first"),
        ({"options": {"first": 3}}, "first"),
        ({"options": {"deal": 7}}, "deal"),
        ({"options": {"deal": {"hands": []}}}, "deal"),
        ({"options": {"game": 7}}, "game"),
        ({"options": {"colour": 7}}, "colour"),
    ],
)
def test_bad_arguments_of_reset(make, arguments, word):
    environment = make("qq_classic")
    environment.reset(seed=1)
    before = environment.unwrapped.game.to_bytes()
    with pytest.raises(DdzError, match=word) as error:
        environment.reset(**arguments)
    assert "\n" not in str(error.value)
    assert environment.unwrapped.game.to_bytes() == before
    environment.reset(seed=1)
    assert environment.unwrapped.game.to_bytes() == Game("qq_classic", seed=1).to_bytes()


def test_masks_are_small_integers():
    for room in PRESETS:
        environment = env(room)
        environment.reset(seed=1)
        mask = environment.last()[0]["action_mask"]
        assert mask.dtype == np.int8 and len(mask) == n_actions(room)
