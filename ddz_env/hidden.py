"""From a view back to a game: what a seat can't see is drawn, or given.

Hidden cards are four packed words: for each seat the cards of its hand that the view does not show,
then those of the bottom. Together they are the view's `unseen`. Agents that search make games of
their view with them; compiled when first imported.
"""

from typing import Any

import numpy as np
from numba import types

from ddz_env._jit import njit, records
from ddz_env.cards import BOTTOM_SIZE, DECK_SIZE, HAND_SIZE, WILD, to_text
from ddz_env.catalogue import TABLES, Category
from ddz_env.engine import GOLDEN, WILD_DRAWN, WILD_JOKERS, mix
from ddz_env.errors import CardError, DdzError
from ddz_env.moves import JOKERS, T_INT, T_PARAMS, T_TABLES, T_U64, contains, hand_size, lacking
from ddz_env.params import Params
from ddz_env.phases import FIRST_TURNED
from ddz_env.rules import RuleSet, get_rules
from ddz_env.scoring import T_STATE, times
from ddz_env.seeds import check_seed
from ddz_env.state import ASK, NOT_ASKED, STATE, Phase
from ddz_env.view import T_VIEW, VIEW
from ddz_env.wild import HARD, PURE, bomb_class

U64 = np.uint64
T_HIDDEN = types.uint64[::1]
_AT_12, _AFTER_BOTTOM = int(Phase.SHOW_AT_12), int(Phase.SHOW_AFTER_BOTTOM)
_DOUBLE, _RAISE, _FILL = int(Phase.DOUBLE), int(Phase.RAISE), int(Phase.FILL)
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)
_NATURAL = U64((1 << 60) - 1)


@njit([types.uint64(T_U64, T_U64)])
def beyond(cards, other):
    """Packed cards without those that `other` has of them."""
    left = U64(0)
    for rank in range(16):
        have, gone = (cards >> U64(4 * rank)) & U64(15), (other >> U64(4 * rank)) & U64(15)
        if have > gone:
            left += (have - gone) << U64(4 * rank)
    return left


@njit([types.int64(T_VIEW, T_PARAMS)])
def _turned(view, params):
    """The rank of the card turned face up as it is held, -1 for none that the view shows."""
    rank = np.int64(view.turned_rank)
    if rank >= 0 and params.wild == WILD_DRAWN and rank == view.wild:
        return WILD
    return rank


@njit([types.int64(T_VIEW, T_INT)])
def n_hidden(view, place):
    """How many hidden cards are in the hand of seat 0..2, or in the bottom (3)."""
    if place == 3:
        return 0 if view.landlord >= 0 else BOTTOM_SIZE
    size = HAND_SIZE if view.phase <= _AT_12 else view.counts[place]
    return size - hand_size(view.hands[place])


@njit([types.uint64(T_VIEW, T_INT, T_PARAMS)])
def known_cards(view, seat, params):
    """Packed hidden cards that a seat holds for sure: bottom cards not yet played, the turned one.

    None of a hand that the view shows.
    """
    cards = view.bottom if seat == view.landlord else U64(0)
    rank = _turned(view, params)
    if rank >= 0 and view.turned_seat == seat:
        cards += U64(1) << U64(4 * rank)
    return beyond(cards, view.hands[seat] + view.played[seat])


@njit([types.void(T_VIEW, T_U64, T_PARAMS, T_HIDDEN)])
def deal_hidden(view, key, params, hidden):
    """Draw hidden cards, each way that fits the view with the same chance.

    Args:
        view: the view.
        key: of the random numbers.
        params: the room's.
        hidden: gets the cards, `uint64[4]`.
    """
    pool = view.unseen
    for place in range(4):
        hidden[place] = known_cards(view, place, params) if place < 3 else U64(0)
        pool -= hidden[place]
    cards = np.zeros(DECK_SIZE, np.uint8)
    n = 0
    for rank in range(16):
        for _ in range((pool >> U64(4 * rank)) & U64(15)):
            cards[n] = rank
            n += 1
    for place in range(4):
        for _ in range(n_hidden(view, place) - hand_size(hidden[place])):
            bits = mix(key + U64(n) * GOLDEN)
            j = np.int64(((bits >> U64(32)) * U64(n)) >> U64(32))
            n -= 1
            hidden[place] += U64(1) << U64(4 * cards[j])
            cards[j] = cards[n]


@njit([types.int64(T_STATE, T_INT, T_U64, T_INT)])
def _lay(state, at, cards, wild):
    """Put packed cards into the deck from a place on, drawn wild ones as their rank; the end."""
    for rank in range(16):
        for _ in range((cards >> U64(4 * rank)) & U64(15)):
            state.deck[at] = wild if rank == WILD and wild >= 0 else rank
            at += 1
    return at


