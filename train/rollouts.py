"""Whole games of a sampling policy, as PPO learns from them."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from agents.inputs import FACTS, Reader, pieces
from agents.ppo import draw
from agents.role_agent import net_of
from ddz_env._jit import records
from ddz_env.listed import Bits, Legal
from ddz_env.rules import RuleSet
from ddz_env.scoring import QUARTERS
from ddz_env.vector import VecEnv
from ddz_env.view import VIEW, cut_views
from train.collect import MOST_CHOICES
from train.counts import Counts
from train.guests import Seating
from train.samples import all_hands

CHOICE = np.dtype(
    [
        ("net", "<i8"),  # the network that chose
        ("seat", "<i8"),
        ("chosen", "<i8"),  # the place of the choice in its list
        ("log_chance", "<f4"),  # logarithm of its probability when it was made
        ("hands", "<u8", 4),  # all hands from the seat's own on, bottom cards: for the critic
    ]
)
"""A choice that was made."""


class Rollout(NamedTuple):
    """Choices of whole games, in order; those of one seat in one game make an episode."""

    choices: np.ndarray
    """`CHOICE[n]`."""
    state: Bits
    """What the seats saw."""
    lists: Legal
    """The listed actions of each choice."""
    actions: Bits
    """Ones of each listed action."""
    facts: np.ndarray
    """Facts of each listed action, `float16[A, FACTS]`."""
    episodes: np.ndarray
    """First choice of each episode, and their number: `int64[E + 1]`."""
    points: np.ndarray
    """Points of the seat at the end of each episode, `float32[E]`."""

    @property
    def size(self) -> int:
        """Number of choices."""
        return len(self.choices)


def take_bits(bits: Bits, rows: np.ndarray) -> Bits:
    """The lists of ones of some rows."""
    taken = Legal(bits.offsets, bits.bits).take(rows)
    return Bits(taken.offsets, taken.ids)


def listed_places(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of the listed actions of some rows.

    Args:
        offsets: of the lists of all rows, `int64[B + 1]`.
        rows: `int64[n]`.

    Returns:
        places, `int64[A]`, and the offsets of the rows among them, `int64[n + 1]`.
    """
    sizes = np.diff(offsets)[rows]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(begins[-1]) - np.repeat(begins[:-1], sizes)
    return np.repeat(offsets[rows], sizes) + within, begins


class Scored(NamedTuple):
    """Some choices of a rollout as a network scores them."""

    state: Bits
    embedded: Tensor  # float32[n, embedded], of the states
    logits: Tensor  # float32[A], of the listed actions of all of them
    row: Tensor  # int64[A], the choice that each belongs to
    begins: np.ndarray  # int64[n + 1], the first listed action of each choice, and A


def score_rows(net: nn.Module, rollout: Rollout, rows: np.ndarray, device: torch.device) -> Scored:
    """Score the listed actions of some choices, with a gradient where there is one."""
    listed, begins = listed_places(rollout.lists.offsets, rows)
    row = torch.from_numpy(np.repeat(np.arange(len(rows)), np.diff(begins))).to(device)
    state = take_bits(rollout.state, rows)
    embedded = net.embed(state)  # [n, embedded] # type: ignore[operator]
    facts = torch.from_numpy(rollout.facts[listed].astype(np.float32)).to(device)
    actions = take_bits(rollout.actions, listed)
    scores = net.score(embedded[row], actions, facts)  # [A, 1] # type: ignore[operator]
    return Scored(state, embedded, scores.squeeze(1), row, begins)


def _joined(offsets: list[np.ndarray]) -> np.ndarray:
    """Offsets of lists that follow one another."""
    ends = np.cumsum([0, *(o[-1] for o in offsets)])
    return np.concatenate([[0], *(o[1:] + e for o, e in zip(offsets, ends[:-1], strict=True))])


def join_bits(parts: list[Bits]) -> Bits:
    """Lists of ones one after another."""
    ones = [np.zeros(0, np.uint16), *(part.bits[: part.offsets[-1]] for part in parts)]
    return Bits(_joined([part.offsets for part in parts]), np.concatenate(ones))


def join(parts: list[Rollout]) -> Rollout:
    """Rollouts one after another."""
    ids = np.concatenate([part.lists.ids for part in parts])
    return Rollout(
        np.concatenate([part.choices for part in parts]),
        join_bits([part.state for part in parts]),
        Legal(_joined([part.lists.offsets for part in parts]), ids),
        join_bits([part.actions for part in parts]),
        np.concatenate([part.facts for part in parts]),
        _joined([part.episodes for part in parts]),
        np.concatenate([part.points for part in parts]),
    )


class _Game(NamedTuple):
    """A finished game's choices, by seat and then in order."""

    choices: np.ndarray
    views: np.ndarray
    ids: list[np.ndarray]
    episodes: np.ndarray  # sizes
    points: np.ndarray


