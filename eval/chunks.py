"""A chunk of a pairing: some deals, played in all layouts by agents that may fail.

A chunk is what a worker process gets, what is stored and what a resumed tournament does not play
again. Its agents are made anew from their specs, one for each seat of each layout, so that what
comes out depends on nothing but the chunk. Agents that are functions of the view (`is_stateless`)
are made once a process.
"""

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import agents
from agents.base import Agent, is_stateless
from ddz_env.bots import TrusteeBot
from ddz_env.game import Game
from ddz_env.replay import to_line
from ddz_env.rules import RuleSet
from ddz_env.state import Phase
from eval.games import FAULTS, Fault, condense
from eval.guard import Bans, Guard, Watch
from eval.match import Deals, games_of_a_deal, play_out, who_sits

CALLER = 2
"""The side of the agent that makes all calls."""


@dataclass(frozen=True)
class Pairing:
    """Two agents that meet, and how."""

    a: str
    b: str
    rules: RuleSet
    calls: str | None = None
    """Who makes all choices before the play."""
    move_time: float | None = None
    """Seconds for a decision."""
    warm_up: float = 30.0
    """More seconds for each decision of an agent's first game in a process, which isn't counted."""
    replays: bool = False
    """Whether the games are wanted as replays."""

    @property
    def specs(self) -> tuple[str, ...]:
        """The specs by side: A, B, and who calls."""
        return (self.a, self.b, *([self.calls] if self.calls else []))


@dataclass(frozen=True)
class Chunk:
    """Some deals of a pairing."""

    pair: int
    """Number of the pairing."""
    number: int
    """Number of the chunk."""
    pairing: Pairing
    deals: Deals


@dataclass
class ChunkResult:
    """What a chunk gave."""

    games: np.ndarray
    """`GAME[D, L]`."""
    times: np.ndarray
    """Decisions by time, of A, B and who calls: `Guard.times`."""
    notes: list[list[str]]
    """The first faults of each, in words."""
    calling_faults: dict[str, int] = field(default_factory=dict)
    """Seats whose calls the trustee took over."""
    lines: list[str] = field(default_factory=list)
    """Replays, where they are wanted."""


_made: dict[tuple[str, RuleSet], Agent] = {}
_warm: set[tuple[str, RuleSet]] = set()


class _Enough(Exception):
    """The first game of an agent need not go on."""


def _make(spec: str, rules: RuleSet) -> Agent:
    """An agent: the one of this process where it is stateless, else a new one."""
    if (spec, rules) not in _made:
        agent = agents.load(spec, rules)
        if not is_stateless(spec, agent):
            return agent
        _made[spec, rules] = agent
    return _made[spec, rules]


def _warmed(pairing: Pairing, side: int, watch: Watch | None) -> None:
    """Let an agent play its first game in this process, which compiles and loads what it needs.

    It sits at seat 0 against two trustees; a fault ends the game and is left to the counted ones.
    """
    spec = pairing.specs[side]
    if pairing.move_time is None or (spec, pairing.rules) in _warm:
        return
    _warm.add((spec, pairing.rules))
    limit = pairing.move_time + pairing.warm_up
    states, params = Deals(np.zeros(1, np.uint64)).start(pairing.rules), pairing.rules.params()
    guard = Guard([side, side], 1, limit, watch)

    def alive() -> None:
        if guard.faults.any():
            raise _Enough

    try:
        crew = [_make(spec, pairing.rules), TrusteeBot()]
        play_out(states, np.array([[0, 1, 1]]), crew, params, alive, decide=guard)
    except _Enough:
        return


def _cast(pairing: Pairing, sides: np.ndarray) -> tuple[np.ndarray, list[Any], list[int]]:
    """Who plays at each seat of each game of A and B.

    Args:
        pairing: the pairing.
        sides: `int[D, L, 3]`.

    Returns:
        the index of the agent at each seat, `int[D * L, 3]`; the agents; their sides.
    """
    layouts = sides.shape[1]
    seats = sides * 3 * layouts + np.arange(3 * layouts).reshape(layouts, 3)
    made: dict[int, Agent] = {}
    crew: list[Any] = [None] * (2 * 3 * layouts)
    for k in np.unique(seats):
        side = int(k) // (3 * layouts)
        spec = pairing.specs[side]
        if side not in made or not is_stateless(spec, made[side]):
            made[side] = _make(spec, pairing.rules)
        crew[k] = made[side]
    for side, agent in made.items():
        if is_stateless(pairing.specs[side], agent):  # all its decisions in one call
            seats[sides == side] = side * 3 * layouts
            crew[side * 3 * layouts] = agent
    owners = [k // (3 * layouts) for k in range(len(crew))]
    return seats.reshape(-1, 3), crew, owners


def _seed_globals(chunk: Chunk) -> None:
    """Seed the generators that an agent of somebody else's may use, so that chunks stay alike."""
    key = int(chunk.deals.keys[0]) % 2**32
    random.seed(key)
    np.random.seed(key)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(key)


def play_chunk(
    chunk: Chunk,
    watch: Watch | None = None,
    alive: Callable[[], None] | None = None,
    bans: Bans | None = None,
    alone: frozenset[int] = frozenset(),
    warm: bool = True,
) -> ChunkResult:
    """Play a chunk.

    Args:
        chunk: the chunk.
        watch: told what is asked.
        alive: called once a round.
        bans: seats that the trustee has, since their agents ended a process there (`Guard`).
        alone: sides that are asked one decision at a time.
        warm: whether agents that have a limit and are new to this process play a game first.

    Raises:
        AgentError: an agent can't be made any more.
    """
    pairing, deals, params = chunk.pairing, chunk.deals, chunk.pairing.rules.params()
    by_side = pairing.calls is not None
    for side in range(len(pairing.specs)) if warm else ():
        _warmed(pairing, side, watch)
    _seed_globals(chunk)
    n = games_of_a_deal(pairing.rules, by_side)
    states = deals.start(pairing.rules, n)
    shape = len(deals.keys), n
    limits = len(states), pairing.move_time, watch, bans, alone
    caller = Guard([CALLER], *limits)
    if pairing.calls is not None:
        crew: list[Any] = [_make(pairing.calls, pairing.rules)]
        nobody = np.zeros((len(states), 3), np.int64)
        play_out(states, nobody, crew, params, alive, Phase.PLAY, caller)
    sides = who_sits(states, pairing.rules, by_side).reshape(*shape, 3)
    seats, crew, owners = _cast(pairing, sides)
    guard = Guard(owners, *limits)
    play_out(states, seats, crew, params, alive, decide=guard)
    states = states.reshape(shape)
    counts = np.bincount(caller.faults.reshape(-1), minlength=len(Fault))[1:]
    return ChunkResult(
        games=condense(states, pairing.rules, sides, guard.faults.reshape(*shape, 3)),
        times=caller.times + guard.times,
        notes=[a + b for a, b in zip(caller.notes, guard.notes, strict=True)],
        calling_faults=dict(zip(FAULTS, counts.tolist(), strict=True)) if by_side else {},
        lines=replays(states, sides, pairing, deals) if pairing.replays else [],
    )


def replays(states: np.ndarray, sides: np.ndarray, pairing: Pairing, deals: Deals) -> list[str]:
    """The games of a chunk as lines of JSON, deal by deal (`ddz_env.replay`)."""
    lines = []
    for d in range(len(states)):
        for layout, state in enumerate(states[d]):
            game = Game.from_state(state, pairing.rules)
            if deals.decks is not None:
                game.given = deals.decks[d]
            lines.append(to_line(game, [pairing.specs[k] for k in sides[d, layout]]))
    return lines