@njit([types.void(T_STATE, T_VIEW, T_HIDDEN, T_PARAMS)])
def _fill_deck(state, view, hidden, params):
    """A deck that deals these cards, those that the view shows first, and the turned card."""
    wild = np.int64(view.wild) if params.wild == WILD_DRAWN else -1
    low = state.bottom
    lord = view.landlord
    if low == U64(0) and lord >= 0:  # a position whose bottom cards nobody knows
        cards = state.hands[lord] + state.played[lord]
        for rank in range(16):
            held = np.int64((cards >> U64(4 * rank)) & U64(15))
            low += U64(min(held, BOTTOM_SIZE - hand_size(low))) << U64(4 * rank)
    for seat in range(3):
        shown = view.hands[seat] + view.played[seat]
        rest = hidden[seat]
        if seat == lord:
            rest = beyond(rest, beyond(low, shown))
            shown = beyond(shown, low)
        end = _lay(state, HAND_SIZE * seat, shown, wild)
        _lay(state, end, rest, wild)
    _lay(state, 3 * HAND_SIZE, low, wild)
    state.turned = -1
    if params.first_caller == FIRST_TURNED:
        state.turned = HAND_SIZE * view.first
        if view.turned_rank >= 0:
            at = HAND_SIZE * np.int64(view.turned_seat)
            last = at + HAND_SIZE - 1
            while at < last and state.deck[at] != view.turned_rank:
                at += 1
            state.turned = at


@njit([types.void(T_STATE, T_VIEW, T_PARAMS)])
def _fill_choices(state, view, params):
    """Who has still to choose at once; what others have chosen there counts as no."""
    phase = view.phase
    for seat in range(3):
        asked = phase == _DOUBLE
        if phase <= _AT_12 or phase == _AFTER_BOTTOM:
            asked = view.shows[seat] == 0
        if phase == _AFTER_BOTTOM and params.shower == 0:
            asked = asked and seat == view.landlord
        state.choices[seat] = NOT_ASKED
        if asked:
            state.choices[seat] = ASK if seat >= view.turn else 0
        state.may_double[seat] = 1
    state.refusals = 0
    if phase == _RAISE and view.raises % 2 == 0:
        first = (view.landlord + (1 if params.raise_order == 0 else 2)) % 3
        state.refusals = 0 if view.turn == first else 1


@njit([types.int64(T_VIEW, T_PARAMS, T_TABLES)])
def _bombs_multiply(view, params, tables):
    """What the bombs and rockets of the history multiply with."""
    factor = 1
    for i in range(view.n_history):
        category = tables[0].actions[view.history_action[i]].category
        if category == _ROCKET:
            factor = times(factor, params.rocket, 1)
        elif category == _BOMB:
            cards = view.history_cards[i]
            spent = cards & JOKERS if params.wild == WILD_JOKERS else cards & ~_NATURAL
            wilds = hand_size(spent)
            kind = bomb_class(wilds, 4 - wilds)
            value = params.bomb if kind == HARD else params.soft_bomb
            factor = times(factor, params.pure_bomb if kind == PURE else value, 1)
    return factor


@njit([types.void(T_STATE, T_VIEW, T_TABLES)])
def _fill_pending(state, view, tables):
    """The play that the view's seat is filling; fillings are chosen by ascending rank."""
    state.pending = view.pending
    state.pending_wilds = view.pending_wilds
    state.pending_low = 0
    if view.phase == _FILL:
        need = tables[0].actions[view.pending].need
        more = view.pending_wilds - lacking(view.hand & _NATURAL, need)
        for rank in range(13):
            if (more >> U64(4 * rank)) & U64(15):
                state.pending_low = rank


@njit([types.void(T_STATE, T_VIEW)])
def _copy_history(state, view):
    """The history; what a longer one had left behind is cleared."""
    n, old = view.n_history, state.n_history
    for i in range(n):
        state.history_seat[i] = view.history_seat[i]
        state.history_action[i] = view.history_action[i]
        state.history_cards[i] = view.history_cards[i]
    for i in range(n, old):
        state.history_seat[i] = 0
        state.history_action[i] = 0
        state.history_cards[i] = U64(0)
    state.n_history = n


