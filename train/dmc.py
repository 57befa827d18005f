"""Deep Monte-Carlo self-play: chance of winning and points of every listed play, from whole games.

Algorithm (after DouZero, Zha et al. 2021): play games with the current networks, mostly the play
with the highest value, sometimes a random one; when a game ends, every choice made in it becomes a
sample whose targets are whether its side won and for how many points; fit the network of its role
(or that of the choices before the play) to them. No bootstrapping. Different from DouZero: the
network reads the state once and then scores each listed play (agents/dmc_net.py), of which it also
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

import signal
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch

from agents.dmc import header, read_checkpoint, rooms_of
from agents.dmc_net import NetConfig
from agents.value_agent import BEFORE, ROLES, net_names
from eval.figures import MatchResult, summarise_games
from train.actors import Actors, Weights
from train.collect import Behaviour, added
from train.common import (
    EVALUATED,
    FINAL_SEED,
    OPPONENTS,
    Clock,
    RunSettings,
    player_of,
    save_checkpoint,
)
from train.learner import DMCConfig, Learner
from train.report import Report
from train.samples import SAMPLE, Batch, Window, share_out
from train.self_play import SelfPlay, Share


def schedule(config: DMCConfig, done: float) -> tuple[float, Behaviour]:
    """Learning rate and behaviour when a share `done` of the run is over."""
    lr = config.lr * (1 + (config.lr_end - 1) * done)
    explore = config.explore + (config.explore_end - config.explore) * min(1.0, done / 0.7)
    adp = config.objective == "adp" or (config.objective == "mixed" and done >= 0.5)
    return lr, Behaviour(explore, adp)


def final_objective(config: DMCConfig) -> str:
    """What the finished agent plays for."""
    return "wp" if config.objective == "wp" else "adp"


# ----------------------------------------------------------------------------------------- main


class Run:
    """The learner's process: gathers samples, learns, reports, evaluates and saves.

    Args:
        config: of the algorithm.
        settings: of the run.
        resumed: the checkpoint to go on with, or nothing.
        begin: a checkpoint whose weights to begin with, or nothing.
    """

    def __init__(
        self,
        config: DMCConfig,
        settings: RunSettings,
        resumed: dict[str, Any],
        begin: dict[str, Any],
    ) -> None:
        self.config, self.settings = config, settings
        names = net_names(settings.rooms)
        self.learner = Learner(config, names, settings.seed, settings.device)
        if begin:
            self.learner.begin_from(begin)
        elapsed, self.part, self.best = 0.0, 0, 0.0
        self.history: list[dict[str, Any]] = []
        if resumed:
            self.learner.load_state_dict(resumed["learner"])
            # Every part of a run plays other games; deterministic parts go by their updates.
            elapsed, self.part = resumed["elapsed"], resumed["part"] + 1
            self.best, self.history = resumed["best"], resumed["history"]
        self.past: dict[str, int] = resumed.get("counts", {})
        self.clock = Clock(settings, elapsed)
        self.weights, self.averages = Weights(self.learner.nets), Weights(self.learner.average)
        arguments = (
            config, settings.rooms, self.weights, self.averages,
            final_objective(config), self._key(),
        )  # fmt: skip
        ahead = 1 if settings.deterministic else 2
        self.actors = Actors(config.workers - 1, SelfPlay, arguments, config.block, ahead)
        self.own = SelfPlay(*arguments, 0)
        self._restart_windows()
        self.report = Report(settings, "dmc")
        self.halted = False

    def _key(self) -> int:
        """Seed of the games that are begun now."""
        part = 0 if self.settings.deterministic else self.part
        return self.settings.seed * 1_000_003 + part * 1009 + 7919 * self.learner.updates

    def _restart_windows(self) -> None:
        self.rng = np.random.default_rng([self._key(), 1])
        self.windows = [Window(self.config.window) for _ in self.learner.names]
        self._first = self.learner.updates

    def run(self) -> None:
        """Train until the end, or until Ctrl-C; then save."""
        heard = signal.signal(signal.SIGINT, self._halt)
        try:
            with self.actors:
                while not self._look_up():
                    lr, how = schedule(self.config, self.clock.done(self.learner.updates))
                    self._gather(how)
                    if self.halted:
                        continue
                    self.learner.update(self._draw(), lr)
                    self.weights.publish(self.learner.nets)
                    self.report.update(self, lr, how.explore)
                self._close()
        finally:
            signal.signal(signal.SIGINT, heard)

    def _halt(self, *_: int | FrameType | None) -> None:
        """Ctrl-C: end after this step; a second one ends at once."""
        if self.halted:
            raise KeyboardInterrupt
        self.halted = True

    def _look_up(self) -> bool:
        """What is due between two updates; whether the run ends."""
        updates = self.learner.updates
        if self.settings.deterministic:
            if updates % self.config.restart_every == 0 and not self.halted:
                self._save(self.settings.out / "last.pt")
                if updates > self._first:
                    self._restart()
        for minutes in self.clock.to_keep():
            self._try_to_save(f"minute-{minutes:g}.pt", player_of)
        ended = self.halted or self.clock.done(updates) >= 1
        if self.clock.evaluation_due() or (ended and not self.halted):
            self._evaluate()
        return ended

    def _restart(self) -> None:
        """Begin all games anew, as a resumed run does."""
        key = self._key()
        self.actors.ask([key] * len(self.actors))
        self.own.restart(key)
        self.actors.answers()
        self._restart_windows()

    def _gather(self, how: Behaviour) -> None:
        """Play until there are samples for the next update."""
        drawn = self.config.batch * (self.learner.updates - self._first + 1)
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
            out.append(window.draw(n, self.rng, self.config.critic > 0) if window.added else None)
        return out

    def counts(self) -> dict[str, int]:
        """What happened in all processes and parts of the run."""
        return added([self.past, self.own.counts, *self.actors.counts])

    def matches(self, final: bool) -> dict[str, MatchResult]:
        """Duplicate matches of the averaged player, shared out among the processes.

        In rooms with calling `greedy` makes all choices before the play, so that card play is
        compared; then whole deals are played against `greedy` too.
        """
        s = self.settings
        deals, seed = (s.final_deals, FINAL_SEED) if final else (s.eval_deals, s.seed)
        self.averages.publish(self.learner.average)
        tasks = {}
        for room in s.rooms if final else s.rooms[:1]:
            prefix = f"{room.name} " if len(s.rooms) > 1 else ""
            for name in OPPONENTS if final else EVALUATED:
                tasks[f"{prefix}{name}"] = (name, room, seed, False)
            if room.auction != "none":
                tasks[f"{prefix}greedy, whole deals"] = ("greedy", room, seed, True)
        n = len(self.actors) + 1
        shares = [
            [
                Share(name, room, seed, deals * k // n, deals * (k + 1) // n, calls)
                for name, room, seed, calls in tasks.values()
            ]
            for k in range(n)
        ]
        self.actors.ask(shares[1:])
        parts = [self.own.evaluate(shares[0]), *self.actors.answers()]
        results = {}
        for i, (label, (_, room, seed, calls)) in enumerate(tasks.items()):
            games = np.concatenate([part[i] for part in parts])
            by_side = not calls and room.auction != "none"
            results[label] = summarise_games(games, room, seed, by_side)
        return results

    def _evaluate(self) -> None:
        """Evaluate on the way, note the result, save."""
        results = self.matches(final=False)
        counts = self.counts()
        point = {
            "minutes": round(self.clock.elapsed / 60, 2),
            "updates": self.learner.updates,
            "decisions": counts["decisions"],
            **{name: round(r.wp, 4) for name, r in results.items()},
        }
        self.history.append(point)
        self.report.evaluation(point, results)
        if not self.settings.deterministic:
            self._try_to_save("last.pt")
        mean = float(np.mean([r.wp for r in results.values()]))
        if mean >= self.best:
            self.best = mean
            self._try_to_save("best.pt")

    def _try_to_save(self, name: str, part: Callable[[Any], Any] = lambda data: data) -> None:
        """Save, or say why not and train on: the disk may have room by the next time."""
        try:
            self._save(self.settings.out / name, part)
        except OSError as error:
            self.report.warn(f"{self.settings.out / name} not saved: {error.strerror}; training on")

    def _save(self, path: Path, part: Callable[[Any], Any] = lambda data: data) -> None:
        """Write a checkpoint, or a part of it: what plays, and what a resumed run needs."""
        data = header(self.settings.rooms, self.config.net, final_objective(self.config)) | {
            "average": self.learner.average.state_dict(),
            "learner": self.learner.state_dict(),
            "config": asdict(self.config),
            "seed": self.settings.seed,
            "elapsed": self.clock.elapsed,
            "part": self.part,
            "best": self.best,
            "history": self.history,
            "counts": self.counts(),
        }
        save_checkpoint(path, part(data))

    def _close(self) -> None:
        """The closing evaluation of a completed run; a stopped one says how to go on."""
        if self.halted:
            if not self.settings.deterministic:
                self._save(self.settings.out / "last.pt")
            self.report.stopped()
            return
        self._save(self.settings.out / "last.pt")
        self.report.closing()
        self.report.close(self, self.matches(final=True))


def run(config: DMCConfig, settings: RunSettings, resume: bool, begin: Path | None) -> None:
    """Train in `config.workers` processes; returns when the run has ended or was stopped.

    Raises:
        ActorDied: a process that played has died; the others have been ended.
        AgentError: checkpoints that do not fit.
    """
    torch.set_num_threads(1)  # more threads wait for each other: the layers are small
    torch.use_deterministic_algorithms(settings.deterministic)
    resumed = read_checkpoint(settings.out / "last.pt") if resume else {}
    Run(config, settings, resumed, read_checkpoint(begin) if begin else {}).run()


__all__ = ["DMCConfig", "Learner", "NetConfig", "Run", "read_checkpoint", "rooms_of", "run"]
