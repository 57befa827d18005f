"""What the planner weighs in a choice of card play: named facts of what it leaves behind.

The opponents' cards are bucketed by the seat among them that has fewest; chances are those of
`planner_odds`. "holds" is the chance that nobody beats the play, "lost" the rest.
"""

import numpy as np
from numba import from_dtype, types

from agents.planner_hand import NATURAL, T_PLAN, T_SUMS, plan_hand, plan_wild
from agents.planner_odds import T_HOLDER
from ddz_env._jit import njit
from ddz_env.catalogue import FIRST_PLAY, Category
from ddz_env.moves import (
    JOKERS,
    T_IDS,
    T_INT,
    T_TABLES,
    T_U64,
    after,
    at_least,
    hand_size,
)  # fmt: skip
from ddz_env.view import T_VIEW

U64 = np.uint64
_SOLO, _PAIR, _TRIO = int(Category.SOLO), int(Category.PAIR), int(Category.TRIO)
_TRIO_PAIR = int(Category.TRIO_WITH_PAIR)
_SOLO_CHAIN, _PAIR_CHAIN = int(Category.SOLO_CHAIN), int(Category.PAIR_CHAIN)
_LAST_CHAIN = int(Category.AIRPLANE_WITH_PAIRS)
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)

_TO_GO = ("1", "2", "3", "4", "5", "6..")
_FOE = ("foe ..2", "foe 3..5", "foe 6..10", "foe 11..")
_BLOCKS = {
    "hold": [f"holds, {g} to go, {f}" for g in _TO_GO for f in _FOE],
    "lost": [f"lost, {g} to go, {f}" for g in _TO_GO for f in _FOE],
    "hold_losers": [f"holds x losers, {f}" for f in _FOE],
    "lost_losers": [f"lost x losers, {f}" for f in _FOE],
    "bombs": [f"bombs left, {f}" for f in _FOE],
    "plan": ["to go squared", "answers", "tops", "cost", "cards left", "solos to go",
             "pairs to go", "to go, partner ..2"],
    "foe_holds": [f"foe holds, has {n}" for n in ("1", "2", "3", "4..5", "6..8", "9..")],
    "mate_holds": [f"partner holds, has {n}" for n in ("1", "2", "3..4", "5..")],
    "mate_go": ["partner holds x to go"],
    "out": ["foe goes out", "partner goes out"],
    "pass": [f"pass, {f}" for f in _FOE],
    "bomb": [f"plays bomb, {f}" for f in _FOE] + ["plays bomb, ..2 to go"],
    "play": ["cards played", "solo rank", "pair rank", "trio rank", "chain rank", "kicker ranks",
             "solo", "pair", "foe may bomb"],
    "over": ["overtakes", "overtakes, holds", "overtakes, it would hold",
             "overtakes, partner ..2", "overtakes, partner 3..5"],
    "left": ["twos left", "aces left", "jokers left", "low solos left",
             "wilds left"],
    "mate_beats": [f"partner can beat it, has {n}" for n in ("..2", "3..5", "6..")],
    "mate_last": ["solo, partner has 1", "pair, partner has 2"],
    "passed": ["beaten x foe passed on less", "partner beats x it passed on less"],
    "return": ["lost, top of the kind left", "lost x best solo", "lost x best pair"],
}  # fmt: skip
NAMES = tuple(name for block in _BLOCKS.values() for name in block)
"""The facts, in order."""
K = len(NAMES)
_AT = {key: NAMES.index(block[0]) for key, block in _BLOCKS.items()}
_HOLD, _LOST, _HOLD_LOSERS, _LOST_LOSERS = (
    _AT["hold"], _AT["lost"], _AT["hold_losers"], _AT["lost_losers"],
)  # fmt: skip
_BOMBS, _PLAN, _FOE_HOLDS, _MATE_HOLDS = (
    _AT["bombs"], _AT["plan"], _AT["foe_holds"], _AT["mate_holds"],
)  # fmt: skip
_MATE_GO, _OUT, _PASS, _PLAYS_BOMB, _PLAY = (
    _AT["mate_go"], _AT["out"], _AT["pass"], _AT["bomb"], _AT["play"],
)  # fmt: skip
_OVER, _LEFT, _MATE_BEATS, _MATE_LAST = (
    _AT["over"], _AT["left"], _AT["mate_beats"], _AT["mate_last"],
)  # fmt: skip
_PASSED, _RETURN = _AT["passed"], _AT["return"]

