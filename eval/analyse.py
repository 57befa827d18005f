"""One decision as a service: `eval.analyse(hand)`, `python eval/analyse.py --hand 34445`.

The legal plays of a hand, the best first, each with the chance of winning and the points that a
model expects. The position is made by `positions.py`.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

import agents
from agents.base import AgentError
from ddz_env._jit import records
from ddz_env.cards import to_text
from ddz_env.catalogue import FIRST_PLAY, TEXTS
from ddz_env.errors import CardError
from ddz_env.fillings import holding, starred
from ddz_env.game import Game
from ddz_env.listed import Legal
from ddz_env.rooms import load_rules
from ddz_env.rules import RuleSet
from ddz_env.view import VIEW
from eval.cli import check_count, guarded
from eval.positions import SIDES, position

FORMAT = "ddz-analysis-1"


class Ranks(Protocol):
    """An agent that says what it thinks of each choice."""

    def ranked(self, views: np.ndarray, legal: Legal) -> list[list[Any]]:
        """For each row its actions, the best first, with `action`, `chance` and `points`."""
        ...


class Choice(NamedTuple):
    """One legal play as the model sees it."""

    play: str
    """Its text, a star behind each wild card."""
    action: int
    """Its id."""
    chance: float
    """Chance that the seat's side wins."""
    points: float
    """Points of the seat expected, for the base that was given and a multiplier of 1."""


@dataclass(frozen=True)
class Analysis:
    """A position and what the model thinks of its plays."""

    agent: str
    """What was asked."""
    role: str
    """Of the hand: landlord, landlord_down (after him) or landlord_up (before him)."""
    game: Game
    """The position; of the other hands only the numbers of cards mean something."""
    choices: list[Choice]
    """Legal plays, the best first."""

    def to_dict(self) -> dict[str, Any]:
        """The analysis as JSON types, the content of `--json`."""
        view = self.game.view()
        seat = self.game.seat
        last = None
        if view["last_seat"] >= 0:
            side = SIDES[(int(view["last_seat"]) - seat) % 3 - 1]
            last = {"play": self.game.history[0][1], "by": side}
        counts = [int(n) for n in view["counts"]]
        return {
            "format": FORMAT,
            "agent": self.agent,
            "rules": self.game.rules.name,
            "role": self.role,
            "hand": to_text(int(view["hand"])),
            "last": last,
            "left": {side: counts[(seat + 1 + k) % 3] for k, side in enumerate(SIDES)},
            "unseen": to_text(int(view["unseen"])),
            "choices": [
                {"play": c.play, "id": c.action, "chance": round(c.chance, 5),
                 "points": round(c.points, 5)}
                for c in self.choices
            ],
        }  # fmt: skip


@lru_cache(maxsize=8)
def _loaded(spec: str, rules: RuleSet) -> Any:
    """An agent for a room, kept as long as the process lives."""
    return agents.load(spec, rules)


def _ranker(agent: Any, rules: RuleSet) -> tuple[str, Ranks]:
    """The name of an agent, and the agent itself, which has to give values."""
    name = agent if isinstance(agent, str) else type(agent).__name__
    found = _loaded(agent, rules) if isinstance(agent, str) else agent
    if not callable(getattr(found, "ranked", None)):
        raise AgentError(f"agent {name}: gives no values, expected one such as dmc or dmc:PATH")
    return name, found


def analyse(
    hand: str,
    seen: str | Sequence[str] | None = None,
    last: str | None = None,
    rules: str | RuleSet = "play_only",
    *,
    role: str = "landlord",
    last_by: str | None = None,
    left: Sequence[int] | None = None,
    bottom: str = "",
    wild: str | None = None,
    base: int = 1,
    agent: Any = "dmc",
) -> Analysis:
    """The legal plays of a hand, the best first, with chances of winning and points.

    Args:
        hand: cards of the seat on turn, in any order; wild ones `W`, but for jokers.
        seen: cards that have been played by all, those of `last` included: one text, or three, of
            the own seat, the next and the previous one, which says more to a model. Who played
            what is made up of one text, by rank; without any, the lowest cards have been played.
        last: the play to beat, such as `333+4`; None when leading.
        rules: a preset's name or a `RuleSet`.
        role: of the hand: landlord, landlord_down (after him), landlord_up (before him).
        last_by: whose play `last` is, next or previous; previous unless given.
        left: cards that next and previous hold. Without it, what `seen` says, split evenly where it
            is one text; without that, each has played as many as the own seat, or `last`.
        bottom: the three bottom cards; unknown to all where empty.
        wild: in rooms with wild cards their rank, `red7` or `jokers`.
        base: of the score, 1..3.
        agent: an agent's spec, or an agent, with `ranked`: dmc, dmc:PATH, onnx:FILE. Agents of a
            spec stay loaded.

    Raises:
        DdzError: an argument that can't be used, by name; an agent without values or weights.
    """
    game = position(
        hand, seen, last, rules, role=role, last_by=last_by, left=left, bottom=bottom, wild=wild,
        base=base,
    )  # fmt: skip
    name, ranker = _ranker(agent, game.rules)
    views, ids = records(VIEW, 1), game.legal_ids()
    views[0] = game.view()
    ranked = ranker.ranked(views, Legal(np.array([0, len(ids)]), ids))[0]
    choices = [
        Choice(_text(game, one.action), one.action, float(one.chance), float(one.points))
        for one in ranked
    ]
    return Analysis(name, role, game, choices)


