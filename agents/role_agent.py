"""An agent of one network for each role, whatever they say of listed actions; no torch here."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numba import types

from agents.inputs import Inputs, Reader, pieces
from ddz_env._jit import njit
from ddz_env.bots import GreedyBot
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet
from ddz_env.state import Phase

ROLES = ("landlord", "landlord_down", "landlord_up")
BEFORE = "before"
"""Name of the network for the choices before the play."""
_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)
_T_OFFSETS = types.int64[::1]


@njit([types.void(_T_OFFSETS, types.float32[::1], types.int64[::1])])
def _best_of(offsets, values, out):
    for i in range(offsets.shape[0] - 1):
        best = offsets[i]
        for j in range(offsets[i] + 1, offsets[i + 1]):
            if values[j - offsets[0]] > values[best - offsets[0]]:
                best = j
        out[i] = best


def best_of(offsets: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The position of the highest value of each list, `int64[B]`; the first of equals."""
    out = np.zeros(len(offsets) - 1, np.int64)
    _best_of(offsets, values, out)
    return out


def net_names(rooms: tuple[RuleSet, ...]) -> tuple[str, ...]:
    """Names of the networks that play in some rooms: the roles, then `BEFORE` if they call."""
    calls = any(room.auction != "none" for room in rooms)
    return (*ROLES, BEFORE) if calls else ROLES


def net_of(phase: np.ndarray, seat: np.ndarray, landlord: np.ndarray) -> np.ndarray:
    """The network that decides, `int[B]`: 0, 1, 2 by role in the play, 3 before it."""
    played = (phase == _PLAY) | (phase == _FILL)
    return np.where(played, (seat - landlord) % 3, len(ROLES))


class Scorer(Protocol):
    """A network: scores all listed actions of a batch."""

    def score_lists(self, inputs: Inputs) -> np.ndarray:
        """Outputs of each listed action, `float32[A, n]`."""
        ...


class RoleAgent(ABC):
    """Asks the network of the role.

    Args:
        nets: a network for each name of `net_names(rooms)`; without one for the choices before the
            play, `greedy` makes those.
        rooms: the rooms that they were trained in.
    """

    def __init__(self, nets: Sequence[Scorer], rooms: tuple[RuleSet, ...]) -> None:
        self.nets = nets
        self.rooms = rooms
        self._greedy = GreedyBot()
        self.reader = Reader()

    @abstractmethod
    def choose(self, k: int, views: np.ndarray, inputs: Inputs) -> np.ndarray:
        """Network k chooses in some rows: places among all listed actions, `int64[B]`."""

    def batches(
        self, views: np.ndarray, legal: Legal
    ) -> Iterator[tuple[int, np.ndarray, Inputs | None]]:
        """Rows by the network that decides, in pieces of bounded size.

        Yields:
            the network's number, the rows, what the network reads of them; None for the last where
            there is no such network.
        """
        net = net_of(views["phase"], views["seat"], views["landlord"])
        for k in np.unique(net):
            rows = np.flatnonzero(net == k)
            if k >= len(self.nets):
                yield int(k), rows, None
                continue
            lists = legal.part(0, len(net)) if len(rows) == len(net) else legal.take(rows)
            for begin, end in pieces(lists.offsets):
                part = rows[begin:end]
                yield int(k), part, self.reader.read(views[part], lists.part(begin, end))

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One id a row, `int64[B]`."""
        choice = np.zeros(len(views), np.int64)
        for k, rows, inputs in self.batches(views, legal):
            if inputs is None:
                choice[rows] = self._greedy.act(views[rows], legal.take(rows))
            else:
                choice[rows] = inputs.legal.ids[self.choose(k, views[rows], inputs)]
        return choice
