"""A tournament as one page: `python eval/report.py results/x` writes `results/x/report.html`.

Ratings with intervals, heat maps and tables of the pairings, learning curves where agents are
checkpoints of one run, and what it takes to play it again. The page needs no other file and no
script, and follows the reader's light or dark colours.
"""

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePath
from typing import Any

import tyro

from ddz_env.errors import DdzError
from eval.cli import check_folder, guarded, replacing
from eval.ratings import shown
from eval.report_figures import against, draw_ratings, draw_run, runs, short_names
from eval.store import RESULTS, read_json
from eval.tables import NOTES, legend, marks, number, seconds

GENERATOR = "ddz-report-1"
MOST = 75
"""Percent of the full colour of a heat map's extreme cells, so that their text stays readable."""
COLUMNS = (
    "WP: share of games won by the agent's side. ADP: points a deal. score: points of a seat of the"
    " agent less those of a seat of the other. gain: games on deals of their own that one game of a"
    " duplicate deal is worth. rating: Elo points above the mean. In small figures: 95% intervals."
)
"""What the columns of the tables mean."""

NOTE = "the first"
"""Head of the column that describes faults, in words."""


@dataclass(frozen=True)
class Command:
    """Write a tournament's report."""

    results: tyro.conf.Positional[Path]
    """Folder of a finished tournament."""
    out: Path | None = None
    """The page; report.html in the folder unless given."""


def name_cell(name: str, tag: str = "td") -> str:
    """A cell with an agent's name, which may be broken where a spec has a mark."""
    text = re.sub("([:/,])", r"\1<wbr>", escape(name))
    return f'<{tag} class="name">{text}</{tag}>'


def renamed(data: dict[str, Any]) -> dict[str, Any]:
    """The tables' part of results.json with short names instead of specs."""
    names = short_names(data["agents"])

    def row(found: dict[str, Any]) -> dict[str, Any]:
        return {k: names[v] if k in ("agent", "a", "b") else v for k, v in found.items()}

    parts = {key: [row(r) for r in data[key]] for key in ("pairings", "standings", "differences")}
    ratings = {**data["ratings"], "agents": [row(r) for r in data["ratings"]["agents"]]}
    return {**data, **parts, "ratings": ratings}


def figure_cell(value: Any, ci: Any = None, digits: int = 3, sign: bool = False) -> str:
    """A cell with a figure and its interval."""
    text = number(value, digits, sign)
    if ci and ci[0] is not None and ci[1] is not None:
        text += f"<small>{number(ci[0], digits, sign)} … {number(ci[1], digits, sign)}</small>"
    return f"<td>{text.replace('-', '−') if value is not None else '–'}</td>"


def table(head: Iterable[str], rows: Iterable[str], texts: int = 1) -> str:
    """A table that scrolls by itself where the page is narrow; the first columns hold names."""
    cells = []
    for i, text in enumerate(head):
        kind = " class=name" if i < texts else " class=text" if text == NOTE else ""
        cells.append(f"<th{kind}>{escape(text)}</th>")
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{"".join(cells)}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def heat_map(
    names: list[str],
    cell: Callable[[int, int], tuple[float, float] | None],
    caption: str,
    sign: bool = False,
) -> str:
    """A square table in colours.

    Args:
        names: of rows and columns.
        cell: (strength of the colour -1..1, figure) of a row and column, None for an empty one.
        caption: what it shows.
        sign: whether figures have a sign.
    """
    few = len(names) <= 4 and all(len(name) <= 12 for name in names)
    heads = [name_cell(n, "th") if few else f"<th>{i}</th>" for i, n in enumerate(names, 1)]
    rows = []
    for i, name in enumerate(names):
        label = name if few else f"{i + 1}\u00a0{name}"
        cells = []
        for j in range(len(names)):
            found = cell(i, j)
            if found is None:
                cells.append("<td></td>")
                continue
            strength, value = found
            kind = "good" if strength >= 0 else "bad"
            share = f"{min(1.0, abs(strength)) * MOST:.0f}%"
            text = number(value, 2, sign).replace("-", "−")
            title = f"{name} – {names[j]}: {number(value, 3, sign)}"
            style = f'class="{kind}" style="--p: {share}" title="{escape(title)}"'
            cells.append(f"<td {style}>{text}</td>")
        rows.append(name_cell(label, "th") + "".join(cells))
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        '<figure><div class="scroll"><table class="map"><thead><tr><th></th>'
        f"{''.join(heads)}</tr></thead>\n<tbody>{body}</tbody></table></div>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def heat_maps(data: dict[str, Any]) -> str:
    """The pairings, and the fitted chances of landlords against farmers."""
    names = [row["agent"] for row in data["ratings"]["agents"]]
    by_score = data["measure"] == "score"
    found = {(a, b): against(data, a, b) for a in names for b in names if a != b}
    most = max((abs(value[0]) for value in found.values() if value), default=1.0) or 1.0

    def met(i: int, j: int) -> tuple[float, float] | None:
        value = found.get((names[i], names[j]))
        if value is None:
            return None
        return (value[0] / most if by_score else 2 * value[0] - 1), value[0]

    def fitted(i: int, j: int) -> tuple[float, float] | None:
        chance = data["ratings"]["chances"]["landlord"][i][j]
        return None if chance is None else (2 * chance - 1, chance)

    measure = "score: points a seat and deal" if by_score else "WP over both roles"
    first = heat_map(names, met, f"Row against column, {measure}; as measured.", by_score)
    text = "Row as landlord against column as farmers: chance of winning, from the ratings."
    return f'<div class="beside">{first}{heat_map(names, fitted, text)}</div>'


