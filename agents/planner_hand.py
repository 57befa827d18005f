"""How a hand is best played out: a search over its decompositions, weighed by card counting.

Like `ddz_env.decompose`, chains are taken out in every order-free way and what is left beside them
is counted at once; but a play costs `PLAY` and the chance that the opponents can beat it, since
then the lead is lost, and a bomb wins a lead back. So a hand with high pairs is better than one
with low pairs, and a chain that costs two high solos is not always good.
"""

import numpy as np
from numba import from_dtype, types

from agents.planner_odds import T_HOLDER
from ddz_env._jit import njit
from ddz_env.moves import CHAIN, JOKERS, T_INT, T_U64, at_least, count_ones, lowest

U64 = np.uint64
NATURAL = U64((1 << 60) - 1)

PLAN = np.dtype(
    [
        ("cost", "<f8"),  # what the search makes small
        ("plays", "<i8"),  # plays that empty the hand
        ("answers", "<f8"),  # sum of the chances that they are beaten
        ("worst", "<f8"),  # the largest of these chances
        ("bombs", "<i8"),  # bombs and the rocket among them
        ("tops", "<f8"),  # plays that are hardly ever beaten, bombs aside
        ("solos", "<i8"),  # plays that are solos, pairs
        ("pairs", "<i8"),
        ("left", "<i8"),  # chains that may still be tried
    ],
    align=True,
)
"""The best way found to play a hand out."""
T_PLAN = from_dtype(PLAN)
T_SUMS, T_TALLY = types.float64[:, ::1], types.float64[::1]
DEPTH, TOP = 8, 0.1
"""Chains taken out at most; below this chance of being beaten a play is a top."""
PLAY, BOMB_WORTH, CARRY = 0.5, 0.9, 0.02
"""Cost of a play beside its chance of being beaten; what a bomb takes off; the cost of a rank that
is carried as a kicker."""


@njit([types.void(T_U64, T_INT, T_HOLDER, T_TALLY)])
def add_all(ranks, copies, foe, tally):
    """Count the plays of 1, 2, 3 or 4 cards of the marked ranks: plays, answers, worst, tops."""
    while ranks != U64(0):
        rank = lowest(ranks)
        ranks &= ranks - U64(1)
        a = foe.solo[rank] if copies == 1 else foe.pair[min(rank, 12)]
        if copies > 2:
            a = foe.trio[rank] if copies == 3 else foe.bomb[rank]
        tally[0] += 1.0
        tally[1] += a
        tally[2] = max(tally[2], a)
        if a < TOP and copies < 4:
            tally[3] += 1.0


@njit([types.Tuple((T_U64, T_U64, types.float64))(T_U64, T_U64, T_INT, T_U64, T_HOLDER)])
def carry(solos, pairs, slots, pairs_carried, foe):
    """(solos, pairs) that are left, and the ranks carried, when trios take the worst of them."""
    carried = 0.0
    while slots > 0 and (solos | pairs) != U64(0):
        slots -= 1
        rs = lowest(solos) if solos != U64(0) else 15
        rp = lowest(pairs) if pairs != U64(0) and pairs_carried != U64(0) else 15
        cs = foe.solo[rs] + PLAY - CARRY * rs if rs < 15 else -1.0
        cp = foe.pair[rp] + PLAY - 2 * CARRY * rp if rp < 15 else -1.0
        if max(cs, cp) <= 0.0:
            break
        if cs >= cp:
            solos &= solos - U64(1)
            carried += rs
        else:
            pairs &= pairs - U64(1)
            carried += 2 * rp
    return solos, pairs, carried


@njit([types.boolean(T_U64, T_U64, T_U64, T_U64)])
def one_four(fours, solos, pairs, pairs_carried):
    """Whether one four and what it carries are the whole hand, as a single play."""
    if count_ones(fours) != 1:
        return False
    if pairs == U64(0):
        return count_ones(solos) == 2
    return solos == U64(0) and count_ones(pairs) <= (1 if pairs_carried == U64(0) else 2)


