"""Card counting: how likely the others can beat a play, from what a seat has not seen.

Hidden cards are dealt to the other seats at random as far as their numbers of cards allow; cards
that a seat is known to hold (a shown hand, the landlord's bottom cards that he has not played) are
his. Ranks are taken as independent of each other.
"""

from math import comb

import numpy as np
from numba import from_dtype, types

from ddz_env._jit import njit
from ddz_env.moves import T_INT, T_U64, hand_size
from ddz_env.view import T_VIEW

U64 = np.uint64
MOST_UNSEEN, MOST_CARDS = 37, 20
SHORTEST = (5, 3, 2)
"""Shortest chains of solos, pairs and trios."""


def _chances() -> np.ndarray:
    """P(a hand of n out of u cards has x of k given ones), `float64[u, n, k, x]`."""
    table = np.zeros((MOST_UNSEEN + 1, MOST_CARDS + 1, 5, 5))
    for u in range(MOST_UNSEEN + 1):
        for n in range(min(u, MOST_CARDS) + 1):
            for k in range(min(u, 4) + 1):
                for x in range(min(k, n) + 1):
                    if n - x <= u - k:
                        table[u, n, k, x] = comb(k, x) * comb(u - k, n - x) / comb(u, n)
    return table


CHANCES = _chances()
T_CHANCES = types.float64[:, :, :, ::1]

HOLDER = np.dtype(
    [
        ("count", "<i8"),  # cards in the hand
        ("known", "<u8"),  # packed cards known to be in it
        ("hidden", "<i8"),  # other cards in it
        ("least", "<f8", (5, 16)),  # [j, rank]: chance of j or more of a rank
        ("solo", "<f8", 15),  # chance of a higher solo, by rank
        ("pair", "<f8", 13),
        ("trio", "<f8", 13),
        ("bomb", "<f8", 14),  # chance of a bomb above a rank, or the rocket; 13: of the rocket
        ("any_bomb", "<f8"),  # chance of any bomb or the rocket
        ("chain", "<f8", (3, 13, 12)),  # [copies - 1, length, rank]: chance of a higher chain
    ],
    align=True,
)
"""What a seat can expect in another hand, or in two that are its opponents."""
T_HOLDER = from_dtype(HOLDER)


@njit([types.void(T_HOLDER, T_U64, T_INT, T_CHANCES)])
def fill_least(holder, pool, unseen, chances):
    """Chances to hold 1..4 cards of each rank; wild cards help where a card lacks."""
    row = chances[unseen, holder.hidden]
    for rank in range(16):
        k = np.int64((pool >> U64(4 * rank)) & U64(15))
        known = np.int64((holder.known >> U64(4 * rank)) & U64(15))
        for j in range(1, 5):
            p = 0.0
            for x in range(max(j - known, 0), k + 1):
                p += row[k, x]
            holder.least[j, rank] = min(p, 1.0)
    wild = holder.least[1, 15]
    if wild > 0.0:
        for rank in range(13):
            for j in range(4, 1, -1):
                less, same = holder.least[j - 1, rank], holder.least[j, rank]
                holder.least[j, rank] = same + wild * max(less - same, 0.0)


@njit([types.void(T_HOLDER, types.float64)])
def fill_beats(holder, rocket):
    """Chances to beat plays by rank, from the chances to hold cards and that of the rocket."""
    miss = 1.0
    for rank in range(14, -1, -1):
        holder.solo[rank] = 1.0 - miss
        miss *= 1.0 - holder.least[1, rank]
    pair, trio, bomb = 1.0, 1.0, 1.0
    holder.bomb[13] = rocket
    for rank in range(12, -1, -1):
        holder.pair[rank], holder.trio[rank] = 1.0 - pair, 1.0 - trio
        holder.bomb[rank] = 1.0 - bomb * (1.0 - rocket)
        pair *= 1.0 - holder.least[2, rank]
        trio *= 1.0 - holder.least[3, rank]
        bomb *= 1.0 - holder.least[4, rank]
    holder.any_bomb = 1.0 - bomb * (1.0 - rocket)


