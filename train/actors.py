"""Processes that play for a learner: weights and samples in shared memory, words through pipes.

The learner's process starts N of them (`spawn`), each with a pipe, a block of samples for each
`go` that may be under way, and one block of weights for all. An actor plays until it has a block's
worth of finished samples, writes them, says so, and waits for the next `go`. It also plays its
share of evaluations. When an actor dies the learner learns it at its next look, with the traceback;
when the learner dies, actors end within a second or so. No tensor of an accelerator crosses a
process: weights travel through the CPU's memory.
"""

import os
import signal
import traceback
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.multiprocessing as mp
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from train.samples import SAMPLE


class ActorDied(RuntimeError):
    """A process that played has ended; with its traceback where it had time for one."""


class Block(NamedTuple):
    """Samples that an actor has finished."""

    samples: np.ndarray
    """`SAMPLE[n]`, in shared memory: copy before the actor goes on."""
    counts: dict[str, int]
    """What the actor has counted so far."""


class Weights:
    """The newest weights, for all processes to read.

    Without a lock, since a process that is killed while it holds one would stop all others: the
    writer counts before and after it writes, and who reads in between keeps what it had.

    Args:
        nets: networks of the same sizes as those that are shared; or how many weights there are.
    """

    def __init__(self, nets: nn.ModuleList | int) -> None:
        if isinstance(nets, int):
            flat = torch.zeros(nets)
        else:
            flat = parameters_to_vector(nets.parameters()).detach().cpu().clone()
        self._flat = flat.share_memory_()
        self._begun = torch.zeros(1, dtype=torch.int64).share_memory_()
        self._ended = torch.zeros(1, dtype=torch.int64).share_memory_()

    def __len__(self) -> int:
        """How many weights there are."""
        return len(self._flat)

    @property
    def version(self) -> int:
        """How often they were published."""
        return int(self._ended[0])

    def publish(self, nets: nn.ModuleList) -> None:
        """Put new weights; one process only does."""
        self.put(parameters_to_vector(nets.parameters()).detach().cpu().numpy())

    def put(self, flat: np.ndarray) -> None:
        """Put new weights, all in one row: `float32[n]`."""
        self._begun += 1
        self._flat.numpy()[:] = flat
        self._ended += 1

    def numpy(self) -> np.ndarray:
        """A copy of the weights, all in one row: `float32[n]`."""
        return self._flat.numpy().copy()

    def fetch(self, nets: nn.ModuleList, version: int) -> int:
        """Get the newest into `nets`, which have a version; the version that they have then."""
        newest = self.version
        if newest == version:
            return version
        flat = self._flat.clone()
        if int(self._begun[0]) != newest:
            return version  # half of it may be newer
        vector_to_parameters(flat, nets.parameters())
        return newest


class Player:
    """What an actor's process does; made in it by a function of the trainer."""

    def play(self, out: np.ndarray, word: Any) -> dict[str, int]:
        """Fill `out`, `SAMPLE[n]`, by the behaviour `word`; the counts so far."""
        raise NotImplementedError

    def evaluate(self, word: Any) -> Any:
        """The answer to a question of `Actors.ask`."""
        raise NotImplementedError


def end_without_parent() -> None:
    """End this process if the one that started it is gone (killed, so that it couldn't say)."""
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        os._exit(1)


def _listen(pipe: Connection) -> Any:
    """The next word of the learner; ends the process when the learner is gone."""
    while not pipe.poll(1.0):
        end_without_parent()
    return pipe.recv()