@njit([types.void(T_VIEW, T_HIDDEN, T_U64, T_PARAMS, T_TABLES, T_STATE)])
def fill_state(view, hidden, seed, params, tables, state):
    """`state_from_view` for kernels, which hand in cards that fit.

    Args:
        view: the view.
        hidden: the hidden cards, `uint64[4]`.
        seed: the key of what is still to be drawn.
        params: the room's.
        tables: the catalogue's `TABLES`.
        state: gets the game.
    """
    state.seed, state.draws = seed, 0
    state.deal = view.deal
    for seat in range(3):
        state.hands[seat] = view.hands[seat] + hidden[seat]
        state.played[seat] = view.played[seat]
        state.scores[seat] = view.scores[seat]
        state.calls[seat] = view.calls[seat]
        state.robs[seat] = view.robs[seat]
        state.looked[seat] = view.looked[seat]
        state.shows[seat] = view.shows[seat]
        state.doubles[seat] = view.doubles[seat]
        state.plays[seat] = view.plays[seat]
    state.bottom = view.bottom if view.landlord >= 0 else hidden[3]
    state.last_cards, state.last_action = view.last_cards, view.last_action
    state.last_seat, state.passes = view.last_seat, view.passes
    state.phase, state.turn, state.first = view.phase, view.turn, view.first
    state.landlord, state.caller, state.blind = view.landlord, view.caller, view.blind
    state.raises, state.base, state.bombs = view.raises, view.base, view.bombs
    state.wild, state.winner, state.redeals = view.wild, view.winner, view.redeals
    state.bomb_factor = _bombs_multiply(view, params, tables)
    _fill_choices(state, view, params)
    _fill_pending(state, view, tables)
    _copy_history(state, view)
    _fill_deck(state, view, hidden, params)


def _row(view: Any) -> Any:
    """A view as a record that kernels take."""
    if not isinstance(view, (np.void, np.ndarray)) or view.dtype.names != VIEW.names:
        raise DdzError(f"view: expected a record of VIEW, got {type(view).__name__}")
    if np.size(view) != 1:
        raise DdzError(f"view: expected one record, got {np.size(view)}")
    rows = records(VIEW, 1)
    rows[0] = view if isinstance(view, np.void) else view.reshape(-1)[0]
    return rows[0]


def _check_hidden(view: Any, hidden: Any, params: Params) -> np.ndarray:
    """Hidden cards as `uint64[4]` that fit a view."""
    cards = np.asarray(hidden)
    if cards.shape != (4,) or cards.dtype.kind not in "iu":
        raise CardError(
            f"hidden_cards: expected 4 packed words, of the seats and the bottom, got {hidden!r}"
        )
    cards = np.ascontiguousarray(cards, np.uint64)
    total = sum(int(word) for word in cards)
    if total != int(view["unseen"]):
        raise CardError(f"hidden_cards: expected {to_text(int(view['unseen']))} together")
    for place in range(4):
        name = "bottom" if place == 3 else f"player_{place}"
        want, have = n_hidden(view, place), hand_size(cards[place])
        if want != have:
            raise CardError(f"hidden_cards: {name} has {want} hidden cards, got {have}")
        known = known_cards(view, place, params) if place < 3 else U64(0)
        if not contains(cards[place], known):
            raise CardError(f"hidden_cards: {name} is known to hold {to_text(int(known))}")
    return cards


def draw_hidden(view: Any, seed: int = 0, rules: str | RuleSet = "play_only") -> np.ndarray:
    """Hidden cards that fit a view, drawn with equal chances: `uint64[4]`, see `state_from_view`.

    Args:
        view: a record of `VIEW`.
        seed: of the drawing, 0 .. 2**63 - 1.
        rules: the view's room.
    """
    hidden = np.zeros(4, np.uint64)
    key = mix(np.uint64(check_seed(seed)) + GOLDEN)
    deal_hidden(_row(view), key, get_rules(rules).params(), hidden)
    return hidden


def state_from_view(
    view: Any, hidden_cards: Any, seed: int = 0, rules: str | RuleSet = "play_only"
) -> np.ndarray:
    """A game that looks to a seat as its view does: cutting its view gives the same bytes.

    What a view can't tell is taken to be: choices made at once that nobody sees yet are no, every
    seat has the beans to double, a turned card that is not public is the caller's first one.

    Args:
        view: a record of `VIEW`, of any phase.
        hidden_cards: packed cards that the view does not show, `uint64[4]`: of the hands of seats
            0..2 and of the bottom, such as `draw_hidden` draws.
        seed: key of what the game has still to draw (a wild rank, redeals), 0 .. 2**63 - 1.
        rules: the view's room.

    Returns:
        the record, `STATE[1]`.

    Raises:
        CardError: cards that do not fit the view.
        DdzError: no view, another argument out of range.
    """
    row, params = _row(view), get_rules(rules).params()
    hidden = _check_hidden(row, hidden_cards, params)
    rows = records(STATE, 1)
    fill_state(row, hidden, np.uint64(check_seed(seed)), params, TABLES, rows[0])
    return rows
