"""How a hand is best played out: a search over its decompositions, weighed by card counting.

Like `ddz_env.decompose`, chains are taken out in every order-free way and what is left beside them
is counted at once; but a play costs `PLAY` and the chance that the opponents can beat it, since
then the lead is lost, and a bomb wins a lead back. So a hand with high pairs is better than one
with low pairs, and a chain that costs two high solos is not always good.
"""

import numpy as np
from numba import from_dtype, types

from agents.planner_jit import njit
from agents.planner_odds import T_HOLDER
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
T_SUMS = types.float64[:, ::1]
PLAY, BOMB_WORTH, CARRY = 0.5, 0.9, 0.02
"""Cost of a play beside its chance of being beaten; what a bomb takes off; the cost of a rank that
is carried as a kicker."""


@njit([types.void(T_U64, T_INT, T_U64, T_HOLDER, types.float64[::1], T_PLAN)])
def leaf(hand, airplanes, pairs_carried, foe, sums, plan):
    """Count a hand without chains and keep the way to play it if it is the best so far.

    Args:
        hand: packed hand, chains taken out.
        airplanes: trios in airplanes taken out before, which may carry kickers too.
        pairs_carried: 1 where the room's trios may carry pairs.
        foe: the opponents.
        sums: of the chains taken out: plays, answers, worst, tops.
        plan: the best so far.
    """
    one, two, three = at_least(hand, 1), at_least(hand, 2), at_least(hand, 3)
    fours = at_least(hand, 4)
    solos, pairs, trios = one & ~two, two & ~three, three & ~fours
    plays, answers, worst, tops = sums[0], sums[1], sums[2], sums[3]
    bombs, carried = 0, 0.0
    if hand & JOKERS == JOKERS:
        solos &= ~JOKERS
        bombs += 1
        plays += 1
    slots = airplanes
    while trios != U64(0):
        rank = lowest(trios)
        trios &= trios - U64(1)
        a = foe.trio[rank]
        plays += 1
        answers += a
        worst = max(worst, a)
        tops += 1.0 if a < 0.1 else 0.0
        slots += 1
    while fours != U64(0):
        rank = lowest(fours)
        fours &= fours - U64(1)
        n_solos, n_pairs = count_ones(solos), count_ones(pairs)
        # A four carries two solos where that leaves a single play.
        if bombs == 0 and plays == 0.0 and fours == U64(0) and slots == 0:
            alone = (n_solos == 2 and n_pairs == 0) or (n_solos == 0 and 0 < n_pairs <= 2)
            if n_pairs == 2 and pairs_carried == U64(0):
                alone = False
            if alone:
                solos, pairs = U64(0), U64(0)
                plays += 1
                continue
        plays += 1
        bombs += 1
        answers += foe.bomb[rank]
        worst = max(worst, foe.bomb[rank])
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
    solo_plays, pair_plays = count_ones(solos), count_ones(pairs)
    while solos != U64(0):
        a = foe.solo[lowest(solos)]
        solos &= solos - U64(1)
        plays += 1
        answers += a
        worst = max(worst, a)
        tops += 1.0 if a < 0.1 else 0.0
    while pairs != U64(0):
        a = foe.pair[lowest(pairs)]
        pairs &= pairs - U64(1)
        plays += 1
        answers += a
        worst = max(worst, a)
        tops += 1.0 if a < 0.1 else 0.0
    cost = PLAY * plays + answers - BOMB_WORTH * bombs + CARRY * carried
    if plays == 1:
        cost = -10.0
    if cost < plan.cost:
        plan.cost, plan.plays, plan.answers, plan.worst = cost, np.int64(plays), answers, worst
        plan.bombs, plan.tops, plan.solos, plan.pairs = bombs, tops, solo_plays, pair_plays


_T_SEARCH = types.void(T_U64, T_INT, T_INT, T_U64, T_HOLDER, T_SUMS, T_INT, T_PLAN)


@njit([_T_SEARCH])
def search(hand, airplanes, option, pairs_carried, foe, sums, depth, plan):
    """Try all sets of chains from an option on (16 * kind + first rank), airplanes first."""
    leaf(hand, airplanes, pairs_carried, foe, sums[depth], plan)
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
                if plan.left <= 0 or depth + 1 >= sums.shape[0]:
                    return
                plan.left -= 1
                a = foe.chain[copies - 1, length, first + length - 1]
                sums[depth + 1, 0] = sums[depth, 0] + 1.0
                sums[depth + 1, 1] = sums[depth, 1] + a
                sums[depth + 1, 2] = max(sums[depth, 2], a)
                sums[depth + 1, 3] = sums[depth, 3] + (1.0 if a < 0.1 else 0.0)
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
        sums: scratch, `float64[8, 4]`.
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
