"""Write the generated parts of the pages of this folder: `python docs/generate.py`.

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; a test fails when one is stale.
"""

import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np

from ddz_env.catalogue import ACTIONS, Category, catalogue_counts
from ddz_env.rules import PRESETS, RuleSet
from eval.peers_count import catalogue
from eval.peers_engines import PEERS

FOLDER = Path(__file__).resolve().parent


def _shown(value: object) -> str:
    """A field's value as it is set: `true`, `3`, `points`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def rule_fields() -> str:
    """The table of the fields of `RuleSet`, with what presets set otherwise than the default."""
    hints = get_type_hints(RuleSet)
    lines = ["| field | default | values | meaning | source | set otherwise in |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for f in fields(RuleSet):
        words, (low, high) = get_args(hints[f.name]), f.metadata["range"]
        if words:
            values = ", ".join(words)
        elif hints[f.name] is bool:
            values = "true, false"
        else:
            values = f"{low}..{high}" if hints[f.name] is int else "text"
        others = [
            f"{name}: {_shown(getattr(rules, f.name))}"
            for name, rules in PRESETS.items()
            if getattr(rules, f.name) != f.default and f.name != "name"
        ]
        source = f.metadata["source"].replace("decided", "*(decided)*")
        cells = (f"`{f.name}`", f"`{_shown(f.default)}`", values, f.metadata["doc"], source)
        lines.append("| " + " | ".join([*cells, "; ".join(others)]) + " |")
    return "\n".join(lines)


def _by_length(ids: np.ndarray, category: Category) -> str:
    """Airplanes with kickers by the length of the main part, in brackets."""
    if category not in (Category.AIRPLANE_WITH_SOLOS, Category.AIRPLANE_WITH_PAIRS):
        return ""
    lengths = ACTIONS["length"][ids[ACTIONS["category"][ids] == category]]
    counts = [n for n in np.bincount(lengths).tolist() if n]
    return f" ({', '.join(f'{n:,}' for n in counts)})"


def peers_catalogue() -> str:
    """The sizes of the catalogue under each engine's reading, by category and length."""
    rules = {peer.title: peer.rules() for peer in PEERS.values()}
    columns = []
    for title, room in rules.items():
        ids, counts = catalogue(room), catalogue_counts(room)
        columns.append((title, ids, {c: counts[c.name.lower()] for c in list(Category)[1:]}))
        if PEERS[room.name].by_cards:
            # Within a category and a length, cards that are several plays count once.
            rows = ACTIONS[["category", "length", "need"]][ids]
            once = ids[np.sort(np.unique(rows, return_index=True)[1])]
            sizes = np.bincount(ACTIONS["category"][once], minlength=len(Category)).tolist()
            columns.append((f"{title}, by cards", once, dict(enumerate(sizes))))
    lines = ["| | " + " | ".join(title for title, _, _ in columns) + " |"]
    lines.append("| --- |" + " ---: |" * len(columns))
    for c in list(Category)[1:]:
        cells = [f"{sizes[c]:,}{_by_length(ids, c)}" for _, ids, sizes in columns]
        lines.append(f"| `{c.name.lower()}` | " + " | ".join(cells) + " |")
    plays = [f"{len(ids):,}" for _, ids, _ in columns]
    cards = [f"{len(np.unique(ACTIONS['need'][ids])):,}" for _, ids, _ in columns]
    lines += [f"| plays | {' | '.join(plays)} |", f"| different cards | {' | '.join(cards)} |"]
    return "\n".join(lines)


PARTS = {"rules.md": {"fields": rule_fields}, "peers.md": {"catalogue": peers_catalogue}}
"""Pages and their parts."""


def generate(page: str) -> str:
    """A page with its parts made anew."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    for name, make in PARTS[page].items():
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = head + begin + make() + "\n" + end + tail
    return text


def main() -> int:
    """Write every page."""
    for page in PARTS:
        (FOLDER / page).write_text(generate(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
