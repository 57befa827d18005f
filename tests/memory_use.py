"""Prints by how many MiB the peak of this process's memory grows: `python memory_use.py KIND N`."""

import resource
import sys

import numpy as np

from ddz_env import env, parallel_env, vec_env


def peak() -> float:
    """The most memory this process has held, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def aec_games(n: int) -> None:
    environment = env("happy")
    for seed in range(n):
        environment.reset(seed=seed)
        for ply, _ in enumerate(environment.agent_iter()):
            _, _, over, _, info = environment.last()
            ids = info["legal_actions"]
            environment.step(None if over else int(ids[(seed + 7 * ply) % len(ids)]))


def parallel_games(n: int) -> None:
    environment = parallel_env("happy")
    for seed in range(n):
        _, infos = environment.reset(seed=seed)
        ply = 0
        while environment.agents:
            ids = {a: infos[a]["legal_actions"] for a in environment.agents}
            ply += 1
            chosen = {a: int(i[(seed + 7 * ply) % len(i)]) for a, i in ids.items()}
            _, _, _, _, infos = environment.step(chosen)


def vector_steps(n: int) -> None:
    batch = vec_env(1000, "happy_laizi", seed=1)
    for _ in range(n // 1000):
        batch.features()
        batch.step(batch.sample())


def snapshots(n: int) -> None:
    batch = vec_env(10, "happy", seed=1)
    for i in range(n):
        batch.restore(i % 10, batch.snapshot((i + 1) % 10))
        batch.step(np.array(batch.sample()))


KINDS = {
    "aec": aec_games,
    "parallel": parallel_games,
    "vector": vector_steps,
    "snapshots": snapshots,
}


if __name__ == "__main__":
    run, n = KINDS[sys.argv[1]], int(sys.argv[2])
    run(max(n // 5, 1))  # what is allocated once
    before = peak()
    run(n)
    print(peak() - before)
