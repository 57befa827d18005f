"""What is known to go wrong in other engines, as predictions that are exact to the play.

Every function here is computed from the hand, the play to beat and our own lists, without the
engine: `Change` says which plays it must list beyond its own reading of the rules, and which it
must lack. A prediction that does not come true is a difference like any other.
"""

from collections import Counter
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np

from ddz_env.cards import BIG_JOKER, unpack
from ddz_env.catalogue import ACTIONS, FIRST_PLAY, PASS, Category
from eval.peers_games import Lister, Position

ACE = 11
BARE_CHAINS = (Category.SOLO_CHAIN, Category.PAIR_CHAIN, Category.AIRPLANE)
_NEEDS, _CATEGORIES = ACTIONS["need"], ACTIONS["category"]
_LENGTHS, _RANKS = ACTIONS["length"], ACTIONS["rank"]
_COUNTS = (_NEEDS[:, None] >> np.arange(0, 64, 4, dtype=np.uint64)) & np.uint64(15)
"""Cards of each rank of each play, `uint64[N_ACTIONS, 16]`."""
LARGEST_TRIO = np.where(_COUNTS == 3, np.arange(16), -1).max(axis=1)
"""The highest rank of which a play has exactly three cards, kickers included; -1: none."""


class Change(NamedTuple):
    """Plays by which a list differs, as the keys of the engine's lists."""

    adds: frozenset[int]
    lacks: frozenset[int]


def _change(ours: set[int], theirs: set[int]) -> Change:
    return Change(frozenset(theirs - ours), frozenset(ours - theirs))


CHAIN_ON_FOUR = "bare chain starting on a rank held four times"
BOMB_ON_ROCKET = "bomb answers the rocket"


def open_spiel(position: Position, ids: np.ndarray, lister: Lister) -> dict[str, Change]:
    """The faults of OpenSpiel, by id: its chains skip ranks held four times; bombs beat the rocket.

    Args:
        position: hand and play to beat.
        ids: what we list under its reading, `int32[n]`.
        lister: lists under its reading.
    """
    chains = ids[np.isin(_CATEGORIES[ids], BARE_CHAINS)]
    held = unpack(position.hand)
    lacks = [a for a in chains.tolist() if held[int(_RANKS[a]) - int(_LENGTHS[a]) + 1] == 4]
    found = {CHAIN_ON_FOUR: Change(frozenset(), frozenset(lacks))}
    if _CATEGORIES[position.last] == Category.ROCKET:
        leads = lister.ids(Position(position.hand, PASS))
        bombs = leads[_CATEGORIES[leads] == Category.BOMB]
        found[BOMB_ON_ROCKET] = Change(frozenset(bombs.tolist()), frozenset())
    return found


TAKEN_FOR_CHAIN = "airplane with a trio that extends its chain is taken for a bare airplane"
TAKEN_FOR_WRONG = "airplane of its own generator is called wrong: only bombs answer"
LARGEST_TRIO_RANKS = "airplane is ranked by its largest trio, kickers included"
REPEATED = "the same play is listed several times"


def douzero_type(last: int) -> str:
    """How DouZero reads the cards of a play: `right`, `chain` or `wrong`.

    It reads the cards anew. A rank held four times, or more trios than it expects, is no airplane
    to it; four neighbouring trios are one of four, whatever they were played as.
    """
    if _CATEGORIES[last] != Category.AIRPLANE_WITH_SOLOS:
        return "right"
    counts, length = _COUNTS[last], int(_LENGTHS[last])
    trios = np.flatnonzero(counts == 3)
    if (counts == 4).any():
        return "wrong"
    if len(trios) == length:
        return "right"
    if length > 3:
        return "wrong"
    return "chain" if trios[-1] - trios[0] == 3 and trios[-1] <= ACE else "right"


def _cards(ids: np.ndarray) -> set[int]:
    return set(_NEEDS[ids].tolist())


def douzero(position: Position, ids: np.ndarray, lister: Lister) -> dict[str, Change]:
    """The faults of DouZero in what it lists, by packed cards (`open_spiel` for the arguments).

    All concern airplanes with solos to beat: how it reads and ranks them (`douzero_type`).
    """
    last = position.last
    if _CATEGORIES[last] != Category.AIRPLANE_WITH_SOLOS:
        return {}
    ours, read = _cards(ids), douzero_type(last)
    leads = lister.ids(Position(position.hand, PASS))
    bombs = _cards(leads[_CATEGORIES[leads] >= Category.BOMB]) | {PASS}
    if read == "wrong":
        return {TAKEN_FOR_WRONG: _change(ours, bombs)}
    if read == "chain":
        bare = leads[(_CATEGORIES[leads] == Category.AIRPLANE) & (_LENGTHS[leads] == 4)]
        higher = bare[_RANKS[bare] > LARGEST_TRIO[last]]
        return {TAKEN_FOR_CHAIN: _change(ours, _cards(higher) | bombs)}
    same = leads[(_CATEGORIES[leads] == _CATEGORIES[last]) & (_LENGTHS[leads] == _LENGTHS[last])]
    higher = same[LARGEST_TRIO[same] > LARGEST_TRIO[last]]
    return {LARGEST_TRIO_RANKS: _change(ours, _cards(higher) | bombs)}


_SOLO_KICKERS = {Category.AIRPLANE_WITH_SOLOS: 1, Category.FOUR_WITH_TWO_SOLOS: 2}
"""Kickers for each rank of the main part."""


def douzero_times(position: Position, listed: set[int], lister: Lister) -> Counter[int]:
    """How often DouZero lists each of the plays that it lists, by packed cards.

    It takes kickers out of the sorted hand by place, which names a choice once for each way to pick
    its places, and only drops a choice that equals the one before it. Cards that are several plays
    come once for each main part.
    """
    leads = lister.ids(Position(position.hand, PASS))
    if position.last:
        read = douzero_type(position.last)
        if read != "right" or _CATEGORIES[position.last] not in _SOLO_KICKERS:
            return Counter(listed)
        leads = leads[
            (_CATEGORIES[leads] == _CATEGORIES[position.last])
            & (_LENGTHS[leads] == _LENGTHS[position.last])
        ]
    times: Counter[int] = Counter()
    mains: set[tuple[int, int, int]] = set()
    for action in leads.tolist():
        category = int(_CATEGORIES[action])
        if category not in _SOLO_KICKERS:
            times[int(_NEEDS[action])] += 1
            continue
        mains.add((category, int(_LENGTHS[action]), int(_RANKS[action])))
    for category, length, rank in mains:
        times += _times(position.hand, category, length, rank)
    for cards in listed - set(times):  # bombs, the rocket and the pass as answers
        times[cards] = 1
    return Counter({cards: n for cards, n in times.items() if cards in listed})


def _times(hand: int, category: int, length: int, rank: int) -> Counter[int]:
    """How often each choice of solo kickers is named for a main part, by packed cards."""
    copies = 3 if category == Category.AIRPLANE_WITH_SOLOS else 4
    main = range(rank - length + 1, rank + 1)
    held = unpack(hand)
    words = [1 << 4 * r for r in range(BIG_JOKER + 1) if r not in main for _ in range(held[r])]
    base = sum(copies << 4 * r for r in main)
    number = length * _SOLO_KICKERS[Category(category)]
    return Counter(base + sum(kickers) for kickers, _ in groupby(combinations(words, number)))


assert FIRST_PLAY > PASS == 0 and LARGEST_TRIO[PASS] == -1
