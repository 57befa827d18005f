"""Who wins an endgame when all hands are known: exact, for all rooms, wild cards included.

`solve` and `action_values` answer for a game; kernels call `solve_state`, `solve_goal` and
`solve_actions` on rows of `STATE`, thousands of positions with the same buffers (`make_work`). A
declaration and its filling are one whole play of the same seat; where a record stands in phase
`fill` what is left of the filling is decided.

An answer is either proved or "unknown", when more positions would have to be looked into than the
caller allows. Nothing is left out of the search that is not proved to be worse: no pruning by rule
of thumb. Compiled when first imported.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from agents.endgame_moves import add_filled, list_moves, open_moves
from agents.endgame_rules import bombs_at_most, plays_of
from agents.endgame_search import enter, search
from agents.endgame_table import (
    CALLS,
    FARMERS_NONE,
    LANDLORD_NONE,
    LANDLORD_ONCE,
    MAX_GOAL,
    NODES,
    SURE,
    T_WORK,
    WILD_RANK,
    Work,
    links_of,
    make_work,
    write_key,
)
from ddz_env import core
from ddz_env._jit import njit, records
from ddz_env.catalogue import TABLES
from ddz_env.errors import DdzError
from ddz_env.game import Game
from ddz_env.moves import MAX_LEGAL, T_IDS, T_INT, T_PARAMS, T_TABLES
from ddz_env.params import Params
from ddz_env.rules import RuleSet, get_rules
from ddz_env.scoring import T_STATE
from ddz_env.state import STATE, Phase
from ddz_env.wild import look, value_of_bomb

U64 = np.uint64
LANDLORD, UNKNOWN, FARMERS = 1, 0, -1
"""Who wins."""
WIN, LOSS = 1, -1
"""What an action is worth to the seat on turn; UNKNOWN beside them."""
NODE_LIMIT = 200_000
"""Positions that a question may look into unless told otherwise: about 0.4 s without wild cards."""
T_STATES = T_STATE[::1]
_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)


@njit([types.void(T_STATES, T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def _set_root(states, row, goal, params, tables, work):
    """Frame 0: the position of a record in phase `play` or `fill`, its moves not yet listed."""
    state, frame = states[row], work.frames[0]
    lord = np.int64(state.landlord)
    work.count[CALLS] += 1
    work.count[NODES] = 0
    work.count[WILD_RANK] = state.wild
    for role in range(3):
        hand = state.hands[(lord + role) % 3]
        frame.hands[role] = hand
        frame.plays[role] = plays_of(hand)
        frame.links[role] = links_of(hand)
    frame.turn = (state.turn - lord + 3) % 3
    frame.last_role, frame.last, frame.last_cards = -1, 0, U64(0)
    if state.last_seat >= 0:
        frame.last_role = (state.last_seat - lord + 3) % 3
        frame.last, frame.last_cards = state.last_action, state.last_cards
    frame.goal = goal
    frame.spring = 0
    if state.plays[lord] <= 1:
        frame.spring = LANDLORD_ONCE if state.plays[lord] == 1 else LANDLORD_NONE
    if state.plays[(lord + 1) % 3] == 0 and state.plays[(lord + 2) % 3] == 0:
        frame.spring = frame.spring | FARMERS_NONE
    frame.start, frame.end, frame.before = 0, -1, 0
    frame.most_proof, frame.most_disproof = SURE, SURE
    # A move that led here would have this key.
    move = work.moves[0]
    move.turn, move.last_role = frame.turn, frame.last_role
    move.last, move.last_cards = frame.last, frame.last_cards
    move.goal, move.spring = frame.goal, frame.spring
    links = frame.links[0] | frame.links[1] | frame.links[2]
    write_key(move, frame.hands[0], frame.hands[1], frame.hands[2], links, params, tables)
    for k in range(4):
        frame.key[k] = move.key[k]


@njit([types.boolean(T_STATES, T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def _open_root(states, row, goal, params, tables, work):
    """Set frame 0 up and list its moves; False when there are too many for the buffers."""
    _set_root(states, row, goal, params, tables, work)
    state = states[row]
    if state.phase != _FILL:
        end = list_moves(0, params, tables, work)
    else:
        look(state.hands[state.turn], np.int64(state.wild), params, work.held[0])
        beaten = -1
        if state.last_seat >= 0:
            last = np.int64(state.last_action)
            beaten = value_of_bomb(state.last_cards, last, params, tables)
        end = add_filled(
            0, np.int64(state.pending), state.pending_wilds, np.int64(state.pending_low), beaten,
            params, tables, work,
        )  # fmt: skip
    if end < 0:
        return False
    open_moves(0, end, True, params, tables, work)
    return True


@njit([types.int64(T_WORK)])
def _best_choice(work):
    """The id to choose at frame 0: a winning one, else the one that took longest to refute."""
    frame = work.frames[0]
    lord = frame.turn == 0
    best, best_worth = np.int64(work.moves[frame.start].choice), -1.0
    for j in range(frame.start, frame.end):
        move = work.moves[j]
        own = np.int64(move.proof if lord else move.disproof)
        worth = 3.0 if own == 0 else 1.0 + 1.0 / own
        if own == SURE:
            worth = move.effort / (1.0 + work.count[NODES])
        if worth > best_worth:
            best, best_worth = np.int64(move.choice), worth
    return best


@njit([types.int64(T_STATES, T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK, T_INT, T_IDS)])
def solve_goal(states, row, goal, params, tables, work, node_limit, best):
    """`solve_state` for a goal of the landlord: LANDLORD when he reaches it.

    Args:
        states: `STATE[N]`, not changed.
        row: index of a record in phase `play` or `fill`.
        goal: g > 0: he wins, and bombs and spring multiply with g or more from here on;
            g < -1: he wins, or loses with less than -g. At most `MAX_GOAL` either way.
        params: the room's.
        tables: the catalogue's `TABLES`.
        work: from `make_work`; what earlier calls left in it plays no part.
        node_limit: positions to look into at most.
        best: int32[1], gets the id that the seat on turn should choose: one that is proved to
            win, else the one that was hardest to refute, -1 when nothing is known.
    """
    best[0] = -1
    if not _open_root(states, row, goal, params, tables, work):
        return UNKNOWN
    done = search(0, node_limit, params, tables, work)
    best[0] = _best_choice(work)
    if not done:
        return UNKNOWN
    return LANDLORD if work.frames[0].proof == 0 else FARMERS


@njit([types.int64(T_STATES, T_INT, T_PARAMS, T_TABLES, T_WORK, T_INT, T_IDS)])
def solve_state(states, row, params, tables, work, node_limit, best):
    """Who wins a position when all hands are known: LANDLORD, FARMERS, or UNKNOWN at the limit.

    Arguments as for `solve_goal`. `work.count[NODES]` is the number of positions looked into.
    """
    return solve_goal(states, row, 1, params, tables, work, node_limit, best)


@njit([types.int64(T_INT, T_INT, T_PARAMS, T_TABLES, T_WORK)])
def _move_value(j, limit, params, tables, work):
    """WIN, LOSS or UNKNOWN of a move of frame 0, for who makes it."""
    move, lord = work.moves[j], work.frames[0].turn == 0
    if move.proof != 0 and move.disproof != 0:
        enter(0, j, SURE, SURE, work)
        if not search(1, limit, params, tables, work):
            return UNKNOWN
        move.proof, move.disproof = work.frames[1].proof, work.frames[1].disproof
    return WIN if (move.proof == 0) == lord else LOSS


@njit([types.int64(T_STATES, T_INT, T_PARAMS, T_TABLES, T_WORK, T_INT, T_IDS, T_IDS)])
def solve_actions(states, row, params, tables, work, node_limit, ids, values):
    """What every legal id of the seat on turn is worth to it; their number, -1: too many moves.

    Args:
        states: `STATE[N]`, not changed.
        row: index of a record in phase `play` or `fill`.
        params: the room's.
        tables: the catalogue's `TABLES`.
        work: from `make_work`.
        node_limit: positions to look into at most, all ids together; each may use an equal part
            of what those before it have left.
        ids: int32 buffer for the legal ids, ascending; `MAX_LEGAL` are enough.
        values: int32 buffer for WIN, LOSS or UNKNOWN of each.
    """
    if not _open_root(states, row, 1, params, tables, work):
        return -1
    frame = work.frames[0]
    start, end, n = np.int64(frame.start), np.int64(frame.end), 0
    for j in range(start, end):
        choice, at = np.int64(work.moves[j].choice), n
        while at > 0 and ids[at - 1] >= choice:
            at -= 1
        if at == n or ids[at] != choice:
            for i in range(n, at, -1):
                ids[i], values[i] = ids[i - 1], values[i - 1]
            ids[at], values[at] = choice, LOSS
            n += 1
        if values[at] != WIN:
            limit = work.count[NODES] + max(node_limit - work.count[NODES], 0) // (end - j)
            value = _move_value(j, limit, params, tables, work)
            if value != LOSS:
                values[at] = value
    return n


@dataclass(frozen=True)
class Result:
    """What `solve` has found out."""

    value: int
    """LANDLORD, FARMERS, or UNKNOWN."""
    best_action: int
    """The id that the seat on turn should choose: it wins if any does; of lost ones the one that
    was hardest to refute; -1 when nothing is known."""
    nodes: int
    """Positions looked into."""
    proved: bool
    """Whether the answer is exact (with `points`, `multiplier` too)."""
    multiplier: int = 1
    """With `points`: what bombs and spring multiply with from here on when both sides play for
    points; where not proved a bound from below for the winner."""


def _position(position: Any, rules: str | RuleSet | None) -> tuple[np.ndarray, Params]:
    """The record as `STATE[1]` and the room's parameters."""
    if isinstance(position, Game):
        if rules is not None and get_rules(rules) != position.rules:
            raise DdzError(f"rules: the game is of room {position.rules.name}")
        rows, room = position.rows, position.rules
    elif isinstance(position, (np.void, np.ndarray)) and position.dtype.names == STATE.names:
        if rules is None:
            raise DdzError("rules: expected the room of the record")
        rows, room = records(STATE, 1), get_rules(rules)
        if np.size(position) != 1:
            raise DdzError(f"position: expected one record, got {np.size(position)}")
        rows[0] = position if isinstance(position, np.void) else position.reshape(-1)[0]
    else:
        raise DdzError(f"position: expected a Game or a record, got {type(position).__name__}")
    phase = int(rows[0]["phase"])
    if phase not in (_PLAY, _FILL):
        name = Phase(phase).name.lower()
        raise DdzError(f"position: expected phase play or fill, got {name}")
    return rows, room.params()


