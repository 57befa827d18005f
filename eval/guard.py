"""Agents that fail: what happens to an agent that raises, answers nonsense, is late, or crashes.

The trustee (auto-play) plays its seat from there on in that game, and the fault is counted. An
answer for several decisions at once may hide which one is at fault: then each is asked again by
itself, and only the seats that fail alone are taken over. Where none does (an agent that remembers
may fail once and not again), the first one's seat is, so that no fault passes unseen.

Late is a decision that takes longer than the limit when it is asked by itself. Decisions are asked
together in numbers that follow the agent's own pace, at first one, so that a call of many stays
far within the limit for one; a call that doesn't is ended, and its decisions are asked again one by
one. A call in Python or that returns to it is ended by a timer; what hangs in native code is ended
with its process (`workers.py`).
"""

import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from agents.base import Agent
from ddz_env._jit import records
from ddz_env.bots import TrusteeBot
from ddz_env.core import first_illegal
from ddz_env.errors import IllegalActionError
from ddz_env.params import Params
from ddz_env.vector import Legal
from ddz_env.view import VIEW, cut_views
from eval.games import Fault

EDGES = np.geomspace(1e-7, 1e4, 441)
"""Edges of the bins of decision times, seconds; each bin is 6% wide."""
SHARE = 0.1
"""Of the limit: how long a call of several decisions is meant to take."""
NOTES = 3
"""Faults that are described, for each agent and chunk."""


Bans = Mapping[tuple[int, int, int], tuple[int, Fault]]
"""Seats that the trustee has from a ply on: `{(side, game, seat): (ply, fault)}`."""


class Late(BaseException):
    """The timer rang. No `Exception`, which an agent might catch."""


def within(seconds: float | None, call: Callable[[], Any]) -> Any:
    """What a call returns; `Late` is raised in it after some time, and again each time that passes.

    Nothing rings without a limit, outside the main thread, or where there are no signals. A plain
    function, since in the methods of a context manager the timer could ring before it is stopped.
    """
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not usable:
        return call()
    armed = True

    def ring(*_: Any) -> None:
        if armed:
            raise Late

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        return call()
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Watch(Protocol):
    """Told what is asked, so that somebody outside can tell who hangs or crashes the process."""

    def asking(self, side: int, game: int, seat: int, ply: int, rows: int, limit: float) -> None:
        """A call begins: of `rows` decisions of an agent, the first of which is named."""
        ...

    def answered(self) -> None:
        """The call has ended."""
        ...


def cut(states: np.ndarray, rows: np.ndarray, params: Params) -> np.ndarray:
    """The views of the seats on turn in some rows, `VIEW[rows]`."""
    views = records(VIEW, len(rows))
    cut_views(states, rows, states["turn"][rows].astype(np.int64), params, views)
    return views


def read_answer(answer: Any, n: int) -> np.ndarray:
    """An agent's answer as `int64[n]`.

    Raises:
        IllegalActionError: anything but `n` whole numbers.
    """
    answer = np.asarray(answer)
    if answer.shape != (n,) or answer.dtype.kind not in "iu":
        raise IllegalActionError(f"expected {n} ids, got {answer.dtype} {answer.shape}")
    return np.array(answer, np.int64)


def decide_strictly(
    k: int, agent: Agent, states: np.ndarray, rows: np.ndarray, legal: Legal, params: Params
) -> np.ndarray:
    """An agent's choices for some rows; an error where it fails."""
    answer = agent.act(cut(states, rows, params), legal)
    try:
        actions = read_answer(answer, len(rows))
    except IllegalActionError as error:
        raise IllegalActionError(f"{agent!r}: {error}") from error
    bad = first_illegal(states, rows, actions, params)
    if bad >= 0:
        raise IllegalActionError(f"{agent!r} chose action {actions[bad]}, which is not legal")
    return actions


