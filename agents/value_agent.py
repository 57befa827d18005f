"""An agent of networks that value listed actions, whatever the networks run in; no torch here.

A network for each role in the play, and one for all choices before it where the room has any. The
agent takes wins that are certain, and ranks everything else by the chance of winning or by the
points expected. `dmc` runs it in torch, `onnx` in onnxruntime.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.inputs import Inputs
from agents.role_agent import (
    BEFORE,
    ROLES,
    RoleAgent,
    Scorer,
    best_of,
    net_names,
    net_of,
)
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet

OBJECTIVES = ("wp", "adp")


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


class Best(NamedTuple):
    """The choice of each row of a batch."""

    action: np.ndarray
    """Its id, `int64[B]`."""
    chance: np.ndarray
    """Chance that the seat's side wins, `float32[B]`; 1 for a certain win."""
    points: np.ndarray
    """Points of the seat expected, `float32[B]`."""


class Ranked(NamedTuple):
    """One action as the network sees it."""

    action: int
    chance: float
    """Chance that the seat's side wins."""
    points: float
    """Points of the seat expected."""


class ValueAgent(RoleAgent):
    """Plays the listed action with the highest value.

    Args:
        nets: a network for each name of `net_names(rooms)`, or without the one for the choices
            before the play; each says the logit of the chance of winning and the logarithms of the
            points won and lost, `float32[A, 3]`.
        rooms: the rooms that they were trained in.
        objective: `wp`, the chance of winning, or `adp`, points; choices before the play always go
            by points, since they change what a win is worth.
    """

    def __init__(
        self, nets: Sequence[Scorer], rooms: tuple[RuleSet, ...], objective: str = "wp"
    ) -> None:
        super().__init__(nets, rooms)
        self.objective = objective

    def choose(self, k: int, views: np.ndarray, inputs: Inputs) -> np.ndarray:
        """Network k chooses in some rows: places among all listed actions, `int64[B]`."""
        adp = self.objective == "adp" or k == len(ROLES)
        value = preference(self.nets[k].score_lists(inputs), adp, inputs.sure)
        return best_of(inputs.legal.offsets, value)

    def best(self, views: np.ndarray, legal: Legal) -> Best:
        """What `act` chooses, and what it is worth to the seat; phases with a network only."""
        n = len(views)
        out = Best(np.zeros(n, np.int64), np.zeros(n, np.float32), np.zeros(n, np.float32))
        for k, rows, inputs in self.batches(views, legal):
            assert inputs is not None, "no network for the choices before the play"
            outputs = self.nets[k].score_lists(inputs)
            adp = self.objective == "adp" or k == len(ROLES)
            at = best_of(inputs.legal.offsets, preference(outputs, adp, inputs.sure))
            values = values_of(outputs[at])
            sure = inputs.sure >= 0
            out.action[rows] = inputs.legal.ids[at]
            out.chance[rows] = np.where(sure, 1.0, values.chance)
            out.points[rows] = np.where(sure, values.won, values.points)
        return out

    def values(self, views: np.ndarray, legal: Legal) -> Values:
        """What the networks say of all listed actions, in the order of `legal.ids`.

        Choices before the play of an agent that has no network for them are all alike.
        """
        outputs = np.zeros((len(legal.ids), 3), np.float32)
        for k, rows, inputs in self.batches(views, legal):
            if inputs is None:
                continue
            found = self.nets[k].score_lists(inputs)
            found[inputs.sure[inputs.sure >= 0], 0] = 20.0  # certain
            outputs[legal.places(rows)] = found
        return values_of(outputs)

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


__all__ = [
    "BEFORE", "OBJECTIVES", "ROLES", "Best", "Ranked", "Scorer", "ValueAgent", "Values", "best_of",
    "net_names", "net_of", "preference", "values_of",
]  # fmt: skip
