"""Play in the terminal or the browser: `python eval/play.py dmc:PATH --rules happy`, `... --web`.

The table, the keys and the rules of conversation are those of `python -m ddz_env`
(`ddz_env/play`); here any agent sits down, levels have names, and hints say what the model thinks.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

import agents
from agents.base import Agent, AgentError, is_stateless
from ddz_env.errors import DdzError
from ddz_env.listed import Legal
from ddz_env.money import Room
from ddz_env.play.command import pair_of, play, sit_down
from ddz_env.play.questions import Advice, Adviser
from ddz_env.play.session import Session
from ddz_env.rooms import load_rules
from ddz_env.rules import RuleSet
from ddz_env.state import Phase
from eval.cli import guarded

LEVELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "novice": ("入门", ("rlcard_rule",)),
    "normal": ("普通", ("greedy",)),
    "hard": ("困难", ("planner",)),
    "expert": ("大师", ("dmc", "search")),
    "master": ("宗师", ("search:dmc,playouts=192", "search")),
}
"""Levels of difficulty: the Chinese name, which may be typed too, and the agents to take: the first
one that plays in the room. Where weights ship, each is clearly above the one before
(docs/results.md)."""
DEFAULT = ("dmc", "planner")
"""The agents without a level: the first one that plays in the room."""


@dataclass(frozen=True)
class Command:
    """Play Dou Dizhu (斗地主) against agents."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """One agent for both other seats, or two, next seat first: greedy, dmc:PATH, ... dmc where the
    room has weights that ship, else planner, unless given."""
    level: str | None = None
    """novice 入门, normal 普通, hard 困难, expert 大师 or master 宗师, in place of agents."""
    rules: str = "play_only"
    """Room: a preset's name, or a TOML file."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field of the room to change, as field=value; may be given again."""
    seat: str = "random"
    """0, 1, 2 or random; in play_only seat 0 is the landlord."""
    helper: str | None = None
    """Agent behind hints. Unless given: the first player that gives values, such as your own model,
    else dmc where the room has weights that ship, else planner."""
    seed: int | None = None
    """Key of the table, for the same deals again."""
    deals: int | None = None
    """Deals to play; until you leave unless given."""
    lang: str = "en"
    """en or zh."""
    beans: int = 10_000
    """What each seat starts with."""
    coefficient: int = 1
    """Beans a point."""
    fee: int = 0
    """Beans that the house takes of each seat and deal."""
    replays: Path | None = None
    """File that finished deals are added to, one JSON line each."""
    no_color: bool = False
    """No colours; NO_COLOR in the environment does the same."""
    web: bool = False
    """Play in a browser: serves a page, whose new tables are as the other options say."""
    port: int = 8000
    """Port of the page; 0 takes a free one."""
    host: str = "127.0.0.1"
    """Address to listen on; others than this machine's let other machines play."""


def level_agents(name: str) -> tuple[str, ...]:
    """The agents of a level, by its English or Chinese name.

    Raises:
        DdzError: no such level.
    """
    for english, (chinese, specs) in LEVELS.items():
        if name in (english, chinese):
            return specs
    known = ", ".join(f"{english} {chinese}" for english, (chinese, _) in LEVELS.items())
    raise DdzError(f"--level: expected one of {known}, got {name!r}")


class Loader:
    """Agents for a room; those that may sit at several seats are made once.

    Args:
        rules: the room.
    """

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self._kept: dict[str, Agent] = {}

    def load(self, spec: str) -> Agent:
        """An agent by its spec.

        Raises:
            AgentError: as `agents.load`.
        """
        if spec not in self._kept:
            agent = agents.load(spec, self.rules)
            if not is_stateless(spec, agent):
                return agent
            self._kept[spec] = agent
        return self._kept[spec]

    def first_of(self, specs: Sequence[str]) -> str:
        """The first of some agents that plays in the room; the last one is taken to."""
        for spec in specs[:-1]:
            try:
                self.load(spec)
            except AgentError:  # no weights for this room
                continue
            return spec
        return specs[-1]


def adviser_of(agent: Agent) -> Adviser:
    """An agent as the helper behind hints: its values where it gives any, else its choice."""
    ranked = getattr(agent, "ranked", None)
    # Networks of a room without calls have none for the choices before the play.
    calls = getattr(agent, "nets", ())

    def advise(views: np.ndarray, legal: Legal) -> list[Advice]:
        before = views[0]["phase"] < Phase.PLAY
        if ranked is None or (before and len(calls) < 4):
            return [Advice(int(np.asarray(agent.act(views, legal))[0]))]
        return [Advice(one.action, one.chance, one.points) for one in ranked(views, legal)[0]]

    return advise


def seat_players(command: Command, loader: Loader) -> tuple[tuple[str, str], list[Agent]]:
    """The specs of the two players and the players.

    Raises:
        DdzError: agents and a level, too many, one that does not exist or fit the room.
    """
    if command.agents and command.level is not None:
        raise DdzError(f"--level {command.level}: expected agents or a level, not both")
    specs = DEFAULT if command.level is None else level_agents(command.level)
    names = pair_of(command.agents or [loader.first_of(specs)], "")
    return names, [loader.load(name) for name in names]


def find_helper(
    spec: str | None, loader: Loader, names: Sequence[str], players: Sequence[Agent]
) -> tuple[str, Adviser]:
    """Name and adviser of the helper; where no spec is given a player that has values to show.

    Raises:
        DdzError: an agent that does not exist or fit the room.
    """
    if spec is None:
        for name, agent in zip(names, players, strict=True):
            if hasattr(agent, "ranked"):
                return name, adviser_of(agent)
        spec = loader.first_of(("dmc", "planner"))
    return spec, adviser_of(loader.load(spec))


def prepare(command: Command) -> Session:
    """The session of a command, every argument checked.

    Raises:
        DdzError: an argument that can't be used, by name.
    """
    rules = load_rules(command.rules, command.set)
    loader = Loader(rules)
    names, players = seat_players(command, loader)
    return sit_down(
        rules, players, names, find_helper(command.helper, loader, names, players),
        seat=command.seat, seed=command.seed, deals=command.deals, lang=command.lang,
        room=Room(command.coefficient, command.fee, 0, command.beans), replays=command.replays,
    )  # fmt: skip


def serve(command: Command) -> int:
    """Serve the page of a command until Ctrl-C.

    Raises:
        DdzError: an argument that can't be used, or the server's packages are not there.
    """
    try:
        web = import_module("eval.web.serve")  # only the page needs the extra `web`
    except ModuleNotFoundError as error:
        raise DdzError(f"--web: {error.name} is missing; pip install -e '.[web]'") from error
    return web.serve(command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        0; 2 with one line for an argument that can't be used; 130 after Ctrl-C.
    """
    command = tyro.cli(Command, args=arguments)
    code = 0

    def body() -> None:
        nonlocal code
        code = serve(command) if command.web else play(prepare(command), command.no_color)

    return guarded("play", body) or code


if __name__ == "__main__":
    sys.exit(main())
