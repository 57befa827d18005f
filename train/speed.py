"""Speed of DMC training on one core: `python train/speed.py` prints decisions a second as JSON."""

import json
import sys
import time
from dataclasses import dataclass

import numpy as np
import torch
import tyro

from ddz_env.rules import PRESETS
from train.dmc import Collector, DMCConfig, Learner


@dataclass(frozen=True)
class Command:
    """Measure self-play and learning together, in one process on one thread."""

    seconds: float = 5.0
    """Length of the measurement, after a warm-up of four updates."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    command = tyro.cli(Command, args=arguments)
    torch.set_num_threads(1)
    config = DMCConfig(workers=1)
    rng = np.random.default_rng(0)
    collector = Collector(config, PRESETS["play_only"], 1, rng)
    learner = Learner(config, 0)

    def update() -> None:
        needed = config.batch * (learner.updates + 1)
        while min(w.added for w in collector.windows) < needed:
            collector.step(learner.nets, config.explore)
        learner.update([w.draw(config.batch, rng) for w in collector.windows], config.lr)

    for _ in range(4):  # past the start, when all games are at their first decisions
        update()
    before, begin = collector.decisions, time.perf_counter()
    while time.perf_counter() - begin < command.seconds:
        update()
    rate = (collector.decisions - before) / (time.perf_counter() - begin)
    print(json.dumps({"decisions_per_second": rate}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