def _enter(
    pipe: Connection,
    make: Callable[..., Player],
    arguments: tuple[Any, ...],
    blocks: torch.Tensor,
) -> None:
    """The body of an actor's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner hears Ctrl-C, and says stop
    torch.set_num_threads(1)
    try:
        player = make(*arguments)
        shared = blocks.numpy().view(SAMPLE)  # [blocks, n]
        while True:
            word = _listen(pipe)
            if word[0] == "stop":
                return
            if word[0] == "go":
                counts = player.play(shared[word[1]], word[2])
                pipe.send(("played", word[1], counts))
            else:
                pipe.send(("answer", player.evaluate(word[1])))
    except (EOFError, BrokenPipeError):
        os._exit(1)
    except BaseException:
        pipe.send(("died", traceback.format_exc()))
        raise


class Actors:
    """The actors of a run, from the learner's side; a context manager that ends them.

    Args:
        number: of processes.
        make: makes a `Player` in the process, from `arguments` and the actor's number.
        arguments: for `make`.
        size: samples of a block.
        ahead: blocks of an actor that may be under way.
    """

    def __init__(
        self,
        number: int,
        make: Callable[..., Player],
        arguments: tuple[Any, ...],
        size: int,
        ahead: int,
    ) -> None:
        context = mp.get_context("spawn")
        self._blocks, self._pipes, self._processes = [], [], []
        self._answers: dict[int, Any] = {}
        self.counts: list[dict[str, int]] = [{} for _ in range(number)]
        self._free = [list(range(ahead)) for _ in range(number)]
        heard = signal.signal(signal.SIGINT, signal.SIG_IGN)  # until they ignore it themselves
        for k in range(number):
            block = torch.zeros(ahead, size * SAMPLE.itemsize, dtype=torch.uint8).share_memory_()
            mine, its = context.Pipe()
            process = context.Process(
                target=_enter,
                args=(its, make, (*arguments, k + 1), block),
                daemon=True,
            )
            process.start()
            its.close()
            self._blocks.append(block.numpy().view(SAMPLE))
            self._pipes.append(mine)
            self._processes.append(process)
        signal.signal(signal.SIGINT, heard)

    def __enter__(self) -> "Actors":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._pipes)

    def go(self, word: Any) -> None:
        """Let every actor fill the blocks that it does not fill already, by a behaviour."""
        for k, free in enumerate(self._free):
            while free:
                self._send(k, ("go", free.pop(), word))

    def collect(self, seconds: float | None, each: bool = False) -> list[Block]:
        """The blocks that are finished, in the order of the actors.

        Args:
            seconds: how long to wait for the first one; None as long as it takes.
            each: wait for one of every actor.

        Raises:
            ActorDied: one has.
        """
        found: dict[int, Block] = {}
        while len(self._pipes):
            for k in self._ready(0 if found and not each else seconds):
                if each and k in found:
                    continue
                word = self._receive(k)
                self.counts[k] = word[2]
                self._free[k].append(word[1])
                found[k] = Block(self._blocks[k][word[1]], word[2])
            if not each or len(found) == len(self._pipes):
                break
        return [found[k] for k in sorted(found)]

    def ask(self, words: list[Any]) -> None:
        """Ask each actor a question, which it answers after the blocks that are under way."""
        for k, word in enumerate(words):
            self._send(k, ("ask", word))

    def answers(self) -> list[Any]:
        """Their answers; blocks that they finish meanwhile are dropped.

        Raises:
            ActorDied: one has.
        """
        out = []
        for k in range(len(self._pipes)):
            while True:
                word = self._receive(k)
                if word[0] == "answer":
                    out.append(word[1])
                    break
                self.counts[k] = word[2]
                self._free[k].append(word[1])
        return out

    def close(self) -> None:
        """End them."""
        for pipe in self._pipes:
            try:
                pipe.send(("stop",))
            except OSError:
                continue
        for process in self._processes:
            process.join(timeout=0.5)
            if process.is_alive():
                process.terminate()
                process.join(timeout=5)

    def _ready(self, seconds: float | None) -> list[int]:
        """Actors that have said something, after waiting so long for the first."""
        ready = wait(self._pipes, seconds)
        return [k for k, pipe in enumerate(self._pipes) if pipe in ready]

    def _send(self, k: int, word: Any) -> None:
        try:
            self._pipes[k].send(word)
        except OSError:
            self._receive(k)  # says why it has died

    def _receive(self, k: int) -> Any:
        """The next word of an actor."""
        try:
            word = self._pipes[k].recv()
        except (EOFError, OSError):
            self._processes[k].join(timeout=5)
            code = self._processes[k].exitcode
            how = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
            raise ActorDied(f"actor {k + 1} has ended without a word ({how})") from None
        if word[0] == "died":
            raise ActorDied(f"actor {k + 1} has died:\n{word[1]}")
        return word
