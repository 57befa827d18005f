"""Multiplier, spring and points of a deal (rules par. 5); inside, points are quarter points."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import from_dtype, types

from ddz_env._jit import njit
from ddz_env.errors import RuleError
from ddz_env.moves import T_INT, T_PARAMS
from ddz_env.rules import RuleSet, get_rules
from ddz_env.state import STATE, Phase

T_STATE = from_dtype(STATE)
QUARTERS = 4
"""Units of the records' scores in a point."""
LIMIT = 1 << 48
"""The most that a multiplier can be; far above any deal of the presets. Keeps scores in 64 bits."""

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


@njit([types.int64(T_INT, T_INT, T_INT)])
def times(value, factor, n):
    """`value * factor**n`, at most `LIMIT`; all above 0."""
    for _ in range(n):
        value = LIMIT if value > LIMIT // factor else value * factor
    return value


@njit([types.int64(T_PARAMS, T_INT, T_INT, T_INT, T_INT, T_INT, T_INT)])
def multiply(params, shows, robs, bombs, blind, raises, spring):
    """The multiplier from its parts, at most `LIMIT`.

    Args:
        params: the room.
        shows: the multiplier of all shows.
        robs: number of robs.
        bombs: the product of what all bombs and rockets multiply with (`bomb_product`).
        blind: 1 for a blind grab.
        raises: number of raises.
        spring: 1 for a spring.
    """
    value = times(params.start_multiplier, shows, 1)
    value = times(value, params.rob_multiplier, robs)
    value = times(value, bombs, 1)
    value = times(value, params.blind_multiplier, blind)
    value = times(value, params.raise_multiplier, raises)
    return times(value, params.spring, spring)


@njit([types.int64(T_PARAMS, T_INT, T_INT, T_INT, T_INT)])
def bomb_product(params, soft, hard, pure, rockets):
    """What so many bombs of each class multiply with, together, at most `LIMIT`."""
    value = times(1, params.soft_bomb, soft)
    value = times(value, params.bomb, hard)
    value = times(value, params.pure_bomb, pure)
    return times(value, params.rocket, rockets)


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
    return multiply(params, shows, robs, state.bomb_factor, state.blind, state.raises, spring)


@njit([types.int64(T_INT, T_INT, T_INT)])
def stake(points, own_double, landlord_double):
    """What a farmer and the landlord play for: each of the two doubles it if he has doubled."""
    return points << (own_double + landlord_double)


@njit([types.int64(T_INT, T_PARAMS)])
def capped(amount, params):
    """A seat's score in quarter points, cut at the room's limit."""
    most = QUARTERS * params.cap
    if params.cap == 0:
        return amount
    return max(-most, min(most, amount))


@njit([types.UniTuple(types.int64, 3)(T_INT, T_INT, T_INT, T_INT, T_PARAMS)])
def stakes(points, lord_double, double_1, double_2, params):
    """Quarter points of the landlord and both farmers, had the landlord won.

    Args:
        points: base times multiplier, in points.
        lord_double: 1 where the landlord has doubled.
        double_1: the same of a farmer.
        double_2: the same of the other farmer.
        params: the room, with its factor and its cap.
    """
    one = params.score_quarters * stake(points, double_1, lord_double)
    two = params.score_quarters * stake(points, double_2, lord_double)
    most = QUARTERS * params.cap
    if params.cap > 0 and one + two > most and params.cap_scales:
        # Shrunk alike, to the nearest quarter; the landlord's is their sum, so nothing is lost.
        total = one + two
        one = np.int64(np.floor(np.float64(most) * one / total + 0.5))
        two = most - one
    return capped(one + two, params), -capped(one, params), -capped(two, params)


@njit([types.void(T_STATE, T_PARAMS)])
def settle(state, params):
    """Write the scores of a finished deal: each farmer's stake, their sum for the landlord."""
    sign = 1 if state.winner == state.landlord else -1
    lord = np.int64(state.landlord)
    down, up = (lord + 1) % 3, (lord + 2) % 3
    points = state.base * multiplier(state, params)
    doubles = state.doubles
    amounts = stakes(points, doubles[lord], doubles[down], doubles[up], params)
    state.scores[lord] = sign * amounts[0]
    state.scores[down] = sign * amounts[1]
    state.scores[up] = sign * amounts[2]


def _check_counts(**counts: tuple[Any, int, int]) -> None:
    """Raise a `RuleError` for the first (value, lowest, highest) that is out of its range."""
    for name, (value, low, high) in counts.items():
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise RuleError(f"{name}: expected a whole number in {low}..{high}, got {value!r}")


def deal_scores(
    rules: str | RuleSet = "qq_classic",
    *,
    landlord_wins: bool,
    base: int = 1,
    multiplier: int = 1,
    bombs: int = 0,
    soft_bombs: int = 0,
    hard_bombs: int = 0,
    pure_bombs: int = 0,
    rockets: int = 0,
    spring: bool = False,
    robs: int = 0,
    shows: Sequence[int] = (),
    blind: bool = False,
    raises: int = 0,
    farmers_played: int | None = None,
    landlord_doubles: bool = False,
    farmer_doubles: Sequence[bool] = (False, False),
) -> list[float]:
    """Points of a deal: landlord first, then the farmers after him in playing order.

    Args:
        rules: the room.
        landlord_wins: who won.
        base: the base, 1..3.
        multiplier: a multiplier beside the parts that follow.
        bombs: bombs played of four natural cards.
        soft_bombs: bombs played with wild and natural cards.
        hard_bombs: more bombs of four natural cards.
        pure_bombs: bombs played of four wild cards.
        rockets: rockets played.
        spring: whether it was a spring (a room without springs takes no notice).
        robs: number of robs.
        shows: the multiplier of each show.
        blind: whether the landlord grabbed blind.
        raises: number of raises, 0..4.
        farmers_played: plays of both farmers, where known: none makes a landlord's win a spring.
        landlord_doubles: whether the landlord doubled.
        farmer_doubles: whether each farmer doubled.

    Raises:
        RuleError: an argument out of range, by name.
    """
    params = get_rules(rules).params()
    _check_counts(
        base=(base, 0, 3),
        multiplier=(multiplier, 1, 1 << 32),
        bombs=(bombs, 0, 13),
        soft_bombs=(soft_bombs, 0, 4),
        hard_bombs=(hard_bombs, 0, 13),
        pure_bombs=(pure_bombs, 0, 1),
        rockets=(rockets, 0, 1),
        robs=(robs, 0, 3),
        raises=(raises, 0, 4),
    )
    if len(farmer_doubles) != 2:
        raise RuleError(f"farmer_doubles: expected two values, got {farmer_doubles!r}")
    total = 1
    for value in shows:
        total = combine_shows(params, total, int(value))
    product = bomb_product(params, soft_bombs, bombs + hard_bombs, pure_bombs, rockets)
    spring = spring or (farmers_played == 0 and landlord_wins)
    parts = multiply(params, total, robs, product, int(blind), raises, int(spring))
    points = min(base * times(multiplier, parts, 1), 3 * LIMIT)
    doubles = [int(own) for own in farmer_doubles]
    amounts = stakes(points, int(landlord_doubles), *doubles, params)
    return [float(a) / QUARTERS * (1 if landlord_wins else -1) for a in amounts]
