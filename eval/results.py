"""What a tournament says: from the games of its pairings to one JSON object, and a CSV.

The object is the one source of the tables on the screen, the CSV and the report.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ddz_env.errors import DdzError
from ddz_env.rooms import rules_from_dict
from ddz_env.rules import RuleSet
from eval.chunks import ChunkResult
from eval.cli import replacing
from eval.figures import FEW_DEALS, interval, mean, plain, summarise_games, values
from eval.games import count_faults
from eval.guard import EDGES
from eval.ratings import Games, rate
from eval.store import Store

FIGURES = ("wp", "landlord", "farmers", "adp", "adp_landlord", "adp_farmers", "score")
"""Figures of an agent: means over deals, each with an interval (`figures.parts`)."""


@dataclass(frozen=True)
class Played:
    """All that was played of a pairing."""

    a: str
    b: str
    chunks: list[ChunkResult]

    @property
    def games(self) -> np.ndarray:
        """`GAME[D, L]`."""
        return np.concatenate([chunk.games for chunk in self.chunks])


def load_played(store: Store) -> list[Played]:
    """All pairings of a finished tournament.

    Raises:
        FormatError: a file that can't be read.
    """
    manifest = store.manifest
    chunks = -(-manifest["deals"] // manifest["chunk"])
    return [
        Played(a, b, [store.load(pair, number) for number in range(chunks)])
        for pair, (a, b) in enumerate(manifest["pairs"])
    ]


def quantile(times: np.ndarray, share: float) -> float | None:
    """The decision time, seconds, that a share of decisions stay below; None of none.

    Args:
        times: decisions by time, `int64[440]`, between `EDGES`.
        share: 0..1.
    """
    if not times.sum():
        return None
    place = int(np.searchsorted(np.cumsum(times), share * times.sum()))
    return float(f"{np.sqrt(EDGES[place] * EDGES[place + 1]):.3g}")


def _described(by_deal: dict[str, np.ndarray], seed: int) -> dict[str, Any]:
    """Means and intervals of the values of deals."""
    found: dict[str, Any] = {}
    for name in by_deal:
        found[name] = mean(by_deal[name])
        found["ci" if name == "wp" else f"{name}_ci"] = interval(by_deal[name], seed)
    return found


def over_opponents(found: list[np.ndarray], name: str) -> np.ndarray:
    """The mean over opponents of a figure of each deal, `float[D]`.

    A deal counts if it does against every opponent; as landlord or farmers, against those against
    whom the agent had the role.
    """
    if name in ("wp", "adp", "score"):
        return np.mean(found, axis=0)
    known = ~np.isnan(found)
    total, count = np.where(known, found, 0).sum(axis=0), known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


class Tally:
    """The figures of a tournament.

    Args:
        played: its pairings.
        rules: the room.
        by_side: whether a third agent made all calls.
        seed: of the resampling.
    """

    def __init__(self, played: list[Played], rules: RuleSet, by_side: bool, seed: int = 0) -> None:
        self.played, self.rules, self.by_side, self.seed = played, rules, by_side, seed
        self.names = list(dict.fromkeys(name for p in played for name in (p.a, p.b)))
        self._values: dict[str, dict[str, dict[str, np.ndarray]]] = {n: {} for n in self.names}
        for p in played:
            games = p.games
            self._values[p.a][p.b] = values(games, rules, 0, by_side)
            self._values[p.b][p.a] = values(games, rules, 1, by_side)

    @property
    def fixed(self) -> bool:
        """Whether sides are fixed, so that the measure is WP and not the score."""
        return self.by_side or self.rules.auction == "none"

    def pairings(self) -> list[dict[str, Any]]:
        """The matches, each from its first agent's side."""
        found = []
        for p in self.played:
            games = p.games
            result = summarise_games(games, self.rules, self.seed, self.by_side)
            low, high = result.ci if self.fixed else result.score_ci
            even = 0.5 if self.fixed else 0.0
            warnings = []
            if result.deals < FEW_DEALS:
                warnings.append("few_deals")
            if low <= even <= high:
                warnings.append("undecided")
            faults = {"a_faults": count_faults(games, 0), "b_faults": count_faults(games, 1)}
            row = {"a": p.a, "b": p.b, **result.to_json(), "warnings": warnings, **faults}
            calls = [chunk.calling_faults for chunk in p.chunks if chunk.calling_faults]
            if calls:
                row["calling_faults"] = {k: sum(c[k] for c in calls) for k in calls[0]}
            found.append(row)
        return found

    def standings(self, pairings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each agent over all its pairings: means over opponents, then over deals."""
        found = []
        for name in self.names:
            by_deal = {
                key: over_opponents([v[key] for v in self._values[name].values()], key)
                for key in FIGURES
            }
            row = {"agent": name, "opponents": len(self._values[name])}
            row |= plain(_described(by_deal, self.seed))
            sides = [(r, k) for r in pairings for k in ("a", "b") if r[k] == name]
            for key in sides[0][0]["a_rates"]:
                rates = [r[f"{k}_rates"][key] for r, k in sides]
                known = [rate for rate in rates if rate is not None]
                row.setdefault("rates", {})[key] = plain(sum(known) / len(known)) if known else None
            keys = sides[0][0]["a_faults"]
            row["faults"] = {f: sum(r[f"{k}_faults"][f] for r, k in sides) for f in keys}
            times = sum(
                chunk.times[0 if p.a == name else 1]
                for p in self.played
                if name in (p.a, p.b)
                for chunk in p.chunks
            )
            row["decisions"] = int(np.sum(times))
            row["seconds"] = {
                "median": quantile(np.asarray(times), 0.5),
                "p95": quantile(np.asarray(times), 0.95),
            }
            row["notes"] = [note for p in self.played for note in self._notes(p, name)][:3]
            found.append(row)
        return found

    @staticmethod
    def _notes(played: Played, name: str) -> Iterable[str]:
        for side, agent in enumerate((played.a, played.b)):
            if agent == name:
                for chunk in played.chunks:
                    yield from chunk.notes[side]

    def differences(self) -> list[dict[str, Any]]:
        """How two agents differ against the same opponents on the same deals, paired by deal."""
        found = []
        for one, other in combinations(self.names, 2):
            mine, theirs = self._values[one], self._values[other]
            common = [name for name in mine if name in theirs and name not in (one, other)]
            if not common:
                continue
            by_deal = {
                key: np.mean([mine[name][key] - theirs[name][key] for name in common], axis=0)
                for key in ("wp", "adp", "score")
            }
            row = {"a": one, "b": other, "common": common, **_described(by_deal, self.seed)}
            low, high = row["ci"] if self.fixed else row["score_ci"]
            row["warnings"] = ["undecided"] if low <= 0 <= high else []
            found.append(plain(row))
        return found

    def ratings(self, deals_hash: str) -> dict[str, Any]:
        """Ratings for one against two: `eval.ratings`."""
        return rate([Games(p.a, p.b, p.games, deals_hash) for p in self.played]).to_json()


def checkpoints(specs: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What checkpoints among the agents say of their training, by spec, for learning curves.

    Returns:
        `run`, the folder; `minutes`; `decisions` and `games`, as far as the checkpoint holds them.
    """
    found = {}
    for spec in specs:
        path = Path(spec.partition(":")[2].partition(",")[0])
        if path.suffix != ".pt" or not path.is_file():
            continue
        import torch  # only where an agent has loaded it anyway

        data = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        if isinstance(data, dict) and "elapsed" in data:
            about = {"run": str(path.parent), "minutes": round(data["elapsed"] / 60, 2)}
            counts = data.get("counts", {})
            found[spec] = about | {k: counts[k] for k in ("decisions", "games") if k in counts}
    return found


def collect(manifest: dict[str, Any], played: list[Played]) -> dict[str, Any]:
    """The content of results.json, but for the command and the versions.

    Raises:
        DdzError: every deal of a pairing was void.
    """
    rules = rules_from_dict(manifest["rules_fields"])
    tally = Tally(played, rules, manifest["calls"] is not None)
    try:
        pairings = tally.pairings()
    except DdzError as error:
        raise DdzError(f"tournament: {error}") from error
    return {
        **manifest,
        "measure": "wp" if tally.fixed else "score",
        "pairings": pairings,
        "checkpoints": checkpoints(manifest["agents"]),
        "standings": tally.standings(pairings),
        "differences": tally.differences(),
        "ratings": tally.ratings(manifest["deals_hash"]),
    }


def write_csv(path: Path, data: dict[str, Any]) -> None:
    """The pairings as a table, one a row, each with what it needs to be played again."""
    common = {
        "rules": data["rules"],
        "rules_hash": data["rules_hash"],
        "calls": data["calls"] or "",
        "seed": "" if data["seed"] is None else data["seed"],
        "deals_file": data["deals_file"] or "",
        "deals_hash": data["deals_hash"],
        "versions": " ".join(f"{k}={v}" for k, v in data["versions"].items()),
        "command": data["command"],
    }
    rows = []
    for pairing in data["pairings"]:
        row: dict[str, Any] = {}
        for key, value in pairing.items():
            if isinstance(value, dict):
                row |= {f"{key}_{name}": cell for name, cell in value.items()}
            elif key == "warnings":
                row[key] = " ".join(value)
            elif isinstance(value, list):
                row |= {f"{key}_low": value[0], f"{key}_high": value[1]}
            else:
                row[key] = value
        rows.append(row | common)
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
