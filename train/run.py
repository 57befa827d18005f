"""A run, whatever the algorithm: processes, evaluation on the way, checkpoints, the end.

The learner's process learns and plays, the others play (train/actors.py). An algorithm says how it
learns (`step`) and what plays (`Play`).
"""

import signal
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch

from ddz_env.rules import RuleSet
from eval.figures import MatchResult, summarise_games
from train.actors import Actors, Weights
from train.common import (
    EVALUATED,
    FINAL_SEED,
    OPPONENTS,
    Clock,
    RunSettings,
    player_of,
    save_checkpoint,
)
from train.counts import added
from train.report import Report
from train.share import Share


class Run(ABC):
    """The learner's process of a run.

    Args:
        config: of the algorithm, a dataclass.
        settings: of the run.
        resumed: the checkpoint to go on with, or nothing.
        begin: a checkpoint whose weights to begin with, or nothing.
        learner: networks, their average, `updates`, `metrics`; a resumed run's state is loaded.
    """

    algo = ""
    """Name of the algorithm."""
    agent = ""
    """Name of the agent that plays its checkpoints, where it is another one."""

    def __init__(
        self,
        config: Any,
        settings: RunSettings,
        resumed: dict[str, Any],
        begin: dict[str, Any],
        learner: Any,
    ) -> None:
        if begin:
            learner.begin_from(begin)
        self.config, self.settings, self.learner = config, settings, learner
        elapsed, self.part, self.best = 0.0, 0, 0.0
        self.history: list[dict[str, Any]] = []
        if resumed:
            self.learner.load_state_dict(resumed["learner"])
            # Every part of a run plays other games; deterministic parts go by their updates.
            elapsed, self.part = resumed["elapsed"], resumed["part"] + 1
            self.best, self.history = resumed["best"], resumed["history"]
        self.past: dict[str, int] = resumed.get("counts", {})
        self.clock = Clock(settings, elapsed)
        self.weights, self.averages = Weights(learner.nets), Weights(learner.average)
        self.first = learner.updates
        """Updates when the games in flight began."""
        self.actors, self.own = self.players()
        self.report = Report(settings, self.algo, self.agent)
        self.halted = False

    @abstractmethod
    def players(self) -> tuple[Actors, Any]:
        """The processes that play, and what plays in this one."""

    @abstractmethod
    def step(self, done: float) -> dict[str, float]:
        """Play and learn once, a share `done` of the run being over; the schedules as logged."""

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """What a checkpoint says of itself."""

    def key(self) -> int:
        """Seed of the games that are begun now."""
        part = 0 if self.settings.deterministic else self.part
        return self.settings.seed * 1_000_003 + part * 1009 + 7919 * self.learner.updates

    def run(self) -> None:
        """Train until the end, or until Ctrl-C; then save."""
        heard = signal.signal(signal.SIGINT, self._halt)
        try:
            with self.actors:
                while not self._look_up():
                    schedules = self.step(self.clock.done(self.learner.updates))
                    if self.halted:
                        continue
                    self.weights.publish(self.learner.nets)
                    self.report.update(self, schedules)
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
                self._save("last.pt")
                if updates > self.first:
                    self.restart()
        for minutes in self.clock.to_keep():
            self._try_to_save(f"minute-{minutes:g}.pt", player_of)
        ended = self.halted or self.clock.done(updates) >= 1
        if self.clock.evaluation_due() or (ended and not self.halted):
            self._evaluate()
        return ended

    def restart(self) -> None:
        """Begin all games anew, as a resumed run does."""
        key = self.key()
        self.actors.ask([key] * len(self.actors))
        self.own.restart(key)
        self.actors.answers()
        self.first = self.learner.updates

    def facts(self) -> dict[str, Any]:
        """What the summary says beside what every run does."""
        return {}

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
        tasks: dict[str, tuple[str, RuleSet, bool]] = {}
        for room in s.rooms if final else s.rooms[:1]:
            prefix = f"{room.name} " if len(s.rooms) > 1 else ""
            for name in OPPONENTS if final else EVALUATED:
                tasks[f"{prefix}{name}"] = (name, room, False)
            if room.auction != "none":
                tasks[f"{prefix}greedy, whole deals"] = ("greedy", room, True)
        n = len(self.actors) + 1
        shares = [
            [
                Share(name, room, seed, deals * k // n, deals * (k + 1) // n, calls)
                for name, room, calls in tasks.values()
            ]
            for k in range(n)
        ]
        self.actors.ask(shares[1:])
        parts = [self.own.evaluate(shares[0]), *self.actors.answers()]
        results = {}
        for i, (label, (_, room, calls)) in enumerate(tasks.items()):
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
            self._save(name, part)
        except OSError as error:
            path = self.settings.out / name
            self.report.warn(f"{path} not saved: {error.strerror}; training on")

    def _save(self, name: str, part: Callable[[Any], Any] = lambda data: data) -> None:
        """Write a checkpoint, or a part of it: what plays, and what a resumed run needs."""
        data = self.header() | {
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
        save_checkpoint(self.settings.out / name, part(data))

    def _close(self) -> None:
        """The closing evaluation of a completed run; a stopped one says how to go on."""
        if self.halted:
            if not self.settings.deterministic:
                self._save("last.pt")
            self.report.stopped()
            return
        self._save("last.pt")
        self.report.closing()
        self.report.close(self, self.matches(final=True))


def run_here(
    kind: Callable[..., Run],
    read: Callable[[Path], dict[str, Any]],
    config: Any,
    settings: RunSettings,
    resume: bool,
    begin: Path | None,
) -> None:
    """Train in processes of this machine; returns when the run has ended or was stopped.

    Args:
        kind: makes the run of (config, settings, checkpoint to go on with, checkpoint to begin).
        read: reads a checkpoint of the algorithm.
        config: of the algorithm.
        settings: of the run.
        resume: go on with `last.pt` in the folder.
        begin: file of weights to begin with.

    Raises:
        ActorDied: a process that played has died; the others have been ended.
        AgentError: checkpoints that do not fit.
    """
    torch.set_num_threads(1)  # more threads wait for each other: the layers are small
    torch.use_deterministic_algorithms(settings.deterministic)
    resumed = read(settings.out / "last.pt") if resume else {}
    kind(config, settings, resumed, read(begin) if begin else {}).run()
