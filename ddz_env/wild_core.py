"""The engine's calls for rooms with wild cards: the play and its fillings, one game or many.

Everything else is the engine's. Compiled only when such a room is first used.
"""

import numpy as np
from numba import types

from ddz_env import engine
from ddz_env._jit import njit
from ddz_env.catalogue import FIRST_PLAY, N_ACTIONS, Category
from ddz_env.engine import GOLDEN, mix, next_phase, next_seed, pass_play, put_down
from ddz_env.moves import MAX_LEGAL, T_IDS, T_INT, T_PARAMS, T_TABLES, hand_size, lacking
from ddz_env.phases import record
from ddz_env.scoring import T_STATE
from ddz_env.state import Phase
from ddz_env.wild import (
    HARD,
    PURE,
    T_HELD,
    WILD_AS_3,
    WILD_DONE,
    bomb_class,
    can_replace,
    cards_of,
    is_declarable,
    list_fillings,
    list_wild_leads,
    list_wild_replies,
    look,
    value_of_bomb,
    wilds_unused,
)

U64 = np.uint64
T_STATES, T_ROWS, T_HELDS = T_STATE[::1], types.int64[::1], T_HELD[::1]
_PLAY, _FILL, _OVER = int(Phase.PLAY), int(Phase.FILL), int(Phase.OVER)
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES)])
def _to_exceed(state, params, tables):
    """`bomb_value` that a bomb must exceed now, -1 for any."""
    if state.last_seat < 0:
        return -1
    return value_of_bomb(state.last_cards, np.int64(state.last_action), params, tables)


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES, T_HELDS, T_IDS)])
def legal(state, params, tables, helds, out):
    """`engine.legal` for rooms with wild cards; `helds` is scratch of one row."""
    held = helds[0]
    if state.phase == _PLAY:
        look(state.hands[state.turn], np.int64(state.wild), params, held)
        if state.last_seat < 0:
            return list_wild_leads(held, params, tables, out)
        last = np.int64(state.last_action)
        return list_wild_replies(held, last, state.last_cards, params, tables, out)
    if state.phase != _FILL:
        return engine.legal(state, params, tables, out)
    look(state.hands[state.turn], np.int64(state.wild), params, held)
    beaten = _to_exceed(state, params, tables)
    return list_fillings(
        held, np.int64(state.pending), state.pending_wilds, np.int64(state.pending_low), beaten,
        params, tables, out,
    )  # fmt: skip


@njit([types.boolean(T_STATE, T_INT, T_PARAMS, T_TABLES, T_HELDS)])
def is_legal(state, action, params, tables, helds):
    """`engine.is_legal` for rooms with wild cards."""
    held = helds[0]
    if state.phase == _PLAY:
        if action < FIRST_PLAY or action >= N_ACTIONS:
            return action == 0 and state.last_seat >= 0
        look(state.hands[state.turn], np.int64(state.wild), params, held)
        last = np.int64(state.last_action) if state.last_seat >= 0 else 0
        return is_declarable(held, action, last, state.last_cards, params, tables)
    if state.phase != _FILL:
        return engine.is_legal(state, action, params, tables)
    if action == WILD_DONE:
        return True
    rank = action - WILD_AS_3
    if rank < state.pending_low or rank > 12:
        return False
    look(state.hands[state.turn], np.int64(state.wild), params, held)
    pending, wilds = np.int64(state.pending), state.pending_wilds
    if wilds_unused(held, pending, wilds, params, tables) == 0:
        return False
    beaten = _to_exceed(state, params, tables)
    return can_replace(held, pending, wilds, rank, beaten, params, tables)


@njit([types.int64(T_INT, T_INT, T_PARAMS, T_TABLES)])
def _factor(action, wilds, params, tables):
    """What a bomb or rocket multiplies with, 0 for another play."""
    category = tables[0].actions[action].category
    if category == _ROCKET:
        return params.rocket
    if category != _BOMB:
        return 0
    kind = bomb_class(wilds, 4 - wilds)
    if kind == HARD:
        return params.bomb
    return params.pure_bomb if kind == PURE else params.soft_bomb


@njit([types.boolean(T_STATE, T_PARAMS, T_TABLES, T_HELD)])
def _complete(state, params, tables, held):
    """Put the pending play down as filled; whether the deal has ended."""
    action, wilds = np.int64(state.pending), state.pending_wilds
    cards = cards_of(held, action, wilds, params, tables)
    state.pending = 0
    state.pending_wilds = U64(0)
    state.pending_low = 0
    state.phase = _PLAY
    record(state, state.turn, action, cards)
    return put_down(state, action, cards, _factor(action, hand_size(wilds), params, tables))


