"""Kernels of the endgame solver: the whole plays of a position, and what follows each.

Passes that are forced, since a hand has no reply, are made at once, so every position below the
root asks a seat that has a choice. Of moves that lead to the same game one is kept.
"""

import numpy as np
from numba import types

from agents.endgame_table import (
    FARMERS_NONE,
    FILLINGS,
    LANDLORD_ONCE,
    MAX_GOAL,
    NODES,
    SURE,
    T_FRAME,
    T_MOVE,
    T_WORK,
    WILD_RANK,
    find,
    has_wilds,
    links_of,
    write_key,
)
from ddz_env._jit import njit
from ddz_env.catalogue import COPIES, Category
from ddz_env.decompose import FAST, plays_to_go
from ddz_env.moves import (
    CHAIN,
    JOKERS,
    ONES,
    T_IDS,
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    at_least,
    contains,
    count_ones,
    hand_size,
    lacking,
    list_leads,
    list_replies,
    lowest,
)
from ddz_env.wild import (
    HARD,
    NATURAL,
    PURE,
    T_HELD,
    WILD_AS_3,
    WILD_DONE,
    bomb_class,
    cards_of,
    list_fillings,
    list_wild_leads,
    list_wild_replies,
    look,
    value_of_bomb,
)

U64 = np.uint64
T_BOOL = types.boolean
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)
_BARE = tuple(c in (1, 2, 3, 6, 7, 8) for c in range(15))  # categories without kickers, no bombs


@njit([types.boolean(T_U64, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES)])
def _holds_higher(hand, category, length, low, params, tables):
    """Whether a hand without wilds makes a play of a category and length, of rank `low` or more."""
    starts = at_least(hand, COPIES[category])
    if length > 1:
        found = starts & CHAIN
        starts = found
        for i in range(1, length):
            starts &= found >> U64(4 * i)
    first = low - length + 1
    starts = starts >> U64(4 * first) << U64(4 * first)
    if starts == U64(0) or _BARE[category]:
        return starts != U64(0)
    while starts != U64(0):
        group = tables[0].groups[category, length, lowest(starts) + length - 1]
        starts &= starts - U64(1)
        for action in range(group.start, group.start + group.count):
            if contains(hand, tables[0].actions[action].need):
                return True
    return False


@njit([types.boolean(T_U64, T_INT, T_U64, T_INT, T_PARAMS, T_TABLES, T_HELD, T_IDS)])
def can_answer(hand, last, last_cards, wild, params, tables, held, ids):
    """Whether a packed hand beats a play; `list_replies`, without the list where possible."""
    play = tables[0].actions[last]
    category = np.int64(play.category)
    if category == _ROCKET:
        return False
    if hand & JOKERS == JOKERS:
        return True
    if params.wild:
        look(hand, wild, params, held)
        if held.wilds > 0 or category == _BOMB:
            return list_wild_replies(held, last, last_cards, params, tables, ids) > 1
    low = np.int64(play.rank) + 1
    fours = at_least(hand, 4)
    if category == _BOMB:
        return fours >> U64(4 * low) != U64(0)
    if fours != U64(0):
        return True
    if hand_size(hand) < play.size:
        return False
    if params.kickers:
        return list_replies(hand, last, params, tables, ids) > 1
    return _holds_higher(hand, category, np.int64(play.length), low, params, tables)


@njit([types.int64(T_INT, T_INT)])
def less(goal, factor):
    """The goal that is left when a bomb has multiplied with a factor."""
    if goal >= 0:
        return (goal + factor - 1) // factor
    rest = (factor - goal - 1) // factor
    return 1 if rest == 1 else -rest


@njit([types.int64(T_INT, T_U64, T_PARAMS, T_TABLES)])
def bomb_factor(action, cards, params, tables):
    """What a play that takes packed cards multiplies with, 1 for no bomb."""
    play = tables[0].actions[action]
    if play.category < _BOMB:
        return 1
    if play.category == _ROCKET:
        return params.rocket
    naturals = hand_size(cards & (U64(15) << U64(4 * play.rank)))
    kind = bomb_class(4 - naturals, naturals)
    if kind == HARD:
        return params.bomb
    return params.pure_bomb if kind == PURE else params.soft_bomb


