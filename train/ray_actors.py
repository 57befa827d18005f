"""Actors of a DMC run as Ray actors, in this machine or on a cluster (`--ray-address`).

They have the face of `train.actors.Actors`. Weights are put once a version and passed by reference;
each actor has at most `ahead` calls in flight, plays a block of samples a call, and returns it. An
actor that dies is restarted by Ray without limit, and its calls are not repeated: its blocks under
way are lost, and nothing else. An evaluation asks it again.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import ray
import torch

from train.actors import Block, Player, Weights
from train.counts import added
from train.rllib import started
from train.samples import SAMPLE

PATIENCE = 600.0
"""Seconds from the death of an actor for which it is asked again for its share of an evaluation:
Ray may take minutes to make it anew where machines are busy."""


class Size(NamedTuple):
    """Stands for `Weights` of so many numbers: small, so that Ray can make an actor again."""

    n: int


class RayPlayer:
    """A `Player` in a Ray actor, with weights of its own.

    Args:
        make: makes the player, from `arguments` and a number.
        arguments: for `make`, with a `Size` in the place of `Weights`.
        number: of the actor.
        size: samples of a block.
    """

    def __init__(
        self, make: Callable[..., Player], arguments: tuple[Any, ...], number: int, size: int
    ) -> None:
        torch.set_num_threads(1)
        arguments = tuple(Weights(a.n) if isinstance(a, Size) else a for a in arguments)
        self._weights, self._averages = (a for a in arguments if isinstance(a, Weights))
        self._version, self._size = -1, size
        if ray.get_runtime_context().was_current_actor_reconstructed:
            # The games of its first life have been played.
            number += 1_000 * int(np.random.SeedSequence().generate_state(1)[0] + 1)
        self._player = make(*arguments, number)

    def play(self, word: Any, version: int, flat: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
        """A block of samples by a behaviour, with the weights of a version; and the counts."""
        if version != self._version:
            self._weights.put(flat)
            self._version = version
        out = np.zeros(self._size, SAMPLE)
        return out, self._player.play(out, word)

    def evaluate(self, word: Any, flat: np.ndarray) -> Any:
        """The answer to a question, with averaged weights."""
        self._averages.put(flat)
        return self._player.evaluate(word)


class RayActors:
    """Ray actors from the learner's side; a context manager that ends them.

    Args:
        address: of a cluster, or `local`.
        number: of actors.
        make: makes a `Player` in each, from `arguments` and the actor's number.
        arguments: for `make`, the newest and the averaged `Weights` among them.
        size: samples of a block.
        ahead: calls of an actor that may be under way.

    Raises:
        DdzError: no Ray at the address.
    """

    def __init__(
        self,
        address: str,
        number: int,
        make: Callable[..., Player],
        arguments: tuple[Any, ...],
        size: int,
        ahead: int,
    ) -> None:
        started(address)
        self._weights, self._averages = (a for a in arguments if isinstance(a, Weights))
        kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(RayPlayer)
        sizes = tuple(Size(len(a)) if isinstance(a, Weights) else a for a in arguments)
        self._players = [kind.remote(make, sizes, k + 1, size) for k in range(number)]
        self._ahead = ahead
        self._calls: dict[Any, int] = {}
        self._asked: list[Any] = []
        self._put: tuple[int, Any] = (-1, None)
        self._now: list[dict[str, int]] = [{} for _ in range(number)]
        self._past: list[dict[str, int]] = [{} for _ in range(number)]
        self.lost = 0
        """Calls that died with their actor."""

    def __enter__(self) -> "RayActors":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._players)

    @property
    def counts(self) -> list[dict[str, int]]:
        """What each has counted in all its lives, as far as it could say."""
        return [added(pair) for pair in zip(self._past, self._now, strict=True)]

    def go(self, word: Any) -> None:
        """Let every actor play blocks, as many calls as may be under way, by a behaviour."""
        version = self._weights.version
        if version != self._put[0]:
            self._put = version, ray.put(self._weights.numpy())
        busy = np.bincount(list(self._calls.values()), minlength=len(self))
        for k, player in enumerate(self._players):
            for _ in range(self._ahead - busy[k]):
                self._calls[player.play.remote(word, *self._put)] = k

    def collect(self, seconds: float | None, each: bool = False) -> list[Block]:
        """The blocks that are finished; those of actors that died are lost.

        Args:
            seconds: how long to wait for the first one; None as long as it takes.
            each: wait for all that are under way.
        """
        calls = list(self._calls)
        if not calls:
            return []
        number = len(calls) if each else 1
        done, _ = ray.wait(calls, num_returns=number, timeout=seconds)
        if done and not each:
            done, _ = ray.wait(calls, num_returns=len(calls), timeout=0)
        found = []
        for call in done:
            k = self._calls.pop(call)
            try:
                samples, counts = ray.get(call)
            except ray.exceptions.RayActorError:
                self._buried(k)
                continue
            self._now[k] = counts
            found.append(Block(samples, counts))
        return found

    def _buried(self, k: int) -> None:
        """Note that an actor has died; Ray makes it anew."""
        self.lost += 1
        time.sleep(0.05)  # calls of an actor that is made anew fail at once
        self._past[k], self._now[k] = added([self._past[k], self._now[k]]), {}

    def ask(self, words: list[Any]) -> None:
        """Ask each actor a question, which it answers after the calls that are under way."""
        flat = ray.put(self._averages.numpy())
        self._asked = [
            (k, word, flat, self._players[k].evaluate.remote(word, flat))
            for k, word in enumerate(words)
        ]

    def answers(self) -> list[Any]:
        """Their answers; an actor that dies on its question is asked again.

        Raises:
            RayActorError: one has died on it again and again.
        """
        out = []
        for k, word, flat, call in self._asked:
            end, wait = math.inf, 1.0
            while True:
                try:
                    out.append(ray.get(call))
                    break
                except ray.exceptions.RayActorError:
                    self._buried(k)
                    end = min(end, time.monotonic() + PATIENCE)
                    if time.monotonic() > end:
                        raise
                    time.sleep(wait)  # while Ray makes it anew
                    wait = min(2 * wait, 15.0)
                    call = self._players[k].evaluate.remote(word, flat)
        self._asked = []
        return out

    def close(self) -> None:
        """End them, and Ray where it was started for them."""
        for player in self._players:
            ray.kill(player)
        ray.shutdown()
