"""Speed of DMC training on one core: `python train/speed.py` prints decisions a second as JSON."""

import json
import sys
import time
from dataclasses import dataclass

import numpy as np
import torch
import tyro

from agents.value_agent import net_names
from ddz_env.rules import PRESETS
from train.actors import Weights
from train.collect import Behaviour
from train.learner import DMCConfig, Learner
from train.samples import Window, share_out
from train.self_play import SelfPlay


@dataclass(frozen=True)
class Command:
    """Measure self-play and learning together, in one process on one thread."""

    seconds: float = 5.0
    """Length of the measurement, after a warm-up of four updates."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    command = tyro.cli(Command, args=arguments)
    torch.set_num_threads(1)
    config, rooms = DMCConfig(workers=1), (PRESETS["play_only"],)
    learner = Learner(config, net_names(rooms), 0)
    weights = Weights(learner.nets)
    player = SelfPlay(config, rooms, weights, weights, "wp", 1, 0)
    windows = [Window(config.window) for _ in learner.names]
    rng, how = np.random.default_rng(0), Behaviour(config.explore, False)

    def update() -> None:
        needed = config.batch * (learner.updates + 1)
        while min(w.added for w in windows) < needed:
            share_out(player.step(how), windows)
        learner.update([w.draw(config.batch, rng, config.all_hands) for w in windows], config.lr)
        weights.publish(learner.nets)

    for _ in range(4):  # past the start, when all games are at their first decisions
        update()
    before, begin = player.counts["decisions"], time.perf_counter()
    while time.perf_counter() - begin < command.seconds:
        update()
    rate = (player.counts["decisions"] - before) / (time.perf_counter() - begin)
    print(json.dumps({"decisions_per_second": rate}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