def drawn(svg: str, beside: str = "") -> str:
    """A drawing, and what stands beside it where there is room."""
    return f'<div class="beside"><figure class="drawn">{svg}</figure>{beside}</div>'


def ratings_table(data: dict[str, Any]) -> str:
    """Ratings in figures."""
    rows = []
    for row in data["ratings"]["agents"]:
        cells = [figure_cell(row["rating"], row["ci"], 0, True)]
        cells += [figure_cell(row[k], row[f"{k}_ci"], 0, True) for k in ("landlord", "farmers")]
        rows.append(name_cell(row["agent"] + ("" if row["bounded"] else " *")) + "".join(cells))
    return table(("agent", "rating", "as landlord", "as farmers"), rows)


def pairings_table(data: dict[str, Any]) -> str:
    """The matches, each from its first agent's side."""
    by_score = data["measure"] == "score"
    head = ["agent", "against", "", "WP", "landlord", "farmers", "ADP"]
    head += [*(["score"] if by_score else []), "deals", "void", "gain"]
    rows = []
    for row in data["pairings"]:
        warn = f'<td class="warn">{marks(row["warnings"])}</td>'
        cells = [figure_cell(row["wp"], row["ci"])]
        cells += [figure_cell(row[k], row[f"{k}_ci"]) for k in ("landlord", "farmers")]
        cells += [figure_cell(row["adp"], row["adp_ci"], 2, True)]
        if by_score:
            cells.append(figure_cell(row["score"], row["score_ci"], 2, True))
        cells += [f"<td>{row['deals']:,}</td><td>{row['void']:,}</td>"]
        cells.append(figure_cell(row["score_gain" if by_score else "gain"], None, 2))
        rows.append(name_cell(row["a"]) + name_cell(row["b"]) + warn + "".join(cells))
    return table(head, rows, 2)


def standings_table(data: dict[str, Any]) -> str:
    """Each agent over all its opponents."""
    rows = {row["agent"]: row for row in data["standings"]}
    names = [row["agent"] for row in data["ratings"]["agents"]]
    head = ["agent", "WP", "as landlord", "as farmers"]
    head += ["ADP", "as landlord", "as farmers", "score"]
    lines = []
    for name in names:
        row = rows[name]
        cells = [figure_cell(row["wp"], row["ci"])]
        cells += [figure_cell(row[k], row[f"{k}_ci"]) for k in ("landlord", "farmers")]
        for key in ("adp", "adp_landlord", "adp_farmers", "score"):
            cells.append(figure_cell(row[key], row[f"{key}_ci"], 2, True))
        lines.append(name_cell(name) + "".join(cells))
    return table(head, lines)


def differences_table(data: dict[str, Any]) -> str:
    """How agents differ against common opponents."""
    rows = []
    for row in data["differences"]:
        cells = [f'<td class="warn">{marks(row["warnings"])}</td>']
        cells.append(figure_cell(row["wp"], row["ci"], 3, True))
        for key in ("adp", "score"):
            cells.append(figure_cell(row[key], row[f"{key}_ci"], 2, True))
        rows.append(name_cell(row["a"]) + name_cell(row["b"]) + "".join(cells))
    return table(("agent", "less", "", "WP", "ADP", "score"), rows, 2)