SCENE = np.dtype(
    [
        ("role", "<i8"),  # 0 landlord, 1 landlord_down, 2 landlord_up
        ("mate", "<i8"),  # seat of the partner, -1 for the landlord
        ("foes", "<i8"),  # fewest cards of an opponent
        ("mates", "<i8"),  # cards of the partner, 99 for the landlord
        ("passed", "<i8", (3, 4)),  # [seat, kind]: lowest rank that an opponent's play had when
        # the seat passed on it; kinds solo, pair, trio, other; 99 never
    ],
    align=True,
)
"""What the choices of one decision have in common."""
T_SCENE = from_dtype(SCENE)
T_FACTS, T_SKIP = types.float64[::1], types.boolean[::1]
FULL, QUICK_WILD = 20, 1.2
"""With wild cards: choices that are planned in full; what a wild is worth in the quick look."""


@njit([types.int64(T_INT)])
def kind_of(category):
    """0 solo, 1 pair, 2 trio with whatever it carries, 3 other."""
    if category == _SOLO:
        return 0
    if category == _PAIR:
        return 1
    return 2 if _TRIO <= category <= _TRIO_PAIR else 3


@njit([types.void(T_VIEW, T_TABLES, T_SCENE)])
def look_around(view, tables, scene):
    """Fill the scene of a decision."""
    seat, lord = np.int64(view.seat), np.int64(view.landlord)
    scene.role = (seat - lord + 3) % 3
    scene.mate = -1 if seat == lord else 3 - seat - lord
    scene.foes = np.int64(view.counts[lord])
    scene.mates = 99
    if seat == lord:
        scene.foes = min(view.counts[(seat + 1) % 3], view.counts[(seat + 2) % 3])
    else:
        scene.mates = np.int64(view.counts[scene.mate])
    scene.passed[:] = 99
    owner, last = -1, 0
    for i in range(view.n_history):
        action, who = np.int64(view.history_action[i]), np.int64(view.history_seat[i])
        if action >= FIRST_PLAY:
            owner, last = who, action
        elif action == 0 and owner >= 0 and (who == lord or owner == lord):
            kind = kind_of(np.int64(tables[0].actions[last].category))
            rank = np.int64(tables[0].actions[last].rank)
            scene.passed[who, kind] = min(scene.passed[who, kind], rank)


@njit([types.float64(T_HOLDER, T_INT, T_TABLES)])
def chance_beaten(holder, action, tables):
    """The chance that a hand beats a play with one of the same type, or a bomb with a bomb."""
    play = tables[0].actions[action]
    category, rank = np.int64(play.category), np.int64(play.rank)
    if category == _ROCKET or (np.int64(play.size) > holder.count and category < _BOMB):
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
def _six(n):
    """The bucket of a number of cards: 1, 2, 3, 4..5, 6..8, 9 or more."""
    if n <= 3:
        return max(n, 1) - 1
    return 3 if n <= 5 else (4 if n <= 8 else 5)


@njit([types.int64(T_INT)])
def _four(n):
    """The bucket of a number of cards: up to 2, 3..5, 6..10, 11 or more."""
    return 0 if n <= 2 else (1 if n <= 5 else (2 if n <= 10 else 3))


@njit([types.float64(T_VIEW, T_SCENE, T_HOLDER[::1], T_INT, T_TABLES, T_FACTS)])
def facts_of_pass(view, scene, holders, foe_bucket, tables, out):
    """Write the facts of a pass; the chance that the partner then holds the trick."""
    seat, lord, last = np.int64(view.seat), np.int64(view.landlord), np.int64(view.last_action)
    foes, pal = scene.foes, 0.0
    out[_PASS + foe_bucket] = 1.0
    if scene.mate < 0:
        foes = np.int64(view.counts[view.last_seat])
    elif view.last_seat == scene.mate:
        pal = 1.0
        if (seat + 1) % 3 == lord:
            pal = 1.0 - chance_beaten(holders[3], last, tables)
    elif (seat + 1) % 3 == scene.mate:
        pal = chance_beaten(holders[scene.mate], last, tables)
        category, rank = tables[0].actions[last].category, tables[0].actions[last].rank
        out[_OUT + 1] = goes_out(view.unseen, scene.mates, np.int64(category), np.int64(rank))
    out[_FOE_HOLDS + _six(foes)] = 1.0 - pal
    return pal


