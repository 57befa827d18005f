"""Deep Monte-Carlo self-play: chance of winning and points of every listed play, from whole games.

Algorithm (after DouZero, Zha et al. 2021): play games with the current networks, mostly the play
with the highest value, sometimes a random one; when a game ends, every choice made in it becomes a
sample whose targets are the chance that its side wins and the points; fit the network of its role
(or that of the choices before the play) to them. Different from DouZero: the chance is learned from
lambda-returns (train/samples.py:traced; `--dmc.td-lambda 1` for results alone); the network reads
the state once and then scores each listed play (agents/dmc_net.py), of which it also
reads the planner's facts (agents/inputs.py); games advance in one batch; forced choices and certain
wins are neither evaluated nor learned from; batches are drawn from a window of the last finished
samples, which breaks up the games they come from; an average of the weights is what plays in
evaluations.

Loss: binary cross-entropy of the chance of winning, plus `score_weight` times the gamma deviance of
the points won and lost, whose minimum is the mean of the points though the network puts out their
logarithm (train/learner.py).

One process learns and plays whenever there is nothing to learn from; the others only play
(train/actors.py). With `--deterministic` all take turns, and every `restart_every` updates the
games begin anew from the seed and the number of updates, so that a run that was killed goes on to
the bit as if it had not been.

Command: `python train/selfplay.py --algo dmc --rules play_only --minutes 10 --seed 1 --out runs/x`.
Result to expect on two cores: docs/training.md.
"""

from pathlib import Path
from typing import Any

import numpy as np

from agents.dmc import header, read_checkpoint
from agents.value_agent import BEFORE, ROLES, net_names
from train.actors import Actors
from train.collect import Behaviour
from train.common import RunSettings
from train.learner import DMCConfig, Learner
from train.run import Run, run_here
from train.samples import SAMPLE, Batch, Window, share_out
from train.self_play import SelfPlay


def schedule(config: DMCConfig, done: float) -> tuple[float, Behaviour]:
    """Learning rate and behaviour when a share `done` of the run is over."""
    lr = config.lr * (1 + (config.lr_end - 1) * done)
    late = min(1.0, done / 0.7)
    explore = config.explore + (config.explore_end - config.explore) * late
    adp = config.objective == "adp" or (config.objective == "mixed" and done >= 0.5)
    return lr, Behaviour(explore, adp, config.explore_calls * (1 - 0.8 * late))


def final_objective(config: DMCConfig) -> str:
    """What the finished agent plays for."""
    return "wp" if config.objective == "wp" else "adp"


# ----------------------------------------------------------------------------------------- main


class DMC(Run):
    """Gathers samples and learns from them.

    Args:
        config: of the algorithm.
        settings: of the run.
        resumed: the checkpoint to go on with, or nothing.
        begin: a checkpoint whose weights to begin with, or nothing.
    """

    algo = "dmc"

    def __init__(
        self,
        config: DMCConfig,
        settings: RunSettings,
        resumed: dict[str, Any],
        begin: dict[str, Any],
    ) -> None:
        learner = Learner(config, net_names(settings.rooms), settings.seed, settings.device)
        super().__init__(config, settings, resumed, begin, learner)
        self._restart_windows()

    def players(self) -> tuple[Any, SelfPlay]:
        """The processes that play, and what plays in this one."""
        arguments = (
            self.config, self.settings.rooms, self.weights, self.averages,
            final_objective(self.config), self.key(),
        )  # fmt: skip
        ahead = 1 if self.settings.deterministic else 2
        more = SelfPlay, arguments, self.config.block, ahead
        if self.settings.ray is None:
            return Actors(self.config.workers - 1, *more), SelfPlay(*arguments, 0)
        from train.ray_actors import RayActors  # imports ray

        actors = RayActors(self.settings.ray, self.settings.runners, *more)
        return actors, SelfPlay(*arguments, 0)

    def header(self) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        return header(self.settings.rooms, self.config.net, final_objective(self.config))

    def restart(self) -> None:
        """Begin all games anew, with empty windows."""
        super().restart()
        self._restart_windows()

    def _restart_windows(self) -> None:
        self.rng = np.random.default_rng([self.key(), 1])
        self.windows = [Window(self.config.window) for _ in self.learner.names]

    def step(self, done: float) -> dict[str, float]:
        """Play until there are samples for an update, and make it."""
        lr, how = schedule(self.config, done)
        self._gather(how)
        if not self.halted:
            self.learner.update(self._draw(), lr)
        return {"learning_rate": lr, "explore": how.explore}

    def _gather(self, how: Behaviour) -> None:
        """Play until there are samples for the next update."""
        drawn = self.config.batch * (self.learner.updates - self.first + 1)
        needed = drawn / self.config.reuse
        block = np.zeros(self.config.block, SAMPLE)
        while min(w.added for w in self.windows[: len(ROLES)]) < needed and not self.halted:
            self.actors.go(how)
            if self.settings.deterministic:
                self.own.play(block, how)
                share_out(block, self.windows)
                for other in self.actors.collect(None, each=True):
                    share_out(other.samples, self.windows)
                continue
            found = self.actors.collect(0.0)
            for other in found:
                share_out(other.samples, self.windows)
            if not found:
                share_out(self.own.step(how), self.windows)

    def _draw(self) -> list[Batch | None]:
        """A batch for each network."""
        out: list[Batch | None] = []
        for name, window in zip(self.learner.names, self.windows, strict=True):
            n = max(self.config.batch // 4, 1) if name == BEFORE else self.config.batch
            batch = window.draw(n, self.rng, self.config.all_hands) if window.added else None
            out.append(batch)
        return out


def run(config: DMCConfig, settings: RunSettings, resume: bool, begin: Path | None) -> None:
    """Train in `config.workers` processes: `run.run_here`."""
    run_here(DMC, read_checkpoint, config, settings, resume, begin)
