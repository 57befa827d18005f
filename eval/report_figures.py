"""The drawings of a report, as SVG that stands in the page and takes its colours."""

import io
import re
from collections import Counter
from pathlib import PurePath
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

TEXT = "#010203"
"""Drawn in this colour: what the page shows in its own text colour, light or dark."""
WIDTH = 4.4
"""Inches; a phone shows it at its own size."""
_STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["system-ui", "DejaVu Sans"],
    "font.size": 9,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.alpha": 0.18,
    "grid.color": TEXT,
    "legend.frameon": False,
}
_LOOKS = (  # key of a rating, name, colour, marker, shift
    ("rating", "both roles", TEXT, "o", 0.0),
    ("landlord", "landlord", "#d2603a", "D", 0.24),
    ("farmers", "farmers", "#2b8fd0", "s", -0.24),
)


def as_svg(figure: Figure, salt: str) -> str:
    """A figure as an `svg` element, the same bytes each time; closes the figure."""
    file = io.StringIO()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": salt}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    text = file.getvalue()
    return text[text.index("<svg") :].replace(TEXT, "currentColor")


def short(name: str, most: int = 20) -> str:
    """A name that fits beside a drawing."""
    return name if len(name) <= most else "…" + name[-most + 1 :]


def short_names(specs: list[str]) -> dict[str, str]:
    """Names of agents for reading: specs without their folders, as long as they stay apart."""
    names = {spec: re.sub(r"[^:,=]*/", "", spec) for spec in specs}
    counts = Counter(names.values())
    return {spec: name if counts[name] == 1 else spec for spec, name in names.items()}


def draw_ratings(ratings: dict[str, Any], names: dict[str, str]) -> str:
    """Ratings with intervals, the best on top, over both roles and in each.

    Args:
        ratings: of results.json.
        names: of the agents, by spec.
    """
    rows = ratings["agents"]
    with matplotlib.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 0.9 + 0.52 * len(rows)), layout="constrained")
        places = np.arange(len(rows))[::-1]
        told = rows[0]["landlord"] is not None
        for key, name, colour, marker, shift in _LOOKS if told else _LOOKS[:1]:
            middle = np.array([row[key] for row in rows])
            ends = np.array([row["ci" if key == "rating" else f"{key}_ci"] for row in rows])
            size = 6 if key == "rating" else 4
            # Percentiles of resamples need not hold the estimate where nearly everything was won.
            errors = np.maximum(np.abs(ends.T - middle) * [[-1], [1]] * np.sign(ends.T - middle), 0)
            axes.errorbar(
                middle, places + shift, xerr=errors, fmt=marker, color=colour, markersize=size,
                capsize=2.5, linewidth=1.2, label=name,
            )  # fmt: skip
        axes.axvline(0, color=TEXT, linewidth=0.8, alpha=0.4)
        axes.set_yticks(places, [short(names[row["agent"]]) for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlabel("Elo points above the mean")
        axes.grid(axis="x")
        figure.legend(loc="outside upper center", ncols=3, handletextpad=0.2, columnspacing=1.2)
    return as_svg(figure, "ratings")


def runs(data: dict[str, Any]) -> dict[str, list[str]]:
    """Checkpoints by the folder of their run, in the order of training, of runs with several."""
    found: dict[str, list[str]] = {}
    for spec, about in data.get("checkpoints", {}).items():
        found.setdefault(about["run"], []).append(spec)
    by_time = {
        run: sorted(specs, key=lambda spec: data["checkpoints"][spec]["minutes"])
        for run, specs in found.items()
    }
    return {run: specs for run, specs in by_time.items() if len(specs) > 1}


def against(data: dict[str, Any], one: str, other: str) -> tuple[float, list[float]] | None:
    """(measure, interval) of an agent against another, from its own side; None if they never met.

    The measure is the WP where sides are fixed, else the score.
    """
    for row in data["pairings"]:
        for a, b in ((row["a"], row["b"]), (row["b"], row["a"])):
            if (a, b) != (one, other):
                continue
            by_score = data["measure"] == "score"
            value, ci = (row["score"], row["score_ci"]) if by_score else (row["wp"], row["ci"])
            if (a, b) == (row["a"], row["b"]):
                return value, ci
            even = 0.0 if by_score else 1.0
            return even - value, [even - ci[1], even - ci[0]]
    return None


def draw_run(data: dict[str, Any], run: str, specs: list[str]) -> str:
    """A run's learning curve: the measure against others and the rating, over minutes."""
    names = short_names(data["agents"])
    minutes = np.array([data["checkpoints"][spec]["minutes"] for spec in specs])
    others = [name for name in data["agents"] if name not in specs]
    ratings = {row["agent"]: row for row in data["ratings"]["agents"]}
    curves = {
        name: found
        for name in others
        if all(found := [against(data, spec, name) for spec in specs])
    }
    with matplotlib.rc_context(_STYLE):
        panels = 2 if curves else 1
        figure, all_axes = plt.subplots(
            panels, figsize=(WIDTH, 2.3 * panels + 0.3), sharex=True, squeeze=False,
            layout="constrained",
        )  # fmt: skip
        axes = all_axes[0, 0]
        for name, found in curves.items():
            ends = np.array([ci for _, ci in found])
            line = axes.plot(minutes, [value for value, _ in found], marker="o", markersize=4)
            axes.fill_between(minutes, ends[:, 0], ends[:, 1], alpha=0.2, color=line[0].get_color())
            line[0].set_label(f"against {short(names[name], 26)}")
        if curves:
            even = 0.0 if data["measure"] == "score" else 0.5
            axes.axhline(even, color=TEXT, linewidth=0.8, alpha=0.4)
            axes.set_ylabel("score" if data["measure"] == "score" else "WP")
            figure.legend(loc="outside upper center", ncols=2, columnspacing=1.2)
            axes.grid()
        axes = all_axes[-1, 0]
        ends = np.array([ratings[spec]["ci"] for spec in specs])
        line = axes.plot(
            minutes, [ratings[spec]["rating"] for spec in specs], marker="o", color=TEXT
        )
        axes.fill_between(minutes, ends[:, 0], ends[:, 1], alpha=0.15, color=TEXT)
        axes.set_ylabel("rating")
        # Few enough for labels of many digits, which matplotlib's own choice doesn't look at.
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
        axes.set_xlabel(f"minutes of training, {short(PurePath(run).name)}")
        axes.grid()
    return as_svg(figure, run)
