"""Duplicate matches: two agents play the same deals with the sides swapped, in one batch.

Without calling (landlord fixed): each deal twice, A against two B and B against two A. With it:
each deal in six layouts, A at each seat against two B and B at each seat against two A; or, where
a third agent makes all choices before the play (`calls`), twice, with A and then B as landlord.
Deals that end void in a layout are left out whole and counted. Intervals resample deals, not
games, since the games of one deal hang together.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import bootstrap

from agents.base import Agent
from ddz_env._jit import records
from ddz_env.catalogue import CHOICES
from ddz_env.core import apply_rows, first_illegal, list_rows
from ddz_env.engine import start
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.rules import Params, RuleSet, get_rules
from ddz_env.scoring import QUARTERS
from ddz_env.state import STATE, Phase
from ddz_env.vector import Legal, deal_seeds
from ddz_env.view import VIEW, cut_views

CHUNK = 1024
"""Deals in flight at a time."""
RESAMPLES = 2000


@dataclass(frozen=True)
class MatchResult:
    """A match from A's side. Shares and points are means over deals; `ci` are 95% intervals."""

    deals: int
    """Distinct deals counted."""
    void: int
    """Deals left out because all passed too often in some layout."""
    wp: float
    """Share of games that A's side won, over both roles."""
    ci: tuple[float, float]
    landlord: float
    """Share that A won as landlord; None-like NaN when it never was."""
    landlord_ci: tuple[float, float]
    farmers: float
    """Share that A's seats won as farmers."""
    farmers_ci: tuple[float, float]
    adp: float
    """Points a deal of A's side: where sides are fixed the side's points, else of A's seat."""
    adp_ci: tuple[float, float]
    score: float
    """Difference between the points of a seat of A and of a seat of B, a deal."""
    score_ci: tuple[float, float]
    a_rates: dict[str, float]
    """How often A said yes before the play, by choice: `rates`."""
    b_rates: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON types; NaN becomes null."""

        def plain(value: Any) -> Any:
            if isinstance(value, (tuple, list)):
                return [plain(v) for v in value]
            if isinstance(value, dict):
                return {k: plain(v) for k, v in value.items()}
            if isinstance(value, float):
                return None if np.isnan(value) else round(value, 5)
            return value

        return {key: plain(value) for key, value in asdict(self).items()}


def layouts(rules: RuleSet) -> np.ndarray:
    """Which agent (0: A, 1: B) sits at each seat in each game of a deal: `int[L, 3]`."""
    if rules.auction == "none":
        return np.array([[0, 1, 1], [1, 0, 0]])
    return np.array([np.roll([k, 1 - k, 1 - k], seat) for k in (0, 1) for seat in range(3)])


def interval(values: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """The 95% bootstrap interval of the mean of one value a deal (NaN when there are too few)."""
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.all(values == values[0]):
        mean = float(values.mean()) if len(values) else float("nan")
        return mean, mean
    result = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, 4_000_000 // len(values)),
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def _mean(values: np.ndarray) -> float:
    """The mean of what is no NaN, NaN of nothing."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _decide(
    agent: Agent, states: np.ndarray, rows: np.ndarray, legal: Legal, params: Params
) -> np.ndarray:
    """An agent's choices for some rows, checked."""
    views = records(VIEW, len(rows))
    cut_views(states, rows, states["turn"][rows].astype(np.int64), params, views)
    answer = np.asarray(agent.act(views, legal))
    if answer.shape != (len(rows),) or answer.dtype.kind not in "iu":
        raise IllegalActionError(
            f"{agent!r}: expected {len(rows)} ids, got {answer.dtype} {answer.shape}"
        )
    actions = np.ascontiguousarray(answer, np.int64)
    bad = first_illegal(states, rows, actions, params)
    if bad >= 0:
        raise IllegalActionError(f"{agent!r} chose action {actions[bad]}, which is not legal")
    return actions


