"""Chunks played in several processes, which may be killed, crash or hang.

A worker that ends while it plays a chunk is replaced and the chunk is played again: a kill from
outside costs time, never a result. An agent that ends or hangs its process is found out by what it
was asked: its decisions are then asked one by one, and the seat at fault is the trustee's.
"""

import multiprocessing as mp
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from ddz_env.errors import DdzError
from eval.chunks import Chunk, ChunkResult, play_chunk
from eval.games import Fault
from eval.match import games_of_a_deal

GRACE = 5.0
"""Seconds after its limit at which an agent that the timer couldn't end is ended from outside."""
MOST_ENDS = 6
"""Ends of workers in a chunk from which on an agent is the trustee's in all of the chunk."""
Done = Callable[[Chunk, ChunkResult], None]
"""Called with each chunk that is finished."""
_SPAWN = mp.get_context("spawn")


class WorkerError(DdzError):
    """Workers end again and again, and no agent was asked when they did."""


@dataclass(frozen=True)
class Asked:
    """What a worker was asking when it ended."""

    side: int
    game: int
    seat: int
    ply: int
    rows: int


class SharedWatch:
    """What a worker asks, where the main process sees it: deadline and the fields of `Asked`."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def asking(self, side: int, game: int, seat: int, ply: int, rows: int, limit: float) -> None:
        """A call begins."""
        self._memory[1:6] = [side, game, seat, ply, rows]
        self._memory[0] = time.monotonic() + limit

    def answered(self) -> None:
        """The call has ended."""
        self._memory[0] = 0.0

    def read(self) -> Asked | None:
        """What is asked now, None between calls."""
        return Asked(*map(int, self._memory[1:6])) if self._memory[0] else None

    def overdue(self) -> bool:
        """Whether a call lasts longer than the timer in the worker would let it."""
        return 0 < self._memory[0] < time.monotonic() - GRACE


@dataclass
class _Attempt:
    """A chunk, and what earlier attempts to play it have shown."""

    chunk: Chunk
    ends: int = 0
    bans: dict[tuple[int, int, int], tuple[int, Fault]] = field(default_factory=dict)
    alone: frozenset[int] = frozenset()

    def learn(self, asked: Asked | None, fault: Fault) -> None:
        """Note that a worker ended with this chunk.

        The first end without a hang may have come from outside: nothing is concluded from it.

        Raises:
            WorkerError: the second end while no agent was asked.
        """
        self.ends += 1
        if fault == Fault.CRASHED and self.ends == 1:
            return
        if asked is None:
            raise WorkerError(
                "worker: ended twice in the same chunk while no agent was asked (out of memory?)"
            )
        if self.ends >= MOST_ENDS:
            deals, pairing = self.chunk.deals, self.chunk.pairing
            games = len(deals.keys) * games_of_a_deal(pairing.rules, pairing.calls is not None)
            places = ((game, seat) for game in range(games) for seat in range(3))
            self.bans |= {(asked.side, *place): (0, fault) for place in places}
        elif asked.rows > 1:
            self.alone |= {asked.side}
        else:
            self.bans[asked.side, asked.game, asked.seat] = asked.ply, fault


def _work(line: Connection, memory: Any, parent: int) -> None:
    """The body of a worker: chunks come in, results go out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch = SharedWatch(memory)

    def alive() -> None:
        if os.getppid() != parent:  # killed, so it couldn't say
            os._exit(1)

    while True:
        try:
            chunk, bans, alone, again = line.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = play_chunk(chunk, watch, alive, bans, alone, warm=not again)
        except DdzError as error:
            answer = error
        except Exception:
            answer = RuntimeError(traceback.format_exc())
        try:
            line.send(answer)
        except OSError:
            return


class _Worker:
    """A worker process and the chunk that it plays."""

    def __init__(self) -> None:
        memory = _SPAWN.RawArray("d", 6)
        self.line, other = _SPAWN.Pipe()
        self.watch = SharedWatch(memory)
        self.process = _SPAWN.Process(
            target=_work, args=(other, memory, os.getpid()), daemon=True, name="ddz-worker"
        )
        self.attempt: _Attempt | None = None
        # Read by numeric libraries when the worker loads them: one thread for each process.
        threads = {k: os.environ.get(k) for k in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        os.environ.update(dict.fromkeys(threads, "1"))
        heard = signal.getsignal(signal.SIGINT)
        main = threading.current_thread() is threading.main_thread()
        try:
            if main:  # Ctrl-C is the main process's alone, from before the worker's first import
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            self.process.start()
        finally:
            if main:
                signal.signal(signal.SIGINT, heard)
            for name, value in threads.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value
        other.close()

    def give(self, attempt: _Attempt) -> None:
        """Hand a chunk over."""
        self.attempt = attempt
        try:
            self.line.send((attempt.chunk, attempt.bans, attempt.alone, attempt.ends > 0))
        except OSError:
            pass  # it has ended, which is seen when its answer is waited for

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join()
        self.line.close()


def _take(worker: _Worker, ready: list[Any]) -> tuple[Any, Fault]:
    """(what a worker answered or None, what is wrong with it)."""
    if worker.line in ready:
        try:
            return worker.line.recv(), Fault.NONE
        except (EOFError, OSError):
            return None, Fault.CRASHED
    if worker.process.sentinel in ready:
        return None, Fault.CRASHED
    return None, Fault.LATE if worker.watch.overdue() else Fault.NONE


def _settle(worker: _Worker, ready: list[Any], waiting: deque[_Attempt], done: Done) -> bool:
    """See what a busy worker has come to; whether it had to be ended, and its chunk waits again."""
    attempt, asked = worker.attempt, worker.watch.read()
    assert attempt is not None
    answer, fault = _take(worker, ready)
    if isinstance(answer, Exception):
        raise answer
    if fault:
        worker.end()
        attempt.learn(asked, fault)
        waiting.appendleft(attempt)
    elif answer is not None:
        done(attempt.chunk, answer)
        worker.attempt = None
    return bool(fault)


def play_chunks(
    chunks: Iterable[Chunk],
    processes: int,
    done: Done,
    alive: Callable[[], None] | None = None,
) -> None:
    """Play chunks in worker processes.

    Args:
        chunks: the chunks.
        processes: number of workers; 0 plays in this process, which an agent can then end or hang.
        done: called with each result, in any order.
        alive: called once a second or oftener, for progress.

    Raises:
        DdzError: an agent can't be made in a worker.
        WorkerError: workers end while no agent is asked.
        RuntimeError: a fault of this package, with a worker's traceback.
    """
    waiting = deque(_Attempt(chunk) for chunk in chunks)
    if processes == 0:
        for attempt in waiting:
            done(attempt.chunk, play_chunk(attempt.chunk, alive=alive))
        return
    workers = [_Worker() for _ in range(min(processes, len(waiting)))]
    try:
        while True:
            for worker in workers:
                if worker.attempt is None and waiting:
                    worker.give(waiting.popleft())
            busy = [worker for worker in workers if worker.attempt is not None]
            if not busy:
                return
            ready = wait([x for w in busy for x in (w.line, w.process.sentinel)], timeout=1.0)
            for worker in busy:
                if _settle(worker, ready, waiting, done):
                    workers[workers.index(worker)] = _Worker()
            if alive is not None:
                alive()
    finally:
        for worker in workers:
            worker.end()
