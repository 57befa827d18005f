"""The vector environment of one seat: memory, resets, and what it refuses."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from one_seat import choices, equal

from ddz_env import DdzError, Game, IllegalActionError, SeatVectorEnv

CALLING = "qq_classic"
MODES = list(AutoresetMode)


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


def memory_alone(steps, n):
    """The same in a process of its own, whose height is that of these steps."""
    command = f"from test_seat_vector_limits import memory_of; print(memory_of({steps}, {n}))"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_memory_stays_flat():
    """6,000 steps of 64 rows: some bytes a step and row would be more than the limit."""
    assert memory_alone(6000, 64) < 2 << 20


@pytest.mark.slow
def test_memory_stays_flat_over_ten_million_steps():
    assert memory_alone(10_000_000 // 256, 256) < 8 << 20


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
    for kind in (np.int8, np.uint8, np.uint64):  # narrow or without a sign: ids like others
        with pytest.raises(DdzError, match="row 0"):
            envs.step(np.full(3, 99, kind))
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
