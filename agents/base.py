"""The agent protocol and the registry of names."""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

import numpy as np

from ddz_env.bots import GreedyBot, RandomBot, TrusteeBot
from ddz_env.errors import DdzError
from ddz_env.rules import RuleSet
from ddz_env.vector import Legal


class AgentError(DdzError):
    """A name that is no agent, a checkpoint that doesn't fit."""


class Agent(Protocol):
    """What plays: answers a batch of decisions; one decision is a batch of one.

    An agent sees views only, and its choice for a row must not depend on the other rows.
    """

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id for each row.

        Args:
            views: `VIEW[B]`, what each deciding seat knows.
            legal: the legal ids of each row, `Legal`.

        Returns:
            ids, `int64[B]`.
        """
        ...


def _lazy(module: str, name: str) -> Callable[..., Agent]:
    """A maker of agents whose module is imported when first used."""

    def make(argument: str | None) -> Agent:
        return getattr(import_module(module), name)(argument)

    return make


def _plain(make: Callable[[], Agent], name: str) -> Callable[[str | None], Agent]:
    """A maker of an agent that takes no argument."""

    def wrapped(argument: str | None) -> Agent:
        if argument is not None:
            raise AgentError(f"agent {name}: takes no argument, got {argument!r}")
        return make()

    return wrapped


REGISTRY: dict[str, Callable[[str | None], Agent]] = {
    "random": _plain(RandomBot, "random"),
    "greedy": _plain(GreedyBot, "greedy"),
    "trustee": _plain(TrusteeBot, "trustee"),
    "planner": _lazy("agents.planner", "from_spec"),
    "search": _lazy("agents.search", "from_spec"),
    "rlcard_rule": _lazy("agents.rlcard_rule", "from_spec"),
    "dmc": _lazy("agents.dmc", "from_spec"),
}
"""Makers of agents by name; each gets what follows the colon of a spec, None without one."""


def load(spec: str, rules: RuleSet | None = None) -> Agent:
    """An agent from its spec: a name, or `name:argument` such as `dmc:runs/x/last.pt`.

    Args:
        spec: the spec.
        rules: the room that it is to play in; an agent made for another room is refused, one that
            wants to know the room (`in_room`) is told.

    Raises:
        AgentError: an unknown name, a wrong argument, a checkpoint of another room.
    """
    if not isinstance(spec, str):
        raise AgentError(f"agent: expected a name such as 'greedy', got {spec!r}")
    name, colon, argument = spec.partition(":")
    if name not in REGISTRY:
        raise AgentError(f"unknown agent {name!r}; expected one of {', '.join(REGISTRY)}")
    agent = REGISTRY[name](argument if colon else None)
    made_for = getattr(agent, "rules", None)
    if rules is not None and made_for is not None and made_for != rules:
        raise AgentError(f"agent {spec}: made for room {made_for.name}, not for {rules.name}")
    in_room = getattr(agent, "in_room", None)
    return agent if rules is None or in_room is None else in_room(rules)