class Roller:
    """Plays games of one room with a sampling policy.

    Args:
        rules: the room.
        games: in flight.
        seed: of the deals.
        rng: of the draws, and of who the guests are.
        league: share of the games in which an earlier policy takes one side.
    """

    def __init__(
        self, rules: RuleSet, games: int, seed: int, rng: np.random.Generator, league: float
    ) -> None:
        self.env, self.rng, self.counts = VecEnv(games, rules, seed), rng, Counts()
        self.seating = Seating(0, league, games, rng)
        self._reader = Reader()
        # Slots as in `Collector`; pages that were never touched take no memory.
        self._views = records(VIEW, games * MOST_CHOICES)
        self._choices = np.zeros(games * MOST_CHOICES, CHOICE)
        self._ids = np.empty(games * MOST_CHOICES, object)
        self._count = np.zeros(games, np.int64)
        self._ended: list[_Game] = []
        self.ready = 0
        """Choices of games that have ended and were not taken yet."""

    def step(self, nets: nn.ModuleList, former: list[nn.ModuleList]) -> None:
        """One decision in every game, by the policy or by a former one."""
        env = self.env
        legal = env.legal()
        actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
        free = np.diff(legal.offsets) > 1
        states = env.states
        net = np.where(free, net_of(states["phase"], states["turn"], states["landlord"]), -1)
        guest = self.seating.deciding(states)
        for who, players in enumerate([nets, *former], -1):
            for k, player in enumerate(players):
                rows = np.flatnonzero((net == k) & (guest == who))
                if len(rows):
                    lists = legal.take(rows)
                    for begin, end in pieces(lists.offsets):
                        part = lists.part(begin, end)
                        chosen = self._choose(k, player, rows[begin:end], part, who < 0)
                        actions[rows[begin:end]] = part.ids[chosen]
        self.counts.choices(env, actions, free)
        landlord = states["landlord"].astype(np.int64)
        ended = np.flatnonzero(env.step(actions))
        for i in ended:
            self._finish(int(i), int(landlord[i]))
        self.seating.invite(ended)

    def _choose(
        self, k: int, net: nn.Module, rows: np.ndarray, legal: Legal, keep: bool
    ) -> np.ndarray:
        """Choices of network k in some rows, places in `legal.ids`; kept if they are learned."""
        env, n = self.env, len(rows)
        views = records(VIEW, n)
        seats = env.states["turn"][rows].astype(np.int64)
        cut_views(env.states, rows, seats, env.params, views)
        inputs = self._reader.read(views, legal)
        logits = net.score_lists(inputs)[:, 0].copy()
        places, log_chance = np.zeros(n, np.int64), np.zeros(n, np.float32)
        draw(legal.offsets, logits, self.rng.random(n), places, log_chance)
        places = np.where(inputs.sure >= 0, inputs.sure, places)
        if keep:
            kept = np.flatnonzero((self._count[rows] < MOST_CHOICES) & (inputs.sure < 0))
            slots = rows[kept] * MOST_CHOICES + self._count[rows[kept]]
            choices = np.zeros(len(kept), CHOICE)
            choices["net"], choices["seat"] = k, seats[kept]
            choices["chosen"] = places[kept] - legal.offsets[kept]
            choices["log_chance"] = log_chance[kept]
            choices["hands"] = all_hands(env.states, rows[kept], seats[kept])
            self._choices[slots], self._views[slots] = choices, views[kept]
            for slot, i in zip(slots, kept, strict=True):
                self._ids[slot] = legal.ids[legal.offsets[i] : legal.offsets[i + 1]]
            self._count[rows[kept]] += 1
        return places

    def _finish(self, i: int, landlord: int) -> None:
        """Put a finished game with the others; not so a void deal, which teaches nothing."""
        slots = i * MOST_CHOICES + np.arange(self._count[i])
        self._count[i] = 0
        scores = self.env.scores[i]
        if self.counts.game(scores, landlord) and len(slots):
            seats = self._choices["seat"][slots]
            slots = slots[np.argsort(seats, kind="stable")]
            present, sizes = np.unique(seats, return_counts=True)
            ids = [self._ids[slot] for slot in slots]
            points = (scores[present] / QUARTERS).astype(np.float32)
            views = self._views[slots]
            self._ended.append(_Game(self._choices[slots], views, ids, sizes, points))
            self.ready += len(slots)

    def take(self) -> Rollout:
        """The choices of all games that have ended since the last time."""
        games, self._ended, self.ready = self._ended, [], 0
        ids = [row for game in games for row in game.ids]
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in ids], dtype=np.int64)])
        legal = Legal(offsets, np.concatenate([np.zeros(0, np.int32), *ids]))
        views = records(VIEW, len(ids))
        if games:
            views[:] = np.concatenate([game.views for game in games])
        reads = [
            self._reader.read(views[begin:end], legal.part(begin, end))
            for begin, end in pieces(offsets)
        ]
        facts = [np.zeros((0, FACTS), np.float16)]
        sizes = [size for game in games for size in game.episodes]
        return Rollout(
            np.concatenate([np.zeros(0, CHOICE), *(game.choices for game in games)]),
            join_bits([read.state for read in reads]),
            legal,
            join_bits([read.actions for read in reads]),
            np.concatenate([*facts, *(read.facts.astype(np.float16) for read in reads)]),
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            np.concatenate([np.zeros(0, np.float32), *(game.points for game in games)]),
        )
