"""Deals that are not shuffled: the former deal's cards gathered and dealt in packets (不洗牌).

Some rooms don't shuffle between deals, which makes bombs and airplanes frequent. Here the cards
are gathered in the order in which they were played, then what was left in the landlord's hand, in
those of the farmers after him (of seats 0, 1, 2 where there was no landlord, then the bottom). The
pile is cut once, at a place drawn from the deal's key, and dealt in packets of 6, 6 and 5 from
the seat that calls first on; the last three cards are the bottom. The published pages name such
rooms without these details. A deal's first cards, and a redeal, are shuffled.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.cards import DECK_SIZE, HAND_SIZE, WILD, check_deal, deal_from_text
from ddz_env.engine import WILD_DRAWN, deal_cards, draw, draw_first, next_phase, shuffle
from ddz_env.errors import DdzError
from ddz_env.moves import T_INT, T_PARAMS, T_U64
from ddz_env.scoring import T_STATE

U64 = np.uint64
_PACKETS = (6, 6, 5)
assert sum(_PACKETS) == HAND_SIZE

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


@njit([types.int64(T_U64, T_INT, types.uint8[::1], T_INT)])
def _lay(cards, wild, pile, n):
    """Lay packed cards on the pile, lowest first, wild ones as the rank they have; its size."""
    for rank in range(16):
        natural = wild if rank == WILD and wild >= 0 else rank
        for _ in range(np.int64((cards >> U64(4 * rank)) & U64(15))):
            if n < DECK_SIZE:
                pile[n] = natural
                n += 1
    return n


@njit([types.int64(T_STATE, T_PARAMS, types.uint8[::1])])
def gather(state, params, pile):
    """Gather a deal's cards; how many it finds (fewer than 54 where the history is not whole)."""
    wild = np.int64(state.wild) if params.wild == WILD_DRAWN else -1
    n = 0
    for i in range(state.n_history):
        n = _lay(state.history_cards[i], wild, pile, n)
    lord = np.int64(state.landlord)
    for k in range(3):
        n = _lay(state.hands[(max(lord, 0) + k) % 3], wild, pile, n)
    return n if lord >= 0 else _lay(state.bottom, wild, pile, n)


@njit([types.void(T_STATE, T_U64, T_INT, T_PARAMS)])
def start_unshuffled(state, seed, first, params):
    """`engine.start` without a shuffle: from the cards of the deal that the record holds.

    Where it holds none, or a position without its whole history, the cards are shuffled.
    """
    pile = np.zeros(DECK_SIZE, np.uint8)
    gathered = gather(state, params, pile)
    state.seed = seed
    state.draws = 0
    state.redeals = 0
    for seat in range(3):
        state.may_double[seat] = 1
    draw_first(state, first, params)
    if gathered < DECK_SIZE:
        shuffle(state, params)
    else:
        place = draw(state, DECK_SIZE)
        dealt = 0
        for size in _PACKETS:
            for k in range(3):
                seat = (state.first + k) % 3
                for j in range(size):
                    state.deck[HAND_SIZE * seat + dealt + j] = pile[place]
                    place = (place + 1) % DECK_SIZE
            dealt += size
        for i in range(HAND_SIZE * 3, DECK_SIZE):
            state.deck[i] = pile[place]
            place = (place + 1) % DECK_SIZE
    deal_cards(state, params)
    next_phase(state, params)