def _text(game: Game, action: int) -> str:
    """An action's text, made with as few wild cards as can be."""
    if action < FIRST_PLAY or game.rules.wild == "none":
        return TEXTS[action]
    return starred(action, holding(game.state, game.rules.params()).least(action))


# -------------------------------------------------------------------------------------- command


@dataclass(frozen=True)
class Command:
    """What a model thinks of the plays of a hand."""

    hand: str
    """Cards of the seat on turn, in any order: 3456789TJQKA2, X and D jokers, W wild."""
    last: str | None = None
    """The play to beat, such as 333+4; none when leading."""
    seen: str | None = None
    """Cards played so far, last included; or own,next,previous with commas between."""
    rules: str = "play_only"
    """Room: a preset's name, or a TOML file."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field of the room to change, as field=value; may be given again."""
    role: str = "landlord"
    """landlord, landlord_down (after him) or landlord_up (before him)."""
    last_by: str | None = None
    """Whose play last is: next or previous (unless given)."""
    left: str | None = None
    """Cards that next and previous hold, such as 17,12."""
    bottom: str = ""
    """The three bottom cards."""
    wild: str | None = None
    """In rooms with wild cards their rank, red7 or jokers."""
    base: int = 1
    """Base of the score, 1..3."""
    agent: str = "dmc"
    """Whose values: dmc, dmc:PATH, onnx:FILE."""
    top: int = 10
    """Plays that the table lists; --json lists all."""
    json: bool = False
    """One line of JSON instead of a table."""


def _numbers(text: str) -> list[int]:
    """Two numbers of `--left`."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise CardError(f"left: expected two numbers such as 17,12, got {text!r}") from None


def run(command: Command) -> Analysis:
    """The analysis that a command asks for.

    Raises:
        DdzError: an argument that can't be used, by name.
    """
    check_count("--top", command.top)
    seen = command.seen
    return analyse(
        command.hand,
        seen.split(",") if seen is not None and "," in seen else seen,
        command.last,
        load_rules(command.rules, command.set),
        role=command.role, last_by=command.last_by, bottom=command.bottom, wild=command.wild,
        left=None if command.left is None else _numbers(command.left), base=command.base,
        agent=command.agent,
    )  # fmt: skip


def show(found: Analysis, top: int) -> None:
    """Print the best plays as a table."""
    data = found.to_dict()
    left = " and ".join(f"{side} {n}" for side, n in data["left"].items())
    last = data["last"]
    to_beat = f"to beat {last['play']} of {last['by']}" if last else "leads"
    print(f"{data['agent']}, {data['rules']}: {data['role']}, {to_beat}; left: {left}")
    shown = Table(box=None, pad_edge=False)
    shown.add_column("play")
    for head in ("chance", "points"):
        shown.add_column(head, justify="right")
    for choice in found.choices[:top]:
        shown.add_row(choice.play, f"{choice.chance:.3f}", f"{choice.points:+.2f}")
    Console().print(shown)


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        0; 2 with one line for an argument that can't be used.
    """
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        found = run(command)
        if command.json:
            print(json.dumps(found.to_dict(), ensure_ascii=False))
        else:
            show(found, command.top)

    return guarded("analyse", body)


class _Callable(ModuleType):
    """`eval.analyse` is this module and, called, its function of the same name."""

    def __call__(self, *arguments: Any, **options: Any) -> Analysis:
        return analyse(*arguments, **options)


sys.modules[__name__].__class__ = _Callable

if __name__ == "__main__":
    sys.exit(main())
