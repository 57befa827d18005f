"""The Deep Monte-Carlo agent: `value_agent` with networks in torch, from checkpoints.

Checkpoints and shipped weights say which rooms they are for. `dmc` alone plays with the shipped
weights of the room.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from agents import checkpoints
from agents.base import AgentError
from agents.checkpoints import rooms_of
from agents.dmc_net import NetConfig, make_nets
from agents.value_agent import OBJECTIVES, ValueAgent, net_names
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet

FORMAT = "ddz-dmc-2"
WEIGHTS = Path(__file__).parent / "weights"
"""Where shipped weights lie."""


def header(rooms: tuple[RuleSet, ...], net: NetConfig, objective: str) -> dict[str, Any]:
    """What a checkpoint says of itself."""
    return checkpoints.header(FORMAT, rooms, net, objective)


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """A checkpoint of this trainer, checked.

    Raises:
        AgentError: as `checkpoints.read`.
    """
    return checkpoints.read(path, FORMAT)


def from_checkpoint(path: str | Path, objective: str | None = None) -> ValueAgent:
    """The averaged player of a checkpoint; its own objective unless given.

    Raises:
        AgentError: as `read_checkpoint`; or parts that are missing, unknown or of another size.
    """
    data = read_checkpoint(path)
    try:
        rooms = rooms_of(data)
        nets = make_nets(NetConfig(**data["net"]), net_names(rooms))
        nets.load_state_dict(checkpoints.unpacked(data["average"]))
        return ValueAgent(nets.eval(), rooms, objective or data["objective"])
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise AgentError(f"checkpoint {path}: can't be read by this version: {reason}") from error


class NotShipped(AgentError):
    """No weights for a room are shipped."""


class _Shipped:
    """`dmc` without a path: the shipped weights that are best for a room, once it is known."""

    stateless = True

    def __init__(self, objective: str | None) -> None:
        self._objective = objective

    def in_room(self, rules: RuleSet) -> ValueAgent:
        """The agent for a room.

        Raises:
            NotShipped: no weights for it are.
        """
        for path in shipped():
            agent = from_checkpoint(path, self._objective)
            if rules in agent.rooms:
                return agent
        known = ", ".join(path.stem for path in shipped()) or "none"
        raise NotShipped(
            f"agent dmc: no weights for room {rules.name} are shipped (there are {known});"
            " expected dmc:PATH, such as dmc:runs/x/last.pt"
        )

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """Not before the room is known."""
        raise AgentError("agent dmc: needs the room: load('dmc', rules)")


def shipped() -> list[Path]:
    """Files of the shipped weights, those for fewest rooms first."""

    def rooms(path: Path) -> int:
        return len(json.loads(path.with_suffix(".json").read_text())["rooms"])

    return sorted(WEIGHTS.glob("*.pt"), key=lambda path: (rooms(path), path.name))


def from_spec(argument: str | None) -> Any:
    """The agent of `dmc`, `dmc:PATH`, `dmc:NAME` (shipped), each also with `,objective=adp`."""
    if argument == "":
        raise AgentError("agent dmc: expected dmc, or dmc:PATH such as dmc:runs/x/last.pt")
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