def _limit(node_limit: Any) -> int:
    """A limit on positions, checked."""
    if isinstance(node_limit, bool) or not isinstance(node_limit, (int, np.integer)):
        raise DdzError(f"node_limit: expected a whole number, got {node_limit!r}")
    if node_limit < 1:
        raise DdzError(f"node_limit: expected 1 or more, got {node_limit}")
    return int(node_limit)


def _goals(state: Any, params: Params) -> list[int]:
    """What bombs and a spring can multiply with from a position on, ascending from 2."""
    n = sum(int(bombs_at_most(hand, params)) for hand in state["hands"])
    factors = {params.bomb, params.rocket}
    if params.wild:
        factors |= {params.soft_bomb, params.pure_bomb}
    found = {1}
    for _ in range(n):
        found |= {f * g for f in factors for g in found if f * g <= MAX_GOAL}
    found |= {params.spring * g for g in found if params.spring * g <= MAX_GOAL}
    return sorted(int(g) for g in found if g > 1)


def solve(
    position: Any,
    rules: str | RuleSet | None = None,
    *,
    node_limit: int = NODE_LIMIT,
    points: bool = False,
    work: Work | None = None,
) -> Result:
    """Who wins a position when all hands are known, and what to play.

    Args:
        position: a `Game`, or a record (`STATE`), in phase `play` or `fill`.
        rules: the room, where `position` is a record.
        node_limit: positions to look into at most; with `points` for every multiplier asked about.
        points: whether both sides play for points: the same winner, and the most (or least) that
            bombs and spring can multiply with.
        work: buffers from `make_work`; made for this call unless given.

    Raises:
        DdzError: no such position, another phase, a limit below 1.
    """
    rows, params = _position(position, rules)
    limit, best = _limit(node_limit), np.zeros(1, np.int32)
    work = make_work() if work is None else work
    value = solve_state(rows, 0, params, TABLES, work, limit, best)
    nodes, action, reached, proved = int(work.count[NODES]), int(best[0]), 1, value != UNKNOWN
    side = LANDLORD if rows[0]["turn"] == rows[0]["landlord"] else FARMERS
    for goal in _goals(rows[0], params) if points and proved else ():
        found = solve_goal(rows, 0, value * goal, params, TABLES, work, limit, best)
        nodes += int(work.count[NODES])
        if found == UNKNOWN:
            proved = False
            break
        if side == found:  # the winner's way to a goal, or the loser's to keep it from him
            action = int(best[0])
        if found != value:
            break
        reached = goal
    return Result(int(value), action, nodes, proved, reached)


def action_values(
    position: Any,
    rules: str | RuleSet | None = None,
    *,
    node_limit: int = NODE_LIMIT,
    work: Work | None = None,
) -> dict[int, int]:
    """What each legal id of the seat on turn is worth to it: WIN, LOSS or UNKNOWN.

    Arguments and errors as for `solve`; the limit is for all ids together.
    """
    rows, params = _position(position, rules)
    work = make_work() if work is None else work
    ids, values = np.zeros(MAX_LEGAL, np.int32), np.zeros(MAX_LEGAL, np.int32)
    n = solve_actions(rows, 0, params, TABLES, work, _limit(node_limit), ids, values)
    if n < 0:
        legal = np.zeros(MAX_LEGAL, np.int32)
        return dict.fromkeys(legal[: core.legal(rows[0], params, legal)].tolist(), UNKNOWN)
    return dict(zip(ids[:n].tolist(), values[:n].tolist(), strict=True))
