"""The phase machine: deal, what is legal in each phase, what a choice does, what comes next.

A phase is two kernels, `legal_<phase>` and `apply_<phase>`; `next_phase` owns every transition.
All randomness comes from the record's own key (splitmix64 of key and counter), so a game's course
depends on nothing else.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.cards import BOTTOM_SIZE, DECK_SIZE, HAND_SIZE, deck
from ddz_env.catalogue import FIRST_PLAY, N_ACTIONS, Category
from ddz_env.moves import (
    T_IDS,
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    contains,
    list_leads,
    list_replies,
)
from ddz_env.scoring import T_STATE, settle
from ddz_env.state import MAX_HISTORY, STATE, Phase

U64 = np.uint64
GOLDEN = U64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
_DECK = tuple(int(r) for r in deck())
_POINTS, _PLAY, _OVER = int(Phase.CALL_POINTS), int(Phase.PLAY), int(Phase.OVER)
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)
_DEAL = -1  # the phase of a record whose cards have just been dealt


@njit([types.uint64(T_U64)])
def mix(x):
    """The splitmix64 finaliser (Steele, Lea, Flood 2014): 64 well-mixed bits of a counter."""
    x = (x ^ (x >> U64(30))) * _MIX_1
    x = (x ^ (x >> U64(27))) * _MIX_2
    return x ^ (x >> U64(31))


@njit([types.uint64(T_U64)])
def next_seed(seed):
    """The key of the deal after a deal: 63 bits, so that every key is a seed that `Game` takes."""
    return mix(seed + GOLDEN) >> U64(1)


@njit([types.int64(T_STATE, T_INT)])
def draw(state, n):
    """A random whole number in 0..n-1 from the record's own generator."""
    state.draws += 1
    bits = mix(state.seed + U64(state.draws) * GOLDEN)
    return np.int64(((bits >> U64(32)) * U64(n)) >> U64(32))


@njit([types.void(T_STATE)])
def shuffle(state):
    """Fill the record's deck with a random order (Fisher and Yates)."""
    for i in range(DECK_SIZE):
        state.deck[i] = _DECK[i]
    for i in range(DECK_SIZE - 1, 0, -1):
        j = draw(state, i + 1)
        state.deck[i], state.deck[j] = state.deck[j], state.deck[i]


@njit([types.void(T_STATE)])
def _clear_trick(state):
    """The next play is a lead."""
    state.passes = 0
    state.last_seat = -1
    state.last_action = 0
    state.last_cards = U64(0)


@njit([types.void(T_STATE)])
def deal_cards(state):
    """Clear everything of a former deal and deal the record's deck out."""
    for i in range(state.n_history):
        state.history_seat[i] = 0
        state.history_action[i] = 0
        state.history_cards[i] = U64(0)
    for seat in range(3):
        hand = U64(0)
        for i in range(HAND_SIZE * seat, HAND_SIZE * (seat + 1)):
            hand += U64(1) << U64(4 * state.deck[i])
        state.hands[seat] = hand
        state.played[seat] = U64(0)
        state.scores[seat] = 0
        state.calls[seat] = -1
        state.plays[seat] = 0
    state.bottom = U64(0)
    for i in range(DECK_SIZE - BOTTOM_SIZE, DECK_SIZE):
        state.bottom += U64(1) << U64(4 * state.deck[i])
    state.phase = _DEAL
    state.landlord = -1
    state.base = 0
    state.bombs = 0
    state.n_history = 0
    state.winner = -1
    _clear_trick(state)


@njit([types.void(T_STATE, T_INT)])
def take_bottom(state, landlord):
    """Make a seat the landlord: the bottom cards go to its hand, and it leads."""
    state.landlord = landlord
    state.hands[landlord] += state.bottom
    state.turn = landlord
    state.phase = _PLAY


@njit([types.void(T_STATE, T_PARAMS)])
def next_phase(state, params):
    """Go from a finished phase to the next one that asks somebody, or to the end."""
    if state.phase == _DEAL:
        if params.auction == 0:
            state.base = 1
            take_bottom(state, 0)
        else:
            state.phase = _POINTS
            state.turn = state.first
    elif state.phase == _POINTS:
        for seat in range(3):
            if state.base > 0 and state.calls[seat] == state.base:
                take_bottom(state, seat)
                return
        if params.all_pass_bidder:
            state.base = 1
            take_bottom(state, state.first)
        elif state.redeals == params.max_redeals:
            state.phase = _OVER
        else:
            state.redeals += 1
            shuffle(state)
            deal_cards(state)
            state.phase = _POINTS
            state.turn = state.first
    elif state.phase == _PLAY:
        state.phase = _OVER
        settle(state, params)


