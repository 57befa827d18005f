"""Fit the planner's weights: `python agents/planner_fit.py --rules play_only --rounds 8`.

One round: games are played (planner against planner and against `greedy`, with a few random
choices); some decisions of the planner are drawn, and each of their choices, at most `MOST`, is
played out to the end from the true position. The weights then rise along the gradient of the chance
to win of a player that chooses at random in proportion to exp(weighted facts), over the drawn
decisions of the last rounds whose choices led to different ends. All choices of a decision start
from one position, so the luck of the deal cancels out. The fitted weights are the best on average
over the hidden cards; the planner never sees them.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from rich.console import Console

from agents.planner import Planner
from agents.planner_features import K, describe, situation
from agents.planner_odds import count_cards
from agents.planner_play import make_scratch, with_room
from agents.planner_weights import SITUATIONS, read_weights, write_weights
from ddz_env._jit import records
from ddz_env.bots import Bot, GreedyBot
from ddz_env.catalogue import TABLES
from ddz_env.core import apply_rows, list_rows
from ddz_env.engine import start
from ddz_env.errors import DdzError
from ddz_env.params import Params
from ddz_env.rooms import load_rules
from ddz_env.rules import RuleSet
from ddz_env.state import STATE, Phase
from ddz_env.vector import Legal, deal_seeds
from ddz_env.view import VIEW, cut_views

MOST = 12
"""Choices of a decision that are played out."""
RATE, RANDOM = 0.15, 0.04
"""Share of decisions drawn, and of choices made at random before them."""
SIDES = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 0]])
"""Who plays in a game, 0 the planner and 1 greedy: landlord and farmers, one row after another."""
CHUNK = 8192
"""Games played out at a time."""
KEPT_ROUNDS, EPOCHS, BATCH, STEP = 4, 14, 512, 0.03
_PLAY, _OVER = int(Phase.PLAY), int(Phase.OVER)


@dataclass(frozen=True)
class Command:
    """Fit the weights of the planner's facts in a room's card play."""

    rules: str = "play_only"
    """Room; what comes before its play is left out."""
    rounds: int = 8
    """Rounds of playing and fitting."""
    games: int = 40_000
    """Games of a round."""
    seed: int = 300
    """Seed of the deals."""
    weights: Path = Path(__file__).parent / "planner_weights.csv"
    """The table to start from and to write; one that does not exist starts with zeros."""


@dataclass(frozen=True)
class Decisions:
    """Drawn decisions; those of one are rows `offsets[i]:offsets[i + 1]`."""

    facts: np.ndarray  # float32[rows, K]
    won: np.ndarray  # float32[rows], 1 where the choice's side won
    offsets: np.ndarray  # int64[n + 1]
    situations: np.ndarray  # int64[n]

    def take(self, which: np.ndarray) -> "Decisions":
        """Some of the decisions."""
        sizes = np.diff(self.offsets)[which]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[which] - offsets[:-1], sizes)
        return Decisions(self.facts[rows], self.won[rows], offsets, self.situations[which])

    def that_differ(self) -> "Decisions":
        """Those whose choices led to different ends."""
        low = np.minimum.reduceat(self.won, self.offsets[:-1])
        high = np.maximum.reduceat(self.won, self.offsets[:-1])
        return self.take(np.flatnonzero(low != high))


def joined(parts: list[Decisions]) -> Decisions:
    """Several batches of decisions as one."""
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    return Decisions(
        np.concatenate([part.facts for part in parts]),
        np.concatenate([part.won for part in parts]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([part.situations for part in parts]),
    )


def play_alone(rules: RuleSet) -> RuleSet:
    """A room's card play: seat 0 is landlord and nothing is chosen before."""
    moments = ("before_deal", "at_6", "at_12", "after_bottom")
    off = {f"show_{moment}": 0 for moment in moments}
    return rules.replace(auction="none", rob=False, double=False, raising=False, **off)


Watch = Callable[[np.ndarray, Legal, np.ndarray, np.ndarray], None]


def one_step(
    states: np.ndarray,
    sides: np.ndarray,
    agents: list[Bot],
    params: Params,
    rng: np.random.Generator | None = None,
    watch: Watch | None = None,
) -> bool:
    """Make one choice in every game that is not over; whether there was any.

    Args:
        states: `STATE[N]`, changed in place.
        sides: `int[N, 3]`, the agent at each seat.
        agents: the agents.
        params: the room.
        rng: where given, a share `RANDOM` of the choices is made at random.
        watch: called with the views, legal ids, rows and choices of agent 0.
    """
    rows = np.flatnonzero(states["phase"] < _OVER)
    if len(rows) == 0:
        return False
    legal, _ = list_rows(states, rows, params)
    sizes = np.diff(legal.offsets)
    actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
    asked = np.where(sizes > 1, sides[rows, states["turn"][rows]], -1)
    for k, agent in enumerate(agents):
        index = np.flatnonzero(asked == k)
        if len(index) == 0:
            continue
        views = records(VIEW, len(index))
        cut_views(states, rows[index], states["turn"][rows[index]].astype(np.int64), params, views)
        mine = legal.take(index)
        actions[index] = agent.act(views, mine)
        if watch is not None and k == 0:
            watch(views, mine, rows[index], actions[index])
    if rng is not None:
        index = np.flatnonzero((sizes > 1) & (rng.random(len(rows)) < RANDOM))
        actions[index] = legal.ids[legal.offsets[index] + rng.integers(sizes[index])]
    apply_rows(states, rows, actions, params)
    return True


