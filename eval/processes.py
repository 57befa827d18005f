"""What a second process and a fresh start cost: parts of `eval/speed.py`.

Two processes are measured against what a loop that only counts gains from the second core at the
same time, since cores of one machine rarely give twice the work. A start is a new Python that
imports the package and makes the first step of a deal, with compiled kernels or with none.
"""

import multiprocessing as mp
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from ddz_env.vector import VecEnv

FIRST_STEP = """
import time; begin = time.perf_counter()
import ddz_env
env = ddz_env.env()
env.reset(seed=1)
env.last()
env.step(int(env.infos[env.agent_selection]["legal_actions"][0]))
print(time.perf_counter() - begin)
"""


def _count(seconds: float) -> float:
    """Rounds of a loop that only counts, a second."""
    rounds, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        for _ in range(10_000):
            pass
        rounds += 1
    return rounds / (time.perf_counter() - begin)


def _work(seat: int, seconds: float, gate: Any, answers: Any) -> None:
    """Count, then step a batch, both at the same time as the other processes."""
    env = VecEnv(512, "play_only", seed=seat)
    env.step(env.sample())
    gate.wait()
    counted = _count(seconds)
    gate.wait()
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        for _ in range(20):
            env.step(env.sample())
        steps += 20 * env.num_envs
    answers.put((counted, steps / (time.perf_counter() - begin)))


def _together(processes: int, seconds: float) -> tuple[float, float]:
    """What so many processes count and step a second, all together."""
    context = mp.get_context("spawn")
    gate, answers = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=_work, args=(i, seconds, gate, answers)) for i in range(processes)
    ]
    for worker in workers:
        worker.start()
    sums = [sum(values) for values in zip(*(answers.get() for _ in workers), strict=True)]
    for worker in workers:
        worker.join()
    return sums[0], sums[1]


def two_processes(seconds: float, rounds: int) -> dict[str, float]:
    """How much two processes do of one's work: a counting loop, batch steps, and their ratio."""
    gains: list[tuple[float, float]] = []
    for _ in range(rounds):
        one, two = _together(1, seconds), _together(2, seconds)
        gains.append((two[0] / one[0], two[1] / one[1]))
    return {
        "count_gain": statistics.median(count for count, _ in gains),
        "batch_gain": statistics.median(batch for _, batch in gains),
        "ratio": statistics.median(batch / count for count, batch in gains),
    }


def _start(environment: dict[str, str]) -> tuple[float, float, str]:
    """Seconds from import to first step by the clock and on the core, and what it said."""
    before = os.times()
    result = subprocess.run(
        [sys.executable, "-c", FIRST_STEP],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    used = os.times().children_user - before.children_user
    return float(result.stdout), used, result.stderr.strip()


def starts(rounds: int) -> dict[str, float | str]:
    """Seconds from import to the first step: compiled before (median), and the first time ever."""
    warm = [_start({}) for _ in range(rounds + 1)][1:]
    with tempfile.TemporaryDirectory() as folder:
        cold = _start({"XDG_CACHE_HOME": folder})
    return {
        "warm_s": statistics.median(w[0] for w in warm),
        "warm_cpu_s": statistics.median(w[1] for w in warm),
        "cold_s": cold[0],
        "cold_cpu_s": cold[1],
        "cold_says": cold[2],
    }
