"""How plausible hidden hands are to a trained agent: would it have chosen what the others chose?

Drawn deals are played again from their first lead, all at once. A choice that another seat made
counts with the chance that a player has to make it who chooses in proportion to exp(chance of
winning / `blur`), the chances being what the agent's networks say of that seat's listed actions.
"""

from typing import Any

import numpy as np
from numba import types

from agents.search_worlds import T_WORLDS, draw_all, replay, rewind
from agents.value_agent import ValueAgent
from ddz_env import core
from ddz_env._jit import njit, records
from ddz_env.catalogue import TABLES
from ddz_env.hidden import fill_state
from ddz_env.listed import Legal
from ddz_env.moves import T_INT, T_PARAMS, T_TABLES, T_U64
from ddz_env.params import Params
from ddz_env.state import STATE
from ddz_env.vector_kernels import T_STATES
from ddz_env.view import T_VIEW, VIEW, cut_views

U64 = np.uint64
BEHIND = 7.0
"""How much more surprising than the likeliest one a deal may be before it is given up."""
MOST_SURPRISE = 5.0
"""The most that one choice counts: others are not this agent, and it errs."""


@njit([types.void(T_VIEW, T_WORLDS, T_U64, T_PARAMS, T_TABLES, T_STATES)])
def fill_all(view, worlds, seed, params, tables, states):
    """The games of a view with hidden cards: each of the worlds several times, in turn."""
    times = states.shape[0] // worlds.shape[0]
    for k in range(states.shape[0]):
        fill_state(view, worlds[k // times], seed, params, tables, states[k])


@njit([types.int64(T_STATES)])
def rewind_all(states):
    """Take games of one history back to their first lead; where it begins, -1 if unknown."""
    begin = 0
    for i in range(states.shape[0]):
        begin = rewind(states[i])
        if begin < 0:
            return begin
    return begin


@njit([types.void(T_STATES, T_INT)])
def replay_all(states, i):
    """Make entry i of the history in every game."""
    for k in range(states.shape[0]):
        replay(states[k], i)


def surprise(chances: np.ndarray, legal: Legal, action: int, blur: float) -> np.ndarray:
    """Minus the logarithm of the chance to choose an action in each row, `float64[B]`.

    Args:
        chances: of winning by each listed action, `float32[A]`.
        legal: the lists.
        action: that was chosen.
        blur: what a difference in the chance of winning is divided by.
    """
    starts, sizes = legal.offsets[:-1], np.diff(legal.offsets)
    best = np.maximum.reduceat(chances, starts)
    scaled = (chances - np.repeat(best, sizes)) / blur
    total = np.log(np.add.reduceat(np.exp(scaled), starts))
    mine = np.maximum.reduceat(np.where(legal.ids == action, scaled, -np.inf), starts)
    return np.minimum(total - mine, MOST_SURPRISE)


def implausible(
    agent: ValueAgent, states: np.ndarray, me: int, most: int, blur: float, params: Params
) -> np.ndarray:
    """How surprising the choices of the other seats are in drawn deals, `float64[n]`.

    Deals that are far behind the likeliest one are given up on the way: infinite.

    Args:
        agent: of the room.
        states: the drawn deals, one history; they are changed.
        me: the seat whose choices do not count.
        most: choices that count, the last ones.
        blur: as in `surprise`.
        params: the room's.
    """
    total, n = np.zeros(len(states)), int(states[0]["n_history"])
    seats = states[0]["history_seat"][:n].astype(np.int64)
    actions = states[0]["history_action"][:n].astype(np.int64)
    begin, buffer, alive = rewind_all(states), None, np.arange(len(states))
    if begin < 0:
        return total
    counted = begin + np.flatnonzero(seats[begin:] != me)[-most:]
    for i in range(begin, n):
        states["n_history"] = i
        if i in counted:
            legal, buffer = core.list_rows(states, alive, params, ids=buffer)
            free = np.flatnonzero(np.diff(legal.offsets) > 1)
            if len(free):
                views, lists, rows = records(VIEW, len(free)), legal.take(free), alive[free]
                cut_views(states, rows, np.full(len(rows), seats[i]), params, views)
                values = agent.values(views, lists)
                total[rows] += surprise(values.chance, lists, int(actions[i]), blur)
                alive = alive[total[alive] <= total[alive].min() + BEHIND]
        replay_all(states, i)
    states["n_history"] = n
    out = np.full(len(states), np.inf)
    out[alive] = total[alive]
    return out


def believed(
    agent: ValueAgent, view: Any, key: np.uint64, n: int, most: int, blur: float, params: Params
) -> tuple[np.ndarray, np.ndarray]:
    """Hidden cards for a view of the play, and how likely each is; the likeliest of those drawn.

    Args:
        agent: of the room.
        view: the view.
        key: of the random numbers.
        n: hidden cards that are drawn, each with equal chances.
        most: choices of others that count, the last ones.
        blur: as in `surprise`.
        params: the room's.

    Returns:
        `uint64[m, 4]`, and the logarithm of how likely each is, up to a constant, `float64[m]`,
        falling; m is n or less.
    """
    worlds, states = np.zeros((n, 4), np.uint64), records(STATE, n)
    draw_all(view, key, params, worlds)
    fill_all(view, worlds, U64(0), params, TABLES, states)
    total = implausible(agent, states, int(view["seat"]), most, blur, params)
    order = np.argsort(total, kind="stable")
    order = order[total[order] <= total[order[0]] + BEHIND]
    return worlds[order], -total[order]
