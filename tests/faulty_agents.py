"""Agents that fail, for tests: as specs `faulty_agents:Raises`, ... Where they don't, they play on.

Each counts the decisions of one instance, that is of one seat of one layout.
"""

import os
import signal
import time
from pathlib import Path

import numba
import numpy as np

from ddz_env.bots import GreedyBot


class Faulty:
    """Plays as greedy does and fails in its `at`-th decision, where a batch holds it too.

    With `deal` it fails in every decision of that deal from its tenth on, with `seat` at that seat.
    With `again=false` it doesn't fail again when the decisions of a batch are asked one by one.
    """

    hidden = True
    """Whether a batch's answer doesn't tell which decision is at fault."""

    def __init__(self, at=100, once="", deal=-1, seat=-1, again=True):
        self.hidden = self.hidden and again
        self.at, self.once, self.count = at, once, 0
        self.deal, self.seat = deal, seat
        self.greedy = GreedyBot()

    def fail(self, views):
        raise NotImplementedError

    def act(self, views, legal):
        before, self.count = self.count, self.count + len(views)
        here = (views["deal"] == self.deal) & (views["n_history"] >= 10)
        here &= (self.seat < 0) | (views["seat"] == self.seat)
        if (before < self.at <= self.count and self._first_time()) or here.any():
            if (
                len(views) > 1 and self.hidden
            ):  # asked again one by one: the same decision fails again
                self.count = before
            return self.fail(views, legal)
        return self.greedy.act(views, legal)

    def _first_time(self):
        """Whether a file that says so is new, so that another process doesn't fail again."""
        if not self.once:
            return True
        try:
            Path(self.once).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class Raises(Faulty):
    """Raises an error of its own."""

    def fail(self, views, legal):
        raise RuntimeError("boom\nand more")


class Exits(Faulty):
    """Asks Python to end."""

    def fail(self, views, legal):
        raise SystemExit(3)


class Sleeps(Faulty):
    """Sleeps for an hour, and doesn't like to be woken."""

    def fail(self, views, legal):
        for _ in range(2):
            try:
                time.sleep(1800)
            except Exception:
                continue
        return self.greedy.act(views, legal)


@numba.njit
def _spin(n):
    total = 0.0
    for i in range(n):
        total += np.sin(i)
    return total


class Hangs(Faulty):
    """Hangs in native code, where no signal is heard."""

    def fail(self, views, legal):
        _spin(10**14)
        return self.greedy.act(views, legal)


class Kills(Faulty):
    """Ends its own process, as a crash in native code would."""

    def fail(self, views, legal):
        os.kill(os.getpid(), signal.SIGKILL)


class Nonsense(Faulty):
    """Chooses what is not legal."""

    hidden = False

    def fail(self, views, legal):
        answer = self.greedy.act(views, legal)
        answer[0] = 10**9
        return answer


class Shapeless(Faulty):
    """Answers no ids at all."""

    def fail(self, views, legal):
        return ["pass"] * len(views)


class Always:
    """Answers nonsense from the first decision on."""

    def act(self, views, legal):
        return np.full(len(views), -5)


class Memory:
    """Passes or plays by what it has seen so far: it does remember."""

    def __init__(self):
        self.seen = 0

    def act(self, views, legal):
        chosen = []
        for i in range(len(views)):
            ids = legal.ids[legal.offsets[i] : legal.offsets[i + 1]]
            self.seen = (self.seen * 31 + int(ids.sum())) % 1_000_003
            chosen.append(int(ids[self.seen % len(ids)]))
        return np.array(chosen)


class Dice:
    """Draws from numpy's global generator."""

    def act(self, views, legal):
        low, high = legal.offsets[:-1], legal.offsets[1:]
        return legal.ids[np.random.randint(low, high)].astype(np.int64)


class Refuses:
    """Can't be made."""

    def __init__(self):
        raise OSError("no such weights\nat all")

    def act(self, views, legal):
        raise AssertionError


class Naps:
    """Sleeps a fixed time for every decision, then plays as greedy does."""

    def __init__(self, seconds=0.001):
        self.seconds = seconds

    def act(self, views, legal):
        time.sleep(self.seconds * len(views))
        return GreedyBot().act(views, legal)


class LoadsFirst:
    """Takes half a second for the first decision of a process, as what compiles does."""

    loaded = False

    def act(self, views, legal):
        if not LoadsFirst.loaded:
            time.sleep(0.5)
            LoadsFirst.loaded = True
        return GreedyBot().act(views, legal)
