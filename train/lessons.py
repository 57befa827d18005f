"""Choices of kept games, as networks learn from them (`train/bc.py`)."""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from rich.console import Console
from rich.progress import track

from agents.inputs import FACTS, Reader, pieces
from agents.role_agent import net_of
from ddz_env._jit import records
from ddz_env.errors import DdzError, FormatError
from ddz_env.game import Game
from ddz_env.listed import Bits, Legal
from ddz_env.replay import decisions, read_lines, read_replays
from ddz_env.view import VIEW
from train.common import RunSettings
from train.rollouts import CHOICE, Rollout, join, listed_places, take_bits

AT_ONCE = 4096
"""Choices that are read at a time."""


class Selection(Protocol):
    """Which choices are learned from: settings of `bc`."""

    @property
    def held_out(self) -> float:
        """Share of the deals to measure on."""
        ...

    @property
    def winners(self) -> bool:
        """Only those of seats that won."""
        ...

    @property
    def who(self) -> str:
        """Only those of a seat, or of an agent or person by name; of everybody if empty."""
        ...


class Lessons(NamedTuple):
    """Choices to learn from, and choices to measure on."""

    learned: Rollout
    held_out: Rollout
    deals: int
    """Deals of the files."""
    digest: str
    """SHA-256 of the files' lines: what a resumed run must find again."""


def is_held_out(game: Game, share: float) -> bool:
    """Whether a deal is held out: by its key or its given cards alone, whoever played it."""
    key = game.state["seed"].tobytes() if game.given is None else game.given.tobytes()
    digest = hashlib.blake2b(key, digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2**64


def choices_of(game: Game, seats: list[bool]) -> Iterator[tuple[Any, np.ndarray, int]]:
    """(view, legal ids, the one that was chosen) of choices with an alternative.

    Args:
        game: a kept deal; what was said before its redeals is learned from too.
        seats: whether each seat is learned from.
    """
    fills = game.rules.wild != "none"
    for now, text in decisions(game):
        if not seats[now.seat]:
            continue
        copy = now.clone() if fills else now
        for action in copy.parts(text):
            ids = copy.legal_ids()
            if len(ids) > 1:
                yield copy.view(), ids, action
            if fills:
                copy.step(action)


class Reading:
    """Gathers choices as networks read them."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._waiting: list[tuple[Any, np.ndarray, int]] = []
        self._parts: list[Rollout] = []

    def add(self, view: Any, ids: np.ndarray, action: int) -> None:
        """Add a choice."""
        self._waiting.append((view, ids, action))
        if len(self._waiting) == AT_ONCE:
            self._read()

    def done(self) -> Rollout:
        """All choices, less those with a win that is certain."""
        self._read()
        return join(self._parts) if self._parts else nothing()

    def _read(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        views = records(VIEW, len(waiting))
        for i, (view, _, _) in enumerate(waiting):
            views[i] = view
        offsets = np.cumsum([0, *(len(ids) for _, ids, _ in waiting)])
        legal = Legal(offsets, np.concatenate([ids for _, ids, _ in waiting]))
        chosen = np.array([np.searchsorted(ids, action) for _, ids, action in waiting])
        for begin, end in pieces(offsets):
            part, lists = views[begin:end], legal.part(begin, end)
            self._parts.append(self._piece(part, lists, chosen[begin:end]))

    def _piece(self, views: np.ndarray, legal: Legal, chosen: np.ndarray) -> Rollout:
        """A piece as networks read it."""
        inputs = self._reader.read(views, legal)
        rows = np.flatnonzero(inputs.sure < 0)
        choices = np.zeros(len(rows), CHOICE)
        net = net_of(views["phase"], views["seat"], views["landlord"])
        choices["net"], choices["seat"] = net[rows], views["seat"][rows]
        choices["chosen"] = chosen[rows]
        listed, _ = listed_places(legal.offsets, rows)
        return nothing()._replace(
            choices=choices,
            state=take_bits(inputs.state, rows),
            lists=legal.take(rows),
            actions=take_bits(inputs.actions, listed),
            facts=inputs.facts[listed].astype(np.float16),
        )


def nothing() -> Rollout:
    """No choices."""
    none, zero = np.zeros(0, np.int32), np.zeros(1, np.int64)
    bits = Bits(zero, np.zeros(0, np.uint16))
    facts, points = np.zeros((0, FACTS), np.float16), np.zeros(0, np.float32)
    return Rollout(np.zeros(0, CHOICE), bits, Legal(zero, none), bits, facts, zero, points)


def read(config: Selection, settings: RunSettings, expected: str = "") -> Lessons:
    """The choices of the files of a run.

    Args:
        config: which of them.
        settings: of the run.
        expected: `Lessons.digest` of the run that goes on.

    Raises:
        DdzError: no such file, a line that is no replay, a deal of another room, nothing to learn
            from, or other lines than those of the run that goes on.
    """
    digest = hashlib.sha256()
    n = 0
    for path in settings.replays:
        lines = read_lines(path)
        digest.update("\n".join([*lines, ""]).encode())
        n += len(lines)
    if expected and expected != digest.hexdigest():
        raise DdzError("--replays: not the games that the run began with")
    readings = Reading(), Reading()
    names: set[str] = set()
    for game, agents in track(
        _deals(settings), "reading games", n, console=(console := Console()), transient=True,
        disable=not console.is_terminal,
    ):  # fmt: skip
        names |= set(agents)
        seats = [_is_learned(config, game, agents, seat) for seat in range(3)]
        reading = readings[is_held_out(game, config.held_out)]
        for choice in choices_of(game, seats):
            reading.add(*choice)
    lessons = Lessons(readings[0].done(), readings[1].done(), n, digest.hexdigest())
    if not lessons.learned.size:
        who = f" of {config.who!r}" if config.who else ""
        known = ", ".join(sorted(filter(None, names))) or "nobody"
        raise DdzError(f"--replays: no choices{who} to learn from in {n} deals, which name {known}")
    return lessons


def _deals(settings: RunSettings) -> Iterator[tuple[Game, list[str]]]:
    """All deals of the files, each of a room of the run."""
    for path in settings.replays:
        for i, (game, agents) in enumerate(read_replays(path), 1):
            if game.rules not in settings.rooms:
                room = game.rules.name
                fields = " (other fields)" if room in [r.name for r in settings.rooms] else ""
                raise FormatError(
                    f"replays {path}, line {i}: of room {room}{fields}, not {settings.name};"
                    " expected --rules, and --set, as those games were played with"
                )
            yield game, agents


def _is_learned(config: Selection, game: Game, agents: list[str], seat: int) -> bool:
    """Whether what a seat chose in a deal is learned from."""
    if config.winners and not (game.over and game.scores[seat] > 0):
        return False
    return not config.who or config.who in (f"player_{seat}", agents[seat])
