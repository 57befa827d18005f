"""The planner."""

import numpy as np
from numba import types

from agents.base import AgentError
from agents.planner_features import NAMES, K, describe, situation
from agents.planner_hand import PLAN, T_PLAN
from agents.planner_jit import njit
from agents.planner_odds import CHANCES, HOLDER, T_CHANCES, T_HOLDER
from ddz_env._jit import records
from ddz_env.bots import greedy_choice
from ddz_env.catalogue import TABLES
from ddz_env.moves import T_IDS, T_TABLES, after
from ddz_env.state import Phase
from ddz_env.vector import T_ROWS, T_VIEWS, Legal
from ddz_env.view import T_VIEW

U64 = np.uint64
_PLAY = int(Phase.PLAY)
_T_CHOOSE = types.int64(
    T_VIEW, T_IDS, types.float64[:, ::1], T_TABLES, T_CHANCES, T_HOLDER[::1],
    types.float64[:, ::1], T_PLAN[::1], types.float64[:, ::1],
)  # fmt: skip


@njit([_T_CHOOSE])
def choose(view, ids, weights, tables, chances, holders, sums, plans, facts):
    if ids.shape[0] == 1:
        return np.int64(ids[0])
    if view.phase != _PLAY or view.wild >= 0:
        return greedy_choice(view, ids, tables)
    for j in range(ids.shape[0]):
        action = np.int64(ids[j])
        if action and after(view.hand, tables[0].actions[action].need) == U64(0):
            return action
    describe(view, ids, tables, chances, holders, sums, plans, facts)
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
    T_VIEWS, T_ROWS, T_IDS, types.float64[:, ::1], T_TABLES, T_CHANCES, T_HOLDER[::1],
    types.float64[:, ::1], T_PLAN[::1], types.float64[:, ::1], T_ROWS,
)])  # fmt: skip
def _act(views, offsets, ids, weights, tables, chances, holders, sums, plans, facts, out):
    for i in range(views.shape[0]):
        mine = ids[offsets[i] : offsets[i + 1]]
        out[i] = choose(
            views[i], mine, weights, tables, chances, holders, sums, plans, facts
        )


class Planner:
    """The planner."""

    def __init__(self, weights=None) -> None:
        if weights is None:
            weights = np.load("/tmp/pl_weights.npy")
        self.weights = np.ascontiguousarray(weights)
        self._holders, self._plans = records(HOLDER, 4), records(PLAN, 1)
        self._sums = np.zeros((8, 4))

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id a row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        most = int(np.diff(legal.offsets).max(initial=1))
        facts = np.zeros((most, K))
        _act(
            views, legal.offsets, legal.ids, self.weights, TABLES, CHANCES, self._holders,
            self._sums, self._plans, facts, out,
        )  # fmt: skip
        return out


def from_spec(argument: str | None) -> Planner:
    """The agent from its spec, which has no argument."""
    return Planner(None if argument is None else np.load(argument))
