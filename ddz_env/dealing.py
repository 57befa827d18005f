"""How cards are dealt: what an environment's `deal` may be, and deals that are given."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ddz_env.cards import check_deal, deal_from_text
from ddz_env.errors import DdzError

Dealer = Callable[[int], Any]
"""Gives a deal for its key: 54 ranks, or hands and bottom as texts (`read_deal`)."""
DEALING = ("random", "unshuffled")
"""How cards are dealt."""


def check_dealing(deal: Any) -> None:
    """Raise a `DdzError` unless it says how cards are dealt."""
    if not callable(deal) and (not isinstance(deal, str) or deal not in DEALING):
        raise DdzError(f"deal: expected {', '.join(DEALING)} or a callable, got {deal!r}")


def read_deal(deal: Any, red_sevens: bool) -> np.ndarray:
    """A deal as `uint8[54]`: from 54 ranks or from hands and bottom as texts.

    Raises:
        CardError: not the 54 cards of a deal.
    """
    if isinstance(deal, dict):
        return deal_from_text(deal, red_sevens)
    return check_deal(deal, red_sevens)
