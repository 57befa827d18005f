"""What games say: values of each deal, means with intervals, the gain of duplicate deals.

All functions are pure. Intervals resample deals, not games, since the games of one deal hang
together. Deals that end void in a layout are left out whole and counted.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import bootstrap

from ddz_env.errors import DdzError
from ddz_env.rules import RuleSet
from ddz_env.scoring import QUARTERS
from eval.games import rates

RESAMPLES = 2000
FEW_DEALS = 100
"""Below so many deals the interval of a mean is itself too rough for a claim."""


def interval(values: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """The 95% bootstrap interval of the mean of one value a deal (NaN when there are too few)."""
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.all(values == values[0]):
        only = float(values.mean()) if len(values) else float("nan")
        return only, only
    kinds, counts = np.unique(values, return_counts=True)
    if len(kinds) * 20 < len(values):  # how often each value is drawn: the same, much faster
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(len(values), counts / len(values), size=RESAMPLES)
        low, high = np.percentile(drawn @ kinds / len(values), [2.5, 97.5])
        return float(low), float(high)
    result = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, 4_000_000 // len(values)),
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def mean(values: np.ndarray) -> float:
    """The mean of what is no NaN, NaN of nothing."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def parts(games: np.ndarray, rules: RuleSet, side: int, by_side: bool) -> dict[str, np.ndarray]:
    """What each game of a deal adds to the deal's values, from one agent's side.

    Args:
        games: `GAME[D, L]`.
        rules: the room.
        side: 0 agent A, 1 agent B.
        by_side: whether each agent was landlord once in every deal because a third one called.

    Returns:
        `float[D, L]` by name, whose sum over the games of a deal is its value: `wp` and `adp`, as
        `landlord` and `farmers` (`adp_landlord`, `adp_farmers`) alone, and `score`, the points of a
        seat of the agent less those of a seat of the other. NaN for void deals, and where the agent
        never had the role.
    """
    lord = games["landlord"][:, :, None] == np.arange(3)  # [D, L, seat]
    mine = games["by"] == side
    won = ((games["winner"] == games["landlord"])[:, :, None] == lord).astype(float)
    points = games["scores"] / QUARTERS
    void = (games["winner"] < 0).any(axis=1)

    def shares(values: np.ndarray, where: np.ndarray) -> np.ndarray:
        count = where.sum(axis=(1, 2)).astype(float)
        count[(count == 0) | void] = np.nan
        return np.where(where, values, 0).sum(axis=2) / count[:, None]

    found = {
        "landlord": shares(won, mine & lord),
        "farmers": shares(won, mine & ~lord),
        "adp_landlord": shares(points, mine & lord),
        "adp_farmers": shares(points, mine & ~lord),
        "score": shares(points, mine) - shares(points, ~mine),
    }
    if by_side or rules.auction == "none":  # whole sides: a role in every other game
        found["adp_farmers"] = found["adp_farmers"] * 2
        found["wp"] = (found["landlord"] + found["farmers"]) / 2
        found["adp"] = (found["adp_landlord"] + found["adp_farmers"]) / 2
    else:
        found["wp"], found["adp"] = shares(won, mine), shares(points, mine)
    return found


def values(
    games: np.ndarray, rules: RuleSet, side: int = 0, by_side: bool = False
) -> dict[str, np.ndarray]:
    """The values of each deal, `float[D]` by name, from one agent's side; see `parts`."""
    return {k: v.sum(axis=1) for k, v in parts(games, rules, side, by_side).items()}


def gain(games: np.ndarray) -> float:
    """How many games on deals of their own one game of a duplicate deal is worth.

    The variance of a mean over as many games, one a deal in the same mix of layouts, by that of the
    mean over duplicate deals. NaN where nothing varies.

    Args:
        games: `float[D, L]`, what each game adds to its deal's value (`parts`).
    """
    games = games[~np.isnan(games).any(axis=1)]
    if len(games) < 2:
        return float("nan")
    together = float(games.sum(axis=1).var(ddof=1))
    # Agents that play alike have the same value in every deal but for the last bit.
    return float(games.var(axis=0, ddof=1).sum()) / together if together > 1e-18 else float("nan")


def deals_needed(deals: np.ndarray, even: float) -> float:
    """How many deals tell a mean from `even` if it is what was seen: at .95, four times in five.

    Args:
        deals: `float[D]`, one value a deal.
        even: the mean of agents that are equal.

    Returns:
        the number, infinite where the mean is even.
    """
    deals = deals[~np.isnan(deals)]
    off = abs(float(deals.mean()) - even)
    return float(deals.var()) * ((1.960 + 0.842) / off) ** 2 if off > 1e-12 else math.inf


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
    """How often A said yes before the play, by choice, and its bombs: `games.rates`."""
    b_rates: dict[str, float]
    adp_landlord: float
    """The same points in the games in which A was landlord."""
    adp_landlord_ci: tuple[float, float]
    adp_farmers: float
    """The same points in the games in which A's seats were farmers."""
    adp_farmers_ci: tuple[float, float]
    gain: float
    """Games on independent deals that a game of a duplicate deal is worth, for `wp`: `gain`."""
    score_gain: float
    """The same for `score`."""
    needed: float
    """Deals that would tell the agents apart if the difference is what was seen: `deals_needed`."""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON types; what is not finite becomes null."""
        return plain(asdict(self))


def plain(value: Any) -> Any:
    """Figures as JSON types: five digits, null for what is not finite."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, float):
        return round(float(value), 5) if math.isfinite(value) else None
    return value


def summarise_games(
    games: np.ndarray, rules: RuleSet, seed: int = 0, by_side: bool = False
) -> MatchResult:
    """The result of the games of a match, from A's side.

    Args:
        games: `GAME[D, L]`.
        rules: the room.
        seed: of the resampling.
        by_side: as in `parts`.

    Raises:
        DdzError: every deal was void.
    """
    void = (games["winner"] < 0).any(axis=1)
    games = games[~void]
    if len(games) == 0:
        raise DdzError("match: every deal was void")
    by_game = parts(games, rules, 0, by_side)
    by_deal = {k: v.sum(axis=1) for k, v in by_game.items()}
    fixed = by_side or rules.auction == "none"
    return MatchResult(
        deals=len(games),
        void=int(void.sum()),
        **{k: mean(v) for k, v in by_deal.items()},
        ci=interval(by_deal["wp"], seed),
        **{f"{k}_ci": interval(v, seed) for k, v in by_deal.items() if k != "wp"},
        a_rates=rates(games, games["by"] == 0, rules),
        b_rates=rates(games, games["by"] == 1, rules),
        gain=gain(by_game["wp"]),
        score_gain=gain(by_game["score"]),
        needed=deals_needed(by_deal["wp"] if fixed else by_deal["score"], 0.5 if fixed else 0.0),
    )
