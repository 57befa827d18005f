"""The planner."""

import numpy as np
from numba import types

from agents.base import AgentError
from agents.planner_features import NAMES, SCENE, T_SCENE, K, describe, situation
from agents.planner_hand import PLAN, T_PLAN
from agents.planner_jit import njit
from agents.planner_wins import SOLVER, T_SOLVER, certain_win
from ddz_env.rules import PARAMS, PRESETS
from agents.planner_odds import CHANCES, HOLDER, T_CHANCES, T_HOLDER
from ddz_env._jit import records
from ddz_env.bots import greedy_choice
from ddz_env.catalogue import TABLES
from ddz_env.moves import MAX_LEGAL, T_IDS, T_PARAMS, T_TABLES, after
from ddz_env.state import Phase
from ddz_env.vector import T_ROWS, T_VIEWS, Legal
from ddz_env.view import T_VIEW

U64 = np.uint64
_PLAY = int(Phase.PLAY)
_T_CHOOSE = types.int64(
    T_VIEW, T_IDS, types.float64[:, ::1], T_TABLES, T_CHANCES, T_SCENE[::1], T_HOLDER[::1],
    types.float64[:, ::1], T_PLAN[::1], types.float64[:, ::1], T_PARAMS[::1], T_SOLVER[::1], T_IDS,
)  # fmt: skip


@njit([_T_CHOOSE])
def choose(view, ids, weights, tables, chances, scenes, holders, sums, plans, facts, params, solvers, plays):
    if ids.shape[0] == 1:
        return np.int64(ids[0])
    if view.phase != _PLAY or view.wild >= 0:
        return greedy_choice(view, ids, tables)
    for j in range(ids.shape[0]):
        action = np.int64(ids[j])
        if action and after(view.hand, tables[0].actions[action].need) == U64(0):
            return action
    describe(view, ids, tables, chances, scenes[0], holders, sums, plans, facts)
    sure = certain_win(view, ids, holders, params[0], tables, solvers[0], plays)
    if sure >= 0:
        return sure
    row = weights[situation(view)]
    best, most = np.int64(ids[0]), -1e18
    for j in range(ids.shape[0]):
        value = 0.0
        for k in range(row.shape[0]):
            value += row[k] * facts[j, k]
        if value > most:
            best, most = np.int64(ids[j]), value
    return best


@njit([types.void(
    T_VIEWS, T_ROWS, T_IDS, types.float64[:, ::1], T_TABLES, T_CHANCES, T_SCENE[::1], T_HOLDER[::1],
    types.float64[:, ::1], T_PLAN[::1], types.float64[:, ::1], T_PARAMS[::1], T_SOLVER[::1], T_IDS,
    T_ROWS,
)])  # fmt: skip
def _act(views, offsets, ids, weights, tables, chances, scenes, holders, sums, plans, facts, params, solvers, plays, out):
    for i in range(views.shape[0]):
        mine = ids[offsets[i] : offsets[i + 1]]
        out[i] = choose(
            views[i], mine, weights, tables, chances, scenes, holders, sums, plans, facts, params, solvers, plays
        )


class Planner:
    """The planner."""

    def __init__(self, weights=None) -> None:
        if weights is None:
            weights = np.load("/tmp/pl_weights.npy")
        self.weights = np.ascontiguousarray(weights)
        self._holders, self._plans = records(HOLDER, 4), records(PLAN, 1)
        self._scenes = records(SCENE, 1)
        self._sums = np.zeros((8, 4))
        self._solvers = records(SOLVER, 1)
        self._plays = np.zeros(MAX_LEGAL, np.int32)
        self._params = records(PARAMS, 1)
        p = PRESETS['play_only'].params()
        for name in PARAMS.names:
            self._params[0][name] = getattr(p, name)

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id a row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        most = int(np.diff(legal.offsets).max(initial=1))
        facts = np.zeros((most, K))
        _act(
            views, legal.offsets, legal.ids, self.weights, TABLES, CHANCES, self._scenes, self._holders,
            self._sums, self._plans, facts, self._params, self._solvers,
            self._plays, out,
        )  # fmt: skip
        return out


def from_spec(argument: str | None) -> Planner:
    """The agent from its spec, which has no argument."""
    return Planner(None if argument is None else np.load(argument))
