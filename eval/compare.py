"""Other engines beside our kernels: `python eval/compare.py`, after `make compare` once.

For each engine so many distinct states of card play, half of them from shuffled and half from
clumped deals, half leading and half following: what it lists as legal against what our kernels
list, under the default rules and under its own reading of them. Every difference is counted under
the field of the rule set that removes it or under a known fault, which is predicted to the play;
what is left over makes the exit code 1. docs/peers.md explains the engines and has a run.
"""

import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ddz_env.errors import DdzError
from ddz_env.rules import RuleSet
from ddz_env.vector import check_seed
from eval.cli import check_folder, command_line, guarded, save_json, versions
from eval.peers_count import Cause, Tally, compare
from eval.peers_engines import PEERS, Peer


@dataclass(frozen=True)
class Command:
    """Compare what other engines list as legal with what we list."""

    peer: tuple[str, ...] = ()
    """Engines: rlcard, open_spiel, douzero; all unless given."""
    states: int = 200_000
    """Distinct states for each engine."""
    seed: int = 1
    """Key of the games that the states come from."""
    json: Path | None = None
    """File for all that was counted."""


def rules_for(peer: str) -> RuleSet:
    """Card play with an engine's reading of the rules, by its name in `PEERS`.

    Raises:
        DdzError: no such engine.
    """
    return named(peer).rules()


def named(peer: str) -> Peer:
    """An engine by name.

    Raises:
        DdzError: no such engine.
    """
    if peer not in PEERS:
        raise DdzError(f"peer {peer!r}: expected one of {', '.join(PEERS)}")
    return PEERS[peer]


def installed(names: Iterable[str]) -> list[Peer]:
    """The engines of these names, all of them if there are none.

    Raises:
        DdzError: an engine that does not exist, or is not installed.
    """
    peers = [named(name) for name in dict.fromkeys(names)] or list(PEERS.values())
    absent = [peer for peer in peers if peer.version is None]
    if absent:
        commands = " and ".join(peer.install for peer in absent)
        raise DdzError(
            f"not installed: {', '.join(peer.name for peer in absent)}; run {commands}"
            " (make compare installs all), or choose others with --peer"
        )
    return peers


def count(command: Command, console: Console) -> list[Tally]:
    """Compare every engine, with a progress bar."""
    check_seed(command.seed)
    if command.states < 1:
        raise DdzError(f"--states: expected a whole number from 1, got {command.states}")
    if command.json is not None:
        check_folder(command.json.parent)
    tallies = []
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("states"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        peers = installed(command.peer)
        task = progress.add_task("", total=command.states * len(peers))
        for i, peer in enumerate(peers):
            progress.update(task, description=peer.title)
            before = i * command.states
            tallies.append(
                compare(
                    peer,
                    command.states,
                    command.seed,
                    progress=lambda n, before=before: progress.update(task, completed=before + n),
                )
            )
    return tallies


def _grid(title: str, texts: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    grid = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for name in texts:
        grid.add_column(name, no_wrap=True)
    for name in numbers:
        grid.add_column(name, justify="right", no_wrap=True)
    return grid


def states_table(tallies: list[Tally]) -> Table:
    """How many states are equal, by engine, deal and turn, and how many have plays left over."""
    engines = ", ".join(f"{PEERS[tally.peer].title} {tally.version}" for tally in tallies)
    grid = _grid(
        f"{engines}: states whose legal plays equal ours"
        " by default, and as the engine reads the rules",
        ("engine", "deals", "turn"),
        ("states", "plays", "default", "reading", "left"),
    )
    for tally in tallies:
        name = PEERS[tally.peer].title
        for (kind, turn), s in tally.strata.items():
            figures = (s.states, s.plays, s.equal_default, s.equal_reading, s.left_over)
            grid.add_row(name, kind, turn, *(f"{n:,}" for n in figures))
            name = ""
    return grid


def _by_states(causes: dict[str, Cause]) -> list[tuple[str, Cause]]:
    return sorted(causes.items(), key=lambda item: (-item[1].states, item[0]))


def differences_table(tallies: list[Tally]) -> Table:
    """What explains the differences, each with the smallest state in which it was met."""
    grid = _grid("differences, and what explains them", ("engine",), ())
    grid.add_column("why", overflow="fold")
    for name in ("states", "plays"):
        grid.add_column(name, justify="right", no_wrap=True)
    for tally in tallies:
        rows = [(f"field {name}", cause) for name, cause in _by_states(tally.fields)]
        rows += [(f"fault: {name}", cause) for name, cause in _by_states(tally.faults)]
        rows = rows or [("none", Cause())]
        for i, (why, cause) in enumerate(rows):
            why += f", up to {cause.most}" if cause.most else ""
            why += f"\n  {cause.example}" if cause.example else ""
            title = PEERS[tally.peer].title if i == 0 else ""
            grid.add_row(title, why, f"{cause.states:,}", f"{cause.plays:,}")
    return grid


def as_json(tally: Tally) -> dict[str, Any]:
    """What was counted about an engine, as in the file."""

    def causes(found: dict[str, Cause]) -> dict[str, Any]:
        return {
            name: {k: v for k, v in asdict(cause).items() if k != "size"}
            for name, cause in _by_states(found)
        }

    strata = [
        {"deals": kind, "turn": turn, **asdict(s)} for (kind, turn), s in tally.strata.items()
    ]
    return {
        "peer": tally.peer,
        "version": tally.version,
        "reading": dict(PEERS[tally.peer].fields),
        "catalogue": tally.catalogue,
        "strata": strata,
        "fields": causes(tally.fields),
        "faults": causes(tally.faults),
        "left_over": tally.left_over,
        "left_over_first": tally.left,
    }


def show(tallies: list[Tally], console: Console) -> None:
    """Print the tables, and what is left over."""
    console.print(states_table(tallies))
    console.print(differences_table(tallies))
    for tally in tallies:
        if tally.catalogue:
            title = PEERS[tally.peer].title
            console.print(f"{title}'s own table of plays: {tally.catalogue:,}, compared one by one")
    for tally in tallies:
        for text in tally.left:
            console.print(f"left over, {PEERS[tally.peer].title}: {text}", soft_wrap=True)
    total = sum(tally.left_over for tally in tallies)
    console.print(f"left over: {total:,} plays")


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        0, 1 when differences are left over, 2 for an argument that can't be used or an engine that
        is not installed.
    """
    command = tyro.cli(Command, args=arguments)
    tallies: list[Tally] = []

    def body() -> None:
        console = Console(highlight=False)
        tallies.extend(count(command, console))
        show(tallies, console)
        if command.json is not None:
            data = {
                "command": command_line("eval/compare.py", arguments),
                "versions": versions("numpy", "numba", *(p.package for p in PEERS.values())),
                "seed": command.seed,
                "states": command.states,
                "peers": [as_json(tally) for tally in tallies],
            }
            save_json(command.json, data)
            console.print(f"figures {command.json}", soft_wrap=True)

    code = guarded("compare", body)
    return code or int(any(tally.left_over for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
