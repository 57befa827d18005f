"""Self-play: games of some rooms in flight, and the samples of those that have ended."""

from dataclasses import dataclass

import numpy as np
from torch import nn

from agents.inputs import Reader, pieces
from agents.value_agent import ROLES, best_of, net_of, preference, values_of
from ddz_env._jit import records
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet
from ddz_env.scoring import QUARTERS
from ddz_env.state import MAX_HISTORY
from ddz_env.vector import VecEnv
from ddz_env.view import VIEW, cut_views
from train.counts import Counts
from train.guests import Guests
from train.samples import SAMPLE, all_hands, keep, results_of, traced

BEFORE = len(ROLES)
"""Number of the network for the choices before the play."""
MOST_CHOICES = MAX_HISTORY + 32
"""Slots for the choices of one deal: those of the play, and those before it; choices beyond are
played and not learned from."""
FORK_NOISE = 0.3
"""Scale of the noise on the values among which a copy of a game chooses its other action."""


@dataclass(frozen=True)
class Behaviour:
    """How choices are made."""

    explore: float
    """Chance of a random choice."""
    adp: bool
    """Whether the play goes by points instead of the chance of winning."""
    calls: float | None = None
    """Chance of a random choice before the play; `explore` unless given."""


class Collector:
    """Plays games of one room with the networks.

    Args:
        rules: the room.
        games: in flight.
        seed: of the deals.
        rng: of the exploration, and of who the guests are.
        guests: specs of agents that take one side of some games, with commas between.
        guest_games: share of the games that have one.
        forks: share of the games that begin as a copy of another one, by another action.
        td_lambda: of the targets of the chance of winning (`traced`).
    """

    def __init__(
        self,
        rules: RuleSet,
        games: int,
        seed: int,
        rng: np.random.Generator,
        guests: str = "",
        guest_games: float = 0.0,
        forks: float = 0.0,
        td_lambda: float = 1.0,
    ) -> None:
        self.env = VecEnv(games, rules, seed)
        self.rng = rng
        self._guests = Guests(guests, guest_games, rules, games, rng)
        self.counts = Counts()
        """What happened so far."""
        self._reader = Reader()
        self._views = records(VIEW, games)
        # Samples of unfinished games: MOST_CHOICES slots a game, filled in order. Pages that were
        # never touched take no memory.
        self._samples = np.zeros(games * MOST_CHOICES, SAMPLE)
        self._seat = np.zeros(games * MOST_CHOICES, np.int8)
        self._count = np.zeros(games, np.int64)
        self._chance = np.zeros(games * MOST_CHOICES, np.float32)  # of the best choice
        self._random = np.zeros(games * MOST_CHOICES, bool)  # whether another was chosen
        self._td_lambda = td_lambda
        self._forks = forks
        self._copied = np.zeros(games, bool)  # and has not chosen its other action yet
        self._paired = np.zeros(games, bool)  # with a game that is still the same

    def step(self, nets: nn.ModuleList, how: Behaviour) -> np.ndarray:
        """One decision in every game; the samples of the games that ended, `SAMPLE[n]`."""
        env = self.env
        legal = env.legal()
        actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
        free = np.diff(legal.offsets) > 1
        states = env.states
        guest = np.where(free, self._guests.deciding(states), -1)
        net = net_of(states["phase"], states["turn"], states["landlord"])
        net = np.where(free & (guest < 0), net, -1)
        theirs, ids = self._guests.act(env, legal, guest)
        actions[theirs] = ids
        for k, role_net in enumerate(nets):
            rows = np.flatnonzero(net == k)
            if len(rows):
                lists = legal.take(rows)
                for begin, end in pieces(lists.offsets):
                    part = lists.part(begin, end)
                    actions[rows[begin:end]] = self._choose(k, role_net, rows[begin:end], part, how)
        self.counts.choices(env, actions, free)
        landlord, redeals = states["landlord"].astype(np.int64), states["redeals"].copy()
        done = env.step(actions)
        ended = [self._finish(i, landlord[i]) for i in np.flatnonzero(done)]
        # All passed. The next deal's points would be noise: seats are alike, so it is worth 0.
        passed = np.flatnonzero((states["redeals"] > redeals) & ~done)
        ended += [self._taken(i, np.zeros(3)) for i in passed]
        over = np.flatnonzero(done)
        self._guests.invite(over)
        self.env.states["deal"][over] = self.counts["games"] + over  # a guest's luck goes by it
        self._copied[over] = self._paired[over] = False
        if self._forks:
            self._fork(over)
        return np.concatenate(ended) if ended else np.zeros(0, SAMPLE)

    def _fork(self, ended: np.ndarray) -> None:
        """Put copies of running games in the places of some that have ended.

        A copy takes another action where the original takes the best one. What becomes of both with
        the same hands says more of the two actions than games with other hands would.
        """
        states = self.env.states
        running = np.setdiff1d(np.flatnonzero(~self._paired), ended)
        places = ended[self.rng.random(len(ended)) < self._forks][: len(running)]
        models = self.rng.choice(running, len(places), replace=False)
        following = states["seed"][places]  # of the deals that come after
        states[places] = states[models]
        states["seed"][places] = following
        self._guests.copy(models, places)
        self._copied[places] = self._paired[places] = self._paired[models] = True

    def _choose(
        self, k: int, net: nn.Module, rows: np.ndarray, legal: Legal, how: Behaviour
    ) -> np.ndarray:
        """Choices of network k in some rows, kept as samples."""
        env, n = self.env, len(rows)
        views = self._views[:n]
        seats = env.states["turn"][rows].astype(np.int64)
        cut_views(env.states, rows, seats, env.params, views)
        inputs = self._reader.read(views, legal)
        outputs = net.score_lists(inputs)
        offsets = legal.offsets
        value = preference(outputs, how.adp or k == BEFORE, inputs.sure)
        best = best_of(offsets, value)
        chance = values_of(outputs[best]).chance
        copied = self._copied[rows] & (inputs.sure < 0)
        if copied.any():
            value += self.rng.gumbel(scale=FORK_NOISE, size=len(value)).astype(np.float32)
            value[best] = -np.inf
            best = np.where(copied, best_of(offsets, value), best)
        self._copied[rows[inputs.sure < 0]] = self._paired[rows[inputs.sure < 0]] = False
        other = offsets[:-1] + (self.rng.random(n) * np.diff(offsets)).astype(np.int64)
        explore = how.calls if k == BEFORE and how.calls is not None else how.explore
        random = (self.rng.random(n) < explore) & (inputs.sure < 0) & ~copied
        chosen = np.where(random, other, best)
        kept = np.flatnonzero((self._count[rows] < MOST_CHOICES) & (inputs.sure < 0))
        slots = rows * MOST_CHOICES + self._count[rows]
        keep(self._samples, slots[kept], k, inputs, kept, chosen[kept])
        self._samples["hands"][slots[kept]] = all_hands(env.states, rows[kept], seats[kept])
        self._seat[slots[kept]] = seats[kept]
        self._chance[slots[kept]] = chance[kept]
        self._random[slots[kept]] = (random | copied)[kept]
        self._count[rows[kept]] += 1
        return legal.ids[chosen].astype(np.int64)

    def _finish(self, i: int, landlord: int) -> np.ndarray:
        """The samples of a game that has ended, with its points: 0 where the deal is void."""
        scores = self.env.scores[i]
        self.counts.game(scores, landlord)
        return self._taken(i, scores / QUARTERS)

    def _taken(self, i: int, points: np.ndarray) -> np.ndarray:
        """The samples of a deal that is over, with the points of the seats; a copy."""
        begin, n = i * MOST_CHOICES, int(self._count[i])
        self._count[i] = 0
        part = slice(begin, begin + n)
        samples, seats = self._samples[part], self._seat[part]
        samples["points"] = points[seats]
        results = results_of(points).astype(np.float32)
        targets = np.zeros(n, np.float32)
        traced(seats, self._chance[part], self._random[part], results, self._td_lambda, targets)
        # Choices before the play change what a deal is about; they learn from its result.
        before = samples["net"] == BEFORE
        samples["target"] = np.where(before, results[seats], targets)
        return samples.copy()
