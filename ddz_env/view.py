"""What one seat may know of a game: `VIEW`, cut out of the record, without anything else in it.

Agents and the encoder of observations get views, never records, so they can't look at hidden cards
or at the random state.
"""

import numpy as np
from numba import from_dtype, types

from ddz_env._jit import njit
from ddz_env.cards import HAND_SIZE, WILD, deck, pack
from ddz_env.engine import SEVEN, WILD_DRAWN, WILD_SEVENS, make_wild
from ddz_env.moves import T_INT, T_PARAMS, hand_size
from ddz_env.phases import AUCTION_BLIND
from ddz_env.scoring import T_STATE, multiplier
from ddz_env.state import MAX_HISTORY, Phase

U64 = np.uint64
_ALL_CARDS = U64(pack(deck()))
_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)
_BEFORE_DEAL, _AT_6, _AT_12 = (
    int(Phase.SHOW_BEFORE_DEAL), int(Phase.SHOW_AT_6), int(Phase.SHOW_AT_12),
)  # fmt: skip

VIEW = np.dtype(
    [
        ("deal", "<u8"),  # public number of the deal
        ("hand", "<u8"),  # packed cards of the seat itself, as far as it may see them
        ("hands", "<u8", 3),  # packed hands that it sees: its own and shown ones, 0 for the others
        ("unseen", "<u8"),  # packed cards that the seat has not seen: other hands, hidden bottom
        ("bottom", "<u8"),  # packed bottom cards, 0 until there is a landlord
        ("played", "<u8", 3),  # packed cards that each seat has played
        ("last_cards", "<u8"),  # packed cards of the play to beat, 0 when leading
        ("scores", "<i8", 3),  # quarter points of each seat, 0 until over
        ("pending_wilds", "<u8"),  # packed ranks that wilds stand for in it so far
        ("multiplier", "<i8"),  # the multiplier as it stands
        ("counts", "i1", 3),  # cards in each seat's hand, 0..20; those dealt so far
        ("seat", "i1"),  # whose view this is
        ("phase", "i1"),  # Phase
        ("turn", "i1"),  # seat that is asked
        ("first", "i1"),  # seat that calls first
        ("landlord", "i1"),  # seat, -1 until there is one
        ("caller", "i1"),  # seat that called, or is landlord without; -1 none yet
        ("turned_rank", "i1"),  # rank of the card turned face up, -1 none
        ("turned_seat", "i1"),  # its holder, -1 none
        ("calls", "i1", 3),  # call of each seat: -1 not asked yet, 0 pass, 1..3 points, 1 a call
        ("robs", "i1", 3),  # each seat: -1 not asked, 0 no, 1 has robbed
        ("looked", "i1", 3),  # each seat: 1 has looked instead of grabbing blind
        ("shows", "i1", 3),  # each seat: 0 hidden, 1..4 the moment at which it showed
        ("doubles", "i1", 3),  # each seat: 1 has doubled
        ("blind", "i1"),  # 1: the landlord grabbed blind
        ("raises", "i1"),  # raises so far, 0..4
        ("base", "i1"),  # the base of the score, 0 none yet
        ("wild", "i1"),  # rank of the wild cards, 13 the jokers; -1 none yet
        ("bombs", "i1"),  # bombs and rockets played
        ("plays", "i1", 3),  # plays of each seat
        ("passes", "i1"),  # passes in a row
        ("last_seat", "i1"),  # seat of the play to beat, -1 when leading
        ("winner", "i1"),  # seat that went out, -1 none
        ("history_seat", "i1", MAX_HISTORY),  # who decided
        ("spare", "u1", 3),  # fills a hole, so that equal views are equal bytes
        ("last_action", "<u2"),  # id of the play to beat, 0 when leading
        ("pending", "<u2"),  # the seat's own declared play while it fills it, else 0
        ("redeals", "<i2"),  # times that the cards were thrown in
        ("n_history", "<i2"),  # decisions in the history
        ("history_action", "<u2", MAX_HISTORY),  # action id
        ("history_cards", "<u8", MAX_HISTORY),  # packed cards that left the hand
    ],
    align=True,
)
"""One seat's knowledge of one game."""

assert sum(VIEW[name].itemsize for name in VIEW.names or ()) == VIEW.itemsize

T_VIEW = from_dtype(VIEW)


@njit([types.void(T_STATE, T_VIEW)])
def _cut_history(state, view):
    """Copy the history; what a longer one had left behind in the view is cleared."""
    n, old = state.n_history, view.n_history
    for i in range(n):
        view.history_seat[i] = state.history_seat[i]
        view.history_action[i] = state.history_action[i]
        view.history_cards[i] = state.history_cards[i]
    for i in range(n, old):
        view.history_seat[i] = 0
        view.history_action[i] = 0
        view.history_cards[i] = U64(0)
    view.n_history = n


