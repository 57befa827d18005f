"""Kernels for one game that is stepped from Python: one call does what several would."""

from numba import types

from ddz_env._jit import njit
from ddz_env.engine import apply, is_legal, legal
from ddz_env.features import T_BITS, encode_state
from ddz_env.moves import T_IDS, T_INT, T_PARAMS, T_TABLES
from ddz_env.scoring import T_STATE
from ddz_env.view import T_VIEW, cut_view

T_STATES, T_VIEWS, T_ROOMS = T_STATE[::1], T_VIEW[::1], T_PARAMS[::1]
"""Arrays of one record: numba takes them several times faster than a record."""


@njit([types.int64(T_STATES, T_INT, T_ROOMS, T_TABLES, T_IDS)])
def advance(states, action, rooms, tables, ids):
    """Check a choice on `states[0]`, make it, list what is legal then.

    One call instead of three: from Python a call costs more than what it does. The number of ids,
    0 when the deal is over; -1 when the choice is not legal, and nothing has been changed.
    """
    state, params = states[0], rooms[0]
    if not is_legal(state, action, params, tables):
        return -1
    apply(state, action, params, tables)
    return legal(state, params, tables, ids)


@njit([types.void(T_STATES, T_INT, T_ROOMS, T_TABLES, T_VIEWS, T_BITS, types.int8[::1])])
def dense_view(states, seat, rooms, tables, scratch, bits, out):
    """Write the dense features of a seat's view of `states[0]` into a zeroed row."""
    cut_view(states[0], seat, rooms[0], scratch[0])
    for j in range(encode_state(scratch[0], tables, bits, 0)):
        out[bits[j]] = 1