@njit([types.int64(T_U64, T_PARAMS)])
def bombs_at_most(hand, params):
    """A bound on the bombs of a hand: each takes four of a kind, a wild or the jokers."""
    n = count_ones(at_least(hand & NATURAL, 4)) + np.int64(hand >> U64(60))
    if hand & JOKERS == JOKERS:
        n += 1
    return n if params.wild == 0 else n + hand_size(hand & JOKERS)


@njit([types.int64(T_U64)])
def plays_of(hand):
    """About how many plays empty a hand; wild cards join others."""
    natural = hand & NATURAL
    return plays_to_go(natural, FAST) if natural else 1


@njit([types.void(T_FRAME, T_MOVE, T_PARAMS)])
def _settle_end(frame, move, params):
    """The numbers of a move that empties a hand."""
    goal, spring = np.int64(move.goal), np.int64(move.spring)
    lord = frame.turn == 0
    if (lord and spring & FARMERS_NONE) or (not lord and spring & LANDLORD_ONCE):
        goal = less(goal, params.spring)
    won = goal <= 1 if lord else goal < -1
    move.proof = 0 if won else SURE
    move.disproof = SURE if won else 0


@njit([types.void(T_FRAME, T_MOVE, T_U64, T_PARAMS, T_TABLES, T_WORK)])
def _next_turn(frame, move, hand, params, tables, work):
    """Who is asked after a move: forced passes are made at once."""
    turn, wild = np.int64(frame.turn), work.count[WILD_RANK]
    leader = turn if move.action != 0 else np.int64(frame.last_role)
    last = move.action if move.action != 0 else frame.last
    cards = move.cards if move.action != 0 else frame.last_cards
    role = (turn + 1) % 3
    while role != leader:
        if can_answer(frame.hands[role], last, cards, wild, params, tables, work.held[0], work.ids):
            move.turn = role
            move.last_role = leader
            move.last = last
            move.last_cards = cards
            return
        role = (role + 1) % 3
    move.turn = leader
    move.last_role = -1
    move.last = 0
    move.last_cards = U64(0)


@njit([types.uint64(T_U64)])
def _below(mask):
    """Ones at all nibbles below the highest one of a mask."""
    for shift in (4, 8, 16, 32):
        mask |= mask >> U64(shift)
    return mask >> U64(4)


@njit([types.int64(T_U64, T_U64)])
def _tops(hand, others):
    """Ranks of a hand whose solo, pair or trio no higher one of other hands beats; bombs."""
    one, two, three = at_least(hand, 1), at_least(hand, 2), at_least(hand, 3)
    four = at_least(hand, 4)
    found = count_ones(one & ~two & ~_below(others & ONES))
    found += count_ones(two & ~three & ~_below(others >> U64(1) & ONES))
    found += count_ones(three & ~four & ~_below(others >> U64(2) & ONES))
    return found + count_ones(four)


@njit([types.uint64(T_U64)])
def _copies(hand):
    """Bits 0, 1, 2 of each nibble: whether the hand has one, two, three cards of the rank."""
    hand &= NATURAL
    two = at_least(hand, 2) << U64(1)
    return at_least(hand, 1) | two | at_least(hand, 3) << U64(2)


@njit([types.void(T_FRAME, T_MOVE, T_U64)])
def _guess(frame, move, hand):
    """First numbers of a position that nobody has looked into, from the plays that each side has to
    make, less for those that the other side can't beat and for having the turn.
    """
    mover, turn = np.int64(frame.turn), np.int64(move.turn)
    lord = hand if mover == 0 else frame.hands[0]
    down = hand if mover == 1 else frame.hands[1]
    up = hand if mover == 2 else frame.hands[2]
    lord_copies, farmers_copies = _copies(lord), _copies(down) | _copies(up)
    lord_plays = np.int64(move.plays if mover == 0 else frame.plays[0])
    down_plays = np.int64(move.plays if mover == 1 else frame.plays[1])
    up_plays = np.int64(move.plays if mover == 2 else frame.plays[2])
    own = 4 * lord_plays - 3 * _tops(lord & NATURAL, farmers_copies)
    after = 4 * down_plays - 3 * _tops(down & NATURAL, lord_copies)
    before = 4 * up_plays - 3 * _tops(up & NATURAL, lord_copies)
    bonus = 4 if move.last == 0 else 2
    if turn == 0:
        own -= bonus
    elif turn == 1:
        after -= bonus
    else:
        before -= bonus
    other = min(after, before)
    if move.last == 0:
        if turn == 0:
            other += 2
        else:
            own += 2
    own, other = max(own, 1), max(other, 1)
    move.proof = 1 + 2 * own + max(own - other, 0)
    move.disproof = 1 + 2 * other + max(other - own, 0)


