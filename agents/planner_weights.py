"""The table of the planner's weights, `planner_weights.csv`: a row a fact, a column a situation."""

import csv
from pathlib import Path

import numpy as np

from agents.base import AgentError
from agents.planner_features import NAMES, K

SITUATIONS = tuple(
    f"{role} {what}{room}"
    for room in ("", ", wilds")
    for role in ("landlord", "landlord_down", "landlord_up")
    for what in ("leads", "replies")
)
"""The columns, in the order of `planner_features.situation`."""
PATH = Path(__file__).parent / "planner_weights.csv"


def read_weights(path: Path = PATH) -> np.ndarray:
    """The weights of a table, `float64[12, K]`.

    Raises:
        AgentError: no such file, or not a table of these facts and situations.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        names = tuple(row[0] for row in rows[1:])
        if tuple(rows[0][1:]) != SITUATIONS or names != NAMES:
            raise ValueError("expected other facts or situations")
        return np.array([[float(text) for text in row[1:]] for row in rows[1:]]).T.copy()
    except (OSError, ValueError, IndexError) as error:
        raise AgentError(f"agent planner: weights {path}: {error}") from error


def write_weights(path: Path, weights: np.ndarray) -> None:
    """Write a table."""
    assert weights.shape == (len(SITUATIONS), K)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["fact", *SITUATIONS])
        for name, row in zip(NAMES, weights.T, strict=True):
            writer.writerow([name, *(f"{w:.4g}" for w in row)])
