"""How many plays empty a hand: a depth-first search over the chains that can be taken out.

What is left beside chains is counted at once: trios and fours of a kind carry solos or pairs, the
two jokers are the rocket. The number is that of a real way to play the hand out in which trios and
bombs are not split into kickers, so it bounds the least number of plays from above.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.moves import CHAIN, JOKERS, T_INT, T_U64, at_least, count_ones, lowest

U64 = np.uint64
FAST, THOROUGH = 24, 5000
"""Budgets of `plays_to_go` in chains tried: for features and for decisions."""


@njit([types.int64(T_U64, T_INT)])
def _leftover(hand, airplanes):
    """Plays for a hand without chains, beside airplanes taken out before that may carry kickers.

    `airplanes` holds length and first rank of those airplanes, a byte each (16 * length + first);
    they are counted already.
    """
    one, two, three = at_least(hand, 1), at_least(hand, 2), at_least(hand, 3)
    four = at_least(hand, 4)
    solos = count_ones(one & ~two)
    pairs = count_ones(two & ~three)
    trios = count_ones(three & ~four)
    fours = count_ones(four)
    plays = trios + fours
    jokers = 0  # solos that are kept from airplanes, since no play carries both jokers
    if hand & JOKERS == JOKERS:
        # The rocket is a play of its own, unless trios can carry a joker each.
        if trios < solos:
            solos -= 2
            plays += 1
        else:
            jokers = 1
    while airplanes > 0:
        n, first = (airplanes >> 4) & 15, airplanes & 15
        airplanes >>= 8
        # A fourth card of its own ranks is no kicker of an airplane.
        own = (one & ~two) & (((U64(1) << U64(4 * n)) - U64(1)) << U64(4 * first))
        fit = max(solos - jokers - count_ones(own), 0)
        if fit >= n:
            solos -= n
        elif pairs >= n:
            pairs -= n
        elif fit + 2 * pairs >= n:
            # Pairs are split into solos; an odd number needed leaves one card behind.
            odd = (n - fit) & 1
            pairs -= (n - fit) // 2 + odd
            solos += odd - fit
    carried = min(trios, solos)
    solos -= carried
    pairs -= min(trios - carried, pairs)
    for _ in range(fours):
        if solos >= 2:
            solos -= 2
        elif pairs >= 2:
            pairs -= 2
        elif pairs == 1:
            pairs = 0
    return plays + solos + pairs


@njit([types.int64(T_U64, T_INT, T_INT, T_INT, T_INT, T_INT)])
def _search(hand, airplanes, option, used, best, budget):
    """Least plays found and budget left, as `best + 256 * budget`.

    Chains are taken out in the order of options (airplanes, pair chains, solo chains; by first
    rank), so that no set of chains is tried in two orders.
    """
    best = min(best, used + _leftover(hand, airplanes))
    for kind in range(option >> 4, 3):
        copies = 3 - kind
        shortest = (2, 3, 5)[kind]
        held = at_least(hand, copies) & CHAIN
        starts = held
        for i in range(1, shortest):
            starts &= held >> U64(4 * i)
        while starts != U64(0):
            first = lowest(starts)
            starts &= starts - U64(1)
            if kind * 16 + first < option:
                continue
            longest = shortest
            while (held >> U64(4 * (first + longest))) & U64(1):
                longest += 1
            for length in range(longest, shortest - 1, -1):
                if budget <= 0 or used + 2 > best:
                    return best + 256 * max(budget, 0)
                chain = ((U64(1) << U64(4 * length)) - U64(1)) // U64(15) << U64(4 * first)
                rest = hand - chain * U64(copies)
                carry = airplanes * 256 + 16 * length + first if kind == 0 else airplanes
                found = _search(rest, carry, kind * 16 + first, used + 1, best, budget - 1)
                best, budget = found & 255, found >> 8
    return best + 256 * budget


@njit([types.int64(T_U64, T_INT)])
def plays_to_go(hand, budget):
    """Plays that empty a packed hand (0..20), the least that the search finds.

    Args:
        hand: packed hand without wild cards.
        budget: chains to try at most; `FAST` finds the least of this form in nearly all hands.
    """
    if hand == U64(0):
        return 0
    return _search(hand, 0, 0, 0, 99, budget) & 255


@njit([types.boolean(T_U64, T_INT)])
def _extends(hand, rank):
    """Whether a card of a rank that the hand lacks stands beside one that it has, in a chain."""
    if rank > 11:
        return False
    below = rank > 0 and (hand >> U64(4 * rank - 4)) & U64(15) != U64(0)
    above = rank < 11 and (hand >> U64(4 * rank + 4)) & U64(15) != U64(0)
    return below or above


@njit([types.int64(T_U64, T_INT)])
def plays_to_go_wild(hand, budget):
    """`plays_to_go` of a hand with wild cards, each made one after another what helps most.

    A wild joins a rank of which the hand has a card, or stays a card of its own rank.
    """
    best = plays_to_go(hand, budget)
    while hand >> U64(60) != U64(0):
        chosen = hand
        for rank in range(13):
            held = (hand >> U64(4 * rank)) & U64(15)
            if held == U64(4):
                continue
            if held == U64(0) and not _extends(hand, rank):
                continue
            other = hand + (U64(1) << U64(4 * rank)) - (U64(1) << U64(60))
            plays = plays_to_go(other, budget)
            if plays < best or (plays == best and chosen == hand):
                best, chosen = plays, other
        if chosen == hand:
            return best
        hand = chosen
    return best