@njit([types.void(T_HOLDER)])
def fill_chains(holder):
    """Chances to beat chains: a higher one of the same length whose ranks are all there."""
    for kind in range(3):
        shortest = SHORTEST[kind]
        for length in range(shortest, 13):
            if length * (kind + 1) > holder.count:
                for rank in range(length - 1, 12):
                    holder.chain[kind, length, rank] = 0.0
                continue
            miss = 1.0
            for rank in range(11, length - 2, -1):
                holder.chain[kind, length, rank] = 1.0 - miss
                p = 1.0
                for i in range(length):
                    p *= holder.least[kind + 1, rank - i]
                miss *= 1.0 - p


@njit([types.void(T_HOLDER, T_HOLDER, T_HOLDER, T_U64, T_INT, T_CHANCES)])
def join(one, two, both, pool, unseen, chances):
    """Two opponents as one: the cards that one lacks are with the other."""
    row = chances[unseen, one.hidden]
    for rank in range(16):
        k = np.int64((pool >> U64(4 * rank)) & U64(15))
        a = np.int64((one.known >> U64(4 * rank)) & U64(15))
        b = np.int64((two.known >> U64(4 * rank)) & U64(15))
        for j in range(1, 5):
            p = 0.0
            for x in range(k + 1):
                if a + x >= j or b + k - x >= j:
                    p += row[k, x]
            both.least[j, rank] = min(p, 1.0)
    both.count = min(one.count, two.count)
    if both.least[1, 15] > 0.0:
        for rank in range(13):
            for j in range(2, 5):
                miss = (1.0 - one.least[j, rank]) * (1.0 - two.least[j, rank])
                both.least[j, rank] = max(both.least[j, rank], 1.0 - miss)
    fill_beats(both, 1.0 - (1.0 - one.bomb[13]) * (1.0 - two.bomb[13]))
    for kind in range(3):
        for length in range(SHORTEST[kind], 13):
            for rank in range(length - 1, 12):
                miss = (1.0 - one.chain[kind, length, rank]) * (1.0 - two.chain[kind, length, rank])
                both.chain[kind, length, rank] = 1.0 - miss


@njit([types.uint64(T_U64, T_U64)])
def without(cards, gone):
    """Packed cards without those of `gone` that are among them."""
    left = U64(0)
    for rank in range(16):
        have, lost = (cards >> U64(4 * rank)) & U64(15), (gone >> U64(4 * rank)) & U64(15)
        if have > lost:
            left += (have - lost) << U64(4 * rank)
    return left


@njit([types.void(T_VIEW, T_INT, T_HOLDER)])
def begin(view, seat, holder):
    """Write what is known of a seat's hand for sure."""
    holder.count = view.counts[seat]
    holder.known = view.hands[seat]
    if holder.known == U64(0) and seat == view.landlord:
        holder.known = without(view.bottom, view.played[seat])
    holder.hidden = max(holder.count - hand_size(holder.known), 0)


@njit([types.void(T_VIEW, T_HOLDER[::1], T_CHANCES)])
def count_cards(view, holders, chances):
    """Fill `HOLDER[4]`: by seat, and number 3 for the opponents of the view's seat together.

    The row of the seat itself is left as it was.
    """
    pool = view.unseen
    for seat in range(3):
        if seat != view.seat:
            begin(view, seat, holders[seat])
            if view.hands[seat] == U64(0):
                pool -= holders[seat].known
    unseen = min(hand_size(pool), MOST_UNSEEN)
    for seat in range(3):
        if seat != view.seat:
            holders[seat].hidden = min(holders[seat].hidden, unseen)
            fill_least(holders[seat], pool, unseen, chances)
            rocket = holders[seat].least[1, 13] * holders[seat].least[1, 14]
            fill_beats(holders[seat], rocket if holders[seat].count > 1 else 0.0)
            fill_chains(holders[seat])
    lord = view.landlord
    if view.seat == lord:
        join(holders[(lord + 1) % 3], holders[(lord + 2) % 3], holders[3], pool, unseen, chances)
    else:
        holders[3] = holders[lord]
