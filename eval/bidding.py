"""How an agent bids: `python eval/bidding.py dmc --rules happy --deals 2000`.

Three of the agent play whole deals; each question before the play that leaves a choice is noted
with the answer and the strength of the hand, `greedy`'s estimate of the landlord's chance to win
(`ddz_env.bots.landlord_chance`, fitted on 40,000 deals). Printed for each kind of question: how
often the answer was yes (in calls by points: how many) in tenths of the hands, the rank correlation
(Spearman) of strength and answer, and that of the tenths' means. With `greedy`'s choices instead of
its own: `python eval/tournament.py dmc split:greedy+dmc --rules happy`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from scipy import stats

import agents
from agents.base import Agent
from ddz_env.bots import landlord_chance
from ddz_env.catalogue import CHOICES, PASS
from ddz_env.errors import DdzError
from ddz_env.rooms import load_rules
from ddz_env.rules import RuleSet
from ddz_env.state import Phase
from ddz_env.vector import VecEnv, check_seed
from eval.cli import check_count, check_folder, command_line, guarded, save_json, versions

QUESTIONS = {
    "call": (Phase.CALL, Phase.CALL_POINTS),
    "rob": (Phase.ROB,),
    "blind grab": (Phase.BLIND,),
    "show": (
        Phase.SHOW_BEFORE_DEAL, Phase.SHOW_AT_6, Phase.SHOW_AT_12, Phase.SHOW_AFTER_BOTTOM,
    ),
    "double": (Phase.DOUBLE,),
    "raise": (Phase.RAISE,),
}  # fmt: skip
"""Kinds of questions before the play."""
PARTS = 10
"""Parts of equally many hands by strength."""
LOOK = CHOICES["look"]
POINTS = tuple(CHOICES[f"call_{points}"] for points in (1, 2, 3))


@dataclass(frozen=True)
class Command:
    """What an agent answers before the play, by the strength of its hand."""

    agent: Annotated[str, tyro.conf.Positional]
    """Agent by spec."""
    rules: str = "happy"
    """Room: a preset's name, or a TOML file."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field of the room to change, as field=value; may be given again."""
    deals: int = 2000
    """Deals."""
    seed: int = 0
    """Seed of the deals."""
    json: Path | None = None
    """File for the figures."""


def answers(agent: Agent, rules: RuleSet, deals: int, seed: int) -> dict[str, np.ndarray]:
    """What the agent said, by kind of question: strengths and answers, `float[n, 2]`.

    An answer is 0 for no, the points of a call by points, else 1.
    """
    env = VecEnv(min(deals, 256), rules, seed)
    noted: dict[str, list[np.ndarray]] = {name: [] for name in QUESTIONS}
    ended, numbers = 0, env.states["deal"]  # agents' own randomness goes by the deal's number
    numbers[:] = np.arange(env.num_envs)
    while ended < deals:
        legal = env.legal()
        actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
        free = np.flatnonzero(np.diff(legal.offsets) > 1)
        views = env.views(free)
        actions[free] = agent.act(views, legal.take(free))
        for name, phases in QUESTIONS.items():
            here = np.flatnonzero(np.isin(views["phase"], phases))
            if len(here):
                strength = [landlord_chance(hand) for hand in views["hand"][here]]
                said = actions[free[here]]
                size = np.where(np.isin(said, POINTS), said, 1)
                answer = np.where(np.isin(said, (PASS, LOOK)), 0, size)
                noted[name].append(np.column_stack([strength, answer]))
        over = np.flatnonzero(env.step(actions))
        numbers[over] = env.num_envs + ended + np.arange(len(over))
        ended += len(over)
    return {name: np.concatenate(found) for name, found in noted.items() if found}


def described(answered: np.ndarray) -> dict[str, Any]:
    """Answers by tenths of strength, and rank correlations; None where all are alike.

    Args:
        answered: strength and answer, `float[n, 2]`.
    """
    strength, answer = answered.T
    order = np.argsort(strength, kind="stable")
    tenths = [
        (float(strength[part].mean()), float(answer[part].mean()))
        for part in np.array_split(order, PARTS)
        if len(part)
    ]
    varied = len(set(answer.tolist())) > 1 and len(set(strength.tolist())) > 1
    each = float(stats.spearmanr(strength, answer).statistic) if varied else None
    parts = float(stats.spearmanr(*zip(*tenths, strict=True)).statistic) if varied else None
    return {
        "asked": len(answer),
        "yes": float((answer > 0).mean()),
        "tenths": tenths,
        "correlation": each,
        "correlation_of_tenths": parts,
    }


def table(found: dict[str, dict[str, Any]], title: str) -> Table:
    """A row for each kind of question."""
    grid = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    grid.add_column("question", no_wrap=True)
    for name in ("asked", "yes", "weakest", "middle", "strongest", "rank r", "tenths"):
        grid.add_column(name, justify="right", no_wrap=True)
    for name, row in found.items():
        shares = [answer for _, answer in row["tenths"]]
        picked = shares[0], shares[len(shares) // 2], shares[-1]
        ranks = [row["correlation"], row["correlation_of_tenths"]]
        grid.add_row(
            name,
            f"{row['asked']:,}",
            f"{row['yes']:.3f}",
            *(f"{share:.2f}" for share in picked),
            *("-" if r is None else f"{r:+.2f}" for r in ranks),
        )
    return grid


def run(command: Command, line: str) -> None:
    """Play, describe, write.

    Raises:
        DdzError: an argument that can't be used, by name; a room where nobody is asked.
    """
    rules = load_rules(command.rules, command.set)
    check_count("--deals", command.deals)
    check_seed(command.seed)
    if rules.auction == "none":
        raise DdzError(f"--rules {rules.name}: nobody is asked anything there before the play")
    if command.json is not None:
        check_folder(command.json.parent, "--json")
    agent = agents.load(command.agent, rules)
    noted = answers(agent, rules, command.deals, command.seed)
    found = {name: described(answered) for name, answered in noted.items()}
    console = Console()
    title = f"{command.agent} in {rules.name}, {command.deals:,} deals: answers by strength"
    console.print(table(found, title))
    console.print(
        "weakest, middle, strongest: share of yes, or mean points, in these tenths of the hands;\n"
        "rank r: Spearman's correlation of strength and answer; tenths: that of the tenths' means",
        style="dim",
    )
    if command.json is not None:
        about = {"command": line, "rules": rules.name, "agent": command.agent}
        about |= {"deals": command.deals, "versions": versions("numpy", "numba", "scipy", "torch")}
        save_json(command.json, {**about, "questions": found})
        console.print(f"figures {command.json}", highlight=False, soft_wrap=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)
    line = command_line("eval/bidding.py", arguments)
    return guarded("bidding", lambda: run(command, line))


if __name__ == "__main__":
    sys.exit(main())
