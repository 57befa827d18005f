"""Ratings for one against two: `python eval/ratings.py results/x results/y`.

Every agent has a strength as landlord, L, and one as farmers, F. A landlord of agent i beats
farmers of agents j and k with the chance

    sigmoid(b + L_i - (F_j + F_k) / 2)

where b is how much the room favours landlords (two farmers of one agent: j = k). All are fitted
together by maximum likelihood: the model of Bradley and Terry (1952) with landlord and farmers as
two kinds of players. A weak prior keeps the strength finite of an agent that lost or won
everything. Strengths count from their mean: the sum of all L is 0, the sum of all F too, so more
results move strength between agents and never add any. In Elo points: 400 of them are odds of ten
to one. Intervals resample deals, the same deals for all pairings that share them. Where the results
leave something open it is not given: two agents, or one against all others, tell how strong each is
over both roles, not in which.

With calling, an agent's strength as landlord holds for the hands that it chose to play; compare
card play alone with `--calls`, or the score.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit

from ddz_env.errors import DdzError
from eval.cli import check_folder, command_line, guarded, save_json, versions
from eval.figures import plain
from eval.store import read_folder

ELO = 400 / np.log(10)
"""Elo points of a unit of strength."""
PRIOR = 1 / 16
"""Weight of the prior: normal, four units (695 points) wide, worth less than one game."""
RESAMPLES = 500


@dataclass(frozen=True)
class Games:
    """Games of two agents on some deals."""

    a: str
    b: str
    games: np.ndarray
    """`GAME[D, L]`."""
    deals: str
    """Hash of the deals: pairings that share it have been played on the same ones, in order."""


@dataclass(frozen=True)
class Rating:
    """An agent's strengths in Elo points above the mean, with 95% intervals."""

    agent: str
    games: int
    rating: float
    """The mean of both strengths: how it does over both roles."""
    ci: tuple[float, float]
    landlord: float
    """NaN, as `farmers`, where the results tell the mean of both only."""
    landlord_ci: tuple[float, float]
    farmers: float
    farmers_ci: tuple[float, float]
    bounded: bool
    """False where it won or lost everything in a role, so that only a bound is known."""


@dataclass(frozen=True)
class Ratings:
    """All agents' ratings, the best first."""

    agents: list[Rating]
    bias: float
    """How much the room favours landlords, Elo points: b."""
    bias_ci: tuple[float, float]
    chances: dict[str, list[list[float]]] = field(default_factory=dict)
    """`landlord[i][j]`: the fitted chance that agent i as landlord beats farmers of agent j, in the
    order of `agents`; NaN where the results don't tell."""

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return plain(asdict(self))


@dataclass(frozen=True)
class Outcomes:
    """Landlords' wins by who played whom and by deal."""

    names: list[str]
    """Agents, sorted."""
    sides: np.ndarray
    """`int[T, 3]`: landlord and both farmers of each kind of game, indices into names."""
    wins: np.ndarray
    """Games that the landlord won, `float[T, D]`."""
    games: np.ndarray
    """Games, `float[T, D]`."""
    blocks: list[int]
    """Numbers of deals that are resampled together, in order; they sum to D."""

    def design(self) -> np.ndarray:
        """What each kind of game adds up: `float[T, 1 + 2 N]`, over b, all L and all F."""
        n, rows = len(self.names), np.arange(len(self.sides))
        x = np.zeros((len(rows), 1 + 2 * n))
        x[:, 0] = 1
        x[rows, 1 + self.sides[:, 0]] = 1
        for column in (1, 2):
            x[rows, 1 + n + self.sides[:, column]] -= 0.5
        return x


def tally(results: Sequence[Games]) -> Outcomes:
    """Count games by who was landlord against whom and by deal; the order of results is all one.

    Raises:
        DdzError: nothing to rate; agents that never met, not even through others.
    """
    results = sorted(results, key=lambda r: (r.deals, r.a, r.b))
    names = sorted({name for r in results for name in (r.a, r.b)})
    sizes: dict[str, int] = {}
    for r in results:
        sizes[r.deals] = max(sizes.get(r.deals, 0), len(r.games))
    blocks = [sizes[deals] for deals in sorted(sizes)]
    begins = dict(zip(sorted(sizes), np.cumsum([0, *blocks]), strict=False))
    found: dict[tuple[int, ...], np.ndarray] = {}
    for r in results:
        pair = np.array([names.index(r.a), names.index(r.b)])
        games = r.games.reshape(-1)
        deal = np.repeat(np.arange(len(r.games)), r.games.shape[1]) + begins[r.deals]
        ends = games["landlord"] >= 0
        games, deal = games[ends], deal[ends]
        landlord = games["landlord"].astype(int)[:, None]
        seats = np.concatenate([landlord, (landlord + 1) % 3, (landlord + 2) % 3], axis=1)
        sides = pair[np.take_along_axis(games["by"].astype(int), seats, axis=1)]  # [games, 3]
        sides[:, 1:].sort(axis=1)
        won = games["winner"] == games["landlord"]
        for kind in np.unique(sides, axis=0):
            here = (sides == kind).all(axis=1)
            counts = found.setdefault(tuple(kind), np.zeros((2, sum(blocks))))
            np.add.at(counts[0], deal[here & won], 1)
            np.add.at(counts[1], deal[here], 1)
    kinds = sorted(found)
    if not kinds:
        raise DdzError("ratings: no games")
    counts = np.array([found[kind] for kind in kinds])
    outcomes = Outcomes(names, np.array(kinds), counts[:, 0], counts[:, 1], blocks)
    _check_connected(outcomes)
    return outcomes


