"""Kernels of the endgame solver: a depth-first proof-number search (df-pn, Nagai 2002).

Each position carries how much is missing to prove that the landlord wins (`proof`) and that he
loses (`disproof`); the search always looks into the move that seems to settle its position soonest.
Where several moves have to be refuted the hardest counts, and one more for each of the others (weak
proof numbers, Ueda 2008): in this game the same positions come about in many orders, and a
sum would count them again and again.
"""

import numpy as np
from numba import types

from agents.endgame_moves import (
    FARMERS_NONE,
    FILLINGS,
    LANDLORD_ONCE,
    MAX_DEPTH,
    MAX_GOAL,
    NODES,
    SURE,
    T_FRAME,
    T_MOVE,
    T_WORK,
    WILD_RANK,
    bomb_factor,
    bombs_at_most,
    can_answer,
    find,
    keep,
    less,
    meta_of,
)
from ddz_env._jit import njit
from ddz_env.decompose import FAST, plays_to_go
from ddz_env.moves import T_INT, T_PARAMS, T_TABLES, T_U64, lacking, list_leads, list_replies
from ddz_env.scoring import T_STATE
from ddz_env.state import Phase
from ddz_env.wild import (
    NATURAL,
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
LANDLORD, UNKNOWN, FARMERS = 1, 0, -1
"""What `solve_state` returns."""
T_STATES = T_STATE[::1]
_FILL = int(Phase.FILL)


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


@njit([types.void(T_FRAME, T_MOVE, T_U64)])
def _guess(frame, move, hand):
    """First numbers of a position that nobody has looked into: the plays each side has to make."""
    mover = np.int64(frame.turn)
    lord = np.int64(move.plays if mover == 0 else frame.plays[0])
    down = np.int64(move.plays if mover == 1 else frame.plays[1])
    up = np.int64(move.plays if mover == 2 else frame.plays[2])
    farmers = min(down, up)
    move.proof = 1 + 2 * lord
    move.disproof = 1 + 2 * farmers
    if move.last == 0:
        if move.turn == 0:
            move.proof = max(1, move.proof - 2)
            move.disproof += 1
        else:
            own = down if move.turn == 1 else up
            move.disproof = 1 + 2 * min(own - 1, farmers)
            move.proof += 1


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
        if _out_of_reach(frame, move, hand, params):
            return
    _next_turn(frame, move, hand, params, tables, work)
    meta = meta_of(
        np.int64(move.turn), np.int64(move.last_role), np.int64(move.last), move.last_cards,
        np.int64(move.goal), np.int64(move.spring), params, tables,
    )  # fmt: skip
    place = find(
        hand if turn == 0 else frame.hands[0],
        hand if turn == 1 else frame.hands[1],
        hand if turn == 2 else frame.hands[2],
        meta,
        work,
    )
    if place >= 0:
        move.proof = work.table[place].proof
        move.disproof = work.table[place].disproof
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


@njit([types.void(T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def open_moves(depth, end, params, tables, work):
    """Take listed moves as those of a position, with what follows each."""
    frame = work.frames[depth]
    frame.end = end
    work.count[NODES] += 1
    for j in range(frame.start, end):
        _settle(frame, work.moves[j], params, tables, work)


@njit([types.void(T_INT, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def enter(depth, chosen, most_proof, most_disproof, params, tables, work):
    """Make the frame below `depth` the position after a move."""
    frame, below, move = work.frames[depth], work.frames[depth + 1], work.moves[chosen]
    frame.chosen = chosen
    turn = np.int64(frame.turn)
    for k in range(3):
        below.hands[k] = frame.hands[k]
        below.plays[k] = frame.plays[k]
    below.hands[turn] -= move.cards
    below.plays[turn] = move.plays
    below.last, below.last_cards = move.last, move.last_cards
    below.turn, below.last_role = move.turn, move.last_role
    below.goal, below.spring = move.goal, move.spring
    below.start, below.end = frame.end, -1
    below.most_proof, below.most_disproof = most_proof, most_disproof
    below.before = work.count[NODES]
    below.meta = meta_of(
        np.int64(move.turn), np.int64(move.last_role), np.int64(move.last), move.last_cards,
        np.int64(move.goal), np.int64(move.spring), params, tables,
    )  # fmt: skip


@njit([types.void(T_INT, T_PARAMS, T_TABLES, T_WORK)])
def _step(depth, params, tables, work):
    """Sum up the moves of a position; enter the one to look into, unless it is settled enough.

    Afterwards `chosen` is that move, -1 when the search turns back.
    """
    frame = work.frames[depth]
    lord = frame.turn == 0
    least, second, best, hardest, open_moves = SURE, SURE, -1, 0, 0
    for j in range(frame.start, frame.end):
        move = work.moves[j]
        own = np.int64(move.proof if lord else move.disproof)
        other = np.int64(move.disproof if lord else move.proof)
        if own < least:
            second, least, best = least, own, j
        elif own < second:
            second = own
        if other > 0:
            open_moves += 1
            hardest = max(hardest, other)
    others = SURE if least == 0 else 0
    if least > 0 and open_moves > 0:
        others = min(hardest + open_moves - 1, SURE - 1)
    frame.proof = least if lord else others
    frame.disproof = others if lord else least
    frame.chosen = -1
    if frame.proof >= frame.most_proof or frame.disproof >= frame.most_disproof:
        return
    if lord:
        most = min(np.int64(frame.most_proof), second + 1 + second // 4)
        rest = np.int64(frame.most_disproof) - (open_moves - 1)
        enter(depth, best, most, rest, params, tables, work)
    else:
        most = min(np.int64(frame.most_disproof), second + 1 + second // 4)
        rest = np.int64(frame.most_proof) - (open_moves - 1)
        enter(depth, best, rest, most, params, tables, work)


@njit([types.boolean(T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def search(base, limit, params, tables, work):
    """Settle the position of frame `base`; False when `limit` positions or the buffers are used up.

    Its numbers are in the frame afterwards.
    """
    depth = base
    while True:
        frame = work.frames[depth]
        if frame.end < 0:
            hands = frame.hands
            place = find(hands[0], hands[1], hands[2], frame.meta, work)
            if place >= 0 and (work.table[place].proof == 0 or work.table[place].disproof == 0):
                frame.proof, frame.disproof = work.table[place].proof, work.table[place].disproof
                frame.chosen = -1
            else:
                if work.count[NODES] >= limit or depth >= MAX_DEPTH:
                    return False
                end = list_moves(depth, params, tables, work)
                if end < 0:
                    return False
                open_moves(depth, end, params, tables, work)
                _step(depth, params, tables, work)
        else:
            _step(depth, params, tables, work)
        if frame.chosen >= 0:
            depth += 1
            continue
        effort = work.count[NODES] - frame.before
        keep(frame, effort, work)
        if depth == base:
            return True
        depth -= 1
        move = work.moves[work.frames[depth].chosen]
        move.proof, move.disproof = frame.proof, frame.disproof
        move.effort += effort
