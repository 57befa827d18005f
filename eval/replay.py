"""A kept deal in the terminal, or kept deals as a page: `python eval/replay.py games.jsonl`.

Files of replays come from `python eval/tournament.py ... --replays FILE` and from
`ddz_env.replay.write_replays`. `--html OUT.html` writes a page that needs no other file.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console

from agents.value_agent import ValueAgent
from ddz_env.errors import DdzError
from ddz_env.game import Game
from ddz_env.replay import read_lines, read_replays
from ddz_env.rules import RuleSet
from eval.cli import check_folder, guarded, replacing
from eval.replay_deal import kept
from eval.replay_page import GENERATOR, page, page_data
from eval.replay_text import show_deal
from eval.replay_values import NONE, SHIPPED, load_valuer, values

MOST = 100
"""Deals of a page."""


@dataclass(frozen=True)
class Command:
    """Show a kept deal, or write kept deals as a page."""

    file: tyro.conf.Positional[Path]
    """File of replays, one JSON line a deal."""
    number: int | None = None
    """Which deal of the file, from 1. Unless given: the first one in the terminal, the first 100 on
    a page."""
    html: Path | None = None
    """Write a page instead: a slider over the decisions, all hands, the model's values."""
    agent: str | None = None
    """Whose values are shown: dmc, dmc:PATH, onnx:FILE, or none. Unless given: on a page what ships
    for the room, in the terminal none."""
    lang: Literal["en", "zh"] = "en"
    """Language; a page can be switched."""


class Valuers:
    """The agents whose values are shown, one for each room."""

    def __init__(self, spec: str | None) -> None:
        self.spec = spec
        self._found: dict[RuleSet, ValueAgent | None] = {}

    def of(self, rules: RuleSet) -> ValueAgent | None:
        """The agent of a room, None for none.

        Raises:
            AgentError: as `load_valuer`.
        """
        if rules not in self._found:
            self._found[rules] = load_valuer(self.spec, rules)
        return self._found[rules]


def read(command: Command) -> tuple[list[tuple[Game, list[str]]], int]:
    """The deals that are shown, and how many the file has.

    Raises:
        DdzError: no such file, no such deal, or a line that is no replay.
    """
    n = len(read_lines(command.file))
    if n == 0:
        raise DdzError(f"replays {command.file}: no deals in it")
    number = command.number
    if number is not None and not 1 <= number <= n:
        raise DdzError(f"--number: expected 1..{n}, the deals of {command.file}, got {number}")
    first = number or 1
    last = MOST if number is None and command.html else first
    return list(read_replays(command.file, first, last)), n


def write_page(command: Command, console: Console) -> None:
    """Write the page.

    Raises:
        DdzError: an argument that can't be used; nothing has been written.
    """
    out = command.html
    assert out is not None
    check_folder(out.parent, "--html")
    if out.is_dir() or (out.exists() and GENERATOR not in out.read_text(errors="replace")):
        raise DdzError(f"--html {out}: is there already and no page of replays")
    deals, n = read(command)
    valuers = Valuers(command.agent)
    shown = []
    for game, agents in deals:
        agent = valuers.of(game.rules)
        shown.append((kept(game, agents), None if agent is None else values(game, agent)))
    name = command.agent or SHIPPED
    data = page_data(shown, name, command.lang, command.file.name, command.number or 1, n)
    with replacing(out) as temporary:
        temporary.write_text(page(data), encoding="utf-8")
    of = f" of {n}" if len(shown) < n else ""
    console.print(f"page {out}: {len(shown)}{of} deals", highlight=False, soft_wrap=True)


def write_text(command: Command, console: Console) -> None:
    """Show a deal in the terminal.

    Raises:
        DdzError: an argument that can't be used.
    """
    ((game, agents),), n = read(command)
    agent = load_valuer(command.agent or NONE, game.rules)
    said = None if agent is None else values(game, agent)
    show_deal(console, kept(game, agents), said, command.lang, (command.number or 1, n))


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        console = Console()
        (write_page if command.html else write_text)(command, console)

    return guarded("replay", body)


if __name__ == "__main__":
    sys.exit(main())