def play_out(
    states: np.ndarray,
    seats: np.ndarray,
    agents: list[Agent],
    params: Params,
    alive: Callable[[], None] | None = None,
    before: Phase = Phase.OVER,
) -> None:
    """Play a batch of games to their ends; an agent is asked only where it has a choice.

    Args:
        states: `STATE[N]`, changed in place.
        seats: `int[N, 3]`, the index of the agent at each seat.
        agents: the agents.
        params: the room.
        alive: called once a round, for progress.
        before: games stop when they reach this phase.
    """
    buffer = None
    while True:
        rows = np.flatnonzero(states["phase"] < before)
        if len(rows) == 0:
            return
        legal, buffer = list_rows(states, rows, params, ids=buffer)
        actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
        asked = np.where(np.diff(legal.offsets) > 1, seats[rows, states["turn"][rows]], -1)
        for k, agent in enumerate(agents):
            index = np.flatnonzero(asked == k)
            if len(index):
                actions[index] = _decide(agent, states, rows[index], legal.take(index), params)
        apply_rows(states, rows, actions, params)
        if alive is not None:
            alive()


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
        a: agent A.
        b: agent B.
        rules: the room.
        seeds: keys of the deals, `uint64[D]`.
        first_number: the public number of the first deal.
        alive: called once a round.
        calls: makes all choices before the play, for every seat; A is then landlord in layout 0,
            B in layout 1.
    """
    n, params = 2 if calls is not None else len(layouts(rules)), rules.params()
    states = records(STATE, len(seeds) * n)
    for i in range(len(states)):
        start(states[i], seeds[i // n], -1, params)
        states[i]["deal"] = first_number + i // n
    if calls is None:
        seats = np.tile(layouts(rules), (len(seeds), 1))
    else:
        play_out(states, np.zeros((len(states), 3), np.int64), [calls], params, alive, Phase.PLAY)
        landlord = states["landlord"][:, None] == np.arange(3)
        seats = np.where(landlord == (np.arange(len(states)) % 2 == 0)[:, None], 0, 1)
    play_out(states, seats, [a, b], params, alive)
    return states.reshape(len(seeds), n)


def rates(states: np.ndarray, mine: np.ndarray, rules: RuleSet) -> dict[str, float]:
    """How often some seats said yes before the play.

    Args:
        states: `STATE[D, L]`, final records.
        mine: `bool[D, L, 3]`, the seats that count.
        rules: the room.

    Returns:
        shares by choice of the room: `call`, `rob` and `blind` of the times that a seat was asked;
        `show`, `double` and `raise` of the deals in which a seat did so at least once.
    """
    grabbed = (states["blind"] == 1)[..., None] & (states["caller"][..., None] == np.arange(3))
    raised = states["history_action"] == CHOICES["raise"]
    seats = states["history_seat"]
    raises = np.stack([(raised & (seats == k)).any(axis=-1) for k in range(3)], axis=-1)
    everywhere = np.ones_like(mine)
    shows = (rules.show_before_deal, rules.show_at_6, rules.show_at_12, rules.show_after_bottom)
    choices = {  # name: (the room has it, asked, yes)
        "call": (rules.auction != "none", states["calls"] >= 0, states["calls"] > 0),
        "rob": (rules.rob, states["robs"] >= 0, states["robs"] == 1),
        "blind": (rules.auction == "blind", (states["looked"] == 1) | grabbed, grabbed),
        "show": (any(shows), everywhere, states["shows"] > 0),
        "double": (rules.double, everywhere, states["doubles"] == 1),
        "raise": (rules.raising, everywhere, raises),
    }
    return {
        name: _mean(yes[mine & asked].astype(float))
        for name, (exists, asked, yes) in choices.items()
        if exists
    }


def summarise(
    states: np.ndarray, rules: RuleSet, seed: int = 0, by_side: bool = False
) -> MatchResult:
    """The result of final records `STATE[D, L]`, from A's side.

    Args:
        states: of `play_deals`.
        rules: the room.
        seed: of the resampling.
        by_side: whether A was landlord in layout 0 and the farmers in layout 1 (`calls`).
    """
    void = (states["winner"] < 0).any(axis=1)
    states = states[~void]
    if len(states) == 0:
        raise DdzError("match: every deal was void")
    lord = states["landlord"][:, :, None] == np.arange(3)  # [D, L, seat]
    if by_side:
        mine = lord == (np.arange(2) == 0)[:, None]
    else:
        mine = np.broadcast_to(layouts(rules) == 0, (*states.shape, 3))
    won = (states["winner"] == states["landlord"])[:, :, None] == lord
    points = states["scores"] / QUARTERS

    def per_deal(values: np.ndarray, where: np.ndarray) -> np.ndarray:
        count = where.sum(axis=(1, 2))
        total = np.where(where, values, 0).sum(axis=(1, 2))
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    as_lord, as_farmer = per_deal(won, mine & lord), per_deal(won, mine & ~lord)
    if by_side or rules.auction == "none":
        wins = (as_lord + as_farmer) / 2
        adp = np.where(mine, points, 0).sum(axis=2).mean(axis=1)
    else:
        wins = per_deal(won, mine)
        adp = per_deal(points, mine)
    score = per_deal(points, mine) - per_deal(points, ~mine)
    return MatchResult(
        deals=len(states),
        void=int(void.sum()),
        wp=_mean(wins),
        ci=interval(wins, seed),
        landlord=_mean(as_lord),
        landlord_ci=interval(as_lord, seed),
        farmers=_mean(as_farmer),
        farmers_ci=interval(as_farmer, seed),
        adp=_mean(adp),
        adp_ci=interval(adp, seed),
        score=_mean(score),
        score_ci=interval(score, seed),
        a_rates=rates(states, mine, rules),
        b_rates=rates(states, ~mine, rules),
    )


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
    """Play a duplicate match of A against B.

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
        parts.append(play_deals(a, b, room, seeds[begin : begin + CHUNK], begin, None, calls))
        if keep is not None:
            keep(parts[-1])
        if progress is not None:
            progress(min(begin + CHUNK, deals))
    return summarise(np.concatenate(parts), room, seed, calls is not None)
