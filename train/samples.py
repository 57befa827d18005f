"""Samples at rest: one record for each choice that was made, and windows that batches come from."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numba import types
from torch import Tensor

from agents.inputs import FACTS, Inputs
from ddz_env._jit import njit
from ddz_env.cards import DECK_SIZE
from ddz_env.features import CARDS, MAX_ACTION_BITS, MAX_STATE_BITS, put_cards
from ddz_env.listed import Bits
from ddz_env.vector import T_ROWS

SAMPLE = np.dtype(
    [
        ("state", "<u2", 1 + MAX_STATE_BITS),  # number of ones of the state, then the ones
        ("action", "<u2", 1 + MAX_ACTION_BITS),  # the same of the action that was chosen
        ("facts", "<f2", FACTS),  # its facts
        ("hands", "<u8", 4),  # what the seat may not know: all hands from its own on, bottom cards
        ("points", "<f4"),  # points of the seat in the deal, once it is over
        ("target", "<f4"),  # what the chance of winning is to be: the result, or `traced`
        ("net", "<u2"),  # the network that chose
    ]
)
"""A choice, 1 KB."""

MAX_HANDS_BITS = DECK_SIZE + 3
_FIELD = types.Array(types.uint16, 2, "A")
_OFFSETS, _BITS = types.int64[::1], types.uint16[::1]
_SEATS, _CHANCES, _FLAGS = types.int8[::1], types.float32[::1], types.boolean[::1]


@njit([types.void(_FIELD, T_ROWS, _OFFSETS, _BITS, T_ROWS)])
def store(out, slots, offsets, bits, which):
    """Copy list `which[i]` of ones to row `slots[i]` of `out`: its length, then the ones."""
    for i in range(slots.shape[0]):
        begin, end = offsets[which[i]], offsets[which[i] + 1]
        row = out[slots[i]]
        row[0] = end - begin
        for k in range(begin, end):
            row[1 + k - begin] = bits[k]


@njit([types.int64(_FIELD, T_ROWS, _OFFSETS, _BITS)])
def load(rows, index, offsets, bits):
    """The inverse of `store`: list rows[index] of ones one after another; the number of ones."""
    n = 0
    for i in range(index.shape[0]):
        row = rows[index[i]]
        for k in range(1, 1 + row[0]):
            bits[n] = row[k]
            n += 1
        offsets[i + 1] = n
    return n


@njit([types.int64(types.uint64[:, ::1], _OFFSETS, _BITS)])
def load_hands(hands, offsets, bits):
    """The ones of the hands of each row, one after another; the number of ones."""
    n = 0
    for i in range(hands.shape[0]):
        for k in range(hands.shape[1]):
            n = put_cards(hands[i, k], CARDS * k, bits, n)
        offsets[i + 1] = n
    return n


def hands_of(hands: np.ndarray) -> Bits:
    """The ones of packed hands, `uint64[n, 4]`, as critics read them."""
    n = len(hands)
    bits = Bits(np.zeros(n + 1, np.int64), np.zeros(n * MAX_HANDS_BITS, np.uint16))
    load_hands(np.ascontiguousarray(hands), *bits)
    return bits


def all_hands(states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """All hands of some games, from that of a seat on, and the bottom cards: `uint64[n, 4]`."""
    order = (seats[:, None] + np.arange(3)) % 3
    hands = np.take_along_axis(states["hands"][rows], order, axis=1)
    return np.column_stack([hands, states["bottom"][rows]])


def keep(
    samples: np.ndarray,
    slots: np.ndarray,
    net: int,
    inputs: Inputs,
    rows: np.ndarray,
    chosen: np.ndarray,
) -> None:
    """Write choices of a batch: those of some rows, `chosen` places among all listed actions."""
    store(samples["state"], slots, *inputs.state, rows)
    store(samples["action"], slots, *inputs.actions, chosen)
    samples["facts"][slots] = inputs.facts[chosen]
    samples["net"][slots] = net


def results_of(points: Any) -> Any:
    """1 for a deal that was won, 0 for one that was lost, a half for one that nobody played.

    Args:
        points: of a seat in deals, an array or a tensor.
    """
    return (points > 0) + 0.5 * (points == 0)


@njit([types.void(_SEATS, _CHANCES, _FLAGS, _CHANCES, types.float64, _CHANCES)])
def traced(seats, chances, random, results, td_lambda, out):
    """Targets of the chance of winning in one deal: lambda-returns (Sutton and Barto, ch. 12).

    The target of a choice is a mean of what the network said of the best choice the next time that
    the seat chose, and, with weight `td_lambda`, of the target there; after the last choice it is
    the result. Where the seat then chose at random, what followed does not count (Watkins), but
    with a `td_lambda` of 1, where results alone do.

    Args:
        seats: who made each choice, in order, `int8[n]`.
        chances: what the network said of the best choice then, `float32[n]`.
        random: whether another was chosen, `bool[n]`.
        results: of each seat, `float32[3]`.
        td_lambda: 1 for the results alone.
        out: gets the targets, `float32[n]`.
    """
    following = np.full(3, -1)
    for i in range(seats.shape[0] - 1, -1, -1):
        seat = seats[i]
        j = following[seat]
        if j < 0:
            out[i] = results[seat]
        else:
            keep_on = 0.0 if random[j] and td_lambda < 1.0 else td_lambda
            out[i] = (1.0 - keep_on) * chances[j] + keep_on * out[j]
        following[seat] = i


class Batch(NamedTuple):
    """Samples as a network reads them."""

    state: Bits
    actions: Bits
    facts: Tensor  # float32[n, FACTS]
    points: Tensor  # float32[n], of the seat in the deal
    target: Tensor  # float32[n], of the chance of winning
    hands: Bits | None = None  # all hands, for the critic; None without one


class Window:
    """The last finished samples of one network."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.samples = np.zeros(size, SAMPLE)
        self.added = 0
        """Samples ever added."""

    def add(self, samples: np.ndarray) -> None:
        """Add samples, `SAMPLE[n]`, overwriting the oldest."""
        n = len(samples)
        index = (self.added + np.arange(n)) % self.size
        self.samples[index[-self.size :]] = samples[-self.size :]
        self.added += n

    def draw(self, n: int, rng: np.random.Generator, critic: bool = False) -> Batch:
        """A random batch, with all hands for a critic."""
        index = rng.integers(0, min(self.added, self.size), n)
        lists = []
        for name, most in (("state", MAX_STATE_BITS), ("action", MAX_ACTION_BITS)):
            offsets, bits = np.zeros(n + 1, np.int64), np.zeros(n * most, np.uint16)
            load(self.samples[name], index, offsets, bits)
            lists.append(Bits(offsets, bits))
        facts = torch.from_numpy(self.samples["facts"][index].astype(np.float32))
        hands = hands_of(self.samples["hands"][index]) if critic else None
        points, target = (torch.from_numpy(self.samples[f][index]) for f in ("points", "target"))
        return Batch(*lists, facts, points, target, hands)


def share_out(samples: np.ndarray, windows: list[Window]) -> None:
    """Add samples, `SAMPLE[n]`, to the windows of the networks that chose."""
    for k, window in enumerate(windows):
        window.add(samples[samples["net"] == k])
