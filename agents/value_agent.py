"""An agent of networks that value listed actions, whatever the networks run in; no torch here.

A network for each role in the play, and one for all choices before it where the room has any. The
agent takes wins that are certain, and ranks everything else by the chance of winning or by the
points expected. `dmc` runs it in torch, `onnx` in onnxruntime.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

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
OBJECTIVES = ("wp", "adp")
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


class Values(NamedTuple):
    """What the network says of listed actions, by place."""

    chance: np.ndarray
    """Chance that the seat's side wins, `float32[A]`."""
    won: np.ndarray
    """Points of the seat expected if its side wins, `float32[A]`, above 0."""
    lost: np.ndarray
    """Points that it is expected to pay if its side loses, `float32[A]`, above 0."""

    @property
    def points(self) -> np.ndarray:
        """Points of the seat expected, `float32[A]`."""
        return self.chance * self.won - (1 - self.chance) * self.lost


def values_of(outputs: np.ndarray) -> Values:
    """The outputs of a network, `float32[A, 3]`, in their units."""
    chance = 1 / (1 + np.exp(-outputs[:, 0]))
    points = np.exp(np.minimum(outputs[:, 1:], 20.0))  # beyond any score of a deal
    return Values(chance, points[:, 0], points[:, 1])


def preference(outputs: np.ndarray, adp: bool, sure: np.ndarray) -> np.ndarray:
    """What the highest of is chosen, `float32[A]`; `sure` are places that win for certain."""
    value = values_of(outputs).points if adp else outputs[:, 0].copy()
    value[sure[sure >= 0]] = np.inf
    return value


class Ranked(NamedTuple):
    """One action as the network sees it."""

    action: int
    chance: float
    """Chance that the seat's side wins."""
    points: float
    """Points of the seat expected."""


class Scorer(Protocol):
    """A network: scores all listed actions of a batch."""

    def score_lists(self, inputs: Inputs) -> np.ndarray:
        """Logit of the chance of winning, logarithms of points won and lost: `float32[A, 3]`."""
        ...


class ValueAgent:
    """Plays the listed action with the highest value.

    Args:
        nets: a network for each name of `net_names(rooms)`; without one for the choices before the
            play, `greedy` makes those.
        rooms: the rooms that they were trained in.
        objective: `wp`, the chance of winning, or `adp`, points; choices before the play always go
            by points, since they change what a win is worth.
    """

    def __init__(
        self, nets: Sequence[Scorer], rooms: tuple[RuleSet, ...], objective: str = "wp"
    ) -> None:
        self.nets = nets
        self.rooms = rooms
        self.objective = objective
        self._greedy = GreedyBot()
        self._reader = Reader()

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One id a row, `int64[B]`."""
        choice = np.zeros(len(views), np.int64)
        net = net_of(views["phase"], views["seat"], views["landlord"])
        for k in np.unique(net):
            rows = np.flatnonzero(net == k)
            if k >= len(self.nets):
                choice[rows] = self._greedy.act(views[rows], legal.take(rows))
                continue
            adp = self.objective == "adp" or k == len(ROLES)
            lists = legal.part(0, len(net)) if len(rows) == len(net) else legal.take(rows)
            for begin, end in pieces(lists.offsets):
                part = rows[begin:end]
                inputs = self._reader.read(views[part], lists.take(np.arange(begin, end)))
                value = preference(self.nets[k].score_lists(inputs), adp, inputs.sure)
                best = best_of(inputs.legal.offsets, value)
                choice[part] = inputs.legal.ids[best]
        return choice

    def values(self, views: np.ndarray, legal: Legal) -> Values:
        """What the networks say of all listed actions, in the order of `legal.ids`.

        Choices before the play of an agent that has no network for them are all alike.
        """
        outputs = np.zeros((len(legal.ids), 3), np.float32)
        net = net_of(views["phase"], views["seat"], views["landlord"])
        for i, k in enumerate(net):
            if k < len(self.nets):
                inputs = self._read_one(views, legal, i)
                found = self.nets[k].score_lists(inputs)
                found[inputs.sure[inputs.sure >= 0], 0] = 20.0  # certain
                outputs[legal.offsets[i] : legal.offsets[i + 1]] = found
        return values_of(outputs)

    def _read_one(self, views: np.ndarray, legal: Legal, i: int) -> Inputs:
        return self._reader.read(views[i : i + 1], legal.take(np.array([i])))

    def ranked(self, views: np.ndarray, legal: Legal) -> list[list[Ranked]]:
        """The listed actions of each row, the best first, with chances and points."""
        values = self.values(views, legal)
        points = values.points
        net = net_of(views["phase"], views["seat"], views["landlord"])
        out = []
        for i in range(len(views)):
            begin, end = legal.offsets[i], legal.offsets[i + 1]
            adp = self.objective == "adp" or net[i] == len(ROLES)
            chance = values.chance[begin:end]
            # A win that is certain comes first, whatever it brings: as in `preference`.
            key = np.where(chance == 1.0, np.inf, points[begin:end] if adp else chance)
            order = begin + np.argsort(-key, kind="stable")
            row = [
                Ranked(int(legal.ids[j]), float(values.chance[j]), float(points[j])) for j in order
            ]
            out.append(row)
        return out
