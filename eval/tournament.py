"""Tournaments: `python eval/tournament.py greedy rlcard_rule --rules play_only --deals 1000`.

Every pair of agents plays a duplicate match on the same deals (eval/match.py).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import agents
from ddz_env.errors import DdzError
from ddz_env.game import Game
from ddz_env.replay import to_line, write_replays
from ddz_env.rooms import load_rules, rules_hash
from ddz_env.rules import RuleSet
from ddz_env.vector import check_seed
from eval.cli import check_folder, command_line, guarded, save_json, versions
from eval.match import MatchResult, layouts, play_match


@dataclass(frozen=True)
class Command:
    """Duplicate matches between every two agents; a table and results.json."""

    agents: Annotated[list[str], tyro.conf.Positional]
    """Agents by spec: random, greedy, rlcard_rule, dmc:PATH; two or more."""
    rules: str = "play_only"
    """Room: a preset's name, or a TOML file."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field of the room to change, as field=value; may be given again."""
    calls: str | None = None
    """Agent that makes all choices before the play, so that only card play is compared."""
    deals: int = 1000
    """Distinct deals of each pairing."""
    seed: int = 0
    """Seed of the deals."""
    out: Path | None = None
    """Folder for results.json; only the table is printed without it."""
    replays: Path | None = None
    """File for replays of all games, one JSON line each; added to if it exists."""


def check(command: Command) -> tuple[RuleSet, list[tuple[str, str]]]:
    """The room and the pairings, every argument checked before anything is played.

    Raises:
        DdzError: an argument that can't be used, by name.
    """
    rules = load_rules(command.rules, command.set)
    check_seed(command.seed)
    if command.deals < 1:
        raise DdzError(f"--deals: expected a whole number from 1, got {command.deals}")
    if len(command.agents) < 2:
        raise DdzError(f"agents: expected two or more, got {len(command.agents)}")
    if len(set(command.agents)) < len(command.agents):
        raise DdzError("agents: the same agent twice")
    for spec in [*command.agents, *([command.calls] if command.calls else [])]:
        agents.load(spec, rules)
    if command.out is not None:
        check_folder(command.out)
    if command.out is not None and (command.out / "results.json").exists():
        raise DdzError(f"--out {command.out}: holds results.json already; choose another folder")
    return rules, list(combinations(command.agents, 2))


def keeper(
    path: Path | None, rules: RuleSet, pair: tuple[str, str], calls: str | None
) -> Callable[[np.ndarray], None] | None:
    """What writes the games of a pairing to the file of replays; nothing without a file."""
    if path is None:
        return None
    table = layouts(rules)

    def names(state: np.void, layout: int) -> list[str]:
        if calls is None:
            return [pair[k] for k in table[layout]]
        return [pair[layout if seat == state["landlord"] else 1 - layout] for seat in range(3)]

    def keep(states: np.ndarray) -> None:
        write_replays(
            path,
            (
                to_line(Game.from_state(state, rules), names(state, i))
                for games in states
                for i, state in enumerate(games)
            ),
        )

    return keep


def play(command: Command, console: Console) -> list[tuple[str, str, MatchResult]]:
    """All pairings, with a progress bar."""
    rules, pairs = check(command)
    results = []
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("deals"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("", total=command.deals * len(pairs))
        for i, (a, b) in enumerate(pairs):
            progress.update(task, description=f"{a} - {b}")
            before = i * command.deals
            result = play_match(
                agents.load(a, rules),
                agents.load(b, rules),
                rules,
                command.deals,
                command.seed,
                lambda n, before=before: progress.update(task, completed=before + n),
                keeper(command.replays, rules, (a, b), command.calls),
                None if command.calls is None else agents.load(command.calls, rules),
            )
            results.append((a, b, result))
    return results


def with_interval(value: float, ci: tuple[float, float], digits: int = 3) -> str:
    """A mean and half the width of its interval: `0.697 ±.012`."""
    return f"{value:.{digits}f} ±{(ci[1] - ci[0]) / 2:.{digits}f}".replace("±0.", "±.")


def table(rules: RuleSet, results: list[tuple[str, str, MatchResult]]) -> Table:
    """The results from the first agent's side."""
    calling = rules.auction != "none"
    counted = sorted({r.deals for _, _, r in results})
    title = f"{rules.name}, {' to '.join(f'{n:,}' for n in counted[:: max(1, len(counted) - 1)])}"
    title += " duplicate deals each"
    grid = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for name in ("agent", "against"):
        grid.add_column(name, overflow="fold", min_width=11)
    for name in ["WP", "landlord", "farmers", "ADP", *(["score"] if calling else [])]:
        grid.add_column(name, justify="right", no_wrap=True)
    for a, b, r in results:
        row = [a, b, with_interval(r.wp, r.ci), f"{r.landlord:.3f}", f"{r.farmers:.3f}"]
        row.append(f"{r.adp:+.2f}")
        if calling:
            row.append(with_interval(r.score, r.score_ci, 2))
        grid.add_row(*row)
    return grid


def rates_table(results: list[tuple[str, str, MatchResult]]) -> Table | None:
    """How often each agent said yes before the play, over its pairings; None without choices."""
    shares: dict[str, list[dict[str, float]]] = {}
    for a, b, r in results:
        shares.setdefault(a, []).append(r.a_rates)
        shares.setdefault(b, []).append(r.b_rates)
    names = list(results[0][2].a_rates)
    if not names:
        return None
    grid = Table(title="share of yes", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    grid.add_column("agent", overflow="fold", min_width=11)
    for name in names:
        grid.add_column(name, justify="right", no_wrap=True)
    for agent, found in shares.items():
        means = [float(np.nanmean([rates[name] for rates in found])) for name in names]
        grid.add_row(agent, *(f"{mean:.3f}" for mean in means))
    return grid


def as_json(
    command: Command, line: str, results: list[tuple[str, str, MatchResult]]
) -> dict[str, Any]:
    """The content of results.json."""
    rules = load_rules(command.rules, command.set)
    return {
        "rules": rules.name,
        "rules_hash": rules_hash(rules),
        "calls": command.calls,
        "seed": command.seed,
        "command": line,
        "versions": versions("numpy", "numba", "torch"),
        "pairings": [{"a": a, "b": b, **r.to_json()} for a, b, r in results],
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        console = Console()
        results = play(command, console)
        console.print(table(load_rules(command.rules, command.set), results))
        shares = rates_table(results)
        if shares is not None:
            console.print(shares)
        console.print(
            "WP: share of games won by the agent's side over both roles. ADP: points a deal."
            " ±: half the 95% interval, from resampling deals.",
            style="dim",
        )
        if command.out is not None:
            path = command.out / "results.json"
            save_json(
                path, as_json(command, command_line("eval/tournament.py", arguments), results)
            )
            console.print(f"results {path}")

    return guarded("tournament", body)


if __name__ == "__main__":
    sys.exit(main())