@njit([types.void(T_STATE, T_U64, T_INT, T_PARAMS)])
def start(state, seed, first, params):
    """Deal a new game from its key; what the record held before is gone, its number stays.

    Args:
        state: the record.
        seed: the deal's key.
        first: the seat that calls first, -1 to draw it.
        params: the room.
    """
    state.seed = seed
    state.draws = 0
    state.redeals = 0
    state.first = draw(state, 3) if first < 0 else first
    shuffle(state)
    deal_cards(state)
    next_phase(state, params)


@njit([types.void(T_STATE, T_PARAMS)])
def start_from_deck(state, params):
    """Begin a deal whose deck, key and first caller the record already holds."""
    deal_cards(state)
    next_phase(state, params)


@njit([types.void(T_STATE, T_INT, T_U64)])
def _record(state, action, cards):
    """Append a decision of the seat on turn to the history."""
    i = state.n_history
    state.history_seat[i] = state.turn
    state.history_action[i] = action
    state.history_cards[i] = cards
    state.n_history = i + 1


@njit([types.int64(T_STATE, T_IDS)])
def legal_call_points(state, out):
    """Pass, or more points than the highest call so far."""
    out[0] = 0
    n = 1
    for points in range(state.base + 1, 4):
        out[n] = points
        n += 1
    return n


@njit([types.void(T_STATE, T_INT, T_PARAMS)])
def apply_call_points(state, action, params):
    """Note the call; 3 points or the third choice end the phase."""
    state.calls[state.turn] = action
    if action > 0:
        state.base = action
    state.turn = (state.turn + 1) % 3
    if action == 3 or state.calls[state.turn] >= 0:
        next_phase(state, params)


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES, T_IDS)])
def legal_play(state, params, tables, out):
    """Any play when leading; pass or what beats the last play otherwise."""
    hand = state.hands[state.turn]
    if state.last_seat < 0:
        return list_leads(hand, params, tables, out)
    return list_replies(hand, np.int64(state.last_action), params, tables, out)


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_TABLES)])
def apply_play(state, action, params, tables):
    """Take the cards out of the hand, or pass; the second pass in a row makes the next a lead."""
    seat = state.turn
    state.turn = (seat + 1) % 3
    if action == 0:
        state.passes += 1
        if state.passes == 2:
            _clear_trick(state)
        return
    cards = tables.actions[action].need
    state.hands[seat] -= cards
    state.played[seat] += cards
    state.plays[seat] += 1
    state.passes = 0
    state.last_seat = seat
    state.last_action = action
    state.last_cards = cards
    if tables.actions[action].category >= _BOMB:
        state.bombs += 1
    if state.hands[seat] == U64(0):
        state.winner = seat
        next_phase(state, params)


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES, T_IDS)])
def legal(state, params, tables, out):
    """The ids that the seat on turn may choose, ascending, into `out`; their number (0 when over).

    Args:
        state: a game, not changed.
        params: the room's `Params`.
        tables: the catalogue's `Tables`.
        out: int32 buffer with room for `MAX_LEGAL` ids.
    """
    if state.phase == _PLAY:
        return legal_play(state, params, tables, out)
    if state.phase == _POINTS:
        return legal_call_points(state, out)
    return 0


@njit([types.boolean(T_STATE, T_INT, T_PARAMS, T_TABLES)])
def is_legal(state, action, params, tables):
    """Whether the seat on turn may choose an id: the same answer as `legal`, without a list."""
    if state.phase == _POINTS:
        return action == 0 or state.base < action <= 3
    if state.phase != _PLAY:
        return False
    if action < FIRST_PLAY or action >= N_ACTIONS:
        return action == 0 and state.last_seat >= 0
    play = tables.actions[action]
    if not (params.categories >> play.category) & 1 or play.kicker & ~params.kickers:
        return False
    if not contains(state.hands[state.turn], play.need):
        return False
    if state.last_seat < 0:
        return True
    last = tables.actions[state.last_action]
    if play.category == last.category:
        return play.length == last.length and play.rank > last.rank
    return play.category >= _BOMB and play.category > last.category


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_TABLES)])
def apply(state, action, params, tables):
    """Make a legal choice for the seat on turn; legality is the caller's duty (`is_legal`)."""
    play = state.phase == _PLAY
    _record(state, action, tables.actions[action].need)
    if play:
        apply_play(state, action, params, tables)
    else:
        apply_call_points(state, action, params)


assert MAX_HISTORY >= 157 and STATE.itemsize < 4096
