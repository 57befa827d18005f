"""Multiplier, spring and points of a deal (rules par. 5); inside, points are quarter points."""

from collections.abc import Sequence
from typing import Any

from numba import from_dtype, types

from ddz_env._jit import njit
from ddz_env.errors import RuleError
from ddz_env.moves import T_INT, T_PARAMS
from ddz_env.rules import RuleSet, get_rules
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


@njit([types.int64(T_PARAMS, T_INT)])
def show_value(params, moment):
    """What a show at a moment (1..4) multiplies with; 1 for none (0)."""
    if moment == 1:
        return params.show_before_deal
    if moment == 2:
        return params.show_at_6
    if moment == 3:
        return params.show_at_12
    return params.show_after_bottom if moment == 4 else 1


@njit([types.int64(T_PARAMS, T_INT, T_INT)])
def combine_shows(params, total, value):
    """The multiplier of shows with one more: their product, or the largest."""
    return total * value if params.shows_combine == 1 else max(total, value)


@njit([types.int64(T_PARAMS, T_INT, T_INT, T_INT, T_INT, T_INT, T_INT)])
def multiply(params, shows, robs, bombs, blind, raises, spring):
    """The multiplier from its parts.

    Args:
        params: the room.
        shows: the multiplier of all shows.
        robs: number of robs.
        bombs: number of bombs and rockets.
        blind: 1 for a blind grab.
        raises: number of raises.
        spring: 1 for a spring.
    """
    value = params.start_multiplier * shows
    value *= params.rob_multiplier**robs
    value *= params.bomb**bombs
    value *= params.blind_multiplier**blind
    value *= params.raise_multiplier**raises
    return value * params.spring**spring


@njit([types.int64(T_STATE, T_PARAMS)])
def show_multiplier(state, params):
    """The multiplier of the shows of a game."""
    shows = 1
    for seat in range(3):
        shows = combine_shows(params, shows, show_value(params, state.shows[seat]))
    return shows


@njit([types.int64(T_STATE, T_PARAMS)])
def multiplier(state, params):
    """The multiplier as it stands, without doubles; the spring counts once the deal is over."""
    robs = 0
    for seat in range(3):
        if state.robs[seat] == 1:
            robs += 1
    spring = 1 if state.phase == _OVER and is_spring(state) else 0
    shows = show_multiplier(state, params)
    return multiply(params, shows, robs, state.bombs, state.blind, state.raises, spring)


@njit([types.int64(T_INT, T_INT, T_INT)])
def stake(points, own_double, landlord_double):
    """What a farmer and the landlord play for: each of the two doubles it if he has doubled."""
    return points << (own_double + landlord_double)


@njit([types.void(T_STATE, T_PARAMS)])
def settle(state, params):
    """Write the scores of a finished deal: each farmer's stake, their sum for the landlord."""
    points = QUARTERS * state.base * multiplier(state, params)
    sign = 1 if state.winner == state.landlord else -1
    lord = state.landlord
    state.scores[lord] = 0
    for k in range(1, 3):
        seat = (lord + k) % 3
        amount = sign * stake(points, state.doubles[seat], state.doubles[lord])
        state.scores[seat] = -amount
        state.scores[lord] += amount


def deal_scores(
    rules: str | RuleSet = "qq_classic",
    *,
    landlord_wins: bool,
    base: int = 1,
    multiplier: int = 1,
    bombs: int = 0,
    rockets: int = 0,
    spring: bool = False,
    robs: int = 0,
    shows: Sequence[int] = (),
    blind: bool = False,
    raises: int = 0,
    landlord_doubles: bool = False,
    farmer_doubles: Sequence[bool] = (False, False),
) -> list[float]:
    """Points of a deal: landlord first, then the farmers after him in playing order.

    Args:
        rules: the room.
        landlord_wins: who won.
        base: the base, 1..3.
        multiplier: a multiplier beside the parts that follow.
        bombs: bombs played.
        rockets: rockets played.
        spring: whether it was a spring (a room without springs takes no notice).
        robs: number of robs.
        shows: the multiplier of each show.
        blind: whether the landlord grabbed blind.
        raises: number of raises, 0..4.
        landlord_doubles: whether the landlord doubled.
        farmer_doubles: whether each farmer doubled.

    Raises:
        RuleError: an argument out of range, by name.
    """
    params = get_rules(rules).params()
    numbers: dict[str, tuple[Any, int, int]] = {
        "base": (base, 0, 3),
        "multiplier": (multiplier, 1, 1 << 32),
        "bombs": (bombs, 0, 13),
        "rockets": (rockets, 0, 1),
        "robs": (robs, 0, 3),
        "raises": (raises, 0, 4),
    }
    for name, (value, low, high) in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise RuleError(f"{name}: expected a whole number in {low}..{high}, got {value!r}")
    if len(farmer_doubles) != 2:
        raise RuleError(f"farmer_doubles: expected two values, got {farmer_doubles!r}")
    total = 1
    for value in shows:
        total = combine_shows(params, total, int(value))
    parts = multiply(params, total, robs, bombs + rockets, int(blind), raises, int(spring))
    points = base * multiplier * parts * (1 if landlord_wins else -1)
    stakes = [stake(points, int(own), int(landlord_doubles)) for own in farmer_doubles]
    return [float(sum(stakes)), *(-float(amount) for amount in stakes)]
