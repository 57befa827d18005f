"""Kernels of the search: games played out from a drawn position, by the planner or by greedy."""

from typing import NamedTuple

import numpy as np
from numba import types

from agents.endgame import solve_state
from agents.endgame_table import T_WORK, make_work
from agents.planner_features import describe, situation
from agents.planner_odds import count_cards
from agents.planner_play import (
    T_SCRATCH,
    choose_filling,
    choose_play,
    guard,
    make_scratch,
    with_room,
)
from agents.planner_weights import read_weights
from agents.planner_wins import certain_win
from ddz_env import engine, wild_core
from ddz_env._jit import njit, records
from ddz_env.bots import greedy_choice
from ddz_env.catalogue import Category
from ddz_env.moves import MAX_LEGAL, T_IDS, T_INT, T_PARAMS, T_TABLES, after, hand_size
from ddz_env.scoring import T_STATE
from ddz_env.state import STATE, Phase
from ddz_env.view import T_VIEW, VIEW, cut_view
from ddz_env.wild import HELD, T_HELD

U64 = np.uint64
POLICIES = ("planner", "quick", "greedy")
"""Policies of the playouts; `quick` is the planner without its search for certain wins."""
_QUICK, _GREEDY = 1, 2
_PLAY, _OVER, _BOMB = int(Phase.PLAY), int(Phase.OVER), int(Category.BOMB)


class Arena(NamedTuple):
    """What the kernels read and write beside a decision."""

    states: np.ndarray  # STATE[3]: the drawn position, one that is played out, one played again
    views: np.ndarray  # VIEW[1]
    held: np.ndarray  # HELD[1]
    ids: np.ndarray  # int32[MAX_LEGAL]
    few: np.ndarray  # int32[16]
    best: np.ndarray  # int32[1]
    sums: np.ndarray  # float64[MAX_LEGAL]
    weights: np.ndarray  # float64[12, K], the planner's
    planner: NamedTuple  # `planner_play.Scratch`
    work: NamedTuple  # `endgame_table.Work`


T_WEIGHTS = types.float64[:, ::1]
T_ARENA = types.NamedTuple(
    (
        T_STATE[::1], T_VIEW[::1], T_HELD[::1], T_IDS, T_IDS, T_IDS, types.float64[::1],
        T_WEIGHTS, T_SCRATCH, T_WORK,
    ),
    Arena,
)  # fmt: skip


def make_arena(weights: np.ndarray | None = None) -> Arena:
    """Buffers for an agent; `weights` are the planner's unless given."""
    return Arena(
        records(STATE, 3), records(VIEW, 1), records(HELD, 1), np.zeros(MAX_LEGAL, np.int32),
        np.zeros(16, np.int32), np.zeros(1, np.int32), np.zeros(MAX_LEGAL),
        np.ascontiguousarray(read_weights() if weights is None else weights),
        with_room(make_scratch(), MAX_LEGAL), make_work(),
    )  # fmt: skip


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES, T_ARENA)])
def list_choices(state, params, tables, arena):
    """List the legal ids of a game into `arena.ids`; their number."""
    if params.wild:
        return wild_core.legal(state, params, tables, arena.held, arena.ids)
    return engine.legal(state, params, tables, arena.ids)


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_TABLES, T_ARENA)])
def choose(state, action, params, tables, arena):
    """Make a legal choice."""
    if params.wild:
        wild_core.apply(state, action, params, tables, arena.held, arena.few)
    else:
        engine.apply(state, action, params, tables)


@njit([types.int64(T_VIEW, T_IDS, T_TABLES, T_ARENA, types.float64[::1])])
def weigh(view, ids, tables, arena, out):
    """The planner's weighted sums of a decision's choices; -1e18 for those that it leaves out.

    Args:
        view: the view.
        ids: its legal ids.
        tables: the catalogue's `TABLES`.
        arena: buffers.
        out: the sums, `float64[n]`.

    Returns:
        the place of the largest.
    """
    scratch = arena.planner
    count_cards(view, scratch.holders, scratch.chances)
    describe(
        view, ids, tables, scratch.scene[0], scratch.holders, scratch.sums, scratch.plans,
        scratch.facts, scratch.skip,
    )  # fmt: skip
    guard(view, ids, tables, scratch)
    row = arena.weights[situation(view)]
    best = 0
    for j in range(ids.shape[0]):
        value = -1e18
        if not scratch.skip[j]:
            value = 0.0
            for k in range(row.shape[0]):
                value += row[k] * scratch.facts[j, k]
        out[j] = value
        if value > out[best]:
            best = j
    return best


@njit([types.int64(T_VIEW, T_IDS, T_TABLES)])
def goes_out(view, ids, tables):
    """The first choice that empties the hand, -1 when there is none."""
    for j in range(ids.shape[0]):
        action = np.int64(ids[j])
        if action and after(view.hand, tables[0].actions[action].need) == U64(0):
            return action
    return -1