@njit([types.boolean(T_STATE, T_PARAMS, T_TABLES, T_HELD, T_IDS)])
def _ask_or_complete(state, params, tables, held, scratch):
    """Ask for the next wild where there is a choice, else complete; whether the deal has ended."""
    n = list_fillings(
        held, np.int64(state.pending), state.pending_wilds, np.int64(state.pending_low),
        _to_exceed(state, params, tables), params, tables, scratch,
    )  # fmt: skip
    if n > 1:
        state.phase = _FILL
        return False
    return _complete(state, params, tables, held)


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_TABLES, T_HELDS, T_IDS)])
def apply(state, action, params, tables, helds, scratch):
    """`engine.apply` for rooms with wild cards; `scratch` holds 16 ids or more."""
    if state.phase != _PLAY and state.phase != _FILL:
        engine.apply(state, action, params, tables)
        return
    held = helds[0]
    look(state.hands[state.turn], np.int64(state.wild), params, held)
    if state.phase == _PLAY and action == 0:
        record(state, state.turn, 0, U64(0))
        ended = pass_play(state)
    elif state.phase == _PLAY:
        state.pending = action
        state.pending_wilds = lacking(held.natural, tables[0].actions[action].need)
        state.pending_low = 0
        ended = _ask_or_complete(state, params, tables, held, scratch)
    elif action == WILD_DONE:
        ended = _complete(state, params, tables, held)
    else:
        rank = action - WILD_AS_3
        state.pending_wilds += U64(1) << U64(4 * rank)
        state.pending_low = rank
        ended = _ask_or_complete(state, params, tables, held, scratch)
    if ended:
        next_phase(state, params)


@njit([types.int64(T_STATES, T_ROWS, T_ROWS, T_PARAMS, T_TABLES, T_HELDS)])
def first_illegal(states, rows, actions, params, tables, helds):
    """`vector.first_illegal` for rooms with wild cards."""
    for i in range(rows.shape[0]):
        if not is_legal(states[rows[i]], actions[i], params, tables, helds):
            return i
    return -1


@njit([types.void(T_STATES, T_ROWS, T_ROWS, T_PARAMS, T_TABLES, T_HELDS, T_IDS)])
def apply_rows(states, rows, actions, params, tables, helds, scratch):
    """`vector.apply_rows` for rooms with wild cards."""
    for i in range(rows.shape[0]):
        apply(states[rows[i]], actions[i], params, tables, helds, scratch)


@njit([types.int64(T_STATES, T_ROWS, T_INT, T_PARAMS, T_TABLES, T_HELDS, T_ROWS, T_IDS)])
def list_rows(states, rows, begin, params, tables, helds, offsets, ids):
    """`vector._list_rows` for rooms with wild cards."""
    n = offsets[begin]
    for i in range(begin, rows.shape[0]):
        if n + MAX_LEGAL > ids.shape[0]:
            return i
        n += legal(states[rows[i]], params, tables, helds, ids[n:])
        offsets[i + 1] = n
    return rows.shape[0]


@njit([types.int64(T_STATES, T_INT, T_PARAMS[::1], T_TABLES, T_HELDS, T_IDS, T_IDS)])
def advance(states, action, rooms, tables, helds, ids, scratch):
    """`row_kernels.advance` for rooms with wild cards."""
    state, params = states[0], rooms[0]
    if not is_legal(state, action, params, tables, helds):
        return -1
    apply(state, action, params, tables, helds, scratch)
    return legal(state, params, tables, helds, ids)


@njit([types.int64(T_STATES, T_INT, T_PARAMS, T_TABLES, T_HELDS, T_IDS, T_IDS)])
def play_random_games(states, n, params, tables, helds, ids, scratch):
    """`vector.play_random_games` for rooms with wild cards."""
    state = states[0]
    decisions = 0
    for _ in range(n):
        engine.start(state, next_seed(state.seed), -1, params)
        ply = 0
        while state.phase != _OVER:
            count = U64(legal(state, params, tables, helds, ids))
            bits = mix(~state.seed + U64(ply) * GOLDEN)
            action = np.int64(ids[np.int64(((bits >> U64(32)) * count) >> U64(32))])
            apply(state, action, params, tables, helds, scratch)
            ply += 1
        decisions += ply
    return decisions
