"""Certain wins: hands that can be played out whatever the others hold and do.

A hand is cut into plays. Those that no opponent can beat hold the lead; one that can be beaten may
come last; each further one needs a way back: a bomb that nothing beats, or, where no opponent can
have a bomb, an unbeatable play of the same kind. All cuts are tried, up to `BUDGET` steps: every
cut has a play with the lowest card. What the opponents may hold is judged safely: any of the unseen
cards, in any room, as far as their numbers of cards allow.
"""

import numpy as np
from numba import from_dtype, types

from agents.planner_odds import T_HOLDER
from ddz_env._jit import njit
from ddz_env.cards import WILD
from ddz_env.catalogue import Category
from ddz_env.moves import (
    JOKERS,
    MAX_LEGAL,
    RANKS,
    T_IDS,
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    after,
    at_least,
    contains,
    count_ones,
    hand_size,
    lacking,
    list_leads,
)  # fmt: skip
from ddz_env.state import Phase
from ddz_env.view import T_VIEW
from ddz_env.wild import T_HELD, list_wild_leads, look

U64 = np.uint64
BUDGET = 3000
MOST_PLAYS = 21
_SOLO, _BOMB, _ROCKET = int(Category.SOLO), int(Category.BOMB), int(Category.ROCKET)
_PAIR_KICKERS = (
    int(Category.TRIO_WITH_PAIR), int(Category.AIRPLANE_WITH_PAIRS),
    int(Category.FOUR_WITH_TWO_PAIRS),
)  # fmt: skip
_JOKERS_WILD, _FILL = 13, int(Phase.FILL)
_UNKNOWN, _SAFE, _BEATABLE = 0, 1, 2

SOLVER = np.dtype(
    [
        ("pool", "<u8"),  # packed cards that the others may hold
        ("wild", "<i8"),  # rank of the wild cards, 13 the jokers, -1 none
        ("first", "<i8"),  # first of the others that count as opponents: 0, or 1 for one alone
        ("known", "<u8", 2),  # packed cards that each of the others is known to hold
        ("hidden", "<i8", 2),  # other cards in their hands
        ("bombs", "<i8"),  # 1: an opponent may have a bomb or the rocket
        ("left", "<i8"),  # steps left
        ("n", "<i8"),  # plays listed
        ("depth", "<i8"),  # plays in the cut so far
        ("beatable", "<i8"),  # those among them that can be beaten
        ("most", "<i8"),  # how many of those are tried
        ("follows", "<i8"),  # 1: the first play of the cut is the one to be made now
        ("answer", "<i8"),  # the choice, -1 while none is found
        ("cut", "<i8", MOST_PLAYS),  # action ids
        ("safe", "<i8", MOST_PLAYS),  # 1: nobody beats the play
        ("status", "i1", MAX_LEGAL),  # of each: not known yet, safe, beatable
    ],
    align=True,
)
"""Scratch of the search."""
T_SOLVER = from_dtype(SOLVER)


@njit([types.int64(T_U64, T_INT)])
def wilds_in(hand, wild):
    """Cards of a packed hand that may stand for others."""
    return hand_size(hand & JOKERS) if wild == _JOKERS_WILD else np.int64(hand >> U64(4 * WILD))


@njit([types.boolean(T_U64, T_INT, T_INT, T_TABLES)])
def makes(hand, wild, action, tables):
    """Whether a packed hand makes a play in every room; some that only few rooms know are left."""
    need = tables[0].actions[action].need
    if contains(hand, need):
        return True
    gap = lacking(hand, need)
    if wild < 0 or not contains(hand, need - gap):
        return False
    spare = hand - (need - gap)
    if hand_size(gap) > wilds_in(spare, wild):
        return False
    if wild < 13 and gap & ~(U64(15) << U64(4 * wild)) == U64(0):
        return True
    play = tables[0].actions[action]
    main = tables[0].groups[play.category, play.length, play.rank].main
    return lacking(hand, main) == gap and hand_size(gap) < hand_size(main)


@njit([types.int64(T_U64)])
def lacking_jokers(known):
    """Jokers that are not among the packed cards."""
    return 2 - hand_size(known & JOKERS)


@njit([types.uint64(T_U64, T_U64)])
def overlap(one, other):
    """The packed cards that two words have in common."""
    both = U64(0)
    for rank in range(16):
        shift = U64(4 * rank)
        both += min((one >> shift) & U64(15), (other >> shift) & U64(15)) << shift
    return both


@njit([types.boolean(T_SOLVER, T_INT)])
def may_bomb(solver, who):
    """Whether one of the others may have a bomb or the rocket."""
    hidden, known = solver.hidden[who], solver.known[who]
    cards = known + (solver.pool if hidden > 0 else U64(0))
    rocket = lacking_jokers(known)
    if contains(cards, JOKERS) and rocket <= hidden:
        return True
    wilds = wilds_in(cards, solver.wild)
    if hand_size(known) + hidden < 4:
        return False
    for rank in range(13):
        have = np.int64((cards >> U64(4 * rank)) & U64(15))
        sure = np.int64((known >> U64(4 * rank)) & U64(15))
        if have + wilds >= 4 and 4 - sure - wilds_in(known, solver.wild) <= hidden:
            return True
    return wilds >= 4


