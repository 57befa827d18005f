"""The agent protocol and the registry of names."""

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ddz_env.bots import GreedyBot, RandomBot, TrusteeBot
from ddz_env.errors import DdzError
from ddz_env.rules import RuleSet
from ddz_env.vector import Legal


class AgentError(DdzError):
    """A name that is no agent, a checkpoint that doesn't fit."""


class Agent(Protocol):
    """What plays: answers a batch of decisions; one decision is a batch of one.

    An agent sees views only, and its choice for a row must not depend on the other rows. A match
    makes one for each seat, unless the class says `stateless = True`: then its choices depend on
    nothing but the view, and one serves all seats.
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


def parse_options(name: str, argument: str | None, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a spec `name:key=value,key=value`.

    Args:
        name: the agent's name, for errors.
        argument: what follows the colon, None without one.
        defaults: all options with their defaults; a given value gets the type of its default
            (bool, int, float or str), and a default None takes a text.

    Returns:
        the defaults with what was given in their place.

    Raises:
        AgentError: an unknown option, one given twice, a value of another type.
    """
    found: dict[str, Any] = {}
    for text in argument.split(",") if argument else ():
        key, equals, value = text.partition("=")
        if key not in defaults:
            known = ", ".join(defaults) or "no options"
            raise AgentError(f"agent {name}: unknown option {key!r}, expected {known}")
        if not equals or not value:
            raise AgentError(f"agent {name}: {text!r}: expected {key}=value")
        if key in found:
            raise AgentError(f"agent {name}: option {key} is given twice")
        found[key] = _option(name, key, value, defaults[key])
    return {**defaults, **found}


def _option(name: str, key: str, value: str, default: Any) -> Any:
    """A value of an option, of its default's type."""
    if isinstance(default, bool):
        if value not in ("true", "false"):
            raise AgentError(f"agent {name}: {key}: expected true or false, got {value!r}")
        return value == "true"
    if isinstance(default, (int, float)):
        kind = type(default)
        try:
            return kind(value)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise AgentError(f"agent {name}: {key}: expected {what}, got {value!r}") from None
    return value


def _random(argument: str | None) -> Agent:
    """The agent of `random` or `random:seed=N`."""
    try:
        return RandomBot(**parse_options("random", argument, {"seed": 0}))
    except AgentError:
        raise
    except DdzError as error:
        raise AgentError(f"agent random: {error}") from error


REGISTRY: dict[str, Callable[[str | None], Agent]] = {
    "random": _random,
    "greedy": _plain(GreedyBot, "greedy"),
    "trustee": _plain(TrusteeBot, "trustee"),
    "planner": _lazy("agents.planner", "from_spec"),
    "search": _lazy("agents.search", "from_spec"),
    "rlcard_rule": _lazy("agents.rlcard_rule", "from_spec"),
    "dmc": _lazy("agents.dmc", "from_spec"),
    "ppo": _lazy("agents.ppo", "from_spec"),
    "split": _lazy("agents.split", "from_spec"),
    "onnx": _lazy("agents.onnx_agent", "from_spec"),
}
"""Makers of agents by name; each gets what follows the colon of a spec, None without one."""


_STATELESS = ("random", "greedy", "trustee", "planner", "rlcard_rule", "dmc", "ppo", "onnx")
"""Agents of the registry whose choices depend on nothing but the view."""


def is_stateless(spec: str, agent: Agent) -> bool:
    """Whether one agent of this spec may sit at several seats and in several games at once."""
    return bool(getattr(agent, "stateless", spec.partition(":")[0] in _STATELESS))


def _value(text: str) -> Any:
    """An option's value where no default tells its type: a number, true, false, or a text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def _from_class(spec: str) -> Agent:
    """The agent of `module:Class` or `module:Class:key=value,key=value`.

    The working folder is searched too, as with `python -m`.
    """
    path, _, rest = spec.partition(":")
    name, _, argument = rest.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        module = import_module(path)
    except Exception as error:  # whatever somebody else's module does when it is imported
        raise AgentError(f"agent {spec}: {path} can't be imported: {_line(error)}") from error
    made = getattr(module, name, None)
    if not isinstance(made, type) or not callable(getattr(made, "act", None)):
        raise AgentError(f"agent {spec}: expected a class {name} with act(views, legal) in {path}")
    options: dict[str, Any] = {}
    for text in argument.split(",") if argument else ():
        key, equals, value = text.partition("=")
        if not equals or not key.isidentifier():
            raise AgentError(f"agent {spec}: {text!r}: expected key=value")
        options[key] = _value(value)
    try:
        return made(**options)
    except AgentError:
        raise
    except Exception as error:
        raise AgentError(f"agent {spec}: can't be made: {_line(error)}") from error


def _line(error: Exception) -> str:
    """An error as one line."""
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def load(spec: str, rules: RuleSet | None = None) -> Agent:
    """An agent from its spec.

    Args:
        spec: a name; `name:argument` such as `dmc:runs/x/last.pt` or `random:seed=2`; or
            `module:Class` for a class with `act(views, legal)`, with arguments for its making as
            `module:Class:key=value,key=value`.
        rules: the room that it is to play in; an agent made for another room is refused, one that
            wants to know the room (`in_room`) is told.

    Raises:
        AgentError: an unknown name, a wrong argument, a checkpoint of another room, a class that
            can't be imported or made.
    """
    if not isinstance(spec, str):
        raise AgentError(f"agent: expected a name such as 'greedy', got {spec!r}")
    name, colon, argument = spec.partition(":")
    if name in REGISTRY:
        agent = REGISTRY[name](argument if colon else None)
    elif all(map(str.isidentifier, (*name.split("."), argument.partition(":")[0]))):
        agent = _from_class(spec)
    else:
        known = ", ".join(REGISTRY)
        raise AgentError(f"unknown agent {name!r}; expected one of {known}, or module:Class")
    made_for = getattr(agent, "rooms", ())
    if rules is not None and made_for and rules not in made_for:
        names = " or ".join(room.name for room in made_for)
        raise AgentError(f"agent {spec}: made for room {names}, not for {rules.name}")
    in_room = getattr(agent, "in_room", None)
    return agent if rules is None or in_room is None else in_room(rules)