@njit([types.boolean(T_FRAME, T_MOVE, T_U64, T_PARAMS, T_TABLES, T_WORK)])
def _goes_out(frame, move, hand, params, tables, work):
    """Whether the seat on turn after a move surely empties its hand at once and so decides all."""
    turn, ids = np.int64(move.turn), work.ids
    plays = np.int64(move.plays if turn == frame.turn else frame.plays[turn])
    if plays != 1 or (move.goal > 1 if turn == 0 else move.goal < 1):
        return False
    if turn != frame.turn:
        hand = frame.hands[turn]
    if params.wild and (move.last != 0 or has_wilds(hand, params)):
        return False
    if move.last == 0:
        n = list_leads(hand, params, tables, ids)
    else:
        n = list_replies(hand, np.int64(move.last), params, tables, ids)
    size = hand_size(hand)
    for i in range(n - 1, -1, -1):
        if tables[0].actions[ids[i]].size == size:
            return True
    return False


@njit([types.boolean(T_FRAME, T_MOVE, T_U64, T_PARAMS)])
def _out_of_reach(frame, move, hand, params):
    """Whether all bombs that are left can't reach the goal after a move; its numbers, if so."""
    goal = np.int64(move.goal)
    if -1 <= goal <= 1:
        return False
    n = bombs_at_most(hand, params)
    for role in range(3):
        if role != frame.turn:
            n += bombs_at_most(frame.hands[role], params)
    most = params.spring if move.spring else 1
    factor = max(max(params.soft_bomb, params.bomb), max(params.pure_bomb, params.rocket))
    for _ in range(n):
        most = min(most * factor, MAX_GOAL)
    if most >= abs(goal):
        return False
    move.proof = SURE if goal > 0 else 0
    move.disproof = 0 if goal > 0 else SURE
    return True


@njit([types.void(T_FRAME, T_MOVE, T_PARAMS, T_TABLES, T_WORK)])
def _settle(frame, move, params, tables, work):
    """Fill in what follows a move whose action and cards are set."""
    turn = np.int64(frame.turn)
    hand = frame.hands[turn] - move.cards
    move.effort = 0
    move.goal = frame.goal
    move.spring = frame.spring
    move.plays = frame.plays[turn]
    move.links = frame.links[turn]
    if move.action != 0:
        if frame.goal != 1:
            factor = bomb_factor(np.int64(move.action), move.cards, params, tables)
            move.goal = less(np.int64(frame.goal), factor)
        spring = np.int64(frame.spring)
        if turn == 0:
            move.spring = (spring >> 1) & LANDLORD_ONCE | spring & FARMERS_NONE
        else:
            move.spring = spring & ~FARMERS_NONE
        if hand == U64(0):
            _settle_end(frame, move, params)
            return
        move.plays = plays_of(hand)
        move.links = links_of(hand) if move.links else U64(0)
        if _out_of_reach(frame, move, hand, params):
            return
    _next_turn(frame, move, hand, params, tables, work)
    if _goes_out(frame, move, hand, params, tables, work):
        move.proof = 0 if move.turn == 0 else SURE
        move.disproof = SURE if move.turn == 0 else 0
        return
    write_key(
        move,
        hand if turn == 0 else frame.hands[0],
        hand if turn == 1 else frame.hands[1],
        hand if turn == 2 else frame.hands[2],
        frame.links[0] | frame.links[1] | frame.links[2],
        params, tables,
    )  # fmt: skip
    place = find(move.key[0], move.key[1], move.key[2], move.key[3], work)
    if place >= 0:
        move.proof, move.disproof = work.table[place].proof, work.table[place].disproof
    else:
        _guess(frame, move, hand)


