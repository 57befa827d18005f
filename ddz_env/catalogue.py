"""The catalogue: every play there is, and the one numbering of actions that everybody uses.

Ids `0..63` are choices that are no play (`CHOICES`); `64..27534` are the 27,471 plays of the
default kicker rule in a fixed order (category, length, rank, kickers); plays that only a wider
kicker rule allows come after them. So an id means the same in every room: rooms mask, they never
renumber.

Main parts and kickers follow rules par. 2. Counts (each tested):

- solo 15, pair 13, trio 13, bomb 13, rocket 1: the ranks that have so many cards;
- chains of length n over 12 ranks (3..A): 13 - n each; solo 5..12: 36, pair 3..10: 52, airplane
  2..6: 45 (at most 20 cards);
- trio with solo 13 * 14, with pair 13 * 12; four with two solos 13 * (C(14, 2) + 12 - 1), the pair
  of jokers being out; with two pairs 13 * C(12, 2);
- airplane with pairs (13 - n) * C(13 - n, n); with solos: multisets of n out of the other ranks, at
  most three of a rank, one of each joker, never both, no trio that extends the chain.
"""

from collections.abc import Iterator
from enum import IntEnum, IntFlag
from itertools import combinations, combinations_with_replacement

import numpy as np

from ddz_env._jit import records
from ddz_env.cards import BIG_JOKER, RANKS, SMALL_JOKER, pack
from ddz_env.errors import PlayError
from ddz_env.rules import RuleSet, get_rules


class Category(IntEnum):
    """What kind of play: the names are those of `catalogue_counts`, in lower case."""

    NONE = 0
    SOLO = 1
    PAIR = 2
    TRIO = 3
    TRIO_WITH_SOLO = 4
    TRIO_WITH_PAIR = 5
    SOLO_CHAIN = 6
    PAIR_CHAIN = 7
    AIRPLANE = 8
    AIRPLANE_WITH_SOLOS = 9
    AIRPLANE_WITH_PAIRS = 10
    FOUR_WITH_TWO_SOLOS = 11
    FOUR_WITH_TWO_PAIRS = 12
    BOMB = 13
    ROCKET = 14


class Kicker(IntFlag):
    """Wider kicker rules that a play needs."""

    DEFAULT = 0
    ADJACENT_TRIO = 1
    FOUR_SOLOS = 2
    BOTH_JOKERS = 4


PASS = 0
FIRST_PLAY = 64
CHOICES: dict[str, int] = {
    "pass": 0,
    "call_1": 1,
    "call_2": 2,
    "call_3": 3,
    "call": 4,
    "rob": 5,
    "show": 6,
    "blind": 7,
    "look": 8,
    "double": 9,
    "raise": 10,
    **{f"wild_as_{RANKS[r]}": 11 + r for r in range(13)},
    "wild_done": 24,
    "wait": 25,
}
"""Ids of the actions that are no play, by text; ids up to 63 are reserved for more."""

ACTION = np.dtype(
    [
        ("need", "<u8"),  # packed cards that the play takes
        ("category", "u1"),  # Category
        ("length", "u1"),  # solos, pairs, trios or fours in the main part, 1..12
        ("rank", "u1"),  # rank of the main part, 0..14; the highest of a chain
        ("size", "u1"),  # number of cards, 1..20
        ("copies", "u1"),  # cards of each rank in the main part, 1..4
        ("kicker", "u1"),  # Kicker bits that the play needs
    ],
    align=True,
)
"""One row of the table of actions."""

