"""Write the generated parts of the pages of this folder: `python docs/generate.py`.

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; a test fails when one is stale.
"""

import sys
from collections.abc import Iterable
from dataclasses import fields
from functools import partial
from math import comb
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np

from ddz_env import action_text, catalogue_counts, n_actions, schema
from ddz_env.catalogue import ACTIONS, CHOICES, FIRST_PLAY, N_DEFAULT_ACTIONS, Category
from ddz_env.rules import PRESETS, RuleSet
from ddz_env.schema import Schema
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


def table(head: str, rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown; a whole number gets its thousands apart."""
    lines = [head.split(" | "), ["---"] * len(head.split(" | "))]
    for row in rows:
        lines.append([f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


# --------------------------------------------------------------------------------- observation.md


def schema_names() -> str:
    """Name, size and hash of every schema."""
    schemas = {
        "what a seat may know: `schema()`": schema(),
        'one listed action: `schema("action")`': schema("action"),
        'all hands, for critics in training: `schema("critic")`': schema("critic"),
    }
    rows = [(f"`{s.name}`", what, s.size, f"`{s.hash}`") for what, s in schemas.items()]
    return table("schema | of | numbers | hash", rows)


def schema_fields(fields_of: Schema, without: int = 0) -> str:
    """The table of a schema's fields, the first so many left out."""
    rows = [(f"`{name}`", *cells) for name, *cells in fields_of.rows()[without:]]
    return table("field | offset | shape | range | meaning", rows)


# ------------------------------------------------------------------------------------- actions.md

CHOICE_DOCS = {
    "pass": ("不要 不叫 不抢 …", "all but `blind`, `fill`", "pass, and every other no"),
    "call_1": ("一分", "`call_points`", "call one point"),
    "call_2": ("二分", "`call_points`", "call two points"),
    "call_3": ("三分", "`call_points`", "call three points"),
    "call": ("叫地主", "`call`", "be landlord, unless robbed"),
    "rob": ("抢地主", "`rob`", "be landlord instead"),
    "show": ("明牌", "the four `show_…`", "play with an open hand"),
    "blind": ("闷抓", "`blind`", "be landlord without having seen a card"),
    "look": ("看牌", "`blind`", "look at the own cards instead"),
    "double": ("加倍", "`double`", "double the own stake"),
    "raise": ("倒 拉 垒 沃", "`raise`", "raise for the own side"),
    "wild_as": ("癞子替牌", "`fill`", "a further wild stands in for a natural card of the rank"),
    "wild_done": ("完成", "`fill`", "no further wild: the play is made"),
    "wait": ("等待", "parallel environment", "all that a seat may do that is not asked"),
}  # fmt: skip
"""Chinese term, phase and meaning of each choice."""


def choices() -> str:
    """The table of the ids that are no plays."""
    rows, left = [], dict(CHOICE_DOCS)
    wild = [text for text in CHOICES if text.startswith("wild_as_")]
    for text, action in CHOICES.items():
        if text in wild[1:]:
            continue
        ids, name = str(action), f"`{text}`"
        if text in wild:
            ids, name = f"{action}..{CHOICES[wild[-1]]}", f"`{wild[0]}` .. `{wild[-1]}`"
        rows.append((ids, name, *left.pop("wild_as" if text in wild else text)))
    rows.append((f"{len(CHOICES)}..{FIRST_PLAY - 1}", "", "", "", "free"))
    assert not left, left
    return table("id | text | term | phase | meaning", rows)


TERMS = (
    "", "单牌", "对牌", "三张", "三带一", "三带一对", "单顺", "双顺", "三顺",
    "飞机带单牌", "飞机带对牌", "四带二", "四带两对", "炸弹", "火箭",
)  # fmt: skip
"""The Chinese term of each category."""
DERIVED = {
    "solo": ("13 ranks and 2 jokers", 13 + 2),
    "pair": ("13 ranks", 13),
    "trio": ("13 ranks", 13),
    "trio_with_solo": ("13 · (12 other ranks + 2 jokers)", 13 * 14),
    "trio_with_pair": ("13 · 12", 13 * 12),
    "solo_chain": ("Σ (13 − n), n = 5..12", sum(13 - n for n in range(5, 13))),
    "pair_chain": ("Σ (13 − n), n = 3..10", sum(13 - n for n in range(3, 11))),
    "airplane": ("Σ (13 − n), n = 2..6", sum(13 - n for n in range(2, 7))),
    "airplane_with_solos": ("968 + 3,282 + 7,184 + 10,388, n = 2..5: see below",
                            968 + 3282 + 7184 + 10388),
    "airplane_with_pairs": ("Σ (13 − n) · C(13 − n, n), n = 2..4",
                            sum((13 - n) * comb(13 - n, n) for n in (2, 3, 4))),
    "four_with_two_solos": ("13 · (C(14, 2) − 1 + 12)", 13 * (comb(14, 2) - 1 + 12)),
    "four_with_two_pairs": ("13 · C(12, 2)", 13 * comb(12, 2)),
    "bomb": ("13 ranks", 13),
    "rocket": ("both jokers", 1),
}  # fmt: skip
"""How many plays each category has, and why."""


def ids_by_category(first: int, end: int) -> dict[Category, range]:
    """The ids of each category among `first .. end - 1`; they stand side by side."""
    found = {}
    for category in list(Category)[1:]:
        ids = first + np.flatnonzero(ACTIONS["category"][first:end] == category)
        if len(ids):
            found[category] = range(int(ids[0]), int(ids[-1]) + 1)
            assert len(found[category]) == len(ids), category
    return found


def span(ids: range) -> str:
    """The first and the last of some ids."""
    return f"{ids[0]}..{ids[-1]}" if len(ids) > 1 else str(ids[0])


def plays() -> str:
    """The table of the plays of the default kicker rule."""
    rows = []
    for category, ids in ids_by_category(FIRST_PLAY, N_DEFAULT_ACTIONS).items():
        name = category.name.lower()
        why, count = DERIVED[name]
        assert count == len(ids), name
        example = f"`{action_text(ids[0])}`"
        rows.append((span(ids), f"`{name}`", TERMS[category], len(ids), example, why))
    total = N_DEFAULT_ACTIONS - FIRST_PLAY
    rows.append((f"{FIRST_PLAY}..{N_DEFAULT_ACTIONS - 1}", "all", "", total, "", ""))
    return table("ids | category | term | plays | first one | why so many", rows)


def wide_plays() -> str:
    """The table of the plays that only wider kicker rules allow."""
    rows = []
    for category, ids in ids_by_category(N_DEFAULT_ACTIONS, len(ACTIONS)).items():
        example = f"`{action_text(ids[0])}`"
        rows.append((span(ids), f"`{category.name.lower()}`", len(ids), example))
    total = len(ACTIONS) - N_DEFAULT_ACTIONS
    rows.append((f"{N_DEFAULT_ACTIONS}..{len(ACTIONS) - 1}", "all", total, ""))
    return table("ids | category | plays | first one", rows)


def room_sizes() -> str:
    """How many actions each room has."""
    wide = ("kicker_adjacent_trio", "kicker_four_solos", "kicker_both_jokers")
    plain = PRESETS["play_only"]
    rooms = {f"`{name}`": rules for name, rules in PRESETS.items()}
    rooms |= {f"`play_only`, `{name}=true`": plain.replace(**{name: True}) for name in wide}
    rooms["`play_only`, all three"] = plain.replace(**dict.fromkeys(wide, True))
    rows = [
        (name, int(sum(catalogue_counts(r).values())), n_actions(r)) for name, r in rooms.items()
    ]
    return table("room | plays that exist | `n_actions`", rows)


# --------------------------------------------------------------------------------------- peers.md


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


# ------------------------------------------------------------------------------------- clients.md


def source(path: str) -> str:
    """A file of the checkout as a block of code."""
    text = (FOLDER.parent / path).read_text(encoding="utf-8")
    return f"```python\n{text.rstrip()}\n```"


PARTS = {
    "rules.md": {"fields": rule_fields},
    "clients.md": {
        name: partial(source, f"tests/clients/{name}.py")
        for name in ("sb3_maskable_ppo", "torchrl_ppo", "tianshou_dqn")
    },
    "peers.md": {"catalogue": peers_catalogue},
    "observation.md": {
        "schemas": schema_names,
        "observation": lambda: schema_fields(schema()),
        "action": lambda: schema_fields(schema("action")),
        "critic": lambda: schema_fields(schema("critic"), len(schema().fields)),
    },
    "actions.md": {
        "choices": choices, "plays": plays, "wide plays": wide_plays, "rooms": room_sizes,
    },
}  # fmt: skip
"""Pages and their parts."""


def generate(page: str) -> str:
    """A page with its parts made anew.

    Raises:
        ValueError: the page lacks a part's begin or end.
    """
    text = (FOLDER / page).read_text(encoding="utf-8")
    for name, make in PARTS[page].items():
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
        head, _, rest = text.partition(begin)
        if text.count(begin) != 1 or rest.count(end) != 1:
            raise ValueError(f"docs/{page}: expected one {begin.strip()} and then one {end}")
        text = head + begin + make() + "\n" + end + rest.partition(end)[2]
    return text


def main() -> int:
    """Write every page."""
    for page in PARTS:
        (FOLDER / page).write_text(generate(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