@njit([types.void(T_VIEW, T_SCENE, T_HOLDER[::1], T_INT, T_INT, T_TABLES, T_FACTS)])
def facts_of_partner(view, scene, holders, action, kind, tables, out):
    """Write the facts of a play that concern the partner."""
    play = tables[0].actions[action]
    category, rank = np.int64(play.category), np.int64(play.rank)
    beats = chance_beaten(holders[scene.mate], action, tables)
    out[_OUT + 1] = goes_out(view.unseen, scene.mates, category, rank)
    out[_MATE_BEATS + min(_four(scene.mates), 2)] = beats
    if scene.passed[scene.mate, kind] <= rank:
        out[_PASSED + 1] = beats
    if category == _SOLO and scene.mates == 1:
        out[_MATE_LAST] = 1.0
    if category == _PAIR and scene.mates == 2:
        out[_MATE_LAST + 1] = 1.0
    if view.last_seat == scene.mate:
        beaten = chance_beaten(holders[3], action, tables)
        out[_OVER], out[_OVER + 1] = 1.0, 1.0 - beaten
        out[_OVER + 2] = 1.0 - chance_beaten(holders[3], np.int64(view.last_action), tables)
        if scene.mates <= 2:
            out[_OVER + 3] = 1.0
        elif scene.mates <= 5:
            out[_OVER + 4] = 1.0


@njit([types.float64(T_VIEW, T_SCENE, T_HOLDER[::1], T_INT, T_INT, T_PLAN, T_TABLES, T_FACTS)])
def facts_of_play(view, scene, holders, action, foe_bucket, plan, tables, out):
    """Write the facts of a play by itself; the chance that an opponent beats it."""
    play = tables[0].actions[action]
    category, rank = np.int64(play.category), np.int64(play.rank)
    beaten = chance_beaten(holders[3], action, tables)
    kind = kind_of(category)
    if scene.mate >= 0:
        facts_of_partner(view, scene, holders, action, kind, tables, out)
        out[_OUT] = goes_out(view.unseen, scene.foes, category, rank)
        if scene.passed[view.landlord, kind] <= rank:
            out[_PASSED] = beaten
    else:
        for k in range(1, 3):
            seat = (view.seat + k) % 3
            p = goes_out(view.unseen, np.int64(view.counts[seat]), category, rank)
            out[_OUT] = 1.0 - (1.0 - out[_OUT]) * (1.0 - p)
            if scene.passed[seat, kind] <= rank:
                out[_PASSED] += 0.5 * beaten
    if category >= _BOMB:
        out[_PLAYS_BOMB + foe_bucket] = 1.0
        out[_PLAYS_BOMB + 4] = 1.0 if plan.plays <= 2 else 0.0
    else:
        out[_PLAY + 8] = holders[3].any_bomb
        out[_PLAY + 1 + kind] = rank
    out[_PLAY] = np.int64(play.size)
    if kind < 2:
        out[_PLAY + 6 + kind] = 1.0
    kickers = play.need - tables[0].groups[category, play.length, play.rank].main
    if kickers != U64(0):
        for r in range(15):
            out[_PLAY + 5] += r * np.int64((kickers >> U64(4 * r)) & U64(15))
    out[_FOE_HOLDS + _six(scene.foes)] = beaten
    return beaten


@njit([types.void(T_U64, T_HOLDER, types.float64, T_INT, T_FACTS)])
def facts_of_hand(left, foe, lost, kind, out):
    """Write the facts of the cards that are left."""
    out[_LEFT] = np.int64((left >> U64(48)) & U64(15))
    out[_LEFT + 1] = np.int64((left >> U64(44)) & U64(15))
    out[_LEFT + 2] = hand_size(left & JOKERS)
    out[_LEFT + 4] = np.int64(left >> U64(60))
    two, three = at_least(left, 2), at_least(left, 3)
    singles = at_least(left, 1) & ~two
    best_solo, best_pair, best_trio = 1.0, 1.0, 1.0
    for r in range(15):
        if (left >> U64(4 * r)) & U64(15) != U64(0):
            best_solo = foe.solo[r]
            if r < 9 and (singles >> U64(4 * r)) & U64(1):
                out[_LEFT + 3] += foe.solo[r]
            if r < 13 and (two >> U64(4 * r)) & U64(1):
                best_pair = foe.pair[r]
                if (three >> U64(4 * r)) & U64(1):
                    best_trio = foe.trio[r]
    if kind < 3:
        best = best_solo if kind == 0 else (best_pair if kind == 1 else best_trio)
        out[_RETURN] = lost if best < 0.1 else 0.0
    out[_RETURN + 1], out[_RETURN + 2] = lost * best_solo, lost * best_pair


