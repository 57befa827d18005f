"""What the planner weighs in a choice of card play: named facts of what it leaves behind."""

import numpy as np
from numba import types

from agents.planner_hand import T_PLAN, plan_hand
from agents.planner_jit import njit
from agents.planner_odds import T_CHANCES, T_HOLDER, count_cards
from ddz_env.catalogue import Category
from ddz_env.moves import (
    JOKERS, T_IDS, T_INT, T_TABLES, T_U64, after, at_least, count_ones, hand_size,
)  # fmt: skip
from ddz_env.view import T_VIEW

U64 = np.uint64
_SOLO, _PAIR, _TRIO = int(Category.SOLO), int(Category.PAIR), int(Category.TRIO)
_TRIO_SOLO, _TRIO_PAIR = int(Category.TRIO_WITH_SOLO), int(Category.TRIO_WITH_PAIR)
_SOLO_CHAIN, _PAIR_CHAIN = int(Category.SOLO_CHAIN), int(Category.PAIR_CHAIN)
_LAST_CHAIN = int(Category.AIRPLANE_WITH_PAIRS)
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)

NAMES = (
    "hold", "hold, 1 to go", "hold, 2 to go", "hold, 3 to go", "hold x to go",
    "hold x answers", "1 to go", "2 to go", "3 to go", "4 to go", "to go", "to go squared",
    "answers", "losers", "tops", "bombs", "cost", "cards left",
    "foe holds, has 1", "foe holds, has 2", "foe holds, has 3", "foe holds, has 4..5",
    "foe holds, has 6..8", "foe holds, has 9..",
    "partner holds, has 1", "partner holds, has 2", "partner holds, has 3..4",
    "partner holds, has 5..",
    "foe goes out", "partner goes out",
    "to go, foe has ..2", "to go, foe has 3..5", "losers, foe has ..2", "losers, foe has 3..5",
    "bombs, foe has ..5", "to go, partner has ..2", "pass", "pass, foe has ..2",
    "pass, foe has 3..5", "plays bomb", "plays bomb, ..2 to go", "plays bomb, foe has ..3",
    "plays bomb, foe has 4..6", "cards played", "solo rank", "pair rank", "trio rank",
    "chain rank", "kicker ranks", "solo", "pair", "overtakes", "overtakes, holds",
    "overtakes, it would hold", "overtakes, partner has ..2", "overtakes, partner has 3..5",
    "twos left", "aces left", "jokers left", "low solos left", "foe may bomb",
    "partner can beat it", "partner can beat it, has ..2", "partner can beat it, has 3..5",
    "solo, partner has 1", "pair, partner has 2",
)  # fmt: skip
K = len(NAMES)
T_FACTS = types.float64[::1]


@njit([types.float64(T_HOLDER, T_INT, T_TABLES)])
def chance_beaten(holder, action, tables):
    """The chance that a hand beats a play with one of the same type, or a bomb with a bomb."""
    play = tables[0].actions[action]
    category, rank = np.int64(play.category), np.int64(play.rank)
    if category == _ROCKET or np.int64(play.size) > holder.count and category < _BOMB:
        return 0.0
    if category == _SOLO:
        return holder.solo[rank]
    if category == _PAIR:
        return holder.pair[rank]
    if category <= _TRIO_PAIR:
        return holder.trio[rank]
    if category <= _LAST_CHAIN:
        kind = 0 if category == _SOLO_CHAIN else (1 if category == _PAIR_CHAIN else 2)
        return holder.chain[kind, play.length, rank]
    if category == _BOMB:
        return holder.bomb[rank]
    return 1.0 - (1.0 - holder.bomb[rank]) / max(1.0 - holder.bomb[13], 1e-6)


@njit([types.float64(T_U64, T_INT, T_INT, T_INT)])
def goes_out(pool, count, category, rank):
    """The chance that a hand of `count` cards from the pool beats a solo or pair and is empty."""
    unseen = hand_size(pool)
    if unseen < count or count == 0:
        return 0.0
    if category == _SOLO and count == 1:
        return hand_size(pool >> U64(4 * rank + 4)) / unseen if rank < 15 else 0.0
    if category == _PAIR and count == 2:
        ways = 0
        for r in range(rank + 1, 13):
            k = np.int64((pool >> U64(4 * r)) & U64(15))
            ways += k * (k - 1)
        if pool & JOKERS == JOKERS:
            ways += 2
        return ways / (unseen * (unseen - 1))
    return 0.0


@njit([types.int64(T_INT)])
def _bucket(n):
    """The bucket of a number of cards: 1, 2, 3, 4..5, 6..8, 9 or more."""
    if n <= 3:
        return max(n, 1) - 1
    return 3 if n <= 5 else (4 if n <= 8 else 5)