class Guard:
    """Asks agents, and the trustee where they have failed.

    Args:
        sides: whose each of the instances is that are asked by number: 0 agent A, 1 agent B, 2 the
            one that makes the calls.
        games: number of games.
        limit: seconds for a decision, None for no limit.
        watch: told what is asked.
        bans: `{(side, game, seat): (ply, fault)}`: seats that the trustee has from a ply on since
            their agents ended a process there.
        alone: sides whose decisions are asked one by one.

    Attributes:
        faults: `Fault[games, 3]`, seats that the trustee has.
        times: `int64[3, 440]`, decisions of each side by the time they took, between `EDGES`; those
            asked together count with an equal share of their call.
        notes: what went wrong, the first few of each side.
    """

    def __init__(
        self,
        sides: list[int],
        games: int,
        limit: float | None = None,
        watch: Watch | None = None,
        bans: Bans | None = None,
        alone: frozenset[int] = frozenset(),
    ) -> None:
        self.sides = sides
        self.limit = limit
        self.watch = watch
        self.bans = dict(bans or {})
        self.alone = alone
        self.faults = np.zeros((games, 3), np.uint8)
        self.times = np.zeros((3, len(EDGES) - 1), np.int64)
        self.notes: list[list[str]] = [[], [], []]
        self._pace = [1, 1, 1]
        self._single: set[int] = set()
        """Agents asked one by one since their calls for several failed, by number."""
        self._trustee = TrusteeBot()

    def __call__(
        self, k: int, agent: Agent, states: np.ndarray, rows: np.ndarray, legal: Legal, params: Any
    ) -> np.ndarray:
        """The choices for some rows, `int64[rows]`, all legal."""
        self._apply_bans(self.sides[k], states, rows)
        seats = states["turn"][rows].astype(np.int64)
        views = cut(states, rows, params)
        actions = np.zeros(len(rows), np.int64)
        waiting = np.flatnonzero(self.faults[rows, seats] == 0)
        while len(waiting):
            part, waiting = np.split(waiting, [min(len(waiting), self._rows(k))])
            self._ask_part(k, agent, states, rows, views, legal, part, actions, params)
        taken = np.flatnonzero(self.faults[rows, seats])
        if len(taken):
            actions[taken] = self._trustee.act(views[taken], legal.take(taken))
        return actions

    def _apply_bans(self, side: int, states: np.ndarray, rows: np.ndarray) -> None:
        """Give the trustee the seats whose agents ended a process at this ply."""
        for (banned, game, seat), (ply, fault) in self.bans.items():
            on_turn = banned == side and game in rows and states["turn"][game] == seat
            if on_turn and states["n_history"][game] >= ply and not self.faults[game, seat]:
                self._fail(side, states[game], game, fault, "its process ended or hung")

    def _rows(self, k: int) -> int:
        """How many decisions the next call may hold."""
        side = self.sides[k]
        if side in self.alone or k in self._single:
            return 1
        return 1 << 40 if self.limit is None else self._pace[side]

    def _ask_part(
        self,
        k: int,
        agent: Agent,
        states: np.ndarray,
        rows: np.ndarray,
        views: np.ndarray,
        legal: Legal,
        part: np.ndarray,
        actions: np.ndarray,
        params: Params,
    ) -> None:
        """Fill in the choices for a part of the rows; note the seats that fail.

        Where a call for several fails and none of its decisions does alone, the first one's seat is
        the trustee's, and the agent is asked one by one from then on: so one that can't answer for
        several loses no more than a seat. Several may take longer than one may; they are late only
        if they take less than that when each is asked alone.
        """
        state = states[rows[part[0]]]
        if self.watch is not None:
            place = int(rows[part[0]]), int(state["turn"]), int(state["n_history"])
            self.watch.asking(self.sides[k], *place, len(part), self.limit or np.inf)
        answer, fault, why = self._ask(k, agent, views[part], legal.take(part))
        if self.watch is not None:
            self.watch.answered()
        if answer is None and len(part) > 1:
            begin = time.perf_counter()
            for one in part:
                alone = np.array([one])
                self._ask_part(k, agent, states, rows, views, legal, alone, actions, params)
            took = time.perf_counter() - begin
            games = rows[part]
            hidden = not self.faults[games, states["turn"][games]].any()
            if hidden and (fault != Fault.LATE or took < (self.limit or 0)):
                self._single.add(k)
                text = f"in a call for {len(part)}, none of which fails alone: {why}"
                self._fail(self.sides[k], state, int(games[0]), fault, text)
            return
        if answer is None:
            self._fail(self.sides[k], state, int(rows[part[0]]), fault, why)
            return
        while (bad := first_illegal(states, rows[part], answer, params)) >= 0:
            game = int(rows[part[bad]])
            text = f"chose action {answer[bad]}, which is not legal"
            self._fail(self.sides[k], states[game], game, Fault.ILLEGAL, text)
            answer[bad] = legal.ids[legal.offsets[part[bad]]]  # until the trustee has chosen
        actions[part] = answer

    def _ask(
        self, k: int, agent: Agent, views: np.ndarray, legal: Legal
    ) -> tuple[np.ndarray | None, Fault, str]:
        """(choices, -, -) of a call, or (None, fault, why)."""
        n, side = len(views), self.sides[k]
        begin = time.perf_counter()
        try:
            answer = within(self.limit, lambda: read_answer(agent.act(views, legal), n))
            result = answer, Fault.NONE, ""
        except Late:
            result = None, Fault.LATE, f"took longer than {self.limit} s"
        except IllegalActionError as error:
            result = None, Fault.ILLEGAL, str(error)
        except (Exception, SystemExit) as error:  # whatever an agent may do
            text = str(error).partition("\n")[0]
            result = None, Fault.RAISED, f"{type(error).__name__}: {text}"
        took = time.perf_counter() - begin
        if self.limit is not None:
            if result[0] is not None and took > self.limit:  # where no timer could ring
                result = None, Fault.LATE, f"took {took:.3g} s"
            fast = result[0] is not None and took < SHARE * self.limit
            self._pace[side] = max(self._pace[side], 2 * n) if fast else max(1, n // 2)
        if result[0] is not None or n == 1:
            place = int(np.clip(np.searchsorted(EDGES, took / n) - 1, 0, len(EDGES) - 2))
            self.times[side, place] += n
        return result

    def _fail(self, side: int, state: Any, game: int, fault: Fault, why: str) -> None:
        """The trustee takes over the seat on turn."""
        seat = int(state["turn"])
        self.faults[game, seat] = fault
        if len(self.notes[side]) < NOTES:
            where = f"deal {state['deal']}, seat {seat}, decision {state['n_history']}"
            self.notes[side].append(f"{fault.name.lower()} at {where}: {why}")


Decide = Callable[[int, Agent, np.ndarray, np.ndarray, Legal, Params], np.ndarray]
"""What asks an agent, by its number, for its choices in some rows: `decide_strictly`, a `Guard`."""
