"""Kernels of the endgame solver: a depth-first proof-number search (df-pn, Nagai 2002).

Each position carries how much is missing to prove that the landlord wins (`proof`) and that he
loses (`disproof`); the search always looks into the move that seems to settle its position soonest.
Where several moves have to be refuted the hardest counts, and one more for each of the others (weak
proof numbers, Ueda 2008): in this game the same positions come about in many orders, and a
sum would count them again and again.
"""

import numpy as np
from numba import types

from agents.endgame_moves import list_moves, open_moves
from agents.endgame_rules import plays_of
from agents.endgame_table import MAX_DEPTH, NODES, SURE, T_WORK, find, keep
from ddz_env._jit import njit
from ddz_env.moves import T_INT, T_PARAMS, T_TABLES


@njit([types.void(T_INT, T_INT, T_INT, T_INT, T_WORK)])
def enter(depth, chosen, most_proof, most_disproof, work):
    """Make the frame below `depth` the position after a move."""
    frame, below, move = work.frames[depth], work.frames[depth + 1], work.moves[chosen]
    frame.chosen = chosen
    turn = np.int64(frame.turn)
    for k in range(3):
        below.hands[k] = frame.hands[k]
        below.plays[k] = frame.plays[k]
        below.links[k] = frame.links[k]
    for k in range(4):
        below.key[k] = move.key[k]
    below.hands[turn] -= move.cards
    below.plays[turn] = move.plays if move.plays >= 0 else plays_of(below.hands[turn])
    below.links[turn] = move.links
    below.last, below.last_cards = move.last, move.last_cards
    below.turn, below.last_role = move.turn, move.last_role
    below.goal, below.spring = move.goal, move.spring
    below.start, below.end = frame.end, -1
    below.most_proof, below.most_disproof = most_proof, most_disproof
    below.before = work.count[NODES]


@njit([types.void(T_INT, T_WORK)])
def _step(depth, work):
    """Sum up the moves of a position; enter the one to look into, unless it is settled enough.

    Afterwards `chosen` is that move, -1 when the search turns back.
    """
    frame = work.frames[depth]
    lord = frame.turn == 0
    least, second, best, hardest, undecided = SURE, SURE, -1, 0, 0
    for j in range(frame.start, frame.end):
        move = work.moves[j]
        own = np.int64(move.proof if lord else move.disproof)
        other = np.int64(move.disproof if lord else move.proof)
        if own < least:
            second, least, best = least, own, j
        elif own < second:
            second = own
        if other > 0:
            undecided += 1
            hardest = max(hardest, other)
    others = SURE if least == 0 else 0
    if least > 0 and undecided > 0:
        others = min(hardest + undecided - 1, SURE - 1)
    frame.proof = least if lord else others
    frame.disproof = others if lord else least
    frame.chosen = -1
    if frame.proof >= frame.most_proof or frame.disproof >= frame.most_disproof:
        return
    if lord:
        most = min(np.int64(frame.most_proof), second + 1 + second // 4)
        rest = np.int64(frame.most_disproof) - (undecided - 1)
        enter(depth, best, most, rest, work)
    else:
        most = min(np.int64(frame.most_disproof), second + 1 + second // 4)
        rest = np.int64(frame.most_proof) - (undecided - 1)
        enter(depth, best, rest, most, work)


@njit([types.boolean(T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def search(base, limit, params, tables, work):
    """Settle the position of frame `base`; False when `limit` positions or the buffers are used up.

    Its numbers are in the frame afterwards.
    """
    depth = base
    while True:
        frame = work.frames[depth]
        if frame.end < 0:
            key = frame.key
            place = find(key[0], key[1], key[2], key[3], work)
            if place >= 0 and (work.table[place].proof == 0 or work.table[place].disproof == 0):
                frame.proof, frame.disproof = work.table[place].proof, work.table[place].disproof
                frame.chosen = -1
            else:
                if work.count[NODES] >= limit or depth >= MAX_DEPTH:
                    return False
                end = list_moves(depth, params, tables, work)
                if end < 0:
                    return False
                open_moves(depth, end, False, params, tables, work)
                _step(depth, work)
        else:
            _step(depth, work)
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
