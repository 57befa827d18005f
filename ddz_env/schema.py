"""What an observation is made of: named fields side by side, and schemas of them.

A schema has a name with a version and a hash; checkpoints store both. A version is frozen: a
change of names, shapes, order or meaning makes a new one.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from ddz_env.checks import numbers
from ddz_env.errors import DdzError, FormatError


class Field(NamedTuple):
    """A named run of numbers of an observation."""

    name: str
    shape: tuple[int, ...]
    doc: str
    low: int = 0
    high: int = 1

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Schema:
    """Fields side by side, in order.

    Attributes:
        name: name and version, such as `ddz-obs-v1`.
        fields: the fields.
    """

    name: str
    fields: tuple[Field, ...]

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Where each field starts."""
        offsets, n = {}, 0
        for field in self.fields:
            offsets[field.name] = n
            n += field.size
        return offsets

    @cached_property
    def size(self) -> int:
        """Numbers of all fields together."""
        return sum(field.size for field in self.fields)

    @cached_property
    def hash(self) -> str:
        """A hash of name, names, shapes, ranges and order of all fields."""
        text = repr([(f.name, f.shape, f.low, f.high) for f in self.fields])
        return hashlib.sha256(f"{self.name}{text}".encode()).hexdigest()[:12]

    def split(self, row: np.ndarray) -> dict[str, np.ndarray]:
        """The fields of a row, or of rows: views of the last axis, each in its own shape.

        Args:
            row: `[..., size]`.

        Raises:
            FormatError: another size.
        """
        row = numbers(row)
        if row.ndim == 0 or row.shape[-1] != self.size:
            raise FormatError(f"{self.name}: expected [..., {self.size}], got {list(row.shape)}")
        return {
            f.name: row[..., self.offsets[f.name] : self.offsets[f.name] + f.size].reshape(
                *row.shape[:-1], *f.shape
            )
            for f in self.fields
        }

    def space(self, form: str = "dense") -> spaces.Box | spaces.Dict:
        """The Gymnasium space of a row (`dense`) or of its fields by name (`dict`).

        Raises:
            DdzError: another form.
        """
        if form == "dict":
            return spaces.Dict({f.name: spaces.Box(f.low, f.high, f.shape, np.int8)
                                for f in self.fields})  # fmt: skip
        if form != "dense":
            raise DdzError(f"form: expected one of dense, dict, got {form!r}")
        sizes = [f.size for f in self.fields]
        low = np.repeat(np.array([f.low for f in self.fields], np.int8), sizes)
        high = np.repeat(np.array([f.high for f in self.fields], np.int8), sizes)
        return spaces.Box(low, high, dtype=np.int8)

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """The table's cells: field, offset, shape, range, meaning."""
        return [
            (
                f.name,
                str(self.offsets[f.name]),
                " x ".join(map(str, f.shape)),
                f"{f.low}..{f.high}",
                f.doc,
            )
            for f in self.fields
        ]

    def __str__(self) -> str:
        head = ("field", "offset", "shape", "range", "meaning")
        rows = [head, *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [f"{self.name}: {self.size} numbers, hash {self.hash}"]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            lines.append("  ".join([*cells, row[4]]))
        return "\n".join(lines)

    def describe(self) -> None:
        """Print the table of the fields."""
        print(self)