COPIES = (0, 1, 2, 3, 3, 3, 1, 2, 3, 3, 3, 4, 4, 4, 1)
"""Cards of each rank in the main part, by category."""
_CHAINS = {  # category: (shortest, longest main part)
    Category.SOLO_CHAIN: (5, 12),
    Category.PAIR_CHAIN: (3, 10),
    Category.AIRPLANE: (2, 6),
    Category.AIRPLANE_WITH_SOLOS: (2, 5),
    Category.AIRPLANE_WITH_PAIRS: (2, 4),
}
_KICKERS = {  # category: (kickers for each unit of the main part, cards of a kicker)
    Category.TRIO_WITH_SOLO: (1, 1),
    Category.TRIO_WITH_PAIR: (1, 2),
    Category.AIRPLANE_WITH_SOLOS: (1, 1),
    Category.AIRPLANE_WITH_PAIRS: (1, 2),
    Category.FOUR_WITH_TWO_SOLOS: (2, 1),
    Category.FOUR_WITH_TWO_PAIRS: (2, 2),
}


GROUP = np.dtype(
    [
        ("main", "<u8"),  # packed main part
        ("start", "<i4"),  # first id of the group
        ("count", "<i4"),  # plays of the group, 0: no such group
        ("wide_start", "<i4"),  # the same for plays that need wider kicker rules
        ("wide_count", "<i4"),
    ],
    align=True,
)
"""One row of the table of groups: the plays of one category, length and rank."""


def _mains(category: Category) -> Iterator[tuple[int, int, list[int]]]:
    """(length, rank, ranks of the main part) of every group of a category, in order."""
    if category in _CHAINS:
        low, high = _CHAINS[category]
        for length in range(low, high + 1):
            for first in range(12 - length + 1):
                yield length, first + length - 1, list(range(first, first + length))
    elif category == Category.ROCKET:
        yield 1, BIG_JOKER, [SMALL_JOKER, BIG_JOKER]
    else:
        for rank in range(15 if category == Category.SOLO else 13):
            yield 1, rank, [rank]


def _kicker_bits(main: list[int], kickers: tuple[int, ...]) -> Kicker:
    """The wider rules that solo kickers need."""
    bits = Kicker.DEFAULT
    if SMALL_JOKER in kickers and BIG_JOKER in kickers:
        bits |= Kicker.BOTH_JOKERS
    for rank in set(kickers):
        if kickers.count(rank) == 4:
            bits |= Kicker.FOUR_SOLOS
        # A trio beside the chain extends it, unless it is the 2, which is in no chain.
        beside = rank in (main[0] - 1, main[-1] + 1) and rank < 12
        if kickers.count(rank) >= 3 and beside:
            bits |= Kicker.ADJACENT_TRIO
    return bits


def _kickers(category: Category, main: list[int]) -> Iterator[tuple[tuple[int, ...], Kicker]]:
    """(kicker cards, wider rules needed) for a main part, in order; one empty for bare plays."""
    if category not in _KICKERS:
        yield (), Kicker.DEFAULT
        return
    each, cards = _KICKERS[category]
    n = each * len(main)
    if cards == 2:
        for ranks in combinations([r for r in range(13) if r not in main], n):
            yield tuple(r for r in ranks for _ in range(2)), Kicker.DEFAULT
        return
    for ranks in combinations_with_replacement([r for r in range(15) if r not in main], n):
        most = max(ranks.count(r) for r in ranks)
        if most <= 4 and ranks.count(SMALL_JOKER) <= 1 and ranks.count(BIG_JOKER) <= 1:
            yield ranks, _kicker_bits(main, ranks)


