"""`search:dmc`: the search with a trained agent, which names the choices and judges what comes.

As in `search.py`, choices are tried on hidden hands that fit what the seat knows. Here the trained
agent's networks say

- which choices are worth a try: those at most `margin` behind the best one;
- which hidden hands are likely: those with which the agent would have chosen what the others
  chose (`search_belief`);
- how a deal goes on: all seats are played by the agent, many games in a batch, until the seat has
  chosen a play `rounds` times; what its network says then ends the playout. That word varies far
  less than how a deal ends.

What the networks say of a choice beforehand counts like `belief` deals.
"""

import time
from typing import Any

import numpy as np

from agents.base import AgentError, load
from agents.search import Options, Search
from agents.search_belief import believed, fill_all
from agents.value_agent import ValueAgent
from ddz_env import core
from ddz_env._jit import records
from ddz_env.bots import decision_bits
from ddz_env.catalogue import TABLES
from ddz_env.engine import mix
from ddz_env.listed import Legal
from ddz_env.params import Params
from ddz_env.rules import RuleSet
from ddz_env.scoring import QUARTERS
from ddz_env.state import STATE, Phase
from ddz_env.view import VIEW, cut_views

WORLDS = 64
"""Hidden deals that choices are tried on at a time, at most."""
_OVER, _PLAY = int(Phase.OVER), int(Phase.PLAY)


class Tried:
    """The worth of choices on hidden deals that are not equally likely.

    Args:
        value: what the agent says of the choices, the best first.
        belief: what that counts, in deals.
        z: standard errors behind the best at which a choice is dropped.
        unit: what a deal is about.
    """

    def __init__(self, value: np.ndarray, belief: float, z: float, unit: float = 1.0) -> None:
        self._value, self._belief, self._z, self._unit = value, belief, z, unit
        self._odds = np.zeros(0)
        self._rows = np.zeros((0, len(value)))
        self.alive = np.ones(len(value), np.bool_)

    def add(self, odds: np.ndarray, worth: np.ndarray) -> None:
        """Add deals: logarithms of how likely they are, and the worth of choices still in."""
        rows = np.zeros((len(odds), len(self.alive)))
        rows[:, self.alive] = worth
        self._odds = np.concatenate([self._odds, odds])
        self._rows = np.concatenate([self._rows, rows])

    def _weights(self) -> tuple[np.ndarray, float]:
        """Weights of the deals, of sum 1, and how many equally likely ones they are worth."""
        weights = np.exp(self._odds - self._odds.max())
        weights /= weights.sum()
        return weights, 1 / float((weights**2).sum())

    def _totals(self) -> np.ndarray:
        weights, count = self._weights()
        totals = count * (weights @ self._rows) + self._belief * self._value
        return np.where(self.alive, totals, -np.inf)

    def best(self) -> int:
        """The choice that is ahead."""
        return int(np.argmax(self._totals()))

    def drop(self) -> bool:
        """Drop those too far behind; whether one is left.

        The variance counts as if one more deal had differed, since few may not differ by chance.
        """
        weights, count = self._weights()
        totals, best = self._totals(), self.best()
        behind = self._rows[:, [best]] - self._rows
        spread = weights**2 @ (behind - weights @ behind) ** 2
        error = np.sqrt(spread + (self._unit / count) ** 2)
        self.alive &= (totals[best] - totals) / (count + self._belief) <= self._z * error
        return int(self.alive.sum()) == 1


