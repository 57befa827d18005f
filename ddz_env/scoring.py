"""Multiplier, spring and points of a deal (rules par. 5); inside, points are quarter points."""

from numba import from_dtype, types

from ddz_env._jit import njit
from ddz_env.moves import T_PARAMS
from ddz_env.state import STATE, Phase

T_STATE = from_dtype(STATE)
QUARTERS = 4
"""Units of the records' scores in a point."""

_OVER = int(Phase.OVER)


@njit([types.boolean(T_STATE)])
def is_spring(state):
    """Whether a finished deal is a spring: no farmer has played, or the landlord exactly once."""
    landlord = state.landlord
    if state.winner < 0:
        return False
    if state.winner == landlord:
        return state.plays[(landlord + 1) % 3] == 0 and state.plays[(landlord + 2) % 3] == 0
    return state.plays[landlord] == 1


@njit([types.int64(T_STATE, T_PARAMS)])
def multiplier(state, params):
    """The multiplier as it stands: bombs played, and the spring once the deal is over."""
    value = params.start_multiplier
    for _ in range(state.bombs):
        value *= params.bomb
    if state.phase == _OVER and is_spring(state):
        value *= params.spring
    return value


@njit([types.void(T_STATE, T_PARAMS)])
def settle(state, params):
    """Write the scores of a finished deal: landlord twice the points of a farmer, zero in all."""
    points = QUARTERS * state.base * multiplier(state, params)
    sign = 1 if state.winner == state.landlord else -1
    for seat in range(3):
        if seat == state.landlord:
            state.scores[seat] = 2 * sign * points
        else:
            state.scores[seat] = -sign * points
