"""The planner's choices in the play: certain wins first, else the best weighted facts."""

from typing import NamedTuple

import numpy as np
from numba import types

from agents.planner_features import SCENE, T_SCENE, K, describe, situation
from agents.planner_hand import DEPTH, PLAN, T_PLAN, T_SUMS, plan_wild
from agents.planner_odds import CHANCES, HOLDER, T_CHANCES, T_HOLDER, count_cards
from agents.planner_wins import SOLVER, T_SOLVER, certain_win
from ddz_env._jit import njit, records
from ddz_env.catalogue import CHOICES, Category
from ddz_env.moves import (
    MAX_LEGAL,
    RANKS,
    T_IDS,
    T_PARAMS,
    T_TABLES,
    after,
    hand_size,
    wild_cards,
)  # fmt: skip
from ddz_env.params import PARAMS
from ddz_env.rules import PRESETS
from ddz_env.view import T_VIEW
from ddz_env.wild import HELD, T_HELD

U64 = np.uint64
_WILD_AS_3, _WILD_DONE = CHOICES["wild_as_3"], CHOICES["wild_done"]
_SOLO, _BOMB = int(Category.SOLO), int(Category.BOMB)


class Scratch(NamedTuple):
    """What the kernels read and write beside a decision."""

    chances: np.ndarray  # `planner_odds.CHANCES`
    rooms: np.ndarray  # PARAMS[4], `solver_rooms`
    scene: np.ndarray  # SCENE[1]
    holders: np.ndarray  # HOLDER[4]
    plans: np.ndarray  # PLAN[1]
    sums: np.ndarray  # float64[DEPTH + 1, 4]
    solver: np.ndarray  # SOLVER[1]
    held: np.ndarray  # HELD[1]
    plays: np.ndarray  # int32[MAX_LEGAL]
    facts: np.ndarray  # float64[most choices, K]
    skip: np.ndarray  # bool[most choices]


T_SCRATCH = types.NamedTuple(
    (
        T_CHANCES, T_PARAMS[::1], T_SCENE[::1], T_HOLDER[::1], T_PLAN[::1], T_SUMS,
        T_SOLVER[::1], T_HELD[::1], T_IDS, types.float64[:, ::1], types.boolean[::1],
    ),
    Scratch,
)  # fmt: skip


def solver_rooms() -> np.ndarray:
    """The rooms whose plays the search takes for possible: `PARAMS[4]`.

    A view does not say which room it is of. Without wild cards: all plays, or where a card was
    turned up those of `jj_classic`; with them: `crazy_laizi`, whose wilds can do least, also with
    the jokers wild.
    """
    crazy = PRESETS["crazy_laizi"]
    rooms = (PRESETS["play_only"], PRESETS["jj_classic"], crazy, crazy.replace(wild="jokers"))
    table = records(PARAMS, len(rooms))
    for row, room in zip(table, rooms, strict=True):
        values = room.params()
        for name in PARAMS.names or ():
            row[name] = getattr(values, name)
    return table


def make_scratch() -> Scratch:
    """Scratch for decisions with few choices; `with_room` makes room for more."""
    return Scratch(
        CHANCES, solver_rooms(), records(SCENE, 1), records(HOLDER, 4), records(PLAN, 1),
        np.zeros((DEPTH + 1, 4)), records(SOLVER, 1), records(HELD, 1),
        np.zeros(MAX_LEGAL, np.int32),
        np.zeros((64, K)), np.zeros(64, np.bool_),
    )  # fmt: skip


def with_room(scratch: Scratch, choices: int) -> Scratch:
    """The scratch, with room for decisions with so many choices."""
    if choices <= len(scratch.skip):
        return scratch
    n = 2 * choices
    return scratch._replace(facts=np.zeros((n, K)), skip=np.zeros(n, np.bool_))


@njit([types.void(T_VIEW, T_IDS, T_TABLES, T_SCRATCH)])
def guard(view, ids, tables, scratch):
    """A farmer leads no solo to the landlord's last card that it may beat, while he has others."""
    if view.seat == view.landlord or view.last_seat >= 0 or view.counts[view.landlord] > 1:
        return
    others = False
    for j in range(ids.shape[0]):
        others = others or (not scratch.skip[j] and tables[0].actions[ids[j]].category != _SOLO)
    for j in range(ids.shape[0]):
        play = tables[0].actions[ids[j]]
        if others and play.category == _SOLO and scratch.holders[3].solo[play.rank] > 0.0:
            scratch.skip[j] = True


@njit([types.int64(T_VIEW, T_IDS, types.float64[:, ::1], T_TABLES, T_SCRATCH)])
def choose_play(view, ids, weights, tables, scratch):
    """What the planner plays.

    Args:
        view: the view.
        ids: its legal ids.
        weights: of the facts, `float64[12, K]` by `situation`.
        tables: the catalogue's `TABLES`.
        scratch: scratch.
    """
    for j in range(ids.shape[0]):
        action = np.int64(ids[j])
        if action and after(view.hand, tables[0].actions[action].need) == U64(0):
            return action
    count_cards(view, scratch.holders, scratch.chances)
    sure = certain_win(
        view, ids, scratch.holders, scratch.rooms, tables, scratch.solver[0], scratch.held[0],
        scratch.plays,
    )  # fmt: skip
    if sure >= 0:
        return sure
    describe(
        view, ids, tables, scratch.scene[0], scratch.holders, scratch.sums, scratch.plans,
        scratch.facts, scratch.skip,
    )  # fmt: skip
    guard(view, ids, tables, scratch)
    row = weights[situation(view)]
    best, most = np.int64(ids[0]), -1e18
    for j in range(ids.shape[0]):
        if scratch.skip[j]:
            continue
        value = 0.0
        for k in range(row.shape[0]):
            value += row[k] * scratch.facts[j, k]
        if value > most:
            best, most = np.int64(ids[j]), value
    return best


@njit([types.int64(T_VIEW, T_IDS, T_TABLES, T_SCRATCH)])
def choose_filling(view, ids, tables, scratch):
    """Which natural card a further wild stands in for: what leaves the best hand, else none.

    A bomb is made with as few wilds as possible, since more of them make it weaker; so is a play of
    a certain win, which was found that way.
    """
    play = tables[0].actions[view.pending]
    best, least = _WILD_DONE, 1e18
    if play.category == _BOMB:
        return best
    count_cards(view, scratch.holders, scratch.chances)
    sure = certain_win(
        view, ids, scratch.holders, scratch.rooms, tables, scratch.solver[0], scratch.held[0],
        scratch.plays,
    )  # fmt: skip
    if sure >= 0:
        return best
    own = max(min(np.int64(view.wild), 12), 0)
    for j in range(ids.shape[0] - 1, -1, -1):
        wilds = view.pending_wilds
        if ids[j] != _WILD_DONE:
            wilds += U64(1) << U64(4 * (ids[j] - _WILD_AS_3))
        left = view.hand - (play.need - wilds)
        if wilds & RANKS != U64(0):
            left -= wild_cards(view.hand, play.need, hand_size(wilds))
        plan_wild(left, U64(1), own, 40, scratch.holders[3], scratch.sums, scratch.plans[0])
        cost = scratch.plans[0].cost - 0.5 * np.int64(left >> U64(60))
        if cost < least - 1e-9:
            best, least = np.int64(ids[j]), cost
    return best
