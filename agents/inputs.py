"""What a network here reads of a decision: lists of ones, and the planner's facts of each action.

Everything comes from views, by the frozen schemas of `ddz_env.features`; the facts (plays to go,
chances that a play is beaten, what partner and opponents may do: `planner_features`) are computed
from the view too. A win that is certain whatever the others hold is named, so that nobody has to
learn it.
"""

import hashlib
from typing import NamedTuple

import numpy as np
from numba import types

from agents.planner_features import NAMES, K, describe
from agents.planner_odds import count_cards
from agents.planner_play import T_SCRATCH, Scratch, make_scratch, with_room
from agents.planner_wins import certain_win
from ddz_env._jit import njit
from ddz_env.catalogue import TABLES
from ddz_env.features import MAX_ACTION_BITS, MAX_STATE_BITS
from ddz_env.listed import Bits, Legal
from ddz_env.moves import MAX_LEGAL, T_IDS, T_TABLES, U64, after
from ddz_env.state import Phase
from ddz_env.vector_kernels import T_ROWS, T_VIEWS, encode_actions, encode_views

_PLAY = int(Phase.PLAY)
FACTS = K + 1
"""Facts of an action; the last one says that it was left out of the planner's closer look."""
MOST_ACTIONS = 16384
"""Listed actions that are read and scored at a time, or those of one row where it has more."""
_SCALES = {"cards": 0.1, "rank": 0.1, "kicker ranks": 0.05, "squared": 0.2, "answers": 0.3}
SCALE = np.array(
    [next((s for word, s in _SCALES.items() if word in name), 1.0) for name in NAMES] + [1.0],
    np.float32,
)
"""What each fact is multiplied with, so that all are of size one or so."""
FACTS_HASH = hashlib.sha256(repr((NAMES, SCALE.tolist())).encode()).hexdigest()[:12]
"""Names and scales of the facts; a network that reads them stores it."""


class Inputs(NamedTuple):
    """A batch of decisions as a network reads it."""

    state: Bits
    """Ones of each row's state."""
    legal: Legal
    """Legal ids of each row."""
    actions: Bits
    """Ones of each listed action."""
    facts: np.ndarray
    """`float32[A, FACTS]`, zeros but in phase play."""
    sure: np.ndarray
    """`int64[B]`: the place among all listed actions of one that wins for certain, -1 for none."""


_T_FACTS = types.void(
    T_VIEWS, T_ROWS, T_IDS, types.float32[::1], T_TABLES, T_SCRATCH, types.float32[:, ::1], T_ROWS
)


@njit([_T_FACTS])
def read_facts(views, offsets, ids, scale, tables, scratch, out, sure):
    """Write the facts of every listed action of rows in phase play, and certain wins."""
    for i in range(views.shape[0]):
        view, begin = views[i], offsets[i]
        mine = ids[begin : offsets[i + 1]]
        sure[i] = -1
        if view.phase != _PLAY:
            continue
        for j in range(mine.shape[0]):
            action = np.int64(mine[j])
            if action and after(view.hand, tables[0].actions[action].need) == U64(0):
                sure[i] = begin + j
        count_cards(view, scratch.holders, scratch.chances)
        if sure[i] < 0:
            won = certain_win(
                view, mine, scratch.holders, scratch.rooms, tables, scratch.solver[0],
                scratch.held[0], scratch.plays,
            )  # fmt: skip
            for j in range(mine.shape[0]):
                if won >= 0 and mine[j] == won:
                    sure[i] = begin + j
        describe(
            view, mine, tables, scratch.scene[0], scratch.holders, scratch.sums, scratch.plans,
            scratch.facts, scratch.skip,
        )  # fmt: skip
        for j in range(mine.shape[0]):
            row = out[begin + j]
            if scratch.skip[j]:
                row[row.shape[0] - 1] = 1.0
                continue
            for k in range(row.shape[0] - 1):
                row[k] = scratch.facts[j, k] * scale[k]


class Reader:
    """Reads decisions; keeps the scratch that this takes."""

    def __init__(self) -> None:
        self._scratch: Scratch = with_room(make_scratch(), 1024)

    def read(self, views: np.ndarray, legal: Legal) -> Inputs:
        """A batch; `legal.offsets` begins with 0. Choose its size by `pieces`."""
        n, m = len(views), len(legal.ids)
        state = Bits(np.zeros(n + 1, np.int64), np.empty(n * MAX_STATE_BITS, np.uint16))
        encode_views(views, TABLES, *state)
        actions = Bits(np.zeros(m + 1, np.int64), np.empty(m * MAX_ACTION_BITS, np.uint16))
        hands = np.ascontiguousarray(views["hand"])
        encode_actions(hands, legal.offsets, legal.ids, TABLES, *actions)
        facts, sure = np.zeros((m, FACTS), np.float32), np.zeros(n, np.int64)
        most = int(np.diff(legal.offsets).max(initial=1))
        self._scratch = with_room(self._scratch, most)
        read_facts(views, *legal, SCALE, TABLES, self._scratch, facts, sure)
        return Inputs(state, legal, actions, facts, sure)


def pieces(offsets: np.ndarray, most: int = MOST_ACTIONS) -> list[tuple[int, int]]:
    """Cut a batch into runs of rows with at most so many listed actions each, or one row.

    Args:
        offsets: of the lists, `int64[B + 1]`.
        most: listed actions of a run.

    Returns:
        (first row, row after the last) of each run.
    """
    out, begin = [], 0
    while begin < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[begin] + most, side="right")) - 1
        end = max(end, begin + 1)
        out.append((begin, end))
        begin = end
    return out


def largest_piece(most: int = MOST_ACTIONS) -> int:
    """The most listed actions that are ever read at a time."""
    return max(most, MAX_LEGAL)
