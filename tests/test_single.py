"""The Gymnasium environment of one seat: checks, seats, opponents, rewards, resets, refusals."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from one_seat import first_of, play, straight_out, trace

from ddz_env import (
    PRESETS,
    DdzError,
    DouDizhuEnv,
    Game,
    IllegalActionError,
    PlayError,
    VecEnv,
    n_actions,
    raw_env,
    schema,
)
from ddz_env.bots import GreedyBot
from ddz_env.engine import next_seed
from ddz_env.registration import ENV_ID

ROOMS = list(PRESETS)
SEATS = [0, 1, 2, "random", "landlord", "farmer"]
CALLING = "qq_classic"
rooms = pytest.mark.parametrize("room", ROOMS)


@pytest.mark.filterwarnings("error")
@rooms
def test_gymnasium_check(room):
    """Gymnasium's checks choose without looking at masks, so an illegal id has to end the deal."""
    for seat in SEATS:
        kwargs = {"rules": room, "seat": seat, "illegal": "terminate"}
        check_env(gymnasium.make(ENV_ID, **kwargs).unwrapped, skip_render_check=True)
    check_env(DouDizhuEnvOfLegalChoices(room), skip_render_check=True)


class MaskedDiscrete(gymnasium.spaces.Discrete):
    """Samples what is legal at the reset with the checks' seed."""

    legal = ()

    def sample(self, mask=None, probability=None):
        return int(self.legal[0])


