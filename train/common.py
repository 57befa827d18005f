"""What every trainer shares: the settings of a run, its folder, evaluation, the closing table."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import agents
from agents.base import Agent
from ddz_env.rules import RuleSet
from ddz_env.vector import deal_seeds
from eval.cli import replacing
from eval.match import MatchResult, play_deals, summarise
from train.processes import rank_and_world

OPPONENTS = ("random", "rlcard_rule", "greedy")
"""What the closing evaluation plays against."""
FINAL_SEED = 20_000_000
"""Seed of the closing evaluation's deals, the same for every run, far from those of training."""


@dataclass(frozen=True)
class RunSettings:
    """What a run is, whatever the algorithm."""

    rules: RuleSet
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


def save_checkpoint(path: Path, data: dict[str, Any]) -> None:
    """Write a checkpoint atomically."""
    with replacing(path) as temporary:
        torch.save(data, temporary)


def evaluate(
    agent: Agent, opponents: tuple[str, ...], rules: RuleSet, deals: int, seed: int
) -> dict[str, MatchResult]:
    """Duplicate matches against each opponent, the deals shared out among the workers.

    In rooms with calling `greedy` makes all choices before the play: card play is compared.

    Returns:
        the results by opponent at worker 0, nothing at the others.
    """
    rank, world = rank_and_world()
    calls = agents.load("greedy") if rules.auction != "none" else None
    bounds = [deals * r // world for r in range(world + 1)]
    seeds = deal_seeds(seed, deals)[bounds[rank] : bounds[rank + 1]]
    results = {}
    for name in opponents:
        part = play_deals(agent, agents.load(name), rules, seeds, bounds[rank], None, calls)
        parts: list[Any] = [part]
        if world > 1:
            parts = [None] * world
            dist.gather_object(part, parts if rank == 0 else None)
        if rank == 0:
            results[name] = summarise(np.concatenate(parts), rules, seed, calls is not None)
    return results


def print_results(console: Console, title: str, results: dict[str, MatchResult]) -> None:
    """The closing table."""
    console.print(title, style="bold", highlight=False)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("against", "WP", "95% interval", "landlord", "farmers", "ADP", "deals"):
        justify: Any = "left" if column == "against" else "right"
        grid.add_column(column, justify=justify, no_wrap=True)
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
