"""Fit `greedy`'s estimate of a hand before the calls: `python eval/calls.py --deals 40000`.

Three greedy players play out deals of `play_only`; whether the landlord won is regressed on a few
facts of his 17 cards before the bottom (`ddz_env.bots.CALL_WEIGHTS` holds the result); the share
won is printed by tenths of the estimate.
"""

import sys
from dataclasses import dataclass

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

import agents
from ddz_env._jit import records
from ddz_env.cards import HAND_SIZE, pack, unpack
from ddz_env.decompose import THOROUGH, plays_to_go
from ddz_env.engine import start
from ddz_env.errors import DdzError
from ddz_env.rules import PRESETS
from ddz_env.state import STATE
from ddz_env.vector import deal_seeds
from eval.cli import guarded
from eval.match import play_out

FACTS = ("constant", "plays to go", "big joker", "small joker", "twos", "aces", "bombs")


@dataclass(frozen=True)
class Command:
    """Fit the estimate behind greedy's calls."""

    deals: int = 40_000
    """Deals to play."""
    seed: int = 99
    """Seed of the deals."""


def facts(hand: int) -> list[float]:
    """What the estimate knows of a packed hand, in the order of `FACTS`."""
    counts = unpack(hand)
    bombs = sum(n == 4 for n in counts[:13]) + (counts[13] == counts[14] == 1)
    go = plays_to_go(np.uint64(hand), THOROUGH)
    return [1, go, counts[14], counts[13], counts[12], counts[11], bombs]


def sample(deals: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(facts `[D, 7]`, landlord won `[D]`) of deals played by three greedy players."""
    params = PRESETS["play_only"].params()
    states = records(STATE, deals)
    for state, key in zip(states, deal_seeds(seed, deals), strict=True):
        start(state, key, -1, params)
    x = np.array([facts(pack(deck[:HAND_SIZE])) for deck in states["deck"]])
    play_out(states, np.zeros((deals, 3), np.int64), [agents.load("greedy")], params)
    return x, (states["winner"] == 0).astype(float)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        if command.deals < 100:
            raise DdzError(f"--deals: expected at least 100, got {command.deals}")
        x, won = sample(command.deals, command.seed)
        weights = np.linalg.lstsq(x, won, rcond=None)[0]
        chance = x @ weights
        console = Console()
        console.print(", ".join(f"{n} {w:+.3f}" for n, w in zip(FACTS, weights, strict=True)))
        grid = Table("estimate", "share of deals", "share won")
        for low in np.arange(0.0, 1.0, 0.1):
            inside = (chance >= low) & (chance < low + 0.1)
            if inside.any():
                row = f"{low:.1f}..{low + 0.1:.1f}", f"{inside.mean():.3f}"
                grid.add_row(*row, f"{won[inside].mean():.3f}")
        console.print(grid)

    return guarded("calls", body)


if __name__ == "__main__":
    sys.exit(main())
