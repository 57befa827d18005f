"""Duplicate matches: two agents play the same deals with the sides swapped, in one batch.

Without calling (landlord fixed): each deal twice, A against two B and B against two A. With it:
each deal in six layouts, A at each seat against two B and B at each seat against two A; or, where
a third agent makes all choices before the play (`calls`), twice, with A and then B as landlord.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agents.base import Agent
from ddz_env import core
from ddz_env._jit import records
from ddz_env.engine import start, start_from_deck
from ddz_env.errors import DdzError
from ddz_env.params import Params
from ddz_env.rules import RuleSet, get_rules
from ddz_env.state import STATE, Phase
from ddz_env.vector import deal_seeds
from eval.figures import MatchResult, interval, summarise_games
from eval.games import condense, layouts
from eval.guard import Decide, decide_strictly

__all__ = ["MatchResult", "interval", "layouts", "play_deals", "play_match", "summarise"]

CHUNK = 1024
"""Deals in flight at a time."""


def play_out(
    states: np.ndarray,
    seats: np.ndarray,
    agents: list[Agent],
    params: Params,
    alive: Callable[[], None] | None = None,
    before: Phase = Phase.OVER,
    decide: Decide = decide_strictly,
) -> None:
    """Play a batch of games to their ends; an agent is asked only where it has a choice.

    Args:
        states: `STATE[N]`, changed in place.
        seats: `int[N, 3]`, the index of the agent at each seat.
        agents: the agents.
        params: the room.
        alive: called once a round, for progress.
        before: games stop when they reach this phase.
        decide: what asks an agent.
    """
    buffer = None
    while True:
        rows = np.flatnonzero(states["phase"] < before)
        if len(rows) == 0:
            return
        legal, buffer = core.list_rows(states, rows, params, ids=buffer)
        actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
        asked = np.where(np.diff(legal.offsets) > 1, seats[rows, states["turn"][rows]], -1)
        for k in np.unique(asked[asked >= 0]):
            index = np.flatnonzero(asked == k)
            lists = legal.take(index)
            actions[index] = decide(int(k), agents[k], states, rows[index], lists, params)
        core.apply_rows(states, rows, actions, params)
        if alive is not None:
            alive()


@dataclass(frozen=True)
class Deals:
    """Deals to play."""

    keys: np.ndarray
    """Key of each, `uint64[D]`."""
    first: int = 0
    """Public number of the first one."""
    decks: np.ndarray | None = None
    """Their cards, `uint8[D, 54]`; shuffled by key where left out."""

    def part(self, begin: int, end: int) -> "Deals":
        """Some of them."""
        decks = None if self.decks is None else self.decks[begin:end]
        return Deals(self.keys[begin:end], self.first + begin, decks)

    def start(self, rules: RuleSet, copies: int = 1) -> np.ndarray:
        """The deals begun, each so many times: `STATE[D * copies]`."""
        states, params = records(STATE, len(self.keys) * copies), rules.params()
        for i in range(len(states)):
            start(states[i], self.keys[i // copies], -1, params)
            states[i]["deal"] = self.first + i // copies
            if self.decks is not None:
                states[i]["deck"] = self.decks[i // copies]
                start_from_deck(states[i], params)
        return states


def games_of_a_deal(rules: RuleSet, by_side: bool) -> int:
    """How many games each deal is played in: twice, or in six layouts."""
    return 2 if by_side else len(layouts(rules))


def who_sits(states: np.ndarray, rules: RuleSet, by_side: bool) -> np.ndarray:
    """Whose agent sits at each seat, 0 A, 1 B: `int[N, 3]`, for `STATE[N]` in the order of deals.

    Args:
        states: the games; `by_side` they have come to the play.
        rules: the room.
        by_side: whether A is landlord in a deal's first game and B in its second one.
    """
    if not by_side:
        table = layouts(rules)
        return np.tile(table, (len(states) // len(table), 1))
    landlord = states["landlord"][:, None] == np.arange(3)
    return np.where(landlord == (np.arange(len(states)) % 2 == 0)[:, None], 0, 1)


def play_deals(
    a: Agent,
    b: Agent,
    rules: RuleSet,
    seeds: np.ndarray,
    first_number: int = 0,
    alive: Callable[[], None] | None = None,
    calls: Agent | None = None,
) -> np.ndarray:
    """The final records of a duplicate match: `STATE[D, L]`, by deal and layout.

    Args:
        a: agent A; one for all its seats.
        b: agent B.
        rules: the room.
        seeds: keys of the deals, `uint64[D]`.
        first_number: the public number of the first deal.
        alive: called once a round.
        calls: makes all choices before the play, for every seat; A is then landlord in layout 0,
            B in layout 1.
    """
    n, params = games_of_a_deal(rules, calls is not None), rules.params()
    states = Deals(seeds, first_number).start(rules, n)
    if calls is not None:
        play_out(states, np.zeros((len(states), 3), np.int64), [calls], params, alive, Phase.PLAY)
    play_out(states, who_sits(states, rules, calls is not None), [a, b], params, alive)
    return states.reshape(len(seeds), n)


def summarise(
    states: np.ndarray, rules: RuleSet, seed: int = 0, by_side: bool = False
) -> MatchResult:
    """The result of final records `STATE[D, L]`, from A's side.

    Args:
        states: of `play_deals`.
        rules: the room.
        seed: of the resampling.
        by_side: whether A was landlord in layout 0 and the farmers in layout 1 (`calls`).

    Raises:
        DdzError: every deal was void.
    """
    sides = who_sits(states.reshape(-1), rules, by_side).reshape(*states.shape, 3)
    return summarise_games(condense(states, rules, sides), rules, seed, by_side)


def play_match(
    a: Agent,
    b: Agent,
    rules: str | RuleSet = "play_only",
    deals: int = 1000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    keep: Callable[[np.ndarray], None] | None = None,
    calls: Agent | None = None,
) -> MatchResult:
    """Play a duplicate match of A against B in this process, strictly: agents may not fail.

    Several processes, and agents that may fail: `eval.tournament`.

    Args:
        a: agent A.
        b: agent B.
        rules: a preset's name or a `RuleSet`.
        deals: distinct deals, at least 1.
        seed: of the deals.
        progress: called with the number of deals done, after every `CHUNK`.
        keep: called with the final records of every `CHUNK`, `STATE[D, L]`, for replays.
        calls: makes all choices before the play, so that only card play is compared.

    Raises:
        DdzError: an argument out of range, or every deal void.
        IllegalActionError: an agent made an illegal choice.
    """
    if isinstance(deals, bool) or not isinstance(deals, int) or deals < 1:
        raise DdzError(f"deals: expected a whole number from 1, got {deals!r}")
    room = get_rules(rules)
    seeds = deal_seeds(seed, deals)
    parts = []
    for begin in range(0, deals, CHUNK):
        states = play_deals(a, b, room, seeds[begin : begin + CHUNK], begin, None, calls)
        if keep is not None:
            keep(states)
        sides = who_sits(states.reshape(-1), room, calls is not None).reshape(*states.shape, 3)
        parts.append(condense(states, room, sides))
        if progress is not None:
            progress(min(begin + CHUNK, deals))
    return summarise_games(np.concatenate(parts), room, seed, calls is not None)
