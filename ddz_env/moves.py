"""Which plays a hand has, and which of them beat the last one: kernels over packed hands.

A hand holds the cards of a play when subtracting the play's packed word borrows from no nibble:
with the top bit of every nibble set first, `((hand | H) - need) & H == H`.
"""

import numpy as np
from numba import from_dtype, types

from ddz_env._jit import array_type, njit
from ddz_env.cards import BIG_JOKER, SMALL_JOKER
from ddz_env.catalogue import COPIES, TABLES, Category
from ddz_env.params import PARAMS

U64 = np.uint64
HIGH = U64(0x8888888888888888)
ONES = U64(0x1111111111111111)
NIBBLE = U64(15)
CHAIN = U64(0x0000111111111111)  # ranks 3..A
JOKERS = U64(0x0110000000000000)
RANKS = U64(0x000FFFFFFFFFFFFF)  # the nibbles of the ranks 3..2
MAX_LEGAL = 27_472 + 3_000
"""A bound on the legal actions of one decision: no hand has more than the whole catalogue."""

T_U64, T_INT = types.uint64, types.int64
T_IDS = types.int32[::1]
T_TABLES = array_type(TABLES)
T_PARAMS = from_dtype(PARAMS)

_SOLO, _BOMB, _ROCKET = int(Category.SOLO), int(Category.BOMB), int(Category.ROCKET)
_SOLO_CHAIN, _LAST_CHAIN = int(Category.SOLO_CHAIN), int(Category.AIRPLANE_WITH_PAIRS)
ACE = 11  # the highest rank of a chain


@njit([types.boolean(T_U64, T_U64)])
def contains(hand, need):
    """Whether a packed hand holds the packed cards `need`."""
    return ((hand | HIGH) - need) & HIGH == HIGH


@njit([types.uint64(T_U64, T_U64)])
def lacking(hand, need):
    """The packed cards of ranks 3..2 that `need` has and `hand` lacks."""
    gap = ((need & RANKS) | HIGH) - (hand & RANKS)
    # A nibble keeps its top bit where nothing had to be borrowed: there the rest is what lacks.
    return gap & (((gap & HIGH) >> U64(3)) * U64(7)) & RANKS


@njit([types.uint64(T_U64, T_INT)])
def at_least(hand, n):
    """A packed word with a one for every rank of which the hand has at least `n` cards (1..4)."""
    b0, b1, b2 = hand, hand >> U64(1), hand >> U64(2)
    if n == 1:
        return (b0 | b1 | b2) & ONES
    if n == 2:
        return (b1 | b2) & ONES
    if n == 3:
        return ((b0 & b1) | b2) & ONES
    return b2 & ONES


@njit([types.int64(T_U64)])
def count_ones(mask):
    """The number of ones in a word that `at_least` made (up to 15)."""
    return np.int64((mask * ONES) >> U64(60))


@njit([types.int64(T_U64)])
def lowest(mask):
    """The rank of the lowest one of a non-zero word that `at_least` made."""
    return np.int64((((mask & (~mask + U64(1))) - U64(1) & ONES) * ONES) >> U64(60))


@njit([types.int64(T_U64)])
def hand_size(hand):
    """The number of cards in a packed hand (0..20)."""
    even = hand & U64(0x0F0F0F0F0F0F0F0F)
    odd = (hand >> U64(4)) & U64(0x0F0F0F0F0F0F0F0F)
    return np.int64(((even + odd) * U64(0x0101010101010101)) >> U64(56))


@njit([types.uint64(T_U64, T_U64, T_INT)])
def wild_cards(hand, need, n):
    """The packed cards that serve as `n` wilds: wild ones, else jokers that the play leaves."""
    if hand >> U64(60):
        return U64(n) << U64(60)
    cards = U64(0)
    for rank in (SMALL_JOKER, BIG_JOKER):
        joker = U64(1) << U64(4 * rank)
        if n > 0 and hand & joker != U64(0) and need & joker == U64(0):
            cards += joker
            n -= 1
    return cards


@njit([types.uint64(T_U64, T_U64)])
def after(hand, need):
    """A packed hand without the cards of a play that it makes, with as few wilds as possible."""
    wilds = lacking(hand, need)
    left = hand - (need - wilds)
    if wilds != U64(0):
        left -= wild_cards(hand, need, hand_size(wilds))
    return left


# Inlined, since a call here costs more than most groups.
@njit([types.int64(T_U64, T_INT, T_INT, T_INT, T_TABLES, T_IDS, T_INT)], inline="always")
def _add_group(hand, category, length, rank, tables, out, n):
    """Append the plays of a group whose main part the hand holds to `out[n:]`; the new length."""
    start = np.int64(tables[0].groups[category, length, rank].start)
    count = np.int64(tables[0].groups[category, length, rank].count)
    if count == 1:  # the main part is the whole play
        out[n] = start
        return n + 1
    for action in range(start, start + count):
        if contains(hand, tables[0].actions[action].need):
            out[n] = action
            n += 1
    return n


