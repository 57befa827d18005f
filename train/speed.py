"""Speed of DMC training on one core: `python train/speed.py` prints it as JSON.

`decisions_per_second` of playing and learning in turn; `played` and `learned`, choices a second,
when that is all a core does (what an actor can give, and what a learner can take); and what goes
over a network in a run on several machines: bytes of a sample and of the weights.
"""

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
from train.samples import SAMPLE, Window, share_out
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

    spent = {"playing": 0.0, "learning": 0.0}

    def update() -> None:
        needed, begin = config.batch * (learner.updates + 1), time.perf_counter()
        while min(w.added for w in windows) < needed:
            share_out(player.step(how), windows)
        middle = time.perf_counter()
        learner.update([w.draw(config.batch, rng, config.all_hands) for w in windows], config.lr)
        weights.publish(learner.nets)
        spent["playing"] += middle - begin
        spent["learning"] += time.perf_counter() - middle

    for _ in range(4):  # past the start, when all games are at their first decisions
        update()
    spent = dict.fromkeys(spent, 0.0)
    decisions, updates = player.counts["decisions"], learner.updates
    begin, samples = time.perf_counter(), sum(w.added for w in windows)
    while time.perf_counter() - begin < command.seconds:
        update()
    seconds = time.perf_counter() - begin
    drawn = (learner.updates - updates) * config.batch * len(windows)
    figures = {
        "decisions_per_second": (player.counts["decisions"] - decisions) / seconds,
        "played": (sum(w.added for w in windows) - samples) / spent["playing"],
        "learned": drawn / spent["learning"],
        "sample_bytes": SAMPLE.itemsize,
        "weights_bytes": 4 * len(weights),
    }
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