class Drawer:
    """Draws decisions and keeps their facts, choices and positions."""

    def __init__(self, states: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> None:
        self.states, self.weights, self.rng = states, weights, rng
        self.scratch = make_scratch()
        self.facts: list[np.ndarray] = []
        self.ids: list[np.ndarray] = []
        self.rows: list[int] = []
        self.positions: list[np.ndarray] = []
        self.situations: list[int] = []

    def watch(self, views: np.ndarray, legal: Legal, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Draw some of the decisions of a step."""
        drawn = (self.rng.random(len(rows)) < RATE) & (views["phase"] == _PLAY)
        for i in np.flatnonzero(drawn):
            ids = legal.ids[legal.offsets[i] : legal.offsets[i + 1]].copy()
            self.keep(views[i], ids, chosen[i])
            self.rows.append(int(rows[i]))
            self.positions.append(self.states[rows[i]].copy())

    def keep(self, view: np.void, ids: np.ndarray, chosen: int) -> None:
        """Keep a decision's choices, of many those that seem best and two others."""
        self.scratch = s = with_room(self.scratch, len(ids))
        count_cards(view, s.holders, s.chances)
        describe(view, ids, TABLES, s.scene[0], s.holders, s.sums, s.plans, s.facts, s.skip)
        number = situation(view)
        known = np.flatnonzero(~s.skip[: len(ids)])
        if len(known) > MOST:
            score = s.facts[known] @ self.weights[number]
            score += self.rng.normal(0, 0.15 * score.std() + 1e-9, len(known))
            score[ids[known] == chosen] = np.inf
            order = np.argsort(-score)
            known = known[np.r_[order[: MOST - 2], self.rng.choice(order[MOST - 2 :], 2, False)]]
        self.facts.append(s.facts[known].astype(np.float32))
        self.ids.append(ids[known])
        self.situations.append(number)


def collect(weights: np.ndarray, rules: RuleSet, games: int, seed: int) -> Decisions:
    """Play games and play out the choices of drawn decisions."""
    rng, params = np.random.default_rng(seed), rules.params()
    states = records(STATE, games)
    for state, key in zip(states, deal_seeds(seed, games), strict=True):
        start(state, key, -1, params)
    sides = SIDES[np.arange(games) % len(SIDES)]
    agents: list[Bot] = [Planner(weights), GreedyBot()]
    drawer = Drawer(states, weights, rng)
    while one_step(states, sides, agents, params, rng, drawer.watch):
        pass
    sizes = np.array([len(ids) for ids in drawer.ids])
    origin = np.repeat(np.arange(len(sizes)), sizes)
    actions = np.concatenate(drawer.ids).astype(np.int64)
    won = np.zeros(len(actions), np.float32)
    for begin in range(0, len(actions), CHUNK):
        part = origin[begin : begin + CHUNK]
        ends = records(STATE, len(part))
        for j, i in enumerate(part):
            ends[j] = drawer.positions[i]
        mine = ends["turn"] == ends["landlord"]
        apply_rows(ends, np.arange(len(part)), actions[begin : begin + CHUNK], params)
        seats = sides[np.array(drawer.rows)[part]]
        while one_step(ends, seats, agents, params):
            pass
        won[begin : begin + CHUNK] = (ends["winner"] == ends["landlord"]) == mine
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Decisions(np.concatenate(drawer.facts), won, offsets, np.array(drawer.situations))


def raised(old: np.ndarray, data: Decisions) -> np.ndarray:
    """Weights that win more often than `old` over decisions of one situation, `float64[K]`."""
    sizes = np.diff(data.offsets)
    there = np.arange(MOST) < sizes[:, None]
    facts = np.zeros((len(sizes), MOST, K), np.float32)
    won = np.zeros((len(sizes), MOST), np.float32)
    facts[there], won[there] = data.facts, data.won
    scale = data.facts.std(0) + 1e-6
    x, y = torch.from_numpy(facts / scale), torch.from_numpy(won)
    absent = torch.from_numpy(~there)
    w = torch.tensor((old * scale).astype(np.float32), requires_grad=True)
    before = w.detach().clone()
    optimizer = torch.optim.Adam([w])
    for epoch in range(EPOCHS):
        for group in optimizer.param_groups:
            group["lr"] = STEP * (1 - epoch / EPOCHS) + STEP / 30
        for rows in torch.randperm(len(x)).split(BATCH):
            logits = (x[rows] @ w).masked_fill(absent[rows], -1e9)
            share = (torch.softmax(logits, 1) * y[rows]).sum(1).mean()
            loss = 1e-4 * ((w - before) ** 2).sum() - share
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return w.detach().numpy() / scale


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0, or 2 for an argument that can't be used."""
    command, console = tyro.cli(Command, args=arguments), Console()
    torch.set_num_threads(1)
    torch.manual_seed(command.seed)
    try:
        rules = play_alone(load_rules(command.rules, ()))
        if command.rounds < 1 or command.games < 100:
            raise DdzError("expected --rounds from 1 and --games from 100")
        weights = np.zeros((len(SITUATIONS), K))
        if command.weights.exists():
            weights = read_weights(command.weights)
    except DdzError as error:
        print(f"planner_fit: {error}", file=sys.stderr)
        return 2
    rounds: list[Decisions] = []
    for k in range(command.rounds):
        drawn = collect(weights, rules, command.games, command.seed + k)
        rounds = [*rounds, drawn.that_differ()][-KEPT_ROUNDS:]
        data = joined(rounds)
        for number in np.unique(data.situations):
            mine = data.take(np.flatnonzero(data.situations == number))
            weights[number] = raised(weights[number], mine)
        write_weights(command.weights, weights)
        counts = np.bincount(data.situations, minlength=len(SITUATIONS))
        console.print(f"round {k + 1}: {counts[counts > 0].tolist()} decisions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