@njit([types.void(T_VIEW, T_SCENE, T_INT, T_HOLDER[::1], T_PLAN, T_TABLES, T_U64, T_FACTS)])
def facts_of(view, scene, action, holders, plan, tables, left, out):
    """Write the facts (`NAMES`) of one choice, whose remaining hand `left` has been planned."""
    out[:] = 0.0
    foe_bucket = _four(scene.foes)
    hold, pal, kind = 0.0, 0.0, 3
    if action == 0:
        pal = facts_of_pass(view, scene, holders, foe_bucket, tables, out)
    else:
        kind = kind_of(np.int64(tables[0].actions[action].category))
        hold = 1.0 - facts_of_play(view, scene, holders, action, foe_bucket, plan, tables, out)
    lost = 1.0 - hold
    go, losers = np.float64(plan.plays), plan.answers - plan.worst
    place = 4 * (min(max(plan.plays, 1), 6) - 1) + foe_bucket
    out[_HOLD + place], out[_LOST + place] = hold, lost
    out[_HOLD_LOSERS + foe_bucket], out[_LOST_LOSERS + foe_bucket] = hold * losers, lost * losers
    out[_BOMBS + foe_bucket] = plan.bombs
    out[_PLAN], out[_PLAN + 1], out[_PLAN + 2] = go * go / 10.0, plan.answers, plan.tops
    out[_PLAN + 3], out[_PLAN + 4] = max(plan.cost, -3.0), hand_size(left)
    out[_PLAN + 5], out[_PLAN + 6] = plan.solos, plan.pairs
    if scene.mates <= 2:
        out[_PLAN + 7] = go
    if scene.mate >= 0:
        out[_MATE_HOLDS + (min(scene.mates, 3) - 1 if scene.mates < 5 else 3)] = pal
        out[_MATE_GO] = pal * go
    facts_of_hand(left, holders[3], lost, kind, out)


@njit([types.int64(T_VIEW)])
def situation(view):
    """Which weights hold, 0..11: by role, lead or reply, and whether the room has wild cards."""
    role = (view.seat - view.landlord + 3) % 3
    return 2 * role + (1 if view.last_seat >= 0 else 0) + (6 if view.wild >= 0 else 0)


@njit([types.void(T_VIEW, T_IDS, T_TABLES, T_HOLDER[::1], T_SUMS, T_PLAN, T_SKIP)])
def sift(view, ids, tables, holders, sums, plan, skip):
    """Mark the choices that are not among the `FULL` best by a quick look, for hands with wilds."""
    costs = np.zeros(ids.shape[0])
    for j in range(ids.shape[0]):
        left = after(view.hand, tables[0].actions[ids[j]].need)
        plan_hand(left & NATURAL, U64(1), 4, holders[3], sums, plan)
        costs[j] = plan.cost - QUICK_WILD * np.int64(left >> U64(60))
    limit = np.sort(costs)[FULL - 1]
    kept = 0
    for j in range(ids.shape[0]):
        skip[j] = kept >= FULL or costs[j] > limit
        kept += 0 if skip[j] else 1


_T_DESCRIBE = types.void(
    T_VIEW, T_IDS, T_TABLES, T_SCENE, T_HOLDER[::1], T_SUMS, T_PLAN[::1],
    types.float64[:, ::1], T_SKIP,
)  # fmt: skip


@njit([_T_DESCRIBE])
def describe(view, ids, tables, scene, holders, sums, plans, out, skip):
    """The facts of every listed choice of a decision of card play.

    Args:
        view: the view.
        ids: its legal ids.
        tables: the catalogue's `TABLES`.
        scene: scratch.
        holders: what the others hold (`planner_odds.count_cards`).
        sums: scratch of `plan_hand`.
        plans: scratch.
        out: the facts, `float64[n, K]`.
        skip: choices left out, `bool[n]`: in hands with many ways to use wild cards.
    """
    look_around(view, tables, scene)
    carried = U64(0) if view.turned_rank >= 0 else U64(1)
    n = ids.shape[0]
    skip[:n] = False
    own = max(min(np.int64(view.wild), 12), 0)
    wilds = view.hand >> U64(60) != U64(0)
    if wilds and n > FULL:
        sift(view, ids, tables, holders, sums, plans[0], skip)
    budget = 200 if n < 60 else 40
    for j in range(n):
        if skip[j]:
            continue
        action = np.int64(ids[j])
        left = after(view.hand, tables[0].actions[action].need)
        if wilds:
            plan_wild(left, carried, own, 24, holders[3], sums, plans[0])
        else:
            plan_hand(left, carried, budget, holders[3], sums, plans[0])
        facts_of(view, scene, action, holders, plans[0], tables, left, out[j])