@njit([types.boolean(T_SOLVER, T_INT, T_INT, T_INT, T_TABLES)])
def may_follow(solver, who, action, low, tables):
    """Whether one of the others may have a play of the same type from a rank on."""
    play = tables[0].actions[action]
    category, length = np.int64(play.category), np.int64(play.length)
    hidden, known = solver.hidden[who], solver.known[who]
    cards = known + (solver.pool if hidden > 0 else U64(0))
    size = np.int64(play.size)
    if size > hand_size(known) + hidden:
        return False
    wilds = wilds_in(cards, solver.wild)
    for rank in range(low, 15):
        if tables[0].groups[category, length, rank].count == 0:
            continue
        main = tables[0].groups[category, length, rank].main
        gap = lacking(cards, main)
        if hand_size(gap) > wilds or not contains(cards, main - gap):
            continue
        sure = hand_size(overlap(known, main)) + wilds_in(known, solver.wild)
        if hand_size(main) - sure > hidden:
            continue
        rest = cards & ~(at_least(main, 1) * U64(15))
        kickers = size - hand_size(main)
        if category in _PAIR_KICKERS:
            if count_ones(at_least(rest & RANKS, 2)) + wilds >= kickers // 2:
                return True
        elif hand_size(rest) >= kickers:
            return True
    return False


@njit([types.boolean(T_SOLVER, T_INT, T_INT, T_TABLES)])
def follows_from(solver, action, low, tables):
    """Whether an opponent may have a play of the same type from a rank on."""
    for who in range(solver.first, 2):
        if may_follow(solver, who, action, low, tables):
            return True
    return False


@njit([types.boolean(T_SOLVER, T_INT, T_TABLES)])
def beatable(solver, action, tables):
    """Whether an opponent may beat a play."""
    play = tables[0].actions[action]
    if play.category == _ROCKET:
        return False
    if play.category == _BOMB:
        if solver.wild >= 0:
            return solver.bombs == 1
        for who in range(solver.first, 2):
            cards = solver.known[who]
            if solver.hidden[who] > 0:
                cards += solver.pool
            if contains(cards, JOKERS) and lacking_jokers(solver.known[who]) <= solver.hidden[who]:
                return True
            if may_follow(solver, who, action, play.rank + 1, tables):
                return True
        return False
    if solver.bombs == 1:
        return True
    return follows_from(solver, action, play.rank + 1, tables)


@njit([types.int64(T_SOLVER, T_INT, T_TABLES)])
def ways_back_of_kind(solver, i, tables):
    """How many more plays of a cut win the lead back in the kind of play `i` than are needed.

    Negative where play `i` itself has none; only plays up to `i` need one.
    """
    play = tables[0].actions[solver.cut[i]]
    if solver.bombs == 1 or play.category >= _BOMB:
        return -1
    spare = 0
    for j in range(solver.depth):
        other = tables[0].actions[solver.cut[j]]
        if other.category == play.category and other.length == play.length:
            if not solver.safe[j]:
                spare -= 1 if j <= i else 0
            elif j >= solver.follows:
                # The opponents' best must be lower, not as high.
                low = np.int64(other.rank)
                spare += 0 if follows_from(solver, solver.cut[j], low, tables) else 1
    return spare


@njit([types.int64(T_SOLVER, T_TABLES)])
def verdict(solver, tables):
    """The choice that a whole cut leads to, -1 when it is no certain win."""
    bombs, ways, unsafe, answered, smallest, chosen = 0, 0, 0, 0, 99, -1
    a_safe_one = -1
    for i in range(solver.depth):
        play = tables[0].actions[solver.cut[i]]
        solver.safe[i] = 0 if beatable(solver, solver.cut[i], tables) else 1
        if solver.safe[i]:
            a_safe_one = i
            if play.category >= _BOMB and i >= solver.follows:
                bombs += 1
        else:
            unsafe += 1
            size = max(np.int64(play.size), 4 if solver.bombs == 1 else 0)
            answered += size
            smallest = min(smallest, size)
    first_safe = solver.follows == 0 or solver.safe[0] == 1
    if unsafe <= 1 and first_safe:
        if solver.follows == 1:
            return solver.cut[0]
        return solver.cut[max(a_safe_one, 0)]
    for i in range(solver.depth):
        if not solver.safe[i] and ways_back_of_kind(solver, i, tables) >= 0:
            ways += 1
            if chosen < 0:
                chosen = i
    if chosen < 0 and bombs > 0:
        chosen = 0
        while solver.safe[chosen]:
            chosen += 1
    if not first_safe and bombs == 0 and chosen != 0:
        return -1
    if ways + bombs < max(unsafe - 1, 0 if first_safe else 1):
        return -1
    if unsafe > 1:
        answered -= smallest  # one of them comes last
    for who in range(solver.first, 2):
        if hand_size(solver.known[who]) + solver.hidden[who] <= answered:
            return -1
    return solver.cut[0] if solver.follows == 1 else solver.cut[chosen]


