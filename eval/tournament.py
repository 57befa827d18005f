"""Tournaments: `python eval/tournament.py greedy rlcard_rule --rules play_only --deals 1000`.

Every pair of agents, or the first one and each of the others, plays a duplicate match on the same
deals (`eval/match.py`), in several processes. What is finished is kept in the folder `--out`: the
same command goes on after a kill. A picture of it: `python eval/report.py FOLDER`.
"""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import agents
import ddz_env
from ddz_env.errors import DdzError
from ddz_env.replay import write_replays
from ddz_env.rooms import load_rules, rules_hash, rules_to_dict
from ddz_env.rules import RuleSet
from ddz_env.vector import check_seed, deal_seeds
from eval.chunks import Chunk, ChunkResult, Pairing
from eval.cli import check_count, check_folder, command_line, guarded, save_json, versions
from eval.deal_files import deals_hash, read_deals, shuffled
from eval.match import Deals
from eval.results import collect, load_played, write_csv
from eval.store import RESULTS, Store, file_hash
from eval.tables import all_tables, legend
from eval.workers import WorkerError, play_chunks

PLAIN_SECONDS = 30.0
"""Seconds between two lines of progress where the output is no terminal."""


def _cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@dataclass(frozen=True)
class Command:
    """Duplicate matches between agents: tables, results.json and results.csv."""

    agents: Annotated[list[str], tyro.conf.Positional]
    """Agents by spec, two or more: random, greedy, rlcard_rule, dmc:PATH, module:Class, ..."""
    rules: str = "play_only"
    """Room: a preset's name, or a TOML file."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field of the room to change, as field=value; may be given again."""
    calls: str | None = None
    """Agent that makes all choices before the play, so that only card play is compared."""
    schedule: Literal["round_robin", "gauntlet"] = "round_robin"
    """Everybody against everybody, or the first agent against each of the others."""
    deals: int | None = None
    """Distinct deals of each pairing; 1000, or all of --deals-file."""
    seed: int = 0
    """Seed of the deals."""
    deals_file: Path | None = None
    """File of deals to play instead, such as eval/deals/shuffled_10000.txt."""
    out: Path | None = None
    """Folder for the results; only the tables are printed without it."""
    replays: Path | None = None
    """File for replays of all games, one JSON line each; added to at the end if it exists."""
    processes: int = field(default_factory=_cores)
    """Worker processes; 0 plays in this one, which a failing agent can then hang or end."""
    move_time: float | None = None
    """Seconds for a decision; the trustee plays on for who is late. No limit unless given."""
    warm_up: float = 30.0
    """More seconds for each decision of an agent's first game, which isn't counted."""
    chunk: int = 200
    """Deals that a process plays at a time, and that are lost at most by a kill."""


@dataclass(frozen=True)
class Plan:
    """A tournament, every argument checked."""

    manifest: dict[str, Any]
    rules: RuleSet
    deals: Deals
    replays: bool

    def chunks(self) -> Iterator[Chunk]:
        """All that is to be played."""
        data = self.manifest
        for pair, (a, b) in enumerate(data["pairs"]):
            pairing = Pairing(
                a, b, self.rules, data["calls"], data["move_time"], data["warm_up"], self.replays
            )
            for number, begin in enumerate(range(0, data["deals"], data["chunk"])):
                end = min(begin + data["chunk"], data["deals"])
                yield Chunk(pair, number, pairing, self.deals.part(begin, end))


def files_of(spec: str) -> dict[str, str]:
    """Hashes of the files that an agent is made from: its class's, and those that its spec names.

    A checkpoint that was overwritten since is another agent.
    """
    name, _, argument = spec.partition(":")
    paths = [Path(word.rpartition("=")[2]) for word in argument.split(",")]
    if name not in agents.REGISTRY:
        paths.append(Path(getattr(sys.modules[name], "__file__", None) or ""))
    return {path.name: file_hash(path) for path in paths if path.is_file()}


def _check_numbers(command: Command) -> None:
    check_count("--deals", command.deals)
    check_count("--processes", command.processes, 0, 1024)
    check_count("--chunk", command.chunk)
    for name in ("move_time", "warm_up"):
        value, option = getattr(command, name), f"--{name.replace('_', '-')}"
        if (value is not None and not 0 <= value <= 1e6) or (value == 0 and name == "move_time"):
            more = "more than" if name == "move_time" else "from"
            raise DdzError(f"{option}: expected seconds, {more} 0, got {value}")


def _deals(command: Command, rules: RuleSet) -> Deals:
    """The deals to play."""
    if command.deals_file is None:
        check_seed(command.seed)
        return Deals(deal_seeds(command.seed, command.deals or 1000))
    deals, _ = read_deals(command.deals_file, rules)
    n = len(deals.keys)
    if command.deals is not None and command.deals > n:
        raise DdzError(f"--deals: {command.deals_file} has {n}, expected at most those")
    return deals.part(0, command.deals or n)


