"""The tables of a tournament on the screen, from the content of results.json."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

NOTES = {
    "few_deals": "! fewer than 100 deals: too few for any claim, the interval is rough itself",
    "undecided": "? too few deals to say who is better",
}


def number(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """A figure as text; `-` where there is none."""
    return "-" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"


def with_interval(
    value: float | None, ci: list[float | None], digits: int = 3, sign: bool = False
) -> str:
    """A mean and half the width of its interval: `0.697 ±.012`."""
    if value is None or ci[0] is None or ci[1] is None:
        return "-"
    half = f"{(ci[1] - ci[0]) / 2:.{digits}f}"
    return f"{number(value, digits, sign)} ±{half.removeprefix('0') if digits else half}"


def seconds(value: float | None) -> str:
    """A time with its unit, three digits."""
    if value is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def marks(warnings: list[str]) -> str:
    """The marks of a row's warnings: `!`, `?`."""
    return "".join(NOTES[name][0] for name in warnings)


def grid(title: str, texts: tuple[str, ...], numbers: list[str]) -> Table:
    """An empty table with columns of texts, which may be folded, and of numbers."""
    made = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for name in texts:
        made.add_column(name, overflow="fold", min_width=11)
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def pairings_table(data: dict[str, Any]) -> Table:
    """The matches, each from its first agent's side."""
    by_score = data["measure"] == "score"
    counted = sorted({row["deals"] for row in data["pairings"]})
    title = " to ".join(f"{n:,}" for n in counted[:: max(1, len(counted) - 1)])
    columns = ["WP", "landlord", "farmers", "score" if by_score else "ADP", "gain", ""]
    made = grid(f"{data['rules']}, {title} duplicate deals each", ("agent", "against"), columns)
    for row in data["pairings"]:
        cells = [row["a"], row["b"], with_interval(row["wp"], row["ci"])]
        cells += [number(row["landlord"]), number(row["farmers"])]
        key = "score" if by_score else "adp"
        cells.append(with_interval(row[key], row[f"{key}_ci"], 2, True))
        gain = row["score_gain"] if by_score else row["gain"]
        made.add_row(*cells, number(gain, 2), marks(row["warnings"]))
    return made


def standings_table(data: dict[str, Any]) -> Table:
    """Every agent over all its opponents, the best rating first."""
    by_score = data["measure"] == "score"
    ratings = {row["agent"]: row for row in data["ratings"]["agents"]}
    columns = ["rating", "WP", "landlord", "farmers", "score" if by_score else "ADP"]
    made = grid("over all opponents", ("agent",), columns)
    rows = {row["agent"]: row for row in data["standings"]}
    key = "score" if by_score else "adp"
    for name, rating in ratings.items():
        row = rows[name]
        made.add_row(
            name,
            with_interval(rating["rating"], rating["ci"], 0, True)
            + ("" if rating["bounded"] else "*"),
            with_interval(row["wp"], row["ci"]),
            number(row["landlord"]),
            number(row["farmers"]),
            with_interval(row[key], row[f"{key}_ci"], 2, True),
        )
    return made


def roles_table(data: dict[str, Any]) -> Table:
    """Points and ratings by role."""
    ratings = {row["agent"]: row for row in data["ratings"]["agents"]}
    columns = ["ADP", "landlord", "farmers", "rating as landlord", "as farmers"]
    roles = ("landlord", "farmers")
    made = grid("points a deal and Elo points, by role", ("agent",), columns)
    rows = {row["agent"]: row for row in data["standings"]}
    for name, rating in ratings.items():
        row = rows[name]
        made.add_row(
            name,
            *(number(row[key], 2, True) for key in ("adp", "adp_landlord", "adp_farmers")),
            *(with_interval(rating[k], rating[f"{k}_ci"], 0, True) for k in roles),
        )
    return made


def differences_table(data: dict[str, Any]) -> Table | None:
    """How agents differ against the same opponents; None where they have none in common."""
    if not data["differences"]:
        return None
    key = "score" if data["measure"] == "score" else "adp"
    made = grid(
        "differences against common opponents, paired by deal",
        ("agent", "less"),
        ["WP", "score" if key == "score" else "ADP", ""],
    )
    for row in data["differences"]:
        made.add_row(
            row["a"],
            row["b"],
            with_interval(row["wp"], row["ci"], 3, True),
            with_interval(row[key], row[f"{key}_ci"], 2, True),
            marks(row["warnings"]),
        )
    return made


def habits_table(data: dict[str, Any]) -> Table:
    """How often each agent says yes before the play, its bombs, and its decision times."""
    rates = list(data["standings"][0]["rates"])
    made = grid(
        "share of yes; bombs a game and seat; time a decision",
        ("agent",),
        [*rates, "median", "p95"],
    )
    for row in data["standings"]:
        times = (seconds(row["seconds"][key]) for key in ("median", "p95"))
        made.add_row(row["agent"], *(number(row["rates"][name]) for name in rates), *times)
    return made


def faults_table(data: dict[str, Any]) -> Table | None:
    """Seats that the trustee took over; None without any."""
    rows = [row for row in data["standings"] if any(row["faults"].values())]
    if not rows:
        return None
    kinds = list(rows[0]["faults"])
    made = grid("seats that the trustee took over", ("agent",), kinds)
    made.add_column("the first", overflow="fold")
    for row in rows:
        first = row["notes"][0] if row["notes"] else ""
        made.add_row(row["agent"], *(f"{row['faults'][kind]:,}" for kind in kinds), first)
    return made


def all_tables(data: dict[str, Any]) -> list[Table]:
    """All tables, in the order in which they are printed."""
    tables = [pairings_table(data), standings_table(data), roles_table(data)]
    tables += [differences_table(data), habits_table(data), faults_table(data)]
    return [table for table in tables if table is not None]


def legend(data: dict[str, Any]) -> list[str]:
    """What the columns and marks of the tables mean."""
    by_score = data["measure"] == "score"
    lines = [
        "WP: share of games won by the agent's side over both roles. ADP: points a deal. ±: half"
        " the 95% interval, from resampling deals. gain: games on deals of their own that one game"
        " of a duplicate deal is worth. rating: Elo points above the mean, over both roles."
    ]
    if by_score:
        lines.append("score: points of a seat of the agent less those of a seat of the other.")
    if not all(row["bounded"] for row in data["ratings"]["agents"]):
        lines.append("* won or lost everything in a role: the rating is only a bound")
    found = {name for row in data["pairings"] for name in row["warnings"]}
    for name, text in NOTES.items():
        if name in found:
            lines.append(text)
    for row in data["pairings"]:
        if "undecided" in row["warnings"] and row["needed"] is not None:
            lines.append(
                f"? {row['a']} - {row['b']}: about {row['needed']:,.0f} deals would tell,"
                " if the difference is what was seen"
            )
    return lines
