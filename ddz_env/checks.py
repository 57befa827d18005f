"""Checks of arguments that several faces share: one clear line for what can't be used."""

from operator import index
from typing import Any

import numpy as np

from ddz_env.errors import DdzError, RuleError


def whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number in a range, as a Python number.

    Raises:
        DdzError: another type (True and False too), or out of range.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise DdzError(f"{name}: expected a whole number in {low}..{high}, got {brief(value)}")
    if not low <= value <= high:
        raise DdzError(f"{name}: expected a whole number in {low}..{high}, got {value}")
    return index(value)


def seat_of(name: str, value: Any) -> int:
    """A seat, 0..2.

    Raises:
        RuleError: no seat.
    """
    try:
        return whole(name, value, 0, 2)
    except DdzError:
        raise RuleError(f"{name}: expected a seat 0..2, got {brief(value)}") from None


def flag(name: str, value: Any) -> bool:
    """True or False.

    Raises:
        DdzError: anything else.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise DdzError(f"{name}: expected True or False, got {brief(value)}")
    return bool(value)


def brief(value: Any) -> str:
    """How an error shows a value: on one line, not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def numbers(values: Any) -> np.ndarray:
    """Values as an array; lists of different lengths give one that holds no numbers."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.array(None)
