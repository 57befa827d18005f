"""What every trainer shares: the settings of a run, its folder, evaluation, the closing table."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from agents.checkpoints import packed
from ddz_env.rules import RuleSet
from eval.cli import replacing
from eval.figures import MatchResult

OPPONENTS = ("random", "rlcard_rule", "greedy", "planner")
"""What the closing evaluation plays against."""
EVALUATED = OPPONENTS[1:]
"""What evaluations on the way play against."""
FINAL_SEED = 20_000_000
"""Seed of the closing evaluation's deals, the same for every run, far from those of training."""


@dataclass(frozen=True)
class RunSettings:
    """What a run is, whatever the algorithm."""

    rooms: tuple[RuleSet, ...]
    """Rooms that are played, each by a share of the games."""
    minutes: float
    """Length of the run in all, earlier parts of a resumed run included."""
    updates: int | None
    """End after so many updates instead."""
    seed: int
    out: Path
    eval_minutes: float
    """Minutes between evaluations on the way."""
    eval_deals: int
    """Deals of an evaluation on the way, against each opponent."""
    final_deals: int
    """Deals of the closing evaluation, against each opponent."""
    deterministic: bool
    """Measure progress in updates only, so that equal seeds give equal bits."""
    device: str
    """Where networks learn: cpu or cuda; they play on the CPU."""
    ray: str | None = None
    """Address of a Ray cluster whose actors play, or `local`; None: processes of this machine."""
    runners: int = 0
    """Ray actors."""
    replays: tuple[Path, ...] = ()
    """Files of kept games that are learned from, by bc."""
    keep: tuple[float, ...] = ()
    """Minutes after which the averaged player is kept, for curves; ascending."""

    @property
    def name(self) -> str:
        """The rooms' names."""
        return "+".join(room.name for room in self.rooms)


PLAYER = (
    "format", "rooms", "schema", "schema_hash", "facts_hash", "net", "objective", "elapsed",
    "counts",
)  # fmt: skip
"""What of a checkpoint is kept beside the averaged weights when it need only play."""


def player_of(data: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint's averaged player alone, its weights `packed`."""
    return {name: data[name] for name in PLAYER} | {"average": packed(data["average"])}


def save_checkpoint(path: Path, data: dict[str, Any]) -> None:
    """Write a checkpoint atomically."""
    with replacing(path) as temporary:
        torch.save(data, temporary)


def print_results(console: Console, title: str, results: dict[str, MatchResult]) -> None:
    """The closing table."""
    console.print(title, style="bold", highlight=False)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("against", "WP", "95% interval", "landlord", "farmers", "ADP", "deals"):
        justify: Any = "left" if column == "against" else "right"
        grid.add_column(column, justify=justify, no_wrap=column != "against")
    for name, r in results.items():
        grid.add_row(
            name,
            f"{r.wp:.3f}",
            f"{r.ci[0]:.3f}..{r.ci[1]:.3f}",
            f"{r.landlord:.3f}",
            f"{r.farmers:.3f}",
            f"{r.adp:+.2f}",
            f"{r.deals:,}",
        )
    console.print(grid)
    console.print(
        "WP: share of duplicate deals won over both roles; ADP: points a deal of the side",
        style="dim",
    )


class Clock:
    """How far a run is: by time, or by updates where their number is given."""

    def __init__(self, settings: RunSettings, elapsed: float) -> None:
        self.settings = settings
        self._begin = time.monotonic() - elapsed
        self._evaluated = elapsed
        self._kept = elapsed

    @property
    def elapsed(self) -> float:
        """Seconds of the run so far."""
        return time.monotonic() - self._begin

    def done(self, updates: int) -> float:
        """The share of the run that is over, 0..1."""
        if self.settings.updates is not None:
            return min(1.0, updates / self.settings.updates)
        return min(1.0, self.elapsed / (60 * self.settings.minutes))

    def evaluation_due(self) -> bool:
        """Whether an evaluation on the way is due; asking resets the interval."""
        if self.settings.deterministic:
            return False
        if self.elapsed - self._evaluated < 60 * self.settings.eval_minutes:
            return False
        self._evaluated = self.elapsed
        return True

    def to_keep(self) -> list[float]:
        """The minutes of `--keep` that have passed since it was last asked."""
        now = self.elapsed
        due = [m for m in self.settings.keep if self._kept < 60 * m <= now]
        self._kept = now
        return due
