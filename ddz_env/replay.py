"""Replays: one JSON line a deal, which reads back to the same record.

A line holds the room with all its fields, what the deal started from (key, first caller, the cards
where they were given), every decision since the last redeal with its id and text, and the scores.
Before a redeal everybody has said no, so those decisions need not be kept.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ddz_env.cards import RANKS
from ddz_env.errors import DdzError, FormatError
from ddz_env.fillings import parse_starred
from ddz_env.game import Game
from ddz_env.rooms import rules_from_dict, rules_to_dict

FORMAT, VERSION = "ddz-replay", 1
_KEYS = {
    "format", "version", "rules", "seed", "number", "first", "deck", "redeals", "may_double",
    "agents", "decisions", "scores",
}  # fmt: skip


def to_line(game: Game, agents: Sequence[str] = ("", "", "")) -> str:
    """A deal, finished or not, as one line of JSON without its line end.

    Args:
        game: the deal.
        agents: what plays at each seat.
    """
    data = _content(game) | {"agents": list(agents)}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _content(game: Game) -> dict[str, Any]:
    """What a line says of a deal."""
    state = game.state
    first = (int(state["first"]) - game.redeals * game.rules.redeal_rotates) % 3
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": rules_to_dict(game.rules),
        "seed": int(state["seed"]),
        "number": int(state["deal"]),
        "first": first,
        "deck": None if game.given is None else "".join(RANKS[r] for r in game.given),
        "redeals": game.redeals,
        "may_double": [int(m) for m in state["may_double"]],
        "agents": [""] * 3,
        "decisions": [[seat, parse_starred(text)[0], text] for seat, text in game.history],
        "scores": game.scores if game.over else None,
    }


def _check(data: Any) -> dict[str, Any]:
    """The content of a line, its form checked."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f"not a {FORMAT}")
    if data.get("version") != VERSION:
        raise FormatError(f"version {data.get('version')!r}, this version reads {VERSION}")
    if set(data) != _KEYS:
        wrong = sorted(set(data) ^ _KEYS)
        raise FormatError(f"missing or unknown: {', '.join(wrong)}")
    whole = [data["seed"], data["number"], data["first"], data["redeals"], *data["may_double"]]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in whole):
        raise FormatError("seed, number, first, redeals, may_double: expected whole numbers")
    agents = data["agents"]
    if not isinstance(agents, list) or [type(name) for name in agents] != [str] * 3:
        raise FormatError("agents: expected three texts")
    return data


def _play(data: dict[str, Any]) -> Iterator[tuple[Game, str]]:
    """Play a checked line's decisions: the game before each of them, and what is decided.

    The game goes on between two of them; at the end it is given once more, with an empty text.
    """
    deck = None
    if data["deck"] is not None:
        deck = np.array([RANKS.index(c) for c in data["deck"]])
    game = Game(rules_from_dict(data["rules"]), data["seed"], data["first"], deck)
    game.state["deal"] = data["number"]
    game.state["may_double"] = data["may_double"]
    while game.redeals < data["redeals"]:
        if game.over:
            raise FormatError("redeals: more than the room allows")
        text = "pass" if "pass" in game.legal() else "look"
        yield game, text
        game.step(text)
    for i, (seat, action, text) in enumerate(data["decisions"]):
        if game.over or (game.seat != seat and not _at_once(game)):
            raise FormatError(f"decision {i}: seat {seat} is not asked")
        if parse_starred(text)[0] != action:
            raise FormatError(f"decision {i}: id {action} is not {text!r}")
        yield game, text
        game.step(text)
    if data["scores"] is not None and (not game.over or game.scores != data["scores"]):
        raise FormatError("scores: not those of the decisions")
    yield game, ""


def decisions(game: Game) -> Iterator[tuple[Game, str]]:
    """Play a deal again: the game before each decision, and what is decided.

    The game is the same one each time and goes on between two decisions, so take from it what is
    to be kept. A whole play with wild cards is one decision (`Game.parts` splits it); before a
    redeal everybody says no.

    Args:
        game: the deal, finished or not, as it was dealt: not one of `Game.from_position`.
    """
    return ((before, text) for before, text in _play(_content(game)) if text)


def _at_once(game: Game) -> bool:
    return game.phase in ("show_before_deal", "show_at_6", "show_at_12", "double")


def from_line(line: str) -> tuple[Game, list[str]]:
    """The deal of a line, and what played at each seat.

    Raises:
        FormatError: cut off, of a newer version, or edited so that it is no legal deal any more.
    """
    try:
        data = _check(json.loads(line))
        *_, (game, _) = _play(data)
        return game, data["agents"]
    except FormatError as error:
        raise FormatError(f"replay: {error}") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"replay: cut off or not JSON: {error}") from error
    except (DdzError, TypeError, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise FormatError(f"replay: {error}") from error


def write_replays(path: str | Path, lines: Iterable[str]) -> None:
    """Append lines to a file of replays."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for line in lines:
            file.write(line + "\n")


def read_lines(path: str | Path) -> list[str]:
    """The lines of a file of replays, a deal each, unread.

    Raises:
        FormatError: no such file, or no text.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FormatError(f"replays {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"replays {path}: {error}") from error
    return text.removesuffix("\n").split("\n") if text else []


def read_replays(
    path: str | Path, first: int = 1, last: int | None = None
) -> Iterator[tuple[Game, list[str]]]:
    """The deals of a file, one after another.

    Args:
        path: the file.
        first: the first line that is read, from 1.
        last: the last one; to the end of the file unless given.

    Raises:
        FormatError: no such file, or a line that is no replay (its number is named).
    """
    for i, line in enumerate(read_lines(path)[first - 1 : last], first):
        try:
            yield from_line(line)
        except FormatError as error:
            raise FormatError(f"replays {path}, line {i}: {error}") from error