@njit([types.void(T_VIEW, T_INT, T_HOLDER[::1], T_PLAN, T_TABLES, T_U64, T_FACTS)])
def facts_of(view, action, holders, plan, tables, left, out):
    """Write the facts (`NAMES`) of one choice, whose remaining hand `left` has been planned."""
    seat, lord = np.int64(view.seat), np.int64(view.landlord)
    play = tables[0].actions[action]
    category, rank, size = np.int64(play.category), np.int64(play.rank), np.int64(play.size)
    leading = view.last_seat < 0
    mate = -1 if seat == lord else 3 - seat - lord
    foe = holders[3]
    foes = np.int64(view.counts[lord])
    if seat == lord:
        foes = min(view.counts[(seat + 1) % 3], view.counts[(seat + 2) % 3])
    mates = np.int64(view.counts[mate]) if mate >= 0 else 99
    to_mate = not leading and mate >= 0 and view.last_seat == mate
    me, pal, holder_count = 0.0, 0.0, foes
    beaten, mate_beats, foe_out, mate_out = 0.0, 0.0, 0.0, 0.0
    if action:
        beaten = chance_beaten(foe, action, tables)
        me = 1.0 - beaten
        if mate >= 0:
            mate_beats = chance_beaten(holders[mate], action, tables)
            mate_out = goes_out(view.unseen, mates, category, rank)
            foe_out = goes_out(view.unseen, foes, category, rank)
        else:
            for k in range(1, 3):
                p = goes_out(
                    view.unseen, np.int64(view.counts[(seat + k) % 3]), category, rank
                )
                foe_out = 1.0 - (1.0 - foe_out) * (1.0 - p)
    else:
        last = np.int64(view.last_action)
        if mate < 0:
            holder_count = np.int64(view.counts[view.last_seat])
        elif to_mate:
            pal = 1.0
            if (seat + 1) % 3 == lord:
                pal = 1.0 - chance_beaten(foe, last, tables)
        elif (seat + 1) % 3 == mate:
            pal = chance_beaten(holders[mate], last, tables)
            mate_out = goes_out(
                view.unseen, mates, np.int64(tables[0].actions[last].category),
                np.int64(tables[0].actions[last].rank),
            )  # fmt: skip
    other = 1.0 - me - pal
    go, losers = np.float64(plan.plays), plan.answers - plan.worst
    out[:] = 0.0
    out[0] = me
    if go <= 3.0:
        out[np.int64(go)] = me
    out[4], out[5] = me * go, me * losers
    if go <= 4.0:
        out[5 + np.int64(go)] = 1.0
    out[10], out[11], out[12], out[13] = go, go * go / 10.0, plan.answers, losers
    out[14], out[15], out[16] = plan.tops, plan.bombs, max(plan.cost, -3.0)
    out[17] = hand_size(left)
    out[18 + _bucket(holder_count)] = other
    if mate >= 0:
        out[24 + min(_bucket(mates), 3)] = pal
        if mates > 4:
            out[26], out[27] = 0.0, pal
    out[28], out[29] = foe_out, mate_out
    few, some = foes <= 2, 3 <= foes <= 5
    if few:
        out[30], out[32] = go, losers
    if some:
        out[31], out[33] = go, losers
    if foes <= 5:
        out[34] = plan.bombs
    if mates <= 2:
        out[35] = go
    if action == 0:
        out[36] = 1.0
        out[37] = 1.0 if few else 0.0
        out[38] = 1.0 if some else 0.0
    elif category >= _BOMB:
        out[39] = 1.0
        out[40] = 1.0 if go <= 2.0 else 0.0
        out[41] = 1.0 if foes <= 3 else 0.0
        out[42] = 1.0 if 4 <= foes <= 6 else 0.0
    out[43] = size
    if category == _SOLO:
        out[44], out[49] = rank, 1.0
    elif category == _PAIR:
        out[45], out[50] = rank, 1.0
    elif category <= _TRIO_PAIR and action:
        out[46] = rank
    elif category <= _LAST_CHAIN and action:
        out[47] = rank
    if action:
        kickers = play.need - tables[0].groups[category, play.length, rank].main
        for r in range(15):
            out[48] += r * np.int64((kickers >> U64(4 * r)) & U64(15))
    if action and to_mate:
        out[51], out[52] = 1.0, me
        out[53] = 1.0 - chance_beaten(foe, np.int64(view.last_action), tables)
        out[54] = 1.0 if mates <= 2 else 0.0
        out[55] = 1.0 if 3 <= mates <= 5 else 0.0
    out[56] = np.int64((left >> U64(48)) & U64(15))
    out[57] = np.int64((left >> U64(44)) & U64(15))
    out[58] = hand_size(left & JOKERS)
    singles = at_least(left, 1) & ~at_least(left, 2)
    for r in range(9):
        if (singles >> U64(4 * r)) & U64(1):
            out[59] += foe.solo[r]
    if action and category < _BOMB:
        out[60] = foe.any_bomb
    out[61] = mate_beats
    out[62] = mate_beats if mates <= 2 else 0.0
    out[63] = mate_beats if 3 <= mates <= 5 else 0.0
    if category == _SOLO and mates == 1:
        out[64] = 1.0
    if category == _PAIR and mates == 2:
        out[65] = 1.0


@njit([types.int64(T_VIEW)])
def situation(view):
    """Which table of weights holds: role (landlord, down, up) and whether it leads: 0..5."""
    role = (view.seat - view.landlord + 3) % 3
    return 2 * role + (1 if view.last_seat >= 0 else 0)


_T_DESCRIBE = types.void(
    T_VIEW, T_IDS, T_TABLES, T_CHANCES, T_HOLDER[::1], types.float64[:, ::1], T_PLAN[::1],
    types.float64[:, ::1],
)  # fmt: skip


@njit([_T_DESCRIBE])
def describe(view, ids, tables, chances, holders, sums, plans, out):
    """The facts of every listed choice of a decision of card play, `out[n, K]`."""
    count_cards(view, holders, chances)
    carried = U64(0) if view.turned_rank >= 0 else U64(1)
    budget = 200 if ids.shape[0] < 60 else 40
    for j in range(ids.shape[0]):
        action = np.int64(ids[j])
        left = after(view.hand, tables[0].actions[action].need)
        plan_hand(left, carried, budget, holders[3], sums, plans[0])
        facts_of(view, action, holders, plans[0], tables, left, out[j])
