"""The search: choices tried out on hidden hands that fit what the seat knows, played to the end.

A decision of the play goes like this:

1. Going out, and a win that is certain whatever the others hold (`planner_wins`), are taken.
2. Candidates: the planner's best choices by its weighted sums, pass, every bomb.
3. Hidden hands are drawn (`search_worlds`); on each of them every candidate is made and the rest
   played out by a fast policy that sees no more than its seat does (`search_play`), or solved
   exactly once few cards are left. All candidates meet the same hands, so the luck of the deal
   cancels out. The policy is the planner (`quick` leaves out its certain wins).
4. A candidate that is behind the best one by more than chance explains is dropped; the search ends
   when one is left, or with its budget. Of what is left the one with most deals won is chosen; the
   planner's weighted sums count like a few deals.

All else (calls, shows, doubles, fillings) is chosen by the planner. With a budget of playouts a
choice depends on the seed, the view and the legal ids alone; with a budget of time also on how far
it gets. With policy dmc networks do all of this instead: `search_net`.

WP against `planner`, duplicate deals:

- `play_only`, 120 playouts, 200 deals: hidden hands all alike .568 +-.034 (landlord .455, farmers
  .680); endgames solved from 14 cards down .565 +-.035. The weights count: resampled by them and
  moved by a chain .603 +-.033 (`trust=0.3`); resampled alone, where few hands carry nearly all
  weight, .575 +-.034 (`trust=0.5`) and .545 +-.033 (`trust=1.0`). `quick` with 240 playouts and
  hands all alike: .552 +-.035.
- `play_only`, 0.1 s a decision, 400 deals: .626 +-.024, landlord .518 +-.048, farmers .735 +-.043;
  1,540 playouts a second, 87 ms a searched decision, nine of them in a game.
- `happy_laizi`, 0.1 s, 400 deals with greedy's calls: .620 +-.023, landlord .595, farmers .645;
  1,330 playouts a second.
"""

import time
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

import numpy as np

from agents.base import AgentError
from agents.planner import Planner
from agents.search_play import POLICIES, list_candidates, make_arena, try_choices
from agents.search_worlds import imagine
from ddz_env.bots import decision_bits
from ddz_env.catalogue import TABLES
from ddz_env.engine import mix
from ddz_env.hidden import fill_state
from ddz_env.params import Params
from ddz_env.rules import PRESETS, RuleSet
from ddz_env.state import Phase
from ddz_env.vector import Legal