def _check_connected(outcomes: Outcomes) -> None:
    n = len(outcomes.names)
    met = np.zeros((n, n))
    for landlord, one, other in outcomes.sides:
        met[landlord, one] = met[landlord, other] = 1
    pieces, piece = connected_components(met, directed=False)
    if pieces > 1:
        one, other = outcomes.names[0], outcomes.names[int(np.flatnonzero(piece != piece[0])[0])]
        raise DdzError(f"ratings: {one} and {other} never met, not even through other agents")


def fit(design: np.ndarray, wins: np.ndarray, games: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The most likely parameters, `float[P]`; the first is b and has no prior.

    Args:
        design: `float[T, P]`.
        wins: games won, `float[T]`.
        games: games, `float[T]`.
        start: where to look first, `float[P]`.
    """
    prior = np.r_[0.0, np.full(design.shape[1] - 1, PRIOR)]

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        z = design @ theta
        value = -(wins @ log_expit(z) + (games - wins) @ log_expit(-z))
        slope = design.T @ (games * expit(z) - wins)
        return value + prior @ theta**2 / 2, slope + prior * theta

    def curvature(theta: np.ndarray) -> np.ndarray:
        chance = expit(design @ theta)
        return (design.T * (games * chance * (1 - chance))) @ design + np.diag(prior)

    return minimize(loss, start, jac=True, hess=curvature, method="trust-exact").x


def centring(n: int) -> np.ndarray:
    """What turns parameters of `n` agents into b, L and F with the sums of all L and all F at 0.

    Returns:
        `float[1 + 2 n, 1 + 2 n]`, to be multiplied by parameters.
    """
    about = np.eye(n) - 1 / n
    made = np.zeros((1 + 2 * n, 1 + 2 * n))
    made[0] = np.r_[1.0, np.full(n, 1 / n), np.full(n, -1 / n)]
    made[1 : n + 1, 1 : n + 1] = made[n + 1 :, n + 1 :] = about
    return made


def are_told(design: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Which weighted sums of parameters follow from the results, `bool[S]`.

    Args:
        design: `float[T, P]`, what the results are about.
        sums: their weights, `float[S, P]`.
    """
    explained = np.linalg.lstsq(design.T, sums.T, rcond=None)[0]
    return np.abs(design.T @ explained - sums.T).max(axis=0) < 1e-9


def resampled(outcomes: Outcomes, resamples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(wins, games) `float[R, T]` with deals drawn anew, each block's among themselves."""
    rng = np.random.default_rng(seed)
    wins, games, begin = 0.0, 0.0, 0
    for n in outcomes.blocks:
        weights = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)
        wins = wins + weights @ outcomes.wins[:, begin : begin + n].T
        games = games + weights @ outcomes.games[:, begin : begin + n].T
        begin += n
    return np.asarray(wins), np.asarray(games)


def rate(results: Sequence[Games], resamples: int = RESAMPLES, seed: int = 0) -> Ratings:
    """Rate all agents of some results.

    Args:
        results: games of pairings, in any order.
        resamples: of the intervals.
        seed: of the resampling.

    Raises:
        DdzError: nothing to rate; agents that never met, not even through others.
    """
    outcomes = tally(results)
    design = outcomes.design()
    wins, games = outcomes.wins.sum(axis=1), outcomes.games.sum(axis=1)
    best = fit(design, wins, games, np.zeros(design.shape[1]))
    drawn = zip(*resampled(outcomes, resamples, seed), strict=True)
    draws = [fit(design, w, g, best) for w, g in drawn]
    return _ratings(outcomes, best, np.array(draws))


def _interval(values: np.ndarray) -> tuple[float, float]:
    """The middle 95% of resamples."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def _ratings(outcomes: Outcomes, best: np.ndarray, draws: np.ndarray) -> Ratings:
    """Ratings from parameters `float[P]` and their resamples `float[R, P]`."""
    n, design = len(outcomes.names), outcomes.design()
    wins, games = outcomes.wins.sum(axis=1), outcomes.games.sum(axis=1)
    centre = centring(n)
    untold = np.where(are_told(design, centre), ELO, np.nan)
    theta, spread = centre @ best * untold, draws @ centre.T * untold
    roles = centre[1 : n + 1] + centre[n + 1 :]
    both, both_spread = roles @ best * ELO / 2, draws @ roles.T * ELO / 2
    found = []
    for i, name in enumerate(outcomes.names):
        lord, farmer = 1 + i, 1 + n + i
        as_lord = outcomes.sides[:, 0] == i
        as_farmer = (outcomes.sides[:, 1:] == i).any(axis=1)
        counts = [(wins[rows].sum(), games[rows].sum()) for rows in (as_lord, as_farmer)]
        found.append(
            Rating(
                agent=name,
                games=int(games[as_lord | as_farmer].sum()),
                rating=float(both[i]),
                ci=_interval(both_spread[:, i]),
                landlord=float(theta[lord]),
                landlord_ci=_interval(spread[:, lord]),
                farmers=float(theta[farmer]),
                farmers_ci=_interval(spread[:, farmer]),
                bounded=all(0 < won < played for won, played in counts),
            )
        )
    order = sorted(range(n), key=lambda i: (-found[i].rating, found[i].agent))
    meetings = np.zeros((n * n, 1 + 2 * n))
    for k, (i, j) in enumerate((i, j) for i in order for j in order):
        meetings[k, [0, 1 + i, 1 + n + j]] = 1, 1, -1
    chances = np.where(are_told(design, meetings), expit(meetings @ best), np.nan)
    return Ratings(
        agents=[found[i] for i in order],
        bias=float(theta[0]),
        bias_ci=_interval(spread[:, 0]),
        chances={"landlord": chances.reshape(n, n).tolist()},
    )


def shown(value: float, ci: tuple[float, float]) -> str:
    """A rating with its interval."""
    return f"{value:+.0f} [{ci[0]:+.0f}, {ci[1]:+.0f}]"


def table(ratings: Ratings) -> Table:
    """The ratings as a table."""
    grid = Table(
        title="Elo points above the mean, with 95% intervals",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    grid.add_column("agent", overflow="fold", min_width=11)
    for name in ("rating", "as landlord", "as farmers", "games"):
        grid.add_column(name, justify="right", no_wrap=True)
    for r in ratings.agents:
        cells = [(r.rating, r.ci), (r.landlord, r.landlord_ci), (r.farmers, r.farmers_ci)]
        texts = ["-" if np.isnan(value) else shown(value, ci) for value, ci in cells]
        grid.add_row(r.agent + ("" if r.bounded else " *"), *texts, f"{r.games:,}")
    return grid


@dataclass(frozen=True)
class Command:
    """Rate the agents of tournaments together, for one against two."""

    results: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of finished tournaments in one room."""
    json: Path | None = None
    """File for the ratings."""
    resamples: int = RESAMPLES
    """Of the intervals."""


def gather(folders: Sequence[Path]) -> tuple[list[Games], dict[str, Any]]:
    """The games of tournaments' folders, and the manifest of the first.

    Raises:
        DdzError: not such folders, not finished, of different rooms, or of different agents under
            one name.
    """
    if not folders:
        raise DdzError("results: expected one folder or more")
    found: list[Games] = []
    files: dict[str, Any] = {}
    first: dict[str, Any] = {}
    for folder in folders:
        manifest, games = read_folder(folder)
        first = first or manifest
        for key in ("rules_hash", "calls"):
            if manifest[key] != first[key]:
                names = (f"{folders[0]} has {first[key]}", f"{folder} {manifest[key]}")
                raise DdzError(f"results: of different rooms: {key}: {', '.join(names)}")
        for spec in manifest["agents"]:
            have = manifest["files"].get(spec)
            if files.setdefault(spec, have) != have:
                raise DdzError(f"results: {spec} is of other files in {folder} than before")
        found += [Games(a, b, played, manifest["deals_hash"]) for a, b, played in games]
    return found, first


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        if command.resamples < 2:
            raise DdzError(f"--resamples: expected a whole number from 2, got {command.resamples}")
        if command.json is not None:
            check_folder(command.json.parent)
        games, manifest = gather(command.results)
        ratings = rate(games, command.resamples)
        console = Console()
        console.print(table(ratings))
        if not np.isnan(ratings.bias):
            text = f"favours landlords by {shown(ratings.bias, ratings.bias_ci)}"
            console.print(f"{manifest['rules']} {text}", highlight=False)
        if not all(r.bounded for r in ratings.agents):
            console.print("* won or lost everything in a role: the rating is only a bound")
        if command.json is not None:
            data = {
                "rules": manifest["rules"],
                "rules_hash": manifest["rules_hash"],
                "calls": manifest["calls"],
                "command": command_line("eval/ratings.py", arguments),
                "versions": versions("numpy", "scipy"),
                **ratings.to_json(),
            }
            save_json(command.json, data)
            console.print(f"ratings {command.json}", highlight=False, soft_wrap=True)

    return guarded("ratings", body)


if __name__ == "__main__":
    sys.exit(main())
