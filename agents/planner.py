"""The planner."""

import numpy as np
from numba import types

from agents.base import AgentError
from agents.planner_calls import ESTIMATES, LEVELS, T_ROWS_OF, choose_before
from agents.planner_jit import njit
from agents.planner_play import T_SCRATCH, choose_filling, choose_play, make_scratch, with_room
from agents.planner_weights import read_weights
from ddz_env.catalogue import TABLES
from ddz_env.moves import T_IDS, T_TABLES
from ddz_env.state import Phase
from ddz_env.vector import T_ROWS, T_VIEWS, Legal

_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)


_T_ACT = types.void(
    T_VIEWS, T_ROWS, T_IDS, T_ROWS_OF, T_ROWS_OF, T_ROWS_OF, T_TABLES, T_SCRATCH, T_ROWS
)


@njit([_T_ACT])
def _act(views, offsets, ids, weights, estimates, levels, tables, scratch, out):
    for i in range(views.shape[0]):
        mine = ids[offsets[i] : offsets[i + 1]]
        if mine.shape[0] == 1:
            out[i] = mine[0]
        elif views[i].phase == _PLAY:
            out[i] = choose_play(views[i], mine, weights, tables, scratch)
        elif views[i].phase == _FILL:
            out[i] = choose_filling(views[i], mine, tables, scratch)
        else:
            out[i] = choose_before(views[i], mine, estimates, levels)


class Planner:
    """The planner.

    Args:
        weights: of the facts, `float64[12, K]`; those of `planner_weights.csv` unless given.
    """

    def __init__(self, weights: np.ndarray | None = None) -> None:
        self.weights = np.ascontiguousarray(read_weights() if weights is None else weights)
        self._scratch = make_scratch()

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id a row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        self._scratch = with_room(self._scratch, int(np.diff(legal.offsets).max(initial=1)))
        _act(
            views, legal.offsets, legal.ids, self.weights, ESTIMATES, LEVELS, TABLES,
            self._scratch, out,
        )  # fmt: skip
        return out


def from_spec(argument: str | None) -> Planner:
    """The agent from its spec, which has no argument."""
    if argument is not None:
        raise AgentError(f"agent planner: takes no argument, got {argument!r}")
    return Planner()
