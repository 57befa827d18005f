"""Kernels of the endgame solver: the whole plays of a position, and what follows each.

Passes that are forced, since a hand has no reply, are made at once, so every position below the
root asks a seat that has a choice. Of moves that lead to the same game one is kept.
"""

import numpy as np
from numba import types

from agents.endgame_rules import bomb_factor, bombs_at_most, can_answer, guess, less, plays_of
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
from ddz_env.moves import (
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    hand_size,
    lacking,
    list_leads,
    list_replies,
)
from ddz_env.wild import (
    WILD_AS_3,
    WILD_DONE,
    cards_of,
    list_fillings,
    list_wild_leads,
    list_wild_replies,
    look,
    value_of_bomb,
)

U64 = np.uint64
T_BOOL = types.boolean


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
        move.plays = -1
        move.links = links_of(hand) if move.links else U64(0)
        if _out_of_reach(frame, move, hand, params):
            return
    _next_turn(frame, move, hand, params, tables, work)
    write_key(
        move,
        hand if turn == 0 else frame.hands[0],
        hand if turn == 1 else frame.hands[1],
        hand if turn == 2 else frame.hands[2],
        move.links | frame.links[(turn + 1) % 3] | frame.links[(turn + 2) % 3],
        params, tables,
    )  # fmt: skip
    place = find(move.key[0], move.key[1], move.key[2], move.key[3], work)
    if place >= 0:
        move.proof, move.disproof = work.table[place].proof, work.table[place].disproof
        return
    if move.plays < 0:
        move.plays = plays_of(hand)
    if _goes_out(frame, move, hand, params, tables, work):
        move.proof = 0 if move.turn == 0 else SURE
        move.disproof = SURE if move.turn == 0 else 0
        return
    guess(frame, move, hand)


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