class DouDizhuEnvOfLegalChoices(DouDizhuEnv):
    """With the room's default of raising: the checks' samples are taken from what is legal."""

    def __init__(self, room):
        super().__init__(room)
        self.action_space = MaskedDiscrete(n_actions(room))

    def reset(self, **kwargs):
        observation, info = super().reset(**kwargs)
        self.action_space.legal = info["legal_actions"]
        return observation, info

    def step(self, action):
        # One check steps on past the reset whose ids the space has.
        legal = np.flatnonzero(self.action_masks())
        return super().step(action if action in legal else legal[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_render(mode):
    pytest.importorskip("PIL")
    env = gymnasium.make(ENV_ID, rules=CALLING, seat="landlord", render_mode=mode)
    env.reset(seed=1)
    frame = env.render()
    if mode == "ansi":
        assert isinstance(frame, str) and "landlord" in frame
    else:
        assert frame.dtype == np.uint8 and frame.shape[2] == 3
    listed = gymnasium.make(ENV_ID, rules=CALLING, seat="landlord", render_mode=f"{mode}_list")
    _, info = listed.reset(seed=1)
    listed.step(info["legal_actions"][0])
    frames = listed.render()
    assert len(frames) == 2 and np.array_equal(frames[0], frame)
    assert not np.array_equal(frames[1], frame)
    env.close()
    env.close()


def test_render_without_a_mode_says_so():
    env = DouDizhuEnv()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@rooms
@pytest.mark.parametrize("seat", SEATS)
def test_the_same_state_gives_the_same_bytes_everywhere(room, seat):
    """Observation, mask and ids are those of the AEC environment and of the batch."""
    single, aec, batch = DouDizhuEnv(room, seat, first_of), raw_env(room), VecEnv(1, room)
    for seed in range(3):
        seen, (last, reward, info) = play(single, seed)
        me, lone = info["seat"], isinstance(seat, int)
        assert not lone or me == seat
        given = {"first": int(single.game.state["first"])}
        aec.reset(seed=int(single.game.state["seed"]), options=given)
        decided = 0
        while aec.terminations["player_0"] is False:
            game = aec.game
            mine = game.seat == me and (lone or seat == "random" or game.landlord is not None)
            if mine:
                observation, info, action = seen[decided]
                theirs = aec.observe(f"player_{me}")
                for name in ("observation", "action_mask"):
                    assert observation[name].tobytes() == theirs[name].tobytes()
                assert info["legal_actions"] == game.legal_ids().tolist()
                batch.states[0] = game.state
                assert batch.features()[0].tobytes() == observation["observation"].tobytes()
                decided += 1
            else:
                action = first_of(game.view(), game.legal_ids())
            aec.step(action)
        assert decided == len(seen) > 0
        assert reward == aec.rewards[f"player_{me}"] != 0
        assert last["observation"].tobytes() == aec.observe(f"player_{me}")["observation"].tobytes()
        assert not last["action_mask"].any() and not single.game.legal_ids().size


def test_forms_of_observations():
    dense, split = DouDizhuEnv(CALLING, "random"), DouDizhuEnv(CALLING, "random", obs="dict")
    one, other = play(dense, 5)[0], play(split, 5)[0]
    assert len(one) == len(other) > 3
    for (row, _, action), (fields, _, action_2) in zip(one, other, strict=True):
        assert action == action_2 and row in dense.observation_space
        assert fields in split.observation_space
        assert np.array_equal(row["action_mask"], fields["action_mask"])
        assert data_equivalence(schema().split(row["observation"]), fields["observation"], True)


@pytest.mark.parametrize("room", ["play_only", CALLING, "happy", "happy_laizi"])
def test_seats(room):
    """Drawn seats are all three, roles are as asked for, and both farmers occur."""
    where = {seat: set() for seat in SEATS}
    for seat in SEATS:
        env, again = DouDizhuEnv(room, seat), DouDizhuEnv(room, seat)
        for seed in range(25):
            info, phase = env.reset(seed=seed)[1], env.game.phase
            assert again.reset(seed=seed)[1] == info
            role = (info["seat"] - env.game.landlord) % 3 if env.game.landlord is not None else None
            where[seat].add((info["seat"], role))
            assert env.game.seat == info["seat"]
            if seat in ("landlord", "farmer"):
                assert phase in ("show_after_bottom", "double", "raise", "play")
    for seat in (0, 1, 2):
        assert {at for at, _ in where[seat]} == {seat}
    assert {at for at, _ in where["random"]} == {0, 1, 2}
    assert {role for _, role in where["landlord"]} == {0}
    assert {role for _, role in where["farmer"]} == {1, 2}
    if room != "play_only":
        assert {at for at, _ in where["landlord"]} == {at for at, _ in where["farmer"]} == {0, 1, 2}


@rooms
@pytest.mark.parametrize("reward", ["score", "win", "log_score"])
def test_rewards(room, reward):
    values = set()
    for seat in ("random", "landlord"):
        env = DouDizhuEnv(room, seat, "random", reward=reward)
        for seed in range(8):
            _, (_, got, info) = play(env, seed)
            points = env.game.scores[info["seat"]]
            wanted = {
                "score": points,
                "win": np.sign(points),
                "log_score": np.sign(points) * np.log2(1 + abs(points)),
            }[reward]
            assert type(got) is float and got == pytest.approx(wanted) and got != 0
            assert info["score"] == points and info["legal_actions"] == []
            values.add(got)
    assert len(values) > 1


def test_a_void_deal_gives_nothing():
    rules = PRESETS[CALLING].replace(max_redeals=1)
    env = DouDizhuEnv(rules, 0, "trustee")  # who never calls
    seen, (_, reward, info) = play(env, 3, lambda ids, _: ids[0])
    assert len(seen) == 2 and env.game.over and env.game.redeals == 1
    assert reward == info["score"] == 0.0


def test_nobody_calls_for_a_role():
    env = DouDizhuEnv(CALLING, "landlord", "trustee")
    with pytest.raises(DdzError, match=r"opponents: 1000 deals .*'landlord'"):
        env.reset(seed=1)
    assert env.game is None
    with pytest.raises(IllegalActionError, match="reset"):
        env.step(0)


def test_deals_in_which_the_seat_is_not_asked_are_left_out():
    """The landlord goes out at once: reset goes on to the next deal, a step never sees such one."""
    env = DouDizhuEnv(seat=1, deal=lambda key: straight_out() if key == 7 else other_deal(key))
    _, info = env.reset(seed=7)
    assert info["seat"] == env.game.seat == 1
    assert int(env.game.state["seed"]) == int(next_seed(np.uint64(7)))
    with pytest.raises(DdzError, match="deal: it ends before the learner"):
        env.reset(seed=3, options={"deal": straight_out()})
    with pytest.raises(DdzError, match="1000 deals"):
        DouDizhuEnv(seat=1, deal=lambda key: straight_out()).reset(seed=3)
    assert DouDizhuEnv(seat=0, deal=lambda key: straight_out()).reset(seed=3)[1]["seat"] == 0


def other_deal(key):
    return Game(seed=key).state["deck"]


@rooms
def test_illegal_ids(room):
    """Refused without any change."""
    raising = DouDizhuEnv(room, "random")
    for seed in range(4):
        _, info = raising.reset(seed=seed)
        for _ in range(2):
            before, masks = raising.game.to_bytes(), raising.action_masks()
            missing = [i for i in (0, 3, 4, 30, 64, 90) if i not in info["legal_actions"]]
            for action in (*missing, -1, n_actions(room) + 5, 10**25):
                with pytest.raises(DdzError) as error:
                    raising.step(action)
                assert "\n" not in str(error.value)
            for action in (1.0, None, "3", [64]):
                with pytest.raises(PlayError, match="legal ids"):
                    raising.step(action)
            assert raising.game.to_bytes() == before
            assert np.array_equal(raising.action_masks(), masks)
            _, _, over, _, info = raising.step(info["legal_actions"][-1])
            assert not over


@pytest.mark.parametrize("reward", ["score", "win", "log_score"])
def test_an_illegal_id_loses_the_deal(reward):
    for seat, sign in (("landlord", -2), ("farmer", -1)):
        env = DouDizhuEnv("play_only", seat, illegal="terminate", reward=reward)
        _, info = env.reset(seed=1)
        before = env.game.state.tobytes()
        observation, got, over, cut, info = env.step(25)
        wanted = {"score": sign, "win": -1, "log_score": -np.log2(1 - sign)}[reward]
        assert got == pytest.approx(wanted) and (over, cut) == (True, False)
        assert info == {
            "legal_actions": [],
            "seat": info["seat"],
            "score": sign,
            "illegal_action": 25,
        }
        assert not observation["action_mask"].any() and not env.action_masks().any()
        assert env.game.state.tobytes() == before
        with pytest.raises(IllegalActionError, match="reset"):
            env.step(64)
        with pytest.raises(PlayError):
            env.reset()
            env.step(1.5)


def test_nothing_goes_on_without_a_reset():
    env = DouDizhuEnv()
    with pytest.raises(IllegalActionError, match="reset"):
        env.step(64)
    play(env, 1)
    before = env.game.to_bytes()
    with pytest.raises(IllegalActionError, match="reset"):
        env.step(0)
    assert env.game.to_bytes() == before


@rooms
def test_seeds(room):
    """A seed gives a sequence of deals: keys go on from it, and the first caller rotates."""
    env = DouDizhuEnv(room, "random")
    one = trace(env, 120, 11)
    assert data_equivalence(one, trace(DouDizhuEnv(room, "random"), 120, 11), exact=True)
    assert data_equivalence(one, trace(env, 120, 11), exact=True)
    assert not data_equivalence(one, trace(env, 120, 12), exact=True)
    env.reset(seed=11)
    key, first = 11, int(env.game.state["first"])
    assert int(env.game.state["seed"]) == key
    for _ in range(6):
        env.reset()
        left_out = -1  # deals in which the seat was not asked
        while key != int(env.game.state["seed"]) or left_out < 0:
            key, left_out = int(next_seed(np.uint64(key))), left_out + 1
            assert left_out < 3
        if PRESETS[room].first_caller == "rotates" and left_out + env.game.redeals == 0:
            assert int(env.game.state["first"]) == (first + 1) % 3
        first = int(env.game.state["first"])


def test_the_first_deal_of_all_is_random():
    hands = {tuple(env.game.hands) for env in map(reset_one, range(4))}
    assert len(hands) == 4


def reset_one(_):
    env = DouDizhuEnv()
    env.reset()
    return env


def test_unshuffled_deals_start_from_a_shuffle():
    env = DouDizhuEnv(CALLING, "random", deal="unshuffled")
    one = trace(env, 80, 3)
    assert data_equivalence(one, trace(env, 80, 3), exact=True)
    assert not data_equivalence(one, trace(DouDizhuEnv(CALLING, "random"), 80, 3), exact=True)
    assert data_equivalence(one[:1], trace(DouDizhuEnv(CALLING, "random"), 1, 3)[:1], exact=True)


def test_options():
    env = DouDizhuEnv(CALLING, 2, "trustee")
    for first in range(3):
        env.reset(seed=1, options={"first": first})
        assert env.game.state["first"] == first and env.game.seat == 2
    deal = {"hands": straight_out()["hands"], "bottom": "TJQ"}
    env.reset(seed=1, options={"deal": deal, "first": 2})
    assert [sorted(h) for h in env.game.hands] == [sorted(h) for h in deal["hands"]]
    game = Game(CALLING, seed=9, first=0)
    game.step("call_3")
    lord = DouDizhuEnv(CALLING, "landlord", "greedy")
    _, info = lord.reset(seed=1, options={"game": game})
    assert info["seat"] == 0 and lord.game.history == game.history
    lord.step(info["legal_actions"][0])
    assert len(game.history) == 1  # the environment plays a copy
    farmers = set()
    for seed in range(8):
        env = DouDizhuEnv(CALLING, "farmer")
        farmers.add(env.reset(seed=seed, options={"game": game})[1]["seat"])
    assert farmers == {1, 2}
    env.reset(options={})
    env.reset(options=None)


HANDS = straight_out()["hands"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rules": "mahjong"}, ["mahjong"]),
        ({"rules": 3}, ["3"]),
        *(({"seat": bad}, ["seat", repr(bad)]) for bad in (3, -1, True, 1.0, None, "north", [0])),
        *(
            ({"opponents": bad}, ["opponents", "greedy"])
            for bad in ("mcts", None, 3, GreedyBot, object())
        ),
        ({"opponents": ["greedy"]}, ["opponents", "1"]),
        ({"opponents": ("greedy", "greedy", "greedy")}, ["opponents", "3"]),
        ({"opponents": ("greedy", "mcts")}, ["opponents: prev", "mcts"]),
        ({"opponents": {"next": 4, "prev": "greedy"}}, ["opponents: next", "4"]),
        ({"opponents": {"next": "greedy"}}, ["opponents", "prev"]),
        ({"opponents": {"next": "greedy", "up": "greedy"}}, ["opponents", "up"]),
        *(({"render_mode": bad}, ["render_mode"]) for bad in ("html", 3, ["ansi"])),
        *(({"reward": bad}, ["reward"]) for bad in ("money", None, 1)),
        *(({"obs": bad}, ["obs"]) for bad in ("sparse", None, 1)),
        *(({"illegal": bad}, ["illegal"]) for bad in ("ignore", None, True)),
        *(({"deal": bad}, ["deal"]) for bad in ("sorted", 3, None)),
    ],
)
def test_bad_arguments(arguments, words):
    makes = [DouDizhuEnv, lambda **kw: gymnasium.make(ENV_ID, **kw)]
    if not isinstance(arguments.get("render_mode", ""), str):
        makes.pop()  # Gymnasium takes these for texts
    for make in makes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Gymnasium's own, about unknown render modes
            with pytest.raises(DdzError) as error:
                make(**arguments)
        message = str(error.value)
        assert "\n" not in message and all(word in message for word in words), message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *(({"seed": bad}, ["seed"]) for bad in (-1, 2**63, 1.5, "1", True, [1])),
        *(({"options": bad}, ["options"]) for bad in ([], "deal", 3)),
        ({"options": {"first_seat": 1}}, ["options", "first_seat"]),
        *(({"options": {"first": bad}}, ["first"]) for bad in (3, -1, "0", 1.5, True)),
        *(({"options": {"deal": bad}}, ["deal"]) for bad in ([0] * 54, "3", {"hands": HANDS})),
        *(({"options": {"game": bad}}, ["game"]) for bad in ("x", b"", 3)),
        ({"options": {"game": Game("happy")}}, ["game", "happy", CALLING]),
        ({"options": {"game": Game(CALLING), "first": 1}}, ["game", "first"]),
    ],
)
def test_bad_resets(arguments, words):
    env = DouDizhuEnv(CALLING)
    env.reset(seed=1)
    before, masks = env.game.to_bytes(), env.action_masks()
    random = env.np_random.bit_generator.state
    with pytest.raises(DdzError) as error:
        env.reset(**arguments)
    message = str(error.value)
    assert "\n" not in message and all(word in message for word in words), message
    assert env.game.to_bytes() == before and np.array_equal(env.action_masks(), masks)
    assert env.np_random.bit_generator.state == random
    env.step(int(np.flatnonzero(masks)[0]))