def _build() -> tuple[np.ndarray, list[str]]:
    """The tables and the text of every action."""
    texts = [""] * FIRST_PLAY
    for text, action in CHOICES.items():
        texts[action] = text
    default: list[tuple] = []
    wide: list[tuple] = []
    for category in list(Category)[1:]:
        copies = COPIES[category]
        for length, rank, main in _mains(category):
            cards = [r for r in main for _ in range(copies)]
            for kickers, bits in _kickers(category, main):
                text = "".join(RANKS[r] for r in cards)
                text += "+" + "".join(RANKS[r] for r in kickers) if kickers else ""
                size = len(cards) + len(kickers)
                need = pack([*cards, *kickers])
                row = (need, category, length, rank, size, copies, int(bits))
                (wide if bits else default).append((row, text, pack(cards)))
    rows = default + wide
    actions = records(ACTION, FIRST_PLAY + len(rows))
    groups = records(GROUP, len(Category) * 13 * 15).reshape(len(Category), 13, 15)
    for i, (row, text, cards) in enumerate(rows):
        action = FIRST_PLAY + i
        actions[action] = row
        texts.append(text)
        group = groups[row[1], row[2], row[3]]
        group["main"] = cards
        prefix = "" if i < len(default) else "wide_"
        if group[prefix + "count"] == 0:
            group[prefix + "start"] = action
        group[prefix + "count"] += 1
    parts = {"actions": actions, "groups": groups, "categories": actions["category"]}
    layout = [(k, v.dtype, v.shape) for k, v in parts.items()]
    tables = records(np.dtype(layout, align=True), 1)
    for name, values in parts.items():
        tables[name][0] = values
    tables.flags.writeable = False
    return tables, texts


TABLES, TEXTS = _build()
"""What kernels need of the catalogue: an array of one record, so that a call passes little. Fields:
`actions` ACTION[N_ACTIONS] by id; `groups` GROUP[15, 13, 15] by category, length and rank;
`categories` uint8[N_ACTIONS] by id once more, of which a cache holds all."""
ACTIONS = TABLES["actions"][0]
"""The table of actions, `ACTION[N_ACTIONS]`, by id."""
N_ACTIONS = len(TEXTS)
"""Ids of all rooms: 64 choices, the plays of the default kicker rule, the wider ones."""
N_DEFAULT_ACTIONS = FIRST_PLAY + int(np.count_nonzero(ACTIONS["kicker"][FIRST_PLAY:] == 0))
"""Ids of the rooms with the default kicker rule: 64 + 27,471."""
_IDS = {text: i for i, text in enumerate(TEXTS) if text}


def n_actions(rules: "str | RuleSet") -> int:
    """The size of a room's action space: masks and `Discrete` spaces have this many entries."""
    return N_ACTIONS if get_rules(rules).params().kickers else N_DEFAULT_ACTIONS


def action_text(action: int) -> str:
    """The text of an action id.

    Raises:
        PlayError: no such id.
    """
    if not 0 <= action < N_ACTIONS or not TEXTS[action]:
        raise PlayError(f"action {action}: no such id; expected 0..{N_ACTIONS - 1}")
    return TEXTS[action]


def action_id(text: str) -> int:
    """The id of a choice or of a play written as text, its cards in any order, `10` for `T`.

    Raises:
        PlayError: the text is neither a choice nor a play of the catalogue.
    """
    if not isinstance(text, str):
        raise PlayError(f"play: expected text such as '333+4', got {text!r}")
    if text in _IDS:
        return _IDS[text]
    parts = text.upper().replace("10", "T").replace(" ", "").split("+")
    for part in parts:
        for letter in part:
            if letter not in RANKS[:15]:
                raise PlayError(f"play {text!r}: {letter!r} is no card; expected {RANKS[:15]}, '+'")
    key = "+".join("".join(sorted(part, key=RANKS.index)) for part in parts)
    if key not in _IDS:
        raise PlayError(
            f"play {text!r}: no such play; expected a main part, then '+' and its kickers"
        )
    return _IDS[key]


def catalogue_counts(rules: "str | RuleSet" = "play_only") -> dict[str, int]:
    """How many plays of each category a room has, by the category's name; pass is not counted."""
    params = get_rules(rules).params()
    plays = ACTIONS[FIRST_PLAY:]
    allowed = (plays["kicker"] & ~np.uint8(params.kickers)) == 0
    return {
        category.name.lower(): int(np.count_nonzero(allowed & (plays["category"] == category)))
        * (params.categories >> category & 1)
        for category in list(Category)[1:]
    }
