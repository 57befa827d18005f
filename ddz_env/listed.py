"""Lists of a batch in CSR form: legal actions, and features by the places of their ones."""

from typing import NamedTuple

import numpy as np


class Legal(NamedTuple):
    """The legal actions of a batch: those of row i are `ids[offsets[i]:offsets[i + 1]]`."""

    offsets: np.ndarray  # int64[B + 1]
    ids: np.ndarray  # int32[offsets[B]]

    def take(self, rows: np.ndarray) -> "Legal":
        """The lists of some rows."""
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[rows])])
        return Legal(offsets, self.ids[self.places(rows)])

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Where in `ids` the lists of some rows are, `int64`."""
        sizes = np.diff(self.offsets)[rows]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(self.offsets[:-1][rows], sizes) + within

    def part(self, begin: int, end: int) -> "Legal":
        """The lists of rows `begin` to `end` - 1, without a copy of the ids."""
        first, last = self.offsets[begin], self.offsets[end]
        return Legal(self.offsets[begin : end + 1] - first, self.ids[first:last])


class Bits(NamedTuple):
    """The ones of a batch of features: those of row i are `bits[offsets[i]:offsets[i + 1]]`."""

    offsets: np.ndarray  # int64[B + 1]
    bits: np.ndarray  # uint16[offsets[B]]
