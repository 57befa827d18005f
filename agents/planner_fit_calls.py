"""Fit the planner's estimates before the play: `python agents/planner_fit_calls.py --deals 20000`.

Planners play deals among themselves; whether a side won is regressed (logistic) on facts of a hand:
that of seat 0 before the bottom where it is always landlord, those of landlord and farmers where
the room's calls have found one. `planner_calls.ESTIMATES` holds what it prints.
"""

import sys
from dataclasses import dataclass

import numpy as np
import tyro
from rich.console import Console

import agents
from agents.planner_calls import HAND_FACTS, facts_of_deal
from agents.planner_fit import one_step, play_alone
from ddz_env._jit import records
from ddz_env.cards import HAND_SIZE, WILD, pack
from ddz_env.engine import make_wild, start
from ddz_env.errors import DdzError
from ddz_env.rules import PRESETS, RuleSet
from ddz_env.state import STATE
from ddz_env.vector import deal_seeds

ROOMS = ("happy", "happy_laizi")
"""Without and with wild cards."""


@dataclass(frozen=True)
class Command:
    """Fit the estimates behind the planner's calls, doubles and raises."""

    deals: int = 20_000
    """Deals of each room."""
    seed: int = 77
    """Seed of the deals."""


def final_states(rules: RuleSet, deals: int, seed: int) -> np.ndarray:
    """Deals that three planners have played, those without a landlord left out: `STATE[D]`."""
    states = records(STATE, deals)
    for state, key in zip(states, deal_seeds(seed, deals), strict=True):
        start(state, key, -1, rules.params())
    planner = agents.load("planner", rules)
    while one_step(states, np.zeros((deals, 3), np.int64), [planner], rules.params()):
        pass
    return states[states["winner"] >= 0]


def hand_of(state: np.void, seat: int, bottom: bool) -> np.uint64:
    """A seat's cards when the play begins, or before the bottom with no card wild yet."""
    cards = list(state["deck"][HAND_SIZE * seat : HAND_SIZE * (seat + 1)])
    if bottom and seat == state["landlord"]:
        cards += list(state["deck"][-3:])
    hand = np.uint64(pack(cards))
    wild = int(state["wild"])
    return make_wild(hand, wild) if bottom and 0 <= wild < 13 and WILD not in cards else hand


def logistic(x: np.ndarray, won: np.ndarray) -> np.ndarray:
    """Weights of the most likely logistic model, by Newton's method; a little shrunk."""
    w = np.zeros(x.shape[1])
    ridge = 1e-3 * len(x) * np.diag([0.0, *[1e-2] * (x.shape[1] - 1)])
    for _ in range(20):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge + 1e-9 * np.eye(len(w))
        w += np.linalg.solve(hessian, x.T @ (won - p) - ridge @ w)
    return w


def sample(states: np.ndarray, seats: np.ndarray, bottom: bool) -> tuple[np.ndarray, np.ndarray]:
    """(facts, side won) of one seat of each deal."""
    x = np.zeros((len(states), len(HAND_FACTS)))
    for row, state, seat in zip(x, states, seats, strict=True):
        facts_of_deal(hand_of(state, int(seat), bottom), row)
    return x, ((states["winner"] == states["landlord"]) == (seats == states["landlord"])).astype(
        float
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0, or 2 for an argument that can't be used."""
    command, console = tyro.cli(Command, args=arguments), Console(width=200)
    if command.deals < 1000:
        print(f"planner_fit_calls: --deals: at least 1000, got {command.deals}", file=sys.stderr)
        return 2
    for room in ROOMS:
        alone = final_states(play_alone(PRESETS[room]), command.deals, command.seed)
        called = final_states(PRESETS[room], command.deals, command.seed + 1)
        lord = called["landlord"].astype(np.int64)
        samples = {
            "before the bottom": sample(alone, np.zeros(len(alone), np.int64), False),
            "landlord": sample(called, lord, True),
            "farmer": sample(called, (lord + 1 + np.arange(len(called)) % 2) % 3, True),
        }
        for when, (x, won) in samples.items():
            w = logistic(x, won)
            p = 1 / (1 + np.exp(-x @ w))
            tenths = np.array_split(np.argsort(p), 5)
            shown = ", ".join(f"{p[t].mean():.2f}:{won[t].mean():.2f}" for t in tenths)
            console.print(f"({', '.join(f'{v:.3f}' for v in w)}),  # {room}, {when}")
            console.print(f"#   {len(won)} deals, estimate:won by fifths {shown}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DdzError as error:
        sys.exit(f"planner_fit_calls: {error}")