@njit([types.int64(T_VIEW, T_IDS, T_TABLES, T_ARENA)])
def quick_play(view, ids, tables, arena):
    """What the planner plays when it does not look for certain wins."""
    last = goes_out(view, ids, tables)
    if last >= 0:
        return last
    return np.int64(ids[weigh(view, ids, tables, arena, arena.sums)])


@njit([types.int64(T_VIEW, T_IDS, T_INT, T_TABLES, T_ARENA)])
def policy_choice(view, ids, policy, tables, arena):
    """What a policy of the playouts chooses, in phase play or fill."""
    if policy == _GREEDY:
        return greedy_choice(view, ids, tables)
    if view.phase != _PLAY:
        return choose_filling(view, ids, tables, arena.planner)
    if policy == _QUICK:
        return quick_play(view, ids, tables, arena)
    return choose_play(view, ids, arena.weights, tables, arena.planner)


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_TABLES, T_ARENA)])
def play_out(state, policy, params, tables, arena):
    """Play a game in phase play or fill to its end, all seats by one policy."""
    view, ids = arena.views[0], arena.ids
    while state.phase != _OVER:
        n = list_choices(state, params, tables, arena)
        action = np.int64(ids[0])
        if n > 1:
            cut_view(state, np.int64(state.turn), params, view)
            action = policy_choice(view, ids[:n], policy, tables, arena)
        choose(state, action, params, tables, arena)


@njit([types.int64(T_STATE)])
def cards_left(state):
    """Cards in all hands."""
    hands = state.hands
    return hand_size(hands[0]) + hand_size(hands[1]) + hand_size(hands[2])


_T_TRY = types.float64(T_INT, T_INT, T_INT, T_INT, types.boolean, T_PARAMS, T_TABLES, T_ARENA)


@njit([_T_TRY])
def try_choice(action, policy, exact, nodes, points, params, tables, arena):
    """What a choice in the drawn position `arena.states[0]` is worth to the seat on turn.

    Args:
        action: a legal id.
        policy: of the playout.
        exact: the position is solved when so many cards or fewer are left.
        nodes: positions that the solver may look into; beyond, it is played out.
        points: whether the worth is in quarter points, instead of 1 for a deal won.
        params: the room's.
        tables: the catalogue's `TABLES`.
        arena: buffers.
    """
    arena.states[1] = arena.states[0]
    root, state = arena.states[0], arena.states[1]
    seat, lord = np.int64(root.turn), np.int64(root.landlord)
    choose(state, action, params, tables, arena)
    if state.phase != _OVER and not points and cards_left(state) <= exact:
        found = solve_state(arena.states, 1, params, tables, arena.work, nodes, arena.best)
        if found != 0:
            return 1.0 if (found == 1) == (seat == lord) else 0.0
    play_out(state, policy, params, tables, arena)
    if points:
        return np.float64(state.scores[seat])
    return 1.0 if (state.winner == lord) == (seat == lord) else 0.0


_T_TRIES = types.int64(
    T_IDS, types.boolean[::1], T_INT, T_INT, T_INT, types.boolean, types.float64[::1], T_PARAMS,
    T_TABLES, T_ARENA,
)  # fmt: skip


@njit([_T_TRIES])
def try_choices(ids, alive, policy, exact, nodes, points, out, params, tables, arena):
    """`try_choice` for those of some choices that are alive, into `out`; their number."""
    n = 0
    for k in range(ids.shape[0]):
        if alive[k]:
            out[k] = try_choice(
                np.int64(ids[k]), policy, exact, nodes, points, params, tables, arena
            )
            n += 1
    return n


@njit([types.int64(T_VIEW, T_IDS, T_INT, T_TABLES, T_ARENA, T_IDS, types.float64[::1])])
def list_candidates(view, ids, top, tables, arena, chosen, sums):
    """The choices that are worth a try, the planner's best first.

    Args:
        view: a view in phase play.
        ids: its legal ids.
        top: how many of the planner's best; pass and bombs come in any case.
        tables: the catalogue's `TABLES`.
        arena: buffers.
        chosen: gets their ids, `int32[n]` as long as `ids`.
        sums: gets the planner's weighted sums of them.

    Returns:
        their number: 1 where the choice goes out or wins for certain.
    """
    scratch, found = arena.planner, 0
    chosen[0] = goes_out(view, ids, tables)
    if chosen[0] < 0:
        count_cards(view, scratch.holders, scratch.chances)
        chosen[0] = certain_win(
            view, ids, scratch.holders, scratch.rooms, tables, scratch.solver[0], scratch.held[0],
            scratch.plays,
        )  # fmt: skip
    if chosen[0] >= 0:
        return 1
    weigh(view, ids, tables, arena, arena.sums)
    order = np.argsort(-arena.sums[: ids.shape[0]])
    for i in range(ids.shape[0]):
        j = order[i]
        bomb = tables[0].actions[ids[j]].category >= _BOMB
        if arena.sums[j] > -1e17 and (i < top or ids[j] == 0 or bomb):
            chosen[found], sums[found] = ids[j], arena.sums[j]
            found += 1
    return found
