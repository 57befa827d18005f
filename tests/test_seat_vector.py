"""The Gymnasium vector environment of one seat: row by row the same as one environment each."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from deals import fixed_choice
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from one_seat import choices, equal

from ddz_env import (
    PRESETS,
    DouDizhuEnv,
    Game,
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