@njit([types.void(T_U64, T_INT, T_U64, T_HOLDER, T_TALLY, T_TALLY, T_PLAN)])
def leaf(hand, airplanes, pairs_carried, foe, sums, tally, plan):
    """Count a hand without chains and keep the way to play it if it is the best so far.

    Args:
        hand: packed hand, chains taken out.
        airplanes: trios in airplanes taken out before, which may carry kickers too.
        pairs_carried: 1 where the room's trios may carry pairs.
        foe: the opponents.
        sums: of the chains taken out: plays, answers, worst, tops.
        tally: scratch of the same form.
        plan: the best so far.
    """
    one, two, three = at_least(hand, 1), at_least(hand, 2), at_least(hand, 3)
    fours = at_least(hand, 4)
    solos, pairs, trios = one & ~two, two & ~three, three & ~fours
    tally[:] = sums
    bombs = count_ones(fours)
    if hand & JOKERS == JOKERS:
        solos &= ~JOKERS
        bombs += 1
        tally[0] += 1.0
    add_all(trios, 3, foe, tally)
    if tally[0] == 0.0 and one_four(fours, solos, pairs, pairs_carried):
        fours, solos, pairs, bombs = U64(0), U64(0), U64(0), 0
        tally[0] = 1.0
    add_all(fours, 4, foe, tally)
    slots = airplanes + count_ones(trios)
    solos, pairs, carried = carry(solos, pairs, slots, pairs_carried, foe)
    add_all(solos, 1, foe, tally)
    add_all(pairs, 2, foe, tally)
    cost = PLAY * tally[0] + tally[1] - BOMB_WORTH * bombs + CARRY * carried
    if tally[0] == 1.0:
        cost = -10.0
    if cost < plan.cost:
        plan.cost, plan.plays, plan.answers = cost, np.int64(tally[0]), tally[1]
        plan.worst, plan.tops, plan.bombs = tally[2], tally[3], bombs
        plan.solos, plan.pairs = count_ones(solos), count_ones(pairs)


_T_SEARCH = types.void(T_U64, T_INT, T_INT, T_U64, T_HOLDER, T_SUMS, T_INT, T_PLAN)


@njit([_T_SEARCH])
def search(hand, airplanes, option, pairs_carried, foe, sums, depth, plan):
    """Try all sets of chains from an option on (16 * kind + first rank), airplanes first."""
    leaf(hand, airplanes, pairs_carried, foe, sums[depth], sums[DEPTH], plan)
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
                if plan.left <= 0 or depth + 1 >= DEPTH:
                    return
                plan.left -= 1
                a = foe.chain[copies - 1, length, first + length - 1]
                sums[depth + 1, 0] = sums[depth, 0] + 1.0
                sums[depth + 1, 1] = sums[depth, 1] + a
                sums[depth + 1, 2] = max(sums[depth, 2], a)
                sums[depth + 1, 3] = sums[depth, 3] + (1.0 if a < TOP else 0.0)
                chain = ((U64(1) << U64(4 * length)) - U64(1)) // U64(15) << U64(4 * first)
                carry = airplanes + length if kind == 0 else airplanes
                search(
                    hand - chain * U64(copies), carry, kind * 16 + first, pairs_carried, foe, sums,
                    depth + 1, plan,
                )  # fmt: skip


@njit([types.void(T_U64, T_U64, T_INT, T_HOLDER, T_SUMS, T_PLAN)])
def plan_hand(hand, pairs_carried, budget, foe, sums, plan):
    """Find the best way to play out a packed hand without wild cards.

    Args:
        hand: the hand.
        pairs_carried: 1 where the room's trios may carry pairs.
        budget: chains to try at most.
        foe: the opponents.
        sums: scratch, `float64[DEPTH + 1, 4]`.
        plan: the result.
    """
    plan.cost = 1e9
    plan.left = budget
    plan.plays, plan.answers, plan.worst, plan.bombs, plan.tops = 0, 0.0, 0.0, 0, 0.0
    plan.solos, plan.pairs = 0, 0
    if hand == U64(0):
        plan.cost = -100.0
        return
    for i in range(4):
        sums[0, i] = 0.0
    search(hand, 0, 0, pairs_carried, foe, sums, 0, plan)


@njit([types.boolean(T_U64, T_INT)])
def helps(hand, rank):
    """Whether a wild card may help as a card of a rank: beside others, or in a chain."""
    held = (hand >> U64(4 * rank)) & U64(15)
    if held != U64(0) or rank > 11:
        return U64(0) < held < U64(4)
    below = rank > 0 and (hand >> U64(4 * rank - 4)) & U64(15) != U64(0)
    above = rank < 11 and (hand >> U64(4 * rank + 4)) & U64(15) != U64(0)
    return below or above


@njit([types.void(T_U64, T_U64, T_INT, T_INT, T_HOLDER, T_SUMS, T_PLAN)])
def plan_wild(hand, pairs_carried, own, budget, foe, sums, plan):
    """`plan_hand` of a hand with wild cards, each made one after another what helps most.

    `own` is the rank of the wild cards, which they are where they help nowhere.
    """
    while hand >> U64(60) != U64(0):
        hand -= U64(1) << U64(60)
        best, chosen = 1e9, own
        for rank in range(13):
            if helps(hand, rank) or rank == own:
                other = (hand & NATURAL) + (U64(1) << U64(4 * rank))
                plan_hand(other, pairs_carried, budget, foe, sums, plan)
                if plan.cost < best:
                    best, chosen = plan.cost, rank
        hand += U64(1) << U64(4 * chosen)
    plan_hand(hand, pairs_carried, budget, foe, sums, plan)