@njit([types.int64(T_STATE, T_PARAMS)])
def cards_dealt(state, params):
    """Cards that every seat has been dealt in the record's phase, 0..17."""
    if state.phase == _BEFORE_DEAL:
        return 0
    if state.phase == _AT_6:
        return params.show_cards_1
    return params.show_cards_2 if state.phase == _AT_12 else HAND_SIZE


@njit([types.uint64(T_STATE, T_INT, T_INT)])
def hand_dealt(state, seat, dealt):
    """A seat's packed cards when so many have been dealt."""
    if dealt == HAND_SIZE:
        return state.hands[seat]
    hand = U64(0)
    for i in range(HAND_SIZE * seat, HAND_SIZE * seat + dealt):
        hand += U64(1) << U64(4 * state.deck[i])
    return hand


@njit([types.boolean(T_STATE, T_INT, T_INT, T_PARAMS)])
def sees(state, seat, other, params):
    """Whether a seat sees another's hand, or its own.

    A shown hand is seen by all; before a blind grab or look nobody sees his own.
    """
    if state.shows[other] > 0:
        return True
    blind = params.auction == AUCTION_BLIND and state.landlord < 0
    return seat == other and not (blind and state.looked[seat] == 0)


@njit([types.uint64(T_STATE, T_PARAMS)])
def all_cards(state, params):
    """The whole deck as packed cards, wild ones as such."""
    if params.wild == WILD_SEVENS:
        two = U64(2) << U64(4 * SEVEN)
        return _ALL_CARDS - two + (U64(2) << U64(4 * WILD))
    if params.wild == WILD_DRAWN and state.wild >= 0:
        return make_wild(_ALL_CARDS, np.int64(state.wild))
    return _ALL_CARDS


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_VIEW)])
def _cut_hands(state, seat, params, view):
    """Hands, counts and what has not been seen."""
    dealt = cards_dealt(state, params)
    unseen = all_cards(state, params)
    for other in range(3):
        hand = U64(0)
        if sees(state, seat, other, params):
            hand = hand_dealt(state, other, dealt)
        view.hands[other] = hand
        view.counts[other] = hand_size(state.hands[other]) if dealt == HAND_SIZE else dealt
        unseen -= hand + state.played[other]
    view.hand = view.hands[seat]
    view.unseen = unseen


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_VIEW)])
def cut_view(state, seat, params, view):
    """Write what a seat may know of a game into `view` (zeroed, or cut before)."""
    view.deal = state.deal
    view.seat = seat
    view.bottom = state.bottom if state.landlord >= 0 else U64(0)
    _cut_hands(state, seat, params, view)
    for other in range(3):
        view.played[other] = state.played[other]
        view.scores[other] = state.scores[other]
        view.calls[other] = state.calls[other]
        view.robs[other] = state.robs[other]
        view.looked[other] = state.looked[other]
        view.shows[other] = state.shows[other]
        view.doubles[other] = state.doubles[other]
        view.plays[other] = state.plays[other]
    turned = state.turned >= 0 and params.turned_card_public == 1
    view.turned_rank = np.int64(state.deck[state.turned]) if turned else -1
    view.turned_seat = state.turned // HAND_SIZE if turned else -1
    view.last_cards = state.last_cards
    view.multiplier = multiplier(state, params)
    # While a seat fills its play, the others see it still on turn to play.
    filling = state.phase == _FILL
    mine = filling and seat == state.turn
    view.phase = _PLAY if filling and not mine else state.phase
    view.pending = state.pending if mine else 0
    view.pending_wilds = state.pending_wilds if mine else U64(0)
    view.wild = state.wild
    view.turn = state.turn
    view.first = state.first
    view.landlord = state.landlord
    view.caller = state.caller
    view.blind = state.blind
    view.raises = state.raises
    view.base = state.base
    view.bombs = state.bombs
    view.passes = state.passes
    view.last_seat = state.last_seat
    view.winner = state.winner
    view.last_action = state.last_action
    view.redeals = state.redeals
    _cut_history(state, view)


@njit([types.void(T_STATE[::1], types.int64[::1], types.int64[::1], T_PARAMS, T_VIEW[::1])])
def cut_views(states, rows, seats, params, views):
    """Cut the view of `seats[i]` on game `rows[i]` into `views[i]`."""
    for i in range(rows.shape[0]):
        cut_view(states[rows[i]], seats[i], params, views[i])
