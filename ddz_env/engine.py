"""The phase machine: deal, play, what comes next, and the two calls for all phases.

`legal` lists what the seat on turn may choose and `apply` makes a choice, in whatever phase;
`next_phase` owns every transition. The phases before the play are in phases.py. All randomness
comes from the record's own key (splitmix64 of key and counter), so a game's course depends on
nothing else.
"""

import numpy as np
from numba import types

from ddz_env import phases
from ddz_env._jit import njit
from ddz_env.cards import BOTTOM_SIZE, DECK_SIZE, HAND_SIZE, SMALL_JOKER, WILD, deck
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
from ddz_env.scoring import T_STATE, settle, times
from ddz_env.state import MAX_HISTORY, NOT_ASKED, STATE, Phase

U64 = np.uint64
GOLDEN = U64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
_DECK = tuple(int(r) for r in deck())
_POINTS, _CALL, _ROB = int(Phase.CALL_POINTS), int(Phase.CALL), int(Phase.ROB)
_BLIND, _SHOW_AT_12 = int(Phase.BLIND), int(Phase.SHOW_AT_12)
_SHOW_AFTER_BOTTOM, _DOUBLE = int(Phase.SHOW_AFTER_BOTTOM), int(Phase.DOUBLE)
_RAISE, _PLAY, _OVER = int(Phase.RAISE), int(Phase.PLAY), int(Phase.OVER)
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)
WILD_DRAWN, WILD_SEVENS, WILD_JOKERS = 1, 2, 3
"""The ways of `RuleSet.wild` as `Params.wild` numbers them."""
SEVEN, WILD_RANKS = 4, 13
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


@njit([types.void(T_STATE, T_PARAMS)])
def shuffle(state, params):
    """Fill the record's deck with a random order (Fisher and Yates).

    Where the red sevens are wild, two of the four sevens are wild cards.
    """
    for i in range(DECK_SIZE):
        state.deck[i] = _DECK[i]
    if params.wild == WILD_SEVENS:
        for i in range(4 * SEVEN, 4 * SEVEN + 2):
            state.deck[i] = WILD
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


@njit([types.void(T_STATE, T_PARAMS)])
def deal_cards(state, params):
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
        state.robs[seat] = -1
        state.looked[seat] = 0
        state.shows[seat] = 0
        state.doubles[seat] = 0
        state.choices[seat] = NOT_ASKED
        state.plays[seat] = 0
    state.bottom = U64(0)
    for i in range(DECK_SIZE - BOTTOM_SIZE, DECK_SIZE):
        state.bottom += U64(1) << U64(4 * state.deck[i])
    state.phase = _DEAL
    state.wild = -1
    if params.wild == WILD_SEVENS:
        state.wild = SEVEN
    elif params.wild == WILD_JOKERS:
        state.wild = SMALL_JOKER
    state.landlord = -1
    state.caller = -1
    state.blind = 0
    state.raises = 0
    state.refusals = 0
    state.base = 0 if params.auction == phases.AUCTION_POINTS else 1
    state.bombs = 0
    state.bomb_factor = 1
    state.pending = 0
    state.pending_wilds = U64(0)
    state.pending_low = 0
    state.n_history = 0
    state.winner = -1
    _clear_trick(state)


@njit([types.void(T_STATE, T_INT, T_PARAMS)])
def draw_first(state, first, params):
    """Settle who calls first: a given seat, or drawn (-1); where a card is turned, its holder.

    Who shows before the calls comes before him (`enter`).
    """
    # One number is drawn in any case, so that the cards don't depend on who calls first.
    place = draw(state, DECK_SIZE - BOTTOM_SIZE)
    if first < 0:
        first = place // HAND_SIZE
    state.first = first
    turned = params.first_caller == phases.FIRST_TURNED
    state.turned = HAND_SIZE * first + place % HAND_SIZE if turned else -1


@njit([types.boolean(T_STATE, T_PARAMS)])
def end_auction(state, params):
    """After the last call: settle who called; False when all passed and nobody becomes landlord."""
    if state.caller >= 0:
        return True
    shower = phases.first_shower(state, params)
    if shower >= 0:
        state.caller = shower
    elif params.all_pass == 1:
        state.caller = state.first
    else:
        return False
    state.base = 1
    return True


@njit([types.void(T_STATE, T_PARAMS)])
def redeal(state, params):
    """Throw the cards in and deal anew; past the room's limit the deal is void."""
    if state.redeals == params.max_redeals:
        state.phase = _OVER
        return
    state.redeals += 1
    if params.first_caller == phases.FIRST_ROTATES:
        draw_first(state, (state.first + params.redeal_rotates) % 3, params)
    else:
        draw_first(state, -1, params)
    shuffle(state, params)
    deal_cards(state, params)