@njit([types.int64(T_INT, T_INT, T_U64, T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def add_filled(at, action, wilds, low, beaten, params, tables, work):
    """Append a declaration in all its fillings; the new end, -1 when there are too many.

    `held[0]` must be the hand; the first move of the list gets the choice `WILD_DONE`.
    """
    hand_held, todo = work.held[0], work.todo
    todo[0].wilds = wilds
    todo[0].low = low
    todo[0].choice = WILD_DONE
    n = 1
    while n > 0:
        n -= 1
        wilds, low, choice = todo[n].wilds, np.int64(todo[n].low), np.int64(todo[n].choice)
        if at >= work.moves.shape[0] or n + 16 > FILLINGS:
            return -1
        move = work.moves[at]
        move.action = action
        move.choice = choice
        move.cards = cards_of(hand_held, action, wilds, params, tables)
        at += 1
        more = list_fillings(hand_held, action, wilds, low, beaten, params, tables, work.few)
        for k in range(more - 1):
            rank = np.int64(work.few[k]) - WILD_AS_3
            todo[n].wilds = wilds + (U64(1) << U64(4 * rank))
            todo[n].low = rank
            todo[n].choice = work.few[k] if choice == WILD_DONE else choice
            n += 1
    return at


@njit([types.int64(T_INT, T_PARAMS, T_TABLES, T_WORK)])
def list_moves(depth, params, tables, work):
    """Write the whole plays of a position, and pass, from `start` on; their end, -1: too many."""
    frame, ids = work.frames[depth], work.ids
    hand, last, at = frame.hands[frame.turn], np.int64(frame.last), np.int64(frame.start)
    held, beaten = work.held[0], -1
    wild = params.wild != 0
    if wild:
        look(hand, work.count[WILD_RANK], params, held)
        if last == 0:
            n = list_wild_leads(held, params, tables, ids)
        else:
            n = list_wild_replies(held, last, frame.last_cards, params, tables, ids)
            beaten = value_of_bomb(frame.last_cards, last, params, tables)
        wild = held.wilds > 0
    elif last == 0:
        n = list_leads(hand, params, tables, ids)
    else:
        n = list_replies(hand, last, params, tables, ids)
    if at + n > work.moves.shape[0]:
        return -1
    for i in range(n):
        action = np.int64(ids[i])
        need = tables[0].actions[action].need if action != 0 else U64(0)
        if wild and action != 0:
            begin = at
            wilds = lacking(held.natural, need)
            at = add_filled(at, action, wilds, 0, beaten, params, tables, work)
            if at < 0:
                return -1
            for j in range(begin, at):
                work.moves[j].choice = action
            continue
        if at >= work.moves.shape[0]:
            return -1
        work.moves[at].action = action
        work.moves[at].choice = action
        work.moves[at].cards = need
        at += 1
    return at


@njit([types.boolean(T_INT, T_INT, T_WORK)])
def _is_known(first, j, work):
    """Whether one of a dozen moves before a move, from `first` on, leads to the same game."""
    key = work.moves[j].key
    for i in range(max(first, j - 12), j):
        other = work.moves[i].key
        if key[0] == other[0] and key[1] == other[1] and key[2] == other[2] and key[3] == other[3]:
            return True
    return False


@njit([types.void(T_INT, T_INT, T_BOOL, T_PARAMS, T_TABLES, T_WORK)])
def open_moves(depth, end, whole, params, tables, work):
    """Take listed moves as those of a position, with what follows each.

    Unless the `whole` list is wanted only what can matter is left of it: one move that wins, else
    those that don't lose at once, one of each game.
    """
    frame, moves = work.frames[depth], work.moves
    start, lord = np.int64(frame.start), frame.turn == 0
    work.count[NODES] += 1
    at = start
    for j in range(start, end):
        if whole:
            _settle(frame, moves[j], params, tables, work)
            continue
        if j > at:
            moves[at] = moves[j]
        move = moves[at]
        _settle(frame, move, params, tables, work)
        own = move.proof if lord else move.disproof
        if own == 0:
            moves[start] = move
            at = start + 1
            break
        if own < SURE and not _is_known(start, at, work):
            at += 1
    frame.end = end if whole else max(at, start + 1)
