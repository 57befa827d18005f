"""`search:dmc`: the search with a trained agent, which names the choices and plays them out.

As in `search.py`, choices are tried on hidden hands that fit what the seat knows. Here the trained
agent's networks say which choices are worth a try and how good they look beforehand, and all seats
are played out by it, many games in a batch. The chance that the networks give a choice counts like
`belief` deals, so that few playouts do not overturn what they know.
"""

import time
from typing import Any

import numpy as np

from agents.base import AgentError, load
from agents.search import BATCH, Options, Search, Tally
from agents.value_agent import ValueAgent
from ddz_env import core
from ddz_env._jit import records
from ddz_env.bots import decision_bits
from ddz_env.catalogue import TABLES
from ddz_env.engine import mix
from ddz_env.hidden import fill_state
from ddz_env.listed import Legal
from ddz_env.params import Params
from ddz_env.rules import RuleSet
from ddz_env.scoring import QUARTERS
from ddz_env.state import STATE, Phase
from ddz_env.view import VIEW, cut_views

_OVER = int(Phase.OVER)


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
        points = o.objective == "score"
        value = values.points if points else values.chance
        if values.chance.max() >= 1.0:  # certain
            return first
        order = np.argsort(-value, kind="stable")[: o.top]
        order = order[value[order] >= value[order[0]] - o.margin * (1 + abs(value[order[0]]))]
        chosen = legal.ids[order]
        if len(chosen) == 1:
            return int(chosen[0])
        scale = float(np.abs(value[order]).max()) if points else 1.0
        tally = Tally(value[order] / scale, o.belief, o.z)
        used = self._play_all(views[0], chosen, tally, scale, begin + o.time)
        return self._settle(chosen, tally, used, begin)

    def _play_all(
        self, view: Any, chosen: np.ndarray, tally: Tally, scale: float, end: float
    ) -> int:
        """Try choices on batches of hidden deals until the budget is used; the playouts."""
        o, used, params = self.options, 0, self._params(view)
        key = int(decision_bits(np.uint64(o.seed), view))
        while True:
            worlds = self._imagine(view, mix(np.uint64((key + tally.n) % 2**64)), params)
            alive = np.flatnonzero(tally.alive)
            states = records(STATE, BATCH * len(alive))
            for k in range(len(states)):
                world = worlds[k // len(alive)]
                fill_state(view, world, np.uint64(key), params, TABLES, states[k])
            actions = np.tile(chosen[alive], BATCH).astype(np.int64)
            core.apply_rows(states, np.arange(len(states)), actions, params)
            self._play_out(states, params)
            worth = self._worth(states, int(view["seat"])) / scale
            for row in worth.reshape(BATCH, len(alive)):
                tally.next_row()[alive] = row
            used += len(states)
            if tally.drop() or self._spent(used, BATCH * int(tally.alive.sum()), end):
                return used

    def _worth(self, states: np.ndarray, seat: int) -> np.ndarray:
        """What finished games are worth to a seat: 1 for a deal won, or its points."""
        if self.options.objective == "score":
            return states["scores"][:, seat] / QUARTERS
        return ((states["winner"] == states["landlord"]) == (states["landlord"] == seat)).astype(
            np.float64
        )

    def _play_out(self, states: np.ndarray, params: Params) -> None:
        """Play games to their ends, all seats by the agent."""
        buffer = None
        while True:
            rows = np.flatnonzero(states["phase"] != _OVER)
            if len(rows) == 0:
                return
            legal, buffer = core.list_rows(states, rows, params, ids=buffer)
            actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
            free = np.flatnonzero(np.diff(legal.offsets) > 1)
            if len(free):
                views = records(VIEW, len(free))
                seats = states["turn"][rows[free]].astype(np.int64)
                cut_views(states, rows[free], seats, params, views)
                actions[free] = self.agent.act(views, legal.take(free))
            core.apply_rows(states, rows, actions, params)


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