@njit([types.uint64(T_U64, T_INT)])
def make_wild(cards, rank):
    """Packed cards with those of a rank turned into wild ones."""
    shift = U64(4 * rank)
    n = (cards >> shift) & U64(15)
    return cards - (n << shift) + (n << U64(4 * WILD))


@njit([types.void(T_STATE)])
def draw_wild_rank(state):
    """Draw the rank 3..2 whose four cards are wild from now on."""
    state.wild = draw(state, WILD_RANKS)
    state.bottom = make_wild(state.bottom, state.wild)
    for seat in range(3):
        state.hands[seat] = make_wild(state.hands[seat], state.wild)


@njit([types.void(T_STATE, T_PARAMS)])
def take_bottom(state, params):
    """Make the last robber, or the caller, or seat 0 the landlord; the bottom cards go to him."""
    state.landlord = max(state.caller, 0)
    for k in range(1, 4):  # the order in which robbers are asked
        seat = (max(state.caller, 0) + k) % 3
        if state.robs[seat] == 1:
            state.landlord = seat
    state.hands[state.landlord] += state.bottom
    if params.wild == WILD_DRAWN:
        draw_wild_rank(state)


@njit([types.boolean(T_STATE, T_INT, T_PARAMS)])
def enter(state, phase, params):
    """Prepare a phase; whether anybody is asked in it."""
    if phase <= _SHOW_AT_12 or phase == _SHOW_AFTER_BOTTOM:
        return phases.enter_show(state, phase, params)
    if phase == _POINTS or phase == _CALL or phase == _BLIND:
        auctions = (phases.AUCTION_POINTS, phases.AUCTION_CALL, 0, phases.AUCTION_BLIND)
        if state.caller >= 0 or params.auction != auctions[phase - _POINTS]:
            return False
        shower = phases.first_shower(state, params)
        state.turn = shower if shower >= 0 else state.first
        return True
    if phase == _ROB:
        return state.caller >= 0 and phases.enter_rob(state, params)
    if phase == _DOUBLE:
        return phases.enter_double(state, params)
    if phase == _RAISE:
        return phases.enter_raise(state, params)
    state.turn = state.landlord
    return True


@njit([types.void(T_STATE, T_PARAMS)])
def next_phase(state, params):
    """Go from a finished phase to the next one that asks somebody, or to the end."""
    phase = np.int64(state.phase)
    if phase == _PLAY:
        state.phase = _OVER
        settle(state, params)
        return
    if phase == _POINTS or phase == _CALL or phase == _BLIND:
        if not end_auction(state, params):
            redeal(state, params)
            if state.phase == _OVER:
                return
        phase = np.int64(state.phase)
    while True:
        phase += 1
        if phase == _SHOW_AFTER_BOTTOM:
            take_bottom(state, params)
        if enter(state, phase, params):
            state.phase = phase
            return


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
    for seat in range(3):
        state.may_double[seat] = 1
    draw_first(state, first, params)
    shuffle(state, params)
    deal_cards(state, params)
    next_phase(state, params)


@njit([types.void(T_STATE, T_PARAMS)])
def start_from_deck(state, params):
    """Begin a deal whose deck, key and first caller the record already holds."""
    deal_cards(state, params)
    next_phase(state, params)


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES, T_IDS)])
def legal_play(state, params, tables, out):
    """Any play when leading; pass or what beats the last play otherwise."""
    hand = state.hands[state.turn]
    if state.last_seat < 0:
        return list_leads(hand, params, tables, out)
    return list_replies(hand, np.int64(state.last_action), params, tables, out)


@njit([types.boolean(T_STATE)])
def pass_play(state):
    """Pass; the second pass in a row makes the next play a lead. Never ends the deal."""
    state.turn = (state.turn + 1) % 3
    state.passes += 1
    if state.passes == 2:
        _clear_trick(state)
    return False


@njit([types.boolean(T_STATE, T_INT, T_U64, T_INT)])
def put_down(state, action, cards, factor):
    """Take a play's cards out of the hand; whether the deal has ended.

    Args:
        state: the game.
        action: id of the play.
        cards: packed cards that it takes, wild ones as such.
        factor: what a bomb or rocket multiplies with, 0 for another play.
    """
    seat = state.turn
    state.turn = (seat + 1) % 3
    state.hands[seat] -= cards
    state.played[seat] += cards
    state.plays[seat] += 1
    state.passes = 0
    state.last_seat = seat
    state.last_action = action
    state.last_cards = cards
    if factor > 0:
        state.bombs += 1
        state.bomb_factor = times(np.int64(state.bomb_factor), factor, 1)
    if state.hands[seat] == U64(0):
        state.winner = seat
    return state.winner >= 0