@njit([types.int64(T_U64, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES, T_IDS, T_INT)])
def _add_wide_group(hand, category, length, rank, params, tables, out, n):
    """Append one group's plays of wider kicker rules."""
    start = tables[0].groups[category, length, rank].wide_start
    for action in range(start, start + tables[0].groups[category, length, rank].wide_count):
        if tables[0].actions[action].kicker & ~params.kickers == 0:
            if contains(hand, tables[0].actions[action].need):
                out[n] = action
                n += 1
    return n


@njit([types.int64(T_U64, T_PARAMS, T_TABLES, T_IDS, T_INT)])
def _add_wide(hand, params, tables, out, n):
    """Append the plays that only the room's wider kicker rules allow."""
    for category in range(_SOLO, _ROCKET):
        if not (params.categories >> category) & 1:
            continue
        for length in range(1, 13):
            for rank in range(15):
                n = _add_wide_group(hand, category, length, rank, params, tables, out, n)
    return n


@njit([types.int64(T_U64, T_U64, T_INT, T_INT, T_TABLES, T_IDS, T_INT)])
def _add_groups(hand, starts, category, length, tables, out, n):
    """Append the plays whose main part begins at a rank that `starts` marks."""
    while starts != U64(0):
        rank = lowest(starts) + length - 1
        starts &= starts - U64(1)
        n = _add_group(hand, category, length, rank, tables, out, n)
    return n


@njit([types.int64(T_U64, T_PARAMS, T_TABLES, T_IDS)])
def list_leads(hand, params, tables, out):
    """All plays that a hand can lead, ids ascending, into `out`; their number.

    Args:
        hand: packed hand, uint64.
        params: the room's `Params`.
        tables: the catalogue's `TABLES`.
        out: int32 buffer with room for `MAX_LEGAL` ids.
    """
    n = 0
    held = (U64(0), at_least(hand, 1), at_least(hand, 2), at_least(hand, 3), at_least(hand, 4))
    for category in range(_SOLO, _BOMB + 1):
        found = held[COPIES[category]]
        if found == U64(0) or not (params.categories >> category) & 1:
            continue
        if category < _SOLO_CHAIN or category > _LAST_CHAIN:
            n = _add_groups(hand, found, category, 1, tables, out, n)
            continue
        # A chain of one more starts where one of this length does and the next rank is there too.
        found &= CHAIN
        starts = found
        length = 1
        while starts != U64(0):
            if tables[0].groups[category, length, ACE].count != 0:
                n = _add_groups(hand, starts, category, length, tables, out, n)
            starts &= found >> U64(4 * length)
            length += 1
    if hand & JOKERS == JOKERS:
        out[n] = tables[0].groups[_ROCKET, 1, BIG_JOKER].start
        n += 1
    if params.kickers:
        n = _add_wide(hand, params, tables, out, n)
    return n


@njit([types.int64(T_U64, T_INT, T_PARAMS, T_TABLES, T_IDS)])
def list_replies(hand, last, params, tables, out):
    """Pass and all plays of a hand that beat the play `last`, ids ascending; their number.

    Args:
        hand: packed hand, uint64.
        last: action id of the play to beat.
        params: the room's `Params`.
        tables: the catalogue's `TABLES`.
        out: int32 buffer with room for `MAX_LEGAL` ids.
    """
    out[0] = 0
    n = 1
    category = np.int64(tables[0].actions[last].category)
    length = np.int64(tables[0].actions[last].length)
    low = np.int64(tables[0].actions[last].rank) + 1
    if category == _ROCKET:
        return n
    if category != _BOMB:
        starts = at_least(hand, COPIES[category])
        if length > 1:
            found = starts & CHAIN
            starts = found
            for i in range(1, length):
                starts &= found >> U64(4 * i)
        first = low - length + 1
        starts = starts >> U64(4 * first) << U64(4 * first)
        n = _add_groups(hand, starts, category, length, tables, out, n)
        low = 0
    fours = at_least(hand, 4) >> U64(4 * low) << U64(4 * low)
    while fours != U64(0):
        out[n] = tables[0].groups[_BOMB, 1, lowest(fours)].start
        fours &= fours - U64(1)
        n += 1
    if hand & JOKERS == JOKERS:
        out[n] = tables[0].groups[_ROCKET, 1, BIG_JOKER].start
        n += 1
    if params.kickers and category != _BOMB:
        for rank in range(tables[0].actions[last].rank + 1, 15):
            n = _add_wide_group(hand, category, length, rank, params, tables, out, n)
    return n