def habits_table(data: dict[str, Any]) -> str:
    """Rates of yes, bombs, decision times, faults."""
    rates = list(data["standings"][0]["rates"])
    rows = []
    for row in data["standings"]:
        cells = [figure_cell(row["rates"][name]) for name in rates]
        cells += [f"<td>{escape(seconds(row['seconds'][k]))}</td>" for k in ("median", "p95")]
        cells.append(f"<td>{row['decisions']:,}</td>")
        faults = ", ".join(f"{n:,} {kind}" for kind, n in row["faults"].items() if n)
        cells.append(f"<td{' class=warn' if faults else ''}>{faults or 'none'}</td>")
        cells.append(f'<td class="text">{escape(row["notes"][0]) if row["notes"] else ""}</td>')
        rows.append(name_cell(row["agent"]) + "".join(cells))
    return table(("agent", *rates, "median", "p95", "decisions", "faults", NOTE), rows)


def facts(data: dict[str, Any]) -> str:
    """What it takes to play the tournament again."""
    deals = f"{data['deals']:,}"
    deals += f", {data['deals_file']}" if data["deals_file"] else f", seed {data['seed']}"
    rows = {
        "command": f"<code>{escape(data['command'])}</code>",
        "room": f"{escape(data['rules'])}, {data['rules_hash']}",
        "calls": escape(data["calls"] or "each agent its own"),
        "schedule": escape(data["schedule"].replace("_", " ")),
        "deals of each pairing": escape(deals),
        "SHA-256 of the deals": f"<code>{data['deals_hash']}</code>",
        "limit": f"{data['move_time']:g} s a decision" if data["move_time"] else "none",
        "versions": escape(", ".join(f"{k} {v}" for k, v in data["versions"].items())),
    }
    return "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in rows.items()) + "</dl>"


def page(data: dict[str, Any]) -> str:
    """The whole page from the content of results.json."""
    full, data = data, renamed(data)
    by_score = data["measure"] == "score"
    drawing = draw_ratings(full["ratings"], short_names(full["agents"]))
    sections = [
        ("Ratings", drawn(drawing, ratings_table(data)), ""),
        ("Who beats whom", heat_maps(data), ""),
        *(
            (f"Learning curve: {escape(PurePath(run).name)}", drawn(draw_run(full, run, specs)), "")
            for run, specs in runs(full).items()
        ),
        ("Pairings", pairings_table(data), warnings(data)),
        ("Over all opponents", standings_table(data), ""),
    ]
    if data["differences"]:
        text = "Against the same opponents on the same deals, paired by deal."
        note = f'<p class="dim">{text}</p>'
        sections.append(("Differences", note, differences_table(data)))
    sections.append(("Habits, times, faults", habits_table(data), ""))
    sections.append(("To play it again", facts(data), ""))
    body = "\n".join(f"<section><h2>{a}</h2>\n{b}\n{c}</section>" for a, b, c in sections)
    bias = ""
    if data["ratings"]["bias"] is not None:
        text = shown(data["ratings"]["bias"], data["ratings"]["bias_ci"]).replace("-", "−")
        bias = f"The room favours landlords by {text} Elo points. "
    measure = "the score of a seat and deal" if by_score else "WP, the share of games won"
    title = f"{escape(data['rules'])}: {len(data['agents'])} agents"
    style = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{GENERATOR}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>{title}</h1>
<p class="dim">{data["deals"]:,} duplicate deals a pairing; measured by {measure}.
{bias}Intervals are 95%, from resampling deals.</p>
</header>
{body}
<footer><p>{escape(COLUMNS)}</p></footer>
</body>
</html>
"""


def warnings(data: dict[str, Any]) -> str:
    """What the marks in the tables mean, and how many deals would tell."""
    found = {name for row in data["pairings"] for name in row["warnings"]}
    lines = [text for name, text in NOTES.items() if name in found]
    lines += [text for text in legend(data) if text.startswith(("? ", "* ")) and text not in lines]
    return "".join(f'<p class="dim">{escape(text)}</p>' for text in lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        data = read_json(command.results / RESULTS, "results")
        out = command.out or command.results / "report.html"
        check_folder(out.parent)
        if out.is_dir() or (out.exists() and GENERATOR not in out.read_text(errors="replace")):
            raise DdzError(f"--out {out}: is there already and no report")
        with replacing(out) as temporary:
            temporary.write_text(page(data), encoding="utf-8")
        print(f"report {out}")

    return guarded("report", body)


if __name__ == "__main__":
    sys.exit(main())
