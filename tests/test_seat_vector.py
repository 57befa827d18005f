"""The Gymnasium vector environment of one seat: row by row the same as one environment each."""

import hashlib
import os
import resource
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from deals import fixed_choice
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from ddz_env import (
    PRESETS,
    DdzError,
    DouDizhuEnv,
    Game,
    IllegalActionError,
    SeatVectorEnv,
    VecEnv,
    n_actions,
    schema,
)
from ddz_env.bots import make_bot
from ddz_env.registration import ENV_ID

ROOMS = list(PRESETS)
CALLING = "qq_classic"
MODES = list(AutoresetMode)
rooms = pytest.mark.parametrize("room", ROOMS)
modes = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)


def both(n, mode, **kwargs):
    """The vector environment, and Gymnasium's own around environments of one seat."""
    ours = gymnasium.make_vec(
        ENV_ID, n, vectorization_mode="vector_entry_point", autoreset_mode=mode, **kwargs
    )
    theirs = gymnasium.make_vec(
        ENV_ID, n, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **kwargs
    )
    assert type(ours) is SeatVectorEnv and ours.num_envs == theirs.num_envs == n
    return ours, theirs


def equal(one, other):
    """Whether two observations or infos hold the same; ids may be lists or arrays."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return len(one) == len(other) and all(map(equal, one, other))
    if one is None or other is None:
        return one is other
    same_kind = np.ndim(one) == 0 or isinstance(other, list) or one.dtype == other.dtype
    return same_kind and np.array_equal(one, other)


def choices(infos, step, n, illegal=False):
    """A choice in every row that depends on its own ids only; illegal ones now and then."""
    actions = np.zeros(n, np.int64)
    for row in range(n):
        ids = infos["legal_actions"][row]
        if ids is not None and len(ids):
            actions[row] = fixed_choice(ids, step + row)
            if illegal and (step + row) % 9 == 0:
                actions[row] = 25
    return actions


def run(ours, theirs, steps, illegal=False):
    """Step both; how many deals ended."""
    n, ended = ours.num_envs, 0
    (seen, infos), (seen_2, infos_2) = ours.reset(seed=5), theirs.reset(seed=5)
    assert equal(seen, seen_2) and equal(infos, infos_2)
    known = infos
    for step in range(steps):
        actions = choices(known, step, n, illegal)
        one, two = ours.step(actions), theirs.step(actions)
        assert equal(one[0], two[0])
        for ours_is, theirs_is in zip(one[1:4], two[1:4], strict=True):
            assert ours_is.dtype == theirs_is.dtype and np.array_equal(ours_is, theirs_is)
        assert equal(one[4], two[4])
        assert not one[3].any()
        ended += one[2].sum()
        known = one[4]
        if ours.autoreset_mode is AutoresetMode.DISABLED and one[2].any():
            mask = one[2]
            seeds = [None if row % 2 else 100 * step + row for row in range(n)]
            one = ours.reset(seed=seeds, options={"reset_mask": mask.copy()})
            two = theirs.reset(seed=seeds, options={"reset_mask": mask.copy()})
            assert equal(one[0], two[0]) and equal(one[1], two[1])
            known = {"legal_actions": known["legal_actions"].copy()}
            known["legal_actions"][mask] = one[1]["legal_actions"][mask]
    return ended


@modes
@rooms
def test_rows_are_environments_of_one_seat(room, mode):
    assert run(*both(3, mode, rules=room, seat="random"), 200) > 20


@modes
@pytest.mark.parametrize(
    "kwargs",
    [
        {"rules": CALLING, "seat": "landlord", "opponents": "random", "reward": "log_score"},
        {"rules": "happy", "seat": "farmer", "opponents": ("greedy", "trustee"), "obs": "dict"},
        {"rules": "laidou", "seat": 1, "opponents": make_bot("trustee"), "reward": "win"},
        {"rules": "jj_classic", "seat": 2, "deal": "unshuffled"},
        {"rules": "play_only", "seat": 0, "deal": lambda key: Game(seed=key % 5).state["deck"]},
        {"rules": CALLING, "seat": "random", "opponents": lambda view, ids: ids[len(ids) // 2]},
    ],
    ids=lambda kwargs: kwargs["rules"],
)
def test_every_argument(kwargs, mode):
    assert run(*both(4, mode, **kwargs), 200) > 20


@modes
def test_illegal_ids_end_the_deal(mode):
    ours, theirs = both(4, mode, rules="happy", seat="random", illegal="terminate")
    assert run(ours, theirs, 200, illegal=True) > 60


def test_async_too():
    envs = gymnasium.make_vec(ENV_ID, 2, vectorization_mode="async", rules="play_only")
    ours = SeatVectorEnv(2)
    try:
        one, two = ours.reset(seed=1), envs.reset(seed=1)
        for step in range(20):
            assert equal(one[0], two[0]) and equal(one[-1], two[-1])
            actions = choices(one[-1], step, 2)
            one, two = ours.step(actions), envs.step(actions)
    finally:
        envs.close()


@pytest.mark.filterwarnings("error")
@modes
@rooms
def test_spaces_wrappers_and_conventions(room, mode):
    envs = gymnasium.make_vec(ENV_ID, 3, rules=room, seat="random", autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is mode and envs.metadata["render_modes"]
    assert envs.single_action_space == gymnasium.spaces.Discrete(n_actions(room))
    assert envs.single_observation_space == DouDizhuEnv(room).observation_space
    wrapped = RecordEpisodeStatistics(envs)
    observations, infos = wrapped.reset(seed=2)
    ended = 0
    for step in range(60):
        assert observations in envs.observation_space
        for row in range(3):
            legal = np.flatnonzero(observations["action_mask"][row])
            assert legal.tolist() == infos["legal_actions"][row].tolist()
            assert infos["legal_actions"][row].dtype == np.int32
        offsets, ids = envs.unwrapped.legal()
        assert np.concatenate(list(infos["legal_actions"])).tolist() == ids.tolist()
        assert np.diff(offsets).tolist() == [len(ids) for ids in infos["legal_actions"]]
        assert np.array_equal(envs.unwrapped.action_masks(), observations["action_mask"] == 1)
        actions = choices(infos, step, 3)
        assert actions in envs.action_space
        observations, rewards, over, cut, infos = wrapped.step(actions)
        assert rewards.dtype == np.float64 and over.dtype == cut.dtype == np.bool_
        assert ((rewards != 0) <= over).all()
        ended += over.sum()
        if over.any():
            final = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
            assert np.array_equal(final["_score"], over) and np.array_equal(
                final["score"][over], rewards[over]
            )
            assert np.array_equal(infos["episode"]["r"][over], rewards[over])
        if over.any() and mode is AutoresetMode.DISABLED:
            observations, infos = wrapped.reset(options={"reset_mask": over.copy()})
            infos["legal_actions"] = np.array(
                [np.flatnonzero(row).astype(np.int32) for row in observations["action_mask"]]
                + [None],
                object,
            )[:3]
    assert ended > 3
    listed = DictInfoToList(SeatVectorEnv(3, room, autoreset_mode=mode))
    _, infos = listed.reset(seed=2)
    assert [set(info) for info in infos] == [{"legal_actions", "seat"}] * 3
    envs.close()
    envs.close()


def test_what_the_modes_give():
    """Where the end of a deal and the beginning of the next are to be found."""
    last = SeatVectorEnv(2, autoreset_mode="NextStep"), SeatVectorEnv(2, autoreset_mode="SameStep")
    infos = [envs.reset(seed=4)[1] for envs in last]
    for step in range(60):
        actions = choices(infos[0], step, 2)
        one, two = (envs.step(actions) for envs in last)
        infos = [one[4], two[4]]
        if one[2].any():
            break
    (row,) = np.flatnonzero(one[2])
    assert not one[0]["action_mask"][row].any() and len(one[4]["legal_actions"][row]) == 0
    end = two[4]["final_obs"][row]
    assert np.array_equal(end["observation"], one[0]["observation"][row])
    assert not end["action_mask"].any()
    assert two[4]["final_info"]["score"][row] == one[4]["score"][row] == two[1][row]
    assert two[4]["_final_info"].tolist() == two[4]["_final_obs"].tolist() == one[2].tolist()
    actions[row] = -77  # nobody looks at it
    actions[1 - row] = one[4]["legal_actions"][1 - row][0]
    following = last[0].step(actions)
    assert np.array_equal(following[0]["observation"][row], two[0]["observation"][row])
    assert following[1][row] == 0 and not following[2][row]


def test_the_same_state_gives_the_same_bytes():
    envs, batch = SeatVectorEnv(8, "happy_laizi", "random"), VecEnv(8, "happy_laizi")
    seen, infos = envs.reset(seed=4)
    for step in range(30):
        for row in range(8):
            batch.states[row] = envs.game(row).state
        live = np.array([len(ids) > 0 for ids in infos["legal_actions"]])
        assert np.array_equal(batch.features()[live], seen["observation"][live])
        assert live.sum() > 3
        seen, _, _, _, infos = envs.step(choices(infos, step, 8))


@pytest.mark.parametrize("obs", ["dense", "dict"])
def test_copies(obs):
    """By default what has been returned stays; without copies it is overwritten, masks included."""
    kept, reused = SeatVectorEnv(4, obs=obs), SeatVectorEnv(4, obs=obs, copy=False)
    one, infos = kept.reset(seed=1)
    two, _ = reused.reset(seed=1)
    form = schema().split if obs == "dense" else dict
    for step in range(120):
        before = one["action_mask"].copy(), form(one["observation"])["hand"].copy()
        old, old_mask = one, two["action_mask"]
        actions = choices(infos, step, 4)
        one, _, _, _, infos = kept.step(actions)
        two = reused.step(actions)[0]
        assert equal(one, two)
        assert np.array_equal(old["action_mask"], before[0])
        assert np.array_equal(form(old["observation"])["hand"], before[1])
        assert two["action_mask"] is old_mask and one["action_mask"] is not old["action_mask"]
        for row in range(4):
            marked = np.flatnonzero(two["action_mask"][row])
            assert marked.tolist() == infos["legal_actions"][row].tolist()


def digest(rows):
    """A hash of observations, rewards and ends."""
    out = hashlib.sha256()
    for row in rows:
        for item in row:
            out.update(np.ascontiguousarray(item).tobytes())
    return out.hexdigest()


def alone(steps=200):
    """200 steps of one environment, in the way of the mode NEXT_STEP."""
    env = DouDizhuEnv("happy", "random", "random")
    seen, info = env.reset(seed=27)
    rows, over, reward = [], False, 0.0
    for step in range(steps):
        rows.append((seen["observation"], seen["action_mask"], reward, over))
        if over:
            (seen, info), reward, over = env.reset(), 0.0, False
        else:
            action = fixed_choice(info["legal_actions"], step)
            seen, reward, over, _, info = env.step(action)
    return digest(rows)


def as_row(steps=200, n=64, row=7):
    """The same as row 7 of 64."""
    envs = SeatVectorEnv(n, "happy", "random", "random")
    seen, infos = envs.reset(seed=20)
    rows, over, rewards = [], np.zeros(n, bool), np.zeros(n)
    for step in range(steps):
        rows.append(
            (seen["observation"][row], seen["action_mask"][row], rewards[row], bool(over[row]))
        )
        actions = np.zeros(n, np.int64)
        for other in range(n):
            ids = infos["legal_actions"][other]
            if len(ids):
                actions[other] = fixed_choice(ids, step)
        seen, rewards, over, _, infos = envs.step(actions)
    return digest(rows)


def test_alone_or_in_a_batch_under_any_hash_seed():
    """200 steps are the same bytes in other processes, alone and beside 63 others."""
    wanted = {alone(), as_row()}
    assert len(wanted) == 1
    command = "from test_seat_vector import alone, as_row; print(alone(), as_row())"
    for seed in "012":
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-c", command],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert set(done.stdout.split()) == wanted


def memory_of(steps, n):
    """How much more memory so many steps take at their height than some steps before, in bytes."""
    envs = SeatVectorEnv(n, CALLING, "random", autoreset_mode="SameStep")
    envs.reset(seed=1)
    rng = np.random.default_rng(1)

    def go(steps):
        for _ in range(steps):
            offsets, ids = envs.legal()
            envs.step(ids[offsets[:-1] + (rng.random(n) * np.diff(offsets)).astype(np.int64)])
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    before = go(200)
    return go(steps) - before


def test_memory_stays_flat():
    """2,000 steps of 64 rows: less than a byte a step and row more."""
    assert memory_of(2000, 64) < 2000 * 64


@pytest.mark.slow
def test_memory_stays_flat_over_ten_million_steps():
    assert memory_of(10_000_000 // 256, 256) < 8 << 20


def test_resets():
    envs = SeatVectorEnv(3, CALLING, "random")
    with pytest.raises(IllegalActionError, match="reset"):
        envs.step(np.zeros(3, np.int64))
    envs.reset(seed=10)
    assert [int(envs.game(row).state["seed"]) for row in range(3)] == [10, 11, 12]
    envs.reset(seed=[5, None, 5])
    assert [int(envs.game(row).state["seed"]) for row in (0, 2)] == [5, 5]
    assert envs.game(0).state.tobytes() == envs.game(2).state.tobytes()
    before = [envs.game(row).to_bytes() for row in range(3)]
    mask = np.array([False, True, False])
    _, infos = envs.reset(seed=[0, 7, 0], options={"reset_mask": mask, "first": 1})
    assert infos["_seat"].tolist() == mask.tolist() and infos["legal_actions"][0] is None
    after = [envs.game(row).to_bytes() for row in range(3)]
    assert (after[0], after[2]) == (before[0], before[2])
    assert int(envs.game(1).state["seed"]) == 7 and int(envs.game(1).state["first"]) == 1
    assert mask.tolist() == [False, True, False]
    first = {tuple(SeatVectorEnv(2).reset()[0]["observation"].ravel()) for _ in range(3)}
    assert len(first) == 3


def test_an_opponent_that_errs_changes_nothing():
    calls = []

    def sometimes(view, ids):
        calls.append(1)
        return 27_000 if len(calls) == 40 else ids[-1]

    for mode in MODES[:2]:
        calls.clear()
        envs = SeatVectorEnv(4, CALLING, "landlord", sometimes, autoreset_mode=mode)
        _, infos = envs.reset(seed=1)
        for step in range(30):
            before = [envs.game(row).to_bytes() for row in range(4)]
            actions = choices(infos, step, 4)
            try:
                infos = envs.step(actions)[4]
            except DdzError as error:
                assert "opponents" in str(error) and "27000" in str(error)
                break
        else:
            pytest.fail("the opponent never erred")
        assert [envs.game(row).to_bytes() for row in range(4)] == before
        assert equal(infos["legal_actions"], np.array([*_lists(envs), None], object)[:-1])
        envs.step(actions)


def _lists(envs):
    offsets, ids = envs.legal()
    return [ids[offsets[row] : offsets[row + 1]] for row in range(envs.num_envs)]


@pytest.mark.filterwarnings("ignore")
def test_render():
    pytest.importorskip("PIL")
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
        envs = gymnasium.make_vec(ENV_ID, 2, render_mode=mode)
        envs.reset(seed=1)
        frames = envs.render()
        assert len(frames) == 2 and all(type(frame) is kind for frame in frames)
    envs = SeatVectorEnv(2)
    envs.reset(seed=1)
    assert envs.render() is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *(({"num_envs": bad}, ["num_envs", repr(bad)]) for bad in (0, -1, 1.0, "2", True, None)),
        *(({"copy": bad}, ["copy"]) for bad in (0, "yes", None)),
        *(({"autoreset_mode": bad}, ["autoreset_mode"]) for bad in ("next", None, 1, [])),
        *(({"render_mode": bad}, ["render_mode"]) for bad in ("human", "html", 3)),
        *(({"rules": bad}, [repr(bad)]) for bad in ("mahjong", 3)),
        *(({"seat": bad}, ["seat", repr(bad)]) for bad in (3, True, "north", None)),
        *(({"opponents": bad}, ["opponents"]) for bad in ("mcts", None, ("greedy",))),
        *(({"reward": bad}, ["reward"]) for bad in ("money", None)),
        *(({"obs": bad}, ["obs"]) for bad in ("sparse", 1)),
        *(({"illegal": bad}, ["illegal"]) for bad in ("ignore", 1)),
        *(({"deal": bad}, ["deal"]) for bad in ("sorted", 3, None)),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(DdzError) as error:
        SeatVectorEnv(**arguments)
    message = str(error.value)
    assert "\n" not in message and all(word in message for word in words), message


SOME, ALL = np.array([True, False, False]), np.ones(3, bool)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *(({"seed": bad}, ["seed"]) for bad in (-1, 2**63 - 2, 1.5, "1", True, [1], [1, 2, -3])),
        ({"seed": ["1", 2, 3]}, ["seed", "'1'"]),
        *(({"options": bad}, ["options"]) for bad in ([], 3, {"mask": ALL})),
        *(
            ({"options": {"reset_mask": bad}}, ["reset_mask"])
            for bad in (ALL[:2], ALL.tolist(), ALL.astype(int), ~ALL, None)
        ),
        *(({"options": {"reset_mask": SOME, "first": bad}}, ["first"]) for bad in (3, "0", True)),
        ({"options": {"deal": [0] * 54}}, ["deal"]),
        ({"options": {"game": Game("happy")}}, ["game", "happy"]),
        ({"options": {"reset_mask": SOME, "unknown": 1}}, ["options", "unknown"]),
    ],
)
def test_bad_resets(arguments, words):
    envs = SeatVectorEnv(3, CALLING)
    _, infos = envs.reset(seed=1)
    before = [envs.game(row).to_bytes() for row in range(3)]
    with pytest.raises(DdzError) as error:
        envs.reset(**arguments)
    message = str(error.value)
    assert "\n" not in message and all(word in message for word in words), message
    assert [envs.game(row).to_bytes() for row in range(3)] == before
    envs.step(choices(infos, 0, 3))
    with pytest.raises(DdzError, match="reset_mask"):
        SeatVectorEnv(3).reset(options={"reset_mask": SOME})


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (None, ["3 ids"]),
        ([64, 64], ["3 ids", "[2]"]),
        ([[64, 64, 64]], ["3 ids"]),
        ([64.0, 64.0, 64.0], ["float64"]),
        ([True, True, True], ["bool"]),
        (["3", "3", "3"], ["3 ids"]),
        ("legal but for row 1", ["row 1", "wait"]),
        ("far out in row 2", ["row 2"]),
    ],
)
def test_bad_actions(actions, words):
    envs = SeatVectorEnv(3, CALLING)
    _, infos = envs.reset(seed=1)
    before = [envs.game(row).to_bytes() for row in range(3)]
    good = choices(infos, 0, 3)
    if actions == "legal but for row 1":
        actions = np.where([False, True, False], 25, good)
    elif actions == "far out in row 2":
        actions = np.where([False, False, True], 2**63 - 1, good)
    with pytest.raises(DdzError) as error:
        envs.step(actions)
    message = str(error.value)
    assert "\n" not in message and all(word in message for word in words), message
    assert [envs.game(row).to_bytes() for row in range(3)] == before
    envs.step(good.astype(np.int32))
    for row in (3, -1, True, "0"):
        with pytest.raises(DdzError, match="row"):
            envs.game(row)


def test_without_autoreset_a_finished_row_refuses():
    envs = SeatVectorEnv(2, autoreset_mode="Disabled")
    _, infos = envs.reset(seed=1)
    over = np.zeros(2, bool)
    for step in range(60):
        if over.any():
            break
        _, _, over, _, infos = envs.step(choices(infos, step, 2))
    before = [envs.game(row).to_bytes() for row in range(2)]
    with pytest.raises(IllegalActionError, match=f"row {np.flatnonzero(over)[0]}: .*reset"):
        envs.step(choices(infos, 0, 2))
    assert [envs.game(row).to_bytes() for row in range(2)] == before
