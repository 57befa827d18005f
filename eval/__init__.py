"""Evaluation: duplicate matches, tournaments, speed; one position: `eval.analyse(hand, ...)`."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """`analyse`, imported when it is first asked for: a module that can be called."""
    if name == "analyse":
        return import_module("eval.analyse")
    raise AttributeError(f"module 'eval' has no attribute {name!r}")