OBJECTIVES = ("wp", "score")
BATCH = 16
"""Hidden hands drawn at a time."""
FIRST_LOOK, LOOK_EVERY = 8, 4
"""Hidden hands after which candidates may be dropped for the first time, and from then on."""
MOST_BONUS = 2.0
"""The most that the planner's weighted sums count, in deals won."""
_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Options:
    """What a search may be told: `search:time=0.1,policy=planner`.

    Raises:
        AgentError: a value out of its range, by name.
    """

    time: float = 0.1
    """Seconds for a decision; not used where `playouts` are given."""
    playouts: int = 0
    """Playouts for a decision, 0 for a budget of time."""
    seed: int = 0
    """The agent's own seed."""
    policy: str = "planner"
    """Who plays out: planner, quick, greedy, or dmc, a trained agent (`search_net`)."""
    net: str = ""
    """Checkpoint or shipped weights of policy dmc; the room's shipped ones unless given."""
    belief: float = 32.0
    """With policy dmc: what the networks' word of a choice counts, in deals."""
    margin: float = 0.1
    """With policy dmc: how far behind the best choice one may look and be tried."""
    rounds: int = 2
    """With policy dmc: own plays after which the networks' word ends a playout; 0: never."""
    blur: float = 0.03
    """With policy dmc: the chance of winning that another's choice may cost him unnoticed."""
    pool: int = 256
    """With policy dmc: hidden hands drawn at a time, of which the likeliest are tried."""
    objective: str = "wp"
    """What is made large: wp, the chance to win, or score, the points of the deal."""
    top: int = 8
    """Candidates by the planner's weighted sums, beside pass and bombs."""
    exact: int = 14
    """Cards in all hands from which down a drawn position is solved instead of played out."""
    nodes: int = 2000
    """Positions that the solver may look into before the position is played out after all."""
    trust: float = 0.3
    """Exponent of the weights of hidden hands by others' choices so far; 0: all alike."""
    most: int = 12
    """Choices of others that count in the weights, the last ones."""
    draws: int = 3
    """Hidden hands drawn for one that is kept, where they are weighed."""
    moves: int = 2
    """Steps of each one's chain afterwards."""
    prior: float = 0.24
    """What a unit of the planner's weighted sums counts, in deals won."""
    z: float = 2.0
    """Standard errors behind the best at which a candidate is dropped."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("time", 0.0, 3600.0), ("playouts", 0, 10**7), ("seed", 0, _LARGEST_SEED),
            ("top", 1, 1000), ("exact", 0, 54), ("nodes", 1, 10**8), ("trust", 0.0, 10.0),
            ("most", 1, 1000), ("draws", 1, 1000), ("moves", 0, 1000), ("prior", 0.0, 100.0),
            ("z", 0.0, 100.0), ("belief", 0.0, 1e6), ("margin", 0.0, 1e6),
            ("blur", 1e-3, 1e3), ("pool", 1, 10**6), ("rounds", 0, 100),
        ):  # fmt: skip
            value = getattr(self, name)
            if not low <= value <= high:
                raise AgentError(f"search: {name}: expected {low}..{high}, got {value}")
        for name, allowed in (("policy", (*POLICIES, "dmc")), ("objective", OBJECTIVES)):
            if getattr(self, name) not in allowed:
                got = getattr(self, name)
                raise AgentError(f"search: {name}: expected {' or '.join(allowed)}, got {got!r}")


class Tally:
    """The worth of candidates on one hidden deal after another, and which are still in."""

    def __init__(self, sums: np.ndarray, prior: float, z: float) -> None:
        self._z = z
        self._bonus = np.maximum(prior * (sums - sums[0]), -MOST_BONUS)
        self.alive = np.ones(len(sums), np.bool_)
        self.rows = np.zeros((64, len(sums)))
        self.n = 0

    def next_row(self) -> np.ndarray:
        """Where the worths on the next hidden deal go."""
        if self.n == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        self.n += 1
        return self.rows[self.n - 1]

    def best(self) -> int:
        """The candidate that is ahead."""
        totals = self.rows[: self.n].sum(axis=0) + self._bonus
        return int(np.argmax(np.where(self.alive, totals, -np.inf)))

    def drop(self) -> bool:
        """Drop those too far behind; whether one is left.

        The variance counts as if one more deal had differed, since few may not differ by chance.
        """
        rows, best = self.rows[: self.n], self.best()
        behind = rows[:, [best]] - rows
        mean = behind.mean(axis=0)
        error = np.sqrt(((behind - mean) ** 2).sum(axis=0) + 1.0) / self.n
        lead = mean + (self._bonus[best] - self._bonus) / self.n
        self.alive &= lead <= self._z * error
        self.alive[best] = True
        return int(self.alive.sum()) == 1


class Search:
    """The search.

    Args:
        options: budget, policy and so on.
        rules: the room; without it, the preset that a view looks most like, which may know other
            plays and scores than the true room.
    """

    def __init__(self, options: Options | None = None, rules: RuleSet | None = None) -> None:
        self.options = Options() if options is None else options
        self._room = rules
        self._planner = Planner()
        self._arena = make_arena(self._planner.weights)
        self.decisions = self.playouts = 0
        """Decisions that were searched, and playouts for them."""
        self.seconds = 0.0
        """Time that they took."""

    def in_room(self, rules: RuleSet) -> "Search":
        """The same search for a room."""
        return Search(self.options, rules)

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id a row, `int64[B]`."""
        searched = (views["phase"] == Phase.PLAY) & (np.diff(legal.offsets) > 1)
        out = np.zeros(len(views), np.int64)
        others = np.flatnonzero(~searched)
        if len(others):
            out[others] = self._planner.act(views[others], legal.take(others))
        for i in np.flatnonzero(searched):
            out[i] = self._decide(views[i], legal.ids[legal.offsets[i] : legal.offsets[i + 1]])
        return out

    def _params(self, view: Any) -> Params:
        """The room, or what a view looks like."""
        room = self._room or PRESETS[_room_of(view)]
        return room.params()

    def _decide(self, view: Any, ids: np.ndarray) -> int:
        """A choice among two or more in phase play."""
        begin, options = time.perf_counter(), self.options
        chosen, sums = np.zeros(len(ids), np.int32), np.zeros(len(ids))
        params = self._params(view)
        n = list_candidates(view, ids, options.top, TABLES, self._arena, chosen, sums)
        if n == 1:
            return int(chosen[0])
        tally = Tally(sums[:n], options.prior, options.z)
        used = self._fill(view, chosen[:n], tally, params, begin + options.time)
        self._note(used, begin)
        return int(chosen[tally.best()])

    def _note(self, used: int, begin: float) -> None:
        """Note what a decision cost: playouts, and the seconds since `begin`."""
        self.decisions += 1
        self.playouts += used
        self.seconds += time.perf_counter() - begin

    def _spent(self, used: int, more: int, end: float) -> bool:
        """Whether the budget does not allow `more` playouts after those used."""
        if self.options.playouts:
            return used + more > self.options.playouts
        return time.perf_counter() >= end

    def _fill(
        self, view: Any, chosen: np.ndarray, tally: Tally, params: Params, end: float
    ) -> int:  # fmt: skip
        """Try candidates on hidden deals until one is left or the budget is used; the playouts."""
        o, arena, used, unit = self.options, self._arena, 0, 1.0
        policy, points = POLICIES.index(o.policy), o.objective == "score"
        key = int(decision_bits(np.uint64(o.seed), view))
        while True:
            at = tally.n % BATCH
            if at == 0:
                worlds = self._imagine(view, mix(np.uint64((key + tally.n) % 2**64)), params)
            fill_state(view, worlds[at], np.uint64(key), params, TABLES, arena.states[0])
            row = tally.next_row()
            used += try_choices(
                chosen, tally.alive, policy, o.exact, o.nodes, points, row, params, TABLES, arena
            )
            if points:
                # In halves of what the deal is played for at least, so that a win counts one.
                unit = 2 * np.abs(row).min() if tally.n == 1 else unit
                row /= unit
            if tally.n >= FIRST_LOOK and tally.n % LOOK_EVERY == 0 and tally.drop():
                return used
            if self._spent(used, int(tally.alive.sum()), end):
                return used

    def _imagine(self, view: Any, key: np.uint64, params: Params) -> np.ndarray:
        """Hidden cards for `BATCH` deals, `uint64[BATCH, 4]`."""
        o = self.options
        worlds = np.zeros((BATCH, 4), np.uint64)
        pool = np.zeros((BATCH * o.draws, 4), np.uint64)
        imagine(view, key, o.most, o.trust, o.moves, pool, worlds, params, TABLES, self._arena)
        return worlds


def _room_of(view: Any) -> str:
    """The preset that a view in the play looks most like."""
    if view["wild"] < 0:
        return "jj_classic" if view["turned_rank"] >= 0 else "play_only"
    return "happy_laizi"


def from_spec(argument: str | None) -> Any:
    """The agent from its spec, `name=value` with commas between; `dmc` alone is `policy=dmc`.

    Raises:
        AgentError: no such option, a value that it can't take.
    """
    defaults = {field.name: field.default for field in fields(Options)}
    changes: dict[str, Any] = {}
    for part in argument.split(",") if argument is not None else ():
        name, _, value = ("policy", "=", part) if part == "dmc" else part.partition("=")
        if name not in defaults:
            raise AgentError(f"search: expected some of {', '.join(defaults)}, got {part!r}")
        kind = type(defaults[name])
        try:
            changes[name] = kind(value)
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise AgentError(f"search: {name}: expected {wanted}, got {value!r}") from None
    options = Options(**changes)
    if options.policy == "dmc":
        return import_module("agents.search_net").Unplaced(options)
    return Search(options)