@njit([types.boolean(T_SOLVER, T_U64, T_IDS, T_TABLES)])
def cut_up(solver, hand, plays, tables):
    """Try all cuts of what is left of the hand; whether one is a certain win."""
    if hand == U64(0):
        solver.answer = verdict(solver, tables)
        return solver.answer >= 0
    if solver.depth >= MOST_PLAYS:
        return False
    low = 0
    while low < 15 and (hand >> U64(4 * low)) & U64(15) == U64(0):
        low += 1
    if low == 15:
        low = solver.wild
    target = U64(15) << U64(4 * low)
    for j in range(solver.n - 1, -1, -1):
        action = np.int64(plays[j])
        need = tables[0].actions[action].need
        if need & target == U64(0) or not makes(hand, solver.wild, action, tables):
            continue
        solver.left -= 1
        if solver.left < 0:
            return False
        if solver.status[j] == _UNKNOWN:
            lost = beatable(solver, action, tables)
            solver.status[j] = _BEATABLE if lost else _SAFE
        more = 1 if solver.status[j] == _BEATABLE else 0
        if solver.beatable + more > solver.most:
            continue
        solver.cut[solver.depth] = action
        solver.depth += 1
        solver.beatable += more
        found = cut_up(solver, after(hand, need), plays, tables)
        solver.depth -= 1
        solver.beatable -= more
        if found:
            return True
    return False


@njit([types.void(T_SOLVER, T_VIEW, T_HOLDER[::1])])
def survey(solver, view, holders):
    """Note what the others may hold: the partner first, then the landlord, or the two farmers."""
    seat, lord = np.int64(view.seat), np.int64(view.landlord)
    solver.wild = view.wild
    solver.pool = view.unseen
    for k in range(2):
        who = (seat + 1 + k) % 3
        if seat != lord:
            who = lord if k == 1 else 3 - seat - lord
        solver.known[k], solver.hidden[k] = holders[who].known, holders[who].hidden
        if view.hands[who] == U64(0):
            solver.pool -= holders[who].known


@njit([types.boolean(T_SOLVER, T_VIEW, T_INT, T_IDS, T_TABLES)])
def wins_with(solver, view, action, plays, tables):
    """Whether a play made now leaves a certain win."""
    solver.follows, solver.depth = 1, 1
    solver.cut[0] = action
    solver.beatable = 1 if beatable(solver, action, tables) else 0
    left = after(view.hand, tables[0].actions[action].need)
    return cut_up(solver, left, plays, tables)


@njit([types.boolean(T_SOLVER, T_VIEW, T_IDS, T_IDS, T_TABLES)])
def try_all(solver, view, ids, plays, tables):
    """Search for a certain win against the opponents of the solver."""
    solver.bombs = 0
    for who in range(solver.first, 2):
        if may_bomb(solver, who):
            solver.bombs = 1
    solver.left = BUDGET
    bombs = 0
    for j in range(solver.n):
        solver.status[j] = _UNKNOWN
        action = np.int64(plays[j])
        if tables[0].actions[action].category >= _BOMB:
            if not beatable(solver, action, tables):
                bombs += 1
    if solver.bombs == 1 and bombs == 0:
        return False
    solver.most = 1 + bombs if solver.bombs == 1 else 3
    if view.phase == _FILL:
        return wins_with(solver, view, np.int64(view.pending), plays, tables)
    if view.last_seat >= 0:
        for j in range(ids.shape[0] - 1, 0, -1):
            if wins_with(solver, view, np.int64(ids[j]), plays, tables):
                return True
        return False
    solver.follows, solver.depth, solver.beatable = 0, 0, 0
    if not cut_up(solver, view.hand, plays, tables):
        return False
    for j in range(ids.shape[0]):
        if ids[j] == solver.answer:
            return True
    return False


@njit([types.int64(T_VIEW, T_IDS, T_HOLDER[::1], T_PARAMS[::1], T_TABLES, T_SOLVER, T_HELD, T_IDS)])
def certain_win(view, ids, holders, rooms, tables, solver, held, plays):
    """The play that wins for certain, -1 when none is found; while filling, of the play begun.

    Args:
        view: the view, in the play or while filling.
        ids: its legal ids.
        holders: what the others hold (`planner_odds.count_cards`).
        rooms: of `planner_play.solver_rooms`.
        tables: the catalogue's `TABLES`.
        solver: scratch.
        held: scratch.
        plays: scratch, `int32[MAX_LEGAL]`.
    """
    survey(solver, view, holders)
    if wilds_in(view.hand, solver.wild) > 0:
        params = rooms[3 if view.wild == _JOKERS_WILD else 2]
        look(view.hand, np.int64(view.wild), params, held)
        solver.n = list_wild_leads(held, params, tables, plays)
    else:
        params = rooms[1 if view.turned_rank >= 0 else 0]
        solver.n = list_leads(view.hand, params, tables, plays)
    solver.first = 0
    if try_all(solver, view, ids, plays, tables):
        return solver.answer
    if view.seat == view.landlord:
        return -1
    solver.first = 1  # a sensible partner lets a certain win pass
    return solver.answer if try_all(solver, view, ids, plays, tables) else -1