def check(command: Command) -> Plan:
    """What is to be played, every argument checked before anything is.

    Raises:
        DdzError: an argument that can't be used, by name.
    """
    rules = load_rules(command.rules, command.set)
    _check_numbers(command)
    specs = list(command.agents)
    if len(specs) < 2:
        raise DdzError(f"agents: expected two or more, got {len(specs)}")
    if len(set(specs)) < len(specs):
        raise DdzError("agents: the same agent twice")
    for spec in [*specs, *([command.calls] if command.calls else [])]:
        agents.load(spec, rules)
    if command.replays is not None:
        check_folder(command.replays.parent, "--replays")
        if command.replays.is_dir():
            raise DdzError(f"--replays {command.replays}: is a folder")
    deals = _deals(command, rules)
    gauntlet = command.schedule == "gauntlet"
    pairs = [(specs[0], x) for x in specs[1:]] if gauntlet else list(combinations(specs, 2))
    decks = shuffled(deals.keys, rules) if deals.decks is None else deals.decks
    manifest = {
        "rules": rules.name,
        "rules_hash": rules_hash(rules),
        "rules_fields": rules_to_dict(rules),
        "agents": specs,
        "files": {spec: found for spec in specs if (found := files_of(spec))},
        "schedule": command.schedule,
        "pairs": [list(pair) for pair in pairs],
        "calls": command.calls,
        "deals": len(deals.keys),
        "seed": command.seed if command.deals_file is None else None,
        "deals_file": command.deals_file and command.deals_file.name,
        "deals_hash": deals_hash(deals.keys, decks),
        "chunk": command.chunk,
        "move_time": command.move_time,
        "warm_up": command.warm_up,
        "replays": command.replays is not None,
        "version": ddz_env.__version__,
    }
    return Plan(manifest, rules, deals, command.replays is not None)


class _Shown:
    """How far a tournament is: a bar, or a line now and then where the output is no terminal."""

    def __init__(self, console: Console, done: int, total: int) -> None:
        self.console, self.done, self.total = console, done, total
        self._begin = self._printed = time.monotonic()
        self._before = done
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("deals"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self.progress.add_task("", total=total, completed=done)

    def advance(self, deals: int, name: str) -> None:
        """So many deals more are done, of a pairing."""
        self.done += deals
        self.progress.update(self._task, advance=deals, description=name)
        now = time.monotonic()
        if not self.console.is_terminal and now - self._printed > PLAIN_SECONDS:
            self._printed = now
            rate = (self.done - self._before) / (now - self._begin)
            left = (self.total - self.done) / rate / 60
            text = f"{self.done:,}/{self.total:,} deals  {name}  {left:.1f} minutes left"
            self.console.print(text, highlight=False, soft_wrap=True)


def play(plan: Plan, store: Store, processes: int, console: Console) -> None:
    """Play what is missing, with a progress bar; every chunk is kept as soon as it is finished."""
    chunks = list(plan.chunks())
    missing = [chunk for chunk in chunks if not store.has(chunk)]
    total = sum(len(chunk.deals.keys) for chunk in chunks)
    shown = _Shown(console, total - sum(len(c.deals.keys) for c in missing), total)
    if 0 < len(missing) < len(chunks):
        console.print(f"going on after {shown.done:,} of {total:,} deals", highlight=False)

    def done(chunk: Chunk, result: ChunkResult) -> None:
        store.save(chunk, result)
        shown.advance(len(chunk.deals.keys), f"{chunk.pairing.a} - {chunk.pairing.b}")

    with shown.progress:
        try:
            play_chunks(missing, processes, done)
        except WorkerError as error:
            kept = "what was finished is kept, and the same command goes on"
            raise WorkerError(
                f"{error}; {kept if store.path else 'with --out nothing is lost'}"
            ) from error


def run(command: Command, line: str, console: Console) -> dict[str, Any]:
    """Play a tournament, or go on with it; the content of results.json.

    Raises:
        DdzError: an argument that can't be used, a folder of another tournament, an agent that
            can't be made any more.
    """
    plan = check(command)
    store = Store(command.out, plan.manifest)
    finished = store.path is not None and (store.path / RESULTS).exists()
    store.open()
    play(plan, store, command.processes, console)
    played = load_played(store)
    data = {
        **collect(store.manifest, played),
        "command": line,
        "versions": versions("numpy", "numba", "scipy", "torch"),
    }
    if command.replays is not None and not finished:
        lines = (text for pairing in played for chunk in pairing.chunks for text in chunk.lines)
        write_replays(command.replays, lines)
    if store.path is not None:
        save_json(store.path / RESULTS, data)
        write_csv(store.path / "results.csv", data)
    return data


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        0; 2 for an argument that can't be used; 130 after Ctrl-C.
    """
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        console = Console()
        data = run(command, command_line("eval/tournament.py", arguments), console)
        for table in all_tables(data):
            console.print(table)
        for text in legend(data):
            console.print(text, style="dim", highlight=False)
        if command.out is not None:
            console.print(
                f"results {command.out / RESULTS}, next: python eval/report.py {command.out}",
                highlight=False,
                soft_wrap=True,
            )

    try:
        return guarded("tournament", body)
    except KeyboardInterrupt:
        kept = "; the same command goes on" if command.out is not None else ""
        print(f"tournament: stopped{kept}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