def test_action_masks():
    env = DouDizhuEnv("happy_laizi", "random")
    for observation, info, _ in play(env, 2)[0]:
        assert np.flatnonzero(observation["action_mask"]).tolist() == info["legal_actions"]
    _, info = env.reset(seed=2)
    assert env.action_masks().dtype == np.bool_
    assert np.flatnonzero(env.action_masks()).tolist() == info["legal_actions"]


MADE = """
import warnings
warnings.simplefilter("error")
import gymnasium
env = gymnasium.make("ddz_env:ddz_env/DouDizhu-v0", rules="qq_classic", seat="landlord")
observation, info = env.reset(seed=1)
assert observation in env.observation_space
envs = gymnasium.make_vec("ddz_env:ddz_env/DouDizhu-v0", num_envs=3, seat="random")
assert type(envs).__name__ == "SeatVectorEnv" and envs.reset(seed=1)[0] in envs.observation_space
import ddz_env, importlib
importlib.reload(ddz_env)
assert gymnasium.make("ddz_env/DouDizhu-v0").unwrapped.rules.name == "play_only"
print(gymnasium.spec("ddz_env/DouDizhu-v0").vector_entry_point)
"""


def test_made_by_its_id_without_an_import():
    """Gymnasium loads no plugins by itself; the module stands before the id."""
    done = subprocess.run([sys.executable, "-c", MADE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "ddz_env.seat_vector:SeatVectorEnv"
