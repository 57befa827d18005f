"""Samples at rest: lists of ones in rows of fixed length, and the window that batches come from."""

import numpy as np
import torch
from numba import types
from torch import Tensor

from ddz_env._jit import njit
from ddz_env.features import MAX_ACTION_BITS, MAX_STATE_BITS
from ddz_env.vector import T_ROWS, Bits

_ROWS = types.uint16[:, ::1]
_OFFSETS, _BITS = types.int64[::1], types.uint16[::1]


@njit([types.void(_ROWS, T_ROWS, _OFFSETS, _BITS, T_ROWS)])
def store(out, slots, offsets, bits, which):
    """Copy list `which[i]` of ones to row `slots[i]` of `out`: its length, then the ones."""
    for i in range(slots.shape[0]):
        begin, end = offsets[which[i]], offsets[which[i] + 1]
        row = out[slots[i]]
        row[0] = end - begin
        for k in range(begin, end):
            row[1 + k - begin] = bits[k]


@njit([types.int64(_ROWS, T_ROWS, _OFFSETS, _BITS)])
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


class Window:
    """The last finished samples of one role."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.state = np.zeros((size, 1 + MAX_STATE_BITS), np.uint16)
        self.action = np.zeros((size, 1 + MAX_ACTION_BITS), np.uint16)
        self.target = np.zeros(size, np.float32)
        self.added = 0
        """Samples ever added."""

    def add(self, state: np.ndarray, action: np.ndarray, target: float) -> None:
        """Add the samples of one game, overwriting the oldest."""
        index = (self.added + np.arange(len(state))) % self.size
        self.state[index], self.action[index], self.target[index] = state, action, target
        self.added += len(state)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Bits, Bits, Tensor]:
        """A random batch: states, actions, targets `float32[n]`."""
        index = rng.integers(0, min(self.added, self.size), n)
        out = []
        for rows in (self.state, self.action):
            offsets = np.zeros(n + 1, np.int64)
            bits = np.zeros(n * (rows.shape[1] - 1), np.uint16)
            load(rows, index, offsets, bits)
            out.append(Bits(offsets, bits))
        return out[0], out[1], torch.from_numpy(self.target[index])