@njit([types.boolean(T_STATE, T_INT, T_PARAMS, T_TABLES)])
def apply_play(state, action, params, tables):
    """Make a play without wild cards, or pass; whether the deal has ended."""
    if action == 0:
        return pass_play(state)
    play = tables[0].actions[action]
    factor = 0
    if play.category >= _BOMB:
        factor = params.bomb if play.category == _BOMB else params.rocket
    return put_down(state, action, play.need, factor)


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES, T_IDS)])
def legal(state, params, tables, out):
    """The ids that the seat on turn may choose, ascending, into `out`; their number (0 when over).

    Args:
        state: a game, not changed.
        params: the room's `Params`.
        tables: the catalogue's `TABLES`.
        out: int32 buffer with room for `MAX_LEGAL` ids.
    """
    phase = state.phase
    if phase == _PLAY:
        return legal_play(state, params, tables, out)
    if phase == _OVER:
        return 0
    if phase == _POINTS:
        return phases.legal_call_points(state, out)
    if phase == _BLIND:
        return phases.legal_blind(state, out)
    if phase == _CALL:
        return phases.no_or(out, phases.CALL)
    if phase == _ROB:
        return phases.no_or(out, phases.ROB)
    if phase == _DOUBLE:
        return phases.no_or(out, phases.DOUBLE)
    return phases.no_or(out, phases.RAISE if phase == _RAISE else phases.SHOW)


@njit([types.boolean(T_STATE, T_INT)])
def _is_legal_choice(state, action):
    """`is_legal` outside of the play."""
    phase = state.phase
    if phase == _OVER:
        return False
    if phase == _POINTS:
        return action == 0 or state.base < action <= 3
    if phase == _BLIND:
        return action == phases.BLIND or action == phases.LOOK
    if action == 0:
        return True
    if phase == _CALL:
        return action == phases.CALL
    if phase == _ROB:
        return action == phases.ROB
    if phase == _DOUBLE:
        return action == phases.DOUBLE
    return action == (phases.RAISE if phase == _RAISE else phases.SHOW)


@njit([types.boolean(T_STATE, T_INT, T_PARAMS, T_TABLES)])
def is_legal(state, action, params, tables):
    """Whether the seat on turn may choose an id: the same answer as `legal`, without a list."""
    if state.phase != _PLAY:
        return _is_legal_choice(state, action)
    if action < FIRST_PLAY or action >= N_ACTIONS:
        return action == 0 and state.last_seat >= 0
    play = tables[0].actions[action]
    if not (params.categories >> play.category) & 1 or play.kicker & ~params.kickers:
        return False
    if not contains(state.hands[state.turn], play.need):
        return False
    if state.last_seat < 0:
        return True
    last = tables[0].actions[state.last_action]
    if play.category == last.category:
        return play.length == last.length and play.rank > last.rank
    return play.category >= _BOMB and play.category > last.category


@njit([types.boolean(T_STATE, T_INT, T_PARAMS)])
def _apply_choice(state, action, params):
    """Make a choice outside of the play; whether its phase has ended."""
    phase = state.phase
    if phase <= _SHOW_AT_12 or phase == _SHOW_AFTER_BOTTOM or phase == _DOUBLE:
        return phases.apply_at_once(state, action)
    phases.record(state, state.turn, action, U64(0))
    if phase == _POINTS:
        return phases.apply_call_points(state, action)
    if phase == _CALL:
        return phases.apply_call(state, action, params)
    if phase == _ROB:
        return phases.apply_rob(state, action, params)
    if phase == _BLIND:
        return phases.apply_blind(state, action, params)
    return phases.apply_raise(state, action, params)


@njit([types.void(T_STATE, T_INT, T_PARAMS, T_TABLES)])
def apply(state, action, params, tables):
    """Make a legal choice for the seat on turn; legality is the caller's duty (`is_legal`)."""
    if state.phase == _PLAY:
        phases.record(state, state.turn, action, tables[0].actions[action].need)
        ended = apply_play(state, action, params, tables)
    else:
        ended = _apply_choice(state, action, params)
    if ended:
        next_phase(state, params)


assert MAX_HISTORY >= 154 + 9 + 6 + 3 + 3 + 3 + 6 and STATE.itemsize < 4096
