"""What seat_kernels.py has, for rooms with wild cards; compiled when such a room is first used.

Every kernel takes two more arguments: `helds`, scratch of one row, and `fillings`, of 16 ids.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.moves import T_IDS, T_INT, T_TABLES
from ddz_env.seat_kernels import LEARNER, T_KEYS, T_ROOMS, choose, learner_seat, player_of
from ddz_env.state import Phase
from ddz_env.vector_kernels import T_ROWS, T_STATES, T_VIEWS
from ddz_env.view import cut_view
from ddz_env.wild_core import T_HELDS, apply, first_illegal, legal, list_rows

_OVER = int(Phase.OVER)


@njit([types.void(
    T_STATES, T_ROWS, T_INT, T_ROWS, T_KEYS, T_ROWS, T_KEYS, T_ROOMS, T_TABLES, T_VIEWS, T_IDS,
    T_HELDS, T_IDS,
)])  # fmt: skip
def play_on(
    states, rows, kind, seats, keys, players, seeds, rooms, tables, scratch, ids, helds, fillings
):
    """`seat_kernels.play_on` for rooms with wild cards."""
    params = rooms[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        state = states[row]
        while state.phase != _OVER:
            seats[row] = learner_seat(state, kind, seats[row], keys[row])
            player = player_of(state, seats[row])
            if player == LEARNER:
                break
            n = legal(state, params, tables, helds, ids)
            action = np.int64(ids[0])
            if n > 1:
                cut_view(state, state.turn, params, scratch[0])
                action = choose(scratch[0], ids[:n], players[player], seeds[player], tables)
            apply(state, action, params, tables, helds, fillings)


@njit([types.void(
    T_STATES, T_ROWS, T_ROWS, T_INT, T_ROWS, T_KEYS, T_ROWS, T_KEYS, T_ROOMS, T_TABLES, T_VIEWS,
    T_IDS, T_HELDS, T_IDS,
)])  # fmt: skip
def step_rows(
    states, rows, actions, kind, seats, keys, players, seeds, rooms, tables, scratch, ids, helds,
    fillings,
):  # fmt: skip
    """`seat_kernels.step_rows` for rooms with wild cards."""
    for i in range(rows.shape[0]):
        apply(states[rows[i]], actions[i], rooms[0], tables, helds, fillings)
    play_on(
        states, rows, kind, seats, keys, players, seeds, rooms, tables, scratch, ids, helds,
        fillings,
    )  # fmt: skip


@njit([types.int64(T_STATES, T_ROWS, T_ROWS, T_ROOMS, T_TABLES, T_HELDS, T_IDS)])
def illegal_row(states, rows, actions, rooms, tables, helds, fillings):
    """`seat_kernels.illegal_row` for rooms with wild cards."""
    return first_illegal(states, rows, actions, rooms[0], tables, helds)


@njit([types.int64(T_STATES, T_ROWS, T_INT, T_ROOMS, T_TABLES, T_ROWS, T_IDS, T_HELDS, T_IDS)])
def list_some(states, rows, begin, rooms, tables, offsets, ids, helds, fillings):
    """`seat_kernels.list_some` for rooms with wild cards."""
    return list_rows(states, rows, begin, rooms[0], tables, helds, offsets, ids)