class NetSearch(Search):
    """The search with a trained agent.

    Args:
        options: budget and so on.
        rules: the room.
        agent: of that room.
    """

    def __init__(self, options: Options, rules: RuleSet, agent: ValueAgent) -> None:
        super().__init__(options, rules)
        self.agent = agent

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id a row, `int64[B]`."""
        searched = (views["phase"] == Phase.PLAY) & (np.diff(legal.offsets) > 1)
        out = self.agent.act(views, legal)
        for i in np.flatnonzero(searched):
            row = legal.take(np.array([i]))
            out[i] = self._search(views[i : i + 1], row, int(out[i]))
        return out

    def _search(self, views: np.ndarray, legal: Legal, first: int) -> int:
        """A choice among two or more in phase play; `first` is the agent's own."""
        begin, o = time.perf_counter(), self.options
        values = self.agent.values(views, legal)
        value = (values.points if o.objective == "score" else values.chance).astype(np.float64)
        if values.chance.max() >= 1.0:  # certain
            return first
        order = np.argsort(-value, kind="stable")[: o.top]
        order = order[value[order] >= value[order[0]] - o.margin * (1 + abs(value[order[0]]))]
        chosen = legal.ids[order]
        if len(chosen) == 1:
            return int(chosen[0])
        unit = float(np.abs(value[order]).max()) if o.objective == "score" else 1.0
        tried = Tried(value[order], o.belief, o.z, unit)
        used = self._try_all(views[0], chosen, tried, begin + o.time)
        self._note(used, begin)
        return int(chosen[tried.best()])

    def _try_all(self, view: Any, chosen: np.ndarray, tried: Tried, end: float) -> int:
        """Try choices on hidden deals until one is left or the budget is used; the playouts."""
        o, used, params = self.options, 0, self._params(view)
        key = int(decision_bits(np.uint64(o.seed), view))
        while True:
            draw = mix(np.uint64((key + used) % 2**64))
            worlds, odds = believed(self.agent, view, draw, o.pool, o.most, o.blur, params)
            alive = np.flatnonzero(tried.alive)
            affordable = max(1, (o.playouts - used) // len(alive)) if o.playouts else WORLDS
            n = min(affordable, WORLDS)
            worlds, odds = worlds[:n], odds[:n]
            states = records(STATE, len(worlds) * len(alive))
            fill_all(view, worlds, np.uint64(key), params, TABLES, states)
            actions = np.tile(chosen[alive], len(worlds)).astype(np.int64)
            core.apply_rows(states, np.arange(len(states)), actions, params)
            worth = self._play_out(states, int(view["seat"]), params)
            tried.add(odds, worth.reshape(len(worlds), len(alive)))
            used += len(states)
            if tried.drop() or self._spent(used, int(tried.alive.sum()), end):
                return used

    def _worth(self, states: np.ndarray, seat: int) -> np.ndarray:
        """What finished games are worth to a seat: 1 for a deal won, or its points."""
        if self.options.objective == "score":
            return states["scores"][:, seat] / QUARTERS
        return ((states["winner"] == states["landlord"]) == (states["landlord"] == seat)).astype(
            np.float64
        )

    def _play_out(self, states: np.ndarray, seat: int, params: Params) -> np.ndarray:
        """Play games on by the agent, all seats; what each is worth to a seat, `float64[n]`.

        A game ends with its last card, or where the seat chooses a play for the `rounds`-th time:
        there the agent's own word of the best choice counts.
        """
        worth, buffer = np.full(len(states), np.nan), None
        left = np.full(len(states), self.options.rounds)
        while True:
            rows = np.flatnonzero((states["phase"] != _OVER) & np.isnan(worth))
            if len(rows) == 0:
                break
            legal, buffer = core.list_rows(states, rows, params, ids=buffer)
            actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
            free = np.flatnonzero(np.diff(legal.offsets) > 1)
            if len(free):
                views = records(VIEW, len(free))
                seats = states["turn"][rows[free]].astype(np.int64)
                cut_views(states, rows[free], seats, params, views)
                found = self.agent.best(views, legal.take(free))
                actions[free] = found.action
                mine = (seats == seat) & (views["phase"] == _PLAY)
                left[rows[free]] -= mine
                ended = mine & (left[rows[free]] == 0)
                value = found.points if self.options.objective == "score" else found.chance
                worth[rows[free[ended]]] = value[ended]
                going = np.isnan(worth[rows])
                rows, actions = rows[going], actions[going]
            core.apply_rows(states, rows, actions, params)
        over = states["phase"] == _OVER
        worth[over] = self._worth(states[over], seat)
        return worth


class Unplaced:
    """`search:dmc` before its room is known."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def in_room(self, rules: RuleSet) -> NetSearch:
        """The search for a room.

        Raises:
            AgentError: no weights for it are shipped, or the checkpoint is of another room.
        """
        spec = f"dmc:{self.options.net}" if self.options.net else "dmc"
        agent = load(spec, rules)
        objective = "adp" if self.options.objective == "score" else "wp"
        agent.objective = objective  # type: ignore[attr-defined]
        return NetSearch(self.options, rules, agent)  # type: ignore[arg-type]

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """Not before the room is known."""
        raise AgentError("agent search:dmc: needs the room: load('search:dmc', rules)")
