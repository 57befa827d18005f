"""The Deep Monte-Carlo agent: the listed action with the highest value.

A network for each role in the play (`dmc_net`), and one for all choices before it where the room
has any. It takes wins that are certain, and ranks everything else by the chance of winning or by
the points expected. Checkpoints and shipped weights say which rooms they are for.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from agents.base import AgentError
from agents.dmc_net import NetConfig, best_of, make_nets
from agents.inputs import FACTS_HASH, Inputs, Reader, pieces
from ddz_env.bots import GreedyBot
from ddz_env.features import SCHEMA_NAME, schema_hash
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet
from ddz_env.state import Phase

FORMAT = "ddz-dmc-2"
ROLES = ("landlord", "landlord_down", "landlord_up")
BEFORE = "before"
"""Name of the network for the choices before the play."""
OBJECTIVES = ("wp", "adp")
WEIGHTS = Path(__file__).parent / "weights"
"""Where shipped weights lie."""
_PLAY, _FILL, _OVER = int(Phase.PLAY), int(Phase.FILL), int(Phase.OVER)


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


class DMCAgent:
    """Plays the listed action with the highest value.

    Args:
        nets: a network for each name of `net_names(rooms)`; without one for the choices before the
            play, `greedy` makes those.
        rooms: the rooms that they were trained in.
        objective: `wp`, the chance of winning, or `adp`, points; choices before the play always go
            by points, since they change what a win is worth.
    """

    def __init__(
        self, nets: nn.ModuleList, rooms: tuple[RuleSet, ...], objective: str = "wp"
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
            lists = legal.take(rows)
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


# ------------------------------------------------------------------------------- checkpoints


def header(rooms: tuple[RuleSet, ...], net: NetConfig, objective: str) -> dict[str, Any]:
    """What a checkpoint says of itself."""
    return {
        "format": FORMAT,
        "rooms": [asdict(room) for room in rooms],
        "schema": SCHEMA_NAME,
        "schema_hash": schema_hash(),
        "facts_hash": FACTS_HASH,
        "net": asdict(net),
        "objective": objective,
    }


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """A checkpoint of this trainer, checked.

    Raises:
        AgentError: no such file, not a checkpoint, or of another format or schema (both named).
    """
    path = Path(path)
    if not path.is_file():
        raise AgentError(f"checkpoint {path}: no such file; train one with train/selfplay.py")
    keys = ("format", "schema", "schema_hash", "facts_hash")
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
        found = tuple(data.get(key) for key in keys)
    except Exception as error:
        raise AgentError(f"checkpoint {path}: not a checkpoint of this project") from error
    want = FORMAT, SCHEMA_NAME, schema_hash(), FACTS_HASH
    if found != want:
        raise AgentError(f"checkpoint {path}: made for {found}, this version reads {want}")
    return data


def from_checkpoint(path: str | Path, objective: str | None = None) -> DMCAgent:
    """The averaged player of a checkpoint; its own objective unless given.

    Raises:
        AgentError: as `read_checkpoint`; or parts that are missing, unknown or of another size.
    """
    data = read_checkpoint(path)
    try:
        rooms = rooms_of(data)
        nets = make_nets(NetConfig(**data["net"]), net_names(rooms))
        nets.load_state_dict({name: value.float() for name, value in data["average"].items()})
        return DMCAgent(nets.eval(), rooms, objective or data["objective"])
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise AgentError(f"checkpoint {path}: can't be read by this version: {reason}") from error


def rooms_of(data: Mapping[str, Any]) -> tuple[RuleSet, ...]:
    """The rooms of a checkpoint."""
    return tuple(RuleSet(**room) for room in data["rooms"])


class _Shipped:
    """`dmc` without a path: the shipped weights that are best for a room, once it is known."""

    stateless = True

    def __init__(self, objective: str | None) -> None:
        self._objective = objective

    def in_room(self, rules: RuleSet) -> DMCAgent:
        """The agent for a room.

        Raises:
            AgentError: no weights for it are shipped.
        """
        for path in shipped():
            agent = from_checkpoint(path, self._objective)
            if rules in agent.rooms:
                return agent
        known = ", ".join(path.stem for path in shipped()) or "none"
        raise AgentError(
            f"agent dmc: no weights for room {rules.name} are shipped (there are {known});"
            " expected dmc:PATH, such as dmc:runs/x/last.pt"
        )

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """Not before the room is known."""
        raise AgentError("agent dmc: needs the room: load('dmc', rules)")


def shipped() -> list[Path]:
    """Files of the shipped weights."""
    return sorted(WEIGHTS.glob("*.pt"))


def from_spec(argument: str | None) -> Any:
    """The agent of `dmc`, `dmc:PATH`, `dmc:NAME` (shipped), each also with `,objective=adp`."""
    objective, path = None, ""
    for part in (argument or "").split(","):
        key, equals, value = part.partition("=")
        if key == "objective" and equals:
            if value not in OBJECTIVES:
                raise AgentError(f"agent dmc: objective: expected wp or adp, got {value!r}")
            objective = value
        elif path and part:
            raise AgentError(f"agent dmc: expected PATH,objective=wp|adp, got {argument!r}")
        else:
            path = part
    if not path:
        return _Shipped(objective)
    named = WEIGHTS / f"{path}.pt"
    return from_checkpoint(named if named.is_file() else path, objective)
