"""Deals that are not shuffled: the former deal's cards gathered and dealt in packets (不洗牌).

Some rooms don't shuffle between deals, which makes bombs and airplanes frequent. Here the cards
are gathered in the order in which they were played, then what was left in the landlord's hand, in
those of the farmers after him (of seats 0, 1, 2 where there was no landlord, then the bottom). The
pile is cut once, at a place drawn from the deal's key, and dealt in packets of 6, 6 and 5 from
the seat that calls first on; the last three cards are the bottom. The published pages name such
rooms without these details. A deal's first cards, and a redeal, are shuffled.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.cards import DECK_SIZE, HAND_SIZE, WILD
from ddz_env.engine import WILD_DRAWN, deal_cards, draw, draw_first, next_phase, next_seed, shuffle
from ddz_env.moves import T_INT, T_PARAMS, T_U64
from ddz_env.phases import FIRST_ROTATES
from ddz_env.scoring import T_STATE

U64 = np.uint64
_PACKETS = (6, 6, 5)
assert sum(_PACKETS) == HAND_SIZE


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


@njit([types.void(T_STATE[::1], types.boolean[::1], T_PARAMS)])
def restart_unshuffled(states, done, params):
    """Start the next deal of every row that is done."""
    for i in range(states.shape[0]):
        if done[i]:
            state = states[i]
            first = (state.first + 1) % 3 if params.first_caller == FIRST_ROTATES else -1
            start_unshuffled(state, next_seed(state.seed), first, params)
