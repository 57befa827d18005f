"""Observations: the schema of features and its encoder, from a `VIEW` alone.

Every feature is a bit. The encoder writes the indices of the ones (`uint16`), which is what the
networks here read; the dense form sets them in a row of zeros. Cards are coded as in a
thermometer: rank r with n cards sets bits 4r .. 4r+n-1, the jokers are bits 52 and 53. Seats are
relative to the observer: `self`, `next` (who plays after), `prev`.
"""

import hashlib

import numpy as np
from numba import types

from ddz_env._jit import njit, trailing_zeros
from ddz_env.cards import DECK_SIZE
from ddz_env.catalogue import ACTIONS, FIRST_PLAY
from ddz_env.checks import brief
from ddz_env.errors import DdzError
from ddz_env.moves import ONES, T_INT, T_TABLES, T_U64, hand_size
from ddz_env.schema import Field, Schema
from ddz_env.state import N_PHASES, Phase
from ddz_env.view import T_VIEW

U64 = np.uint64
CARDS = 58
"""Bits of a set of cards: four for each rank, two jokers, four for wild cards."""
HISTORY = 15
"""Decisions of the play that the encoder sees: five rounds."""
CATEGORIES, LENGTHS = 15, 13
BOMBS = 15
"""Most bombs of a deal: thirteen of four cards and the rocket; none is possible too."""
T_BITS = types.uint16[::1]

STATE_FIELDS = (
    Field("hand", (CARDS,), "own cards, as far as the seat may see them"),
    Field("unseen", (CARDS,), "cards that the seat has not seen"),
    Field("shown_next", (CARDS,), "the next seat's cards, where it shows them"),
    Field("shown_prev", (CARDS,), "the previous seat's cards, where it shows them"),
    Field("bottom", (CARDS,), "the three bottom cards, once there is a landlord"),
    Field("to_beat", (CARDS,), "cards of the play to beat, wild ones as such; none for a lead"),
    Field("last_next", (CARDS,), "cards of the next seat's last decision; none for a pass"),
    Field("last_prev", (CARDS,), "cards of the previous seat's last decision; none for a pass"),
    Field("played_self", (CARDS,), "cards that the seat has played"),
    Field("played_next", (CARDS,), "cards that the next seat has played"),
    Field("played_prev", (CARDS,), "cards that the previous seat has played"),
    Field("count_self", (21,), "own cards (those dealt so far), 0..20, one bit"),
    Field("count_next", (21,), "the next seat's cards, 0..20, one bit"),
    Field("count_prev", (21,), "the previous seat's cards, 0..20, one bit"),
    Field("plays", (3, 3), "plays made by self, next, prev: none, one, more; one bit each"),
    Field("bombs", (BOMBS,), "bombs and rockets played, 0..14, one bit"),
    Field("role", (4,), "landlord, landlord_down, landlord_up, or nobody is yet, one bit"),
    Field("turn", (4,), "who is asked: self, next, prev, or several at once or nobody, one bit"),
    Field("trick", (4,), "whose play is to be beaten: self, next, prev, nobody's, one bit"),
    Field("category", (CATEGORIES,), "category of the play to beat, 0 for a lead, one bit"),
    Field("length", (LENGTHS,), "length of the play to beat, 0 for a lead, one bit"),
    Field("rank", (15,), "rank of the main part of the play to beat, one bit; none for a lead"),
    Field("phase", (N_PHASES,), "the phase, one bit"),
    Field("call", (3, 5), "call of self, next, prev: not asked, pass, 1, 2, 3 points"),
    Field("rob", (3, 3), "rob of self, next, prev: not asked, no, yes"),
    Field("show", (3, 5), "show of self, next, prev: none, or moment 1, 2, 3, 4"),
    Field("double", (3, 2), "double of self, next, prev: no, yes"),
    Field("look", (3, 2), "whether self, next, prev looked instead of grabbing blind: no, yes"),
    Field("caller", (4,), "who called: self, next, prev, or nobody yet, one bit"),
    Field("first", (3,), "who calls first: self, next, prev, one bit"),
    Field("blind", (2,), "whether the landlord grabbed blind: no, yes"),
    Field("raises", (5,), "raises so far, 0..4, one bit"),
    Field("turned", (15,), "rank of the card turned face up, one bit; none without"),
    Field("turned_seat", (4,), "its holder: self, next, prev, or no card is turned, one bit"),
    Field("wild", (14,), "rank of the wild cards, 13 the jokers, one bit; none without"),
    Field("declared", (CARDS,), "cards of the own declared play while it is filled"),
    Field("declared_category", (CATEGORIES,), "its category, one bit; none without"),
    Field("declared_length", (LENGTHS,), "its length, one bit; none without"),
    Field("declared_rank", (15,), "rank of its main part, one bit; none without"),
    Field("filled", (CARDS,), "ranks that wilds stand for in it so far"),
    Field("multiplier", (49,), "the multiplier in binary, lowest digit first, at most 2**48"),
    Field("base", (4,), "base of the score: none yet, 1, 2, 3, one bit"),
    Field("history", (HISTORY, CARDS), "cards of the last decisions of the play, latest first"),
    Field("history_category", (HISTORY, CATEGORIES), "their categories, 0 for a pass, one bit"),
)
ACTION_FIELDS = (
    Field("choice", (FIRST_PLAY,), "the id of a choice that is no play, one bit"),
    Field("cards", (CARDS,), "cards that the action takes, as declared"),
    Field("left", (CARDS,), "own cards left after it, made with as few wilds as possible"),
    Field("wilds", (5,), "wild cards that it needs, 0..4, one bit"),
    Field("category", (CATEGORIES,), "category, 0 for a choice, one bit"),
    Field("length", (LENGTHS,), "length of the main part, one bit"),
    Field("rank", (15,), "rank of the main part of a play, one bit"),
    Field("count", (21,), "own cards left after it, 0..20, one bit"),
    Field("to_go", (16,), "plays that then empty the hand, 0..15, one bit (an upper bound)"),
)
OBSERVATION = Schema("ddz-obs-v1", STATE_FIELDS)
"""What a seat may know. Frozen: see `schema.py`."""
ACTION = Schema("ddz-act-v1", ACTION_FIELDS)
"""One listed action, for a hand that can make it. Frozen."""
CRITIC = Schema(
    "ddz-critic-v1",
    (
        *STATE_FIELDS,
        Field("hand_self", (CARDS,), "all cards of the seat on turn, looked at or not"),
        Field("hand_next", (CARDS,), "the next seat's cards"),
        Field("hand_prev", (CARDS,), "the previous seat's cards"),
        Field("hidden_bottom", (CARDS,), "the bottom cards, before there is a landlord too"),
        Field("chosen", (3, 3), "choice at once of self, next, prev: none yet, no, yes"),
    ),
)
"""Observation of the seat on turn, then what it may not know. Frozen: see `schema.py`."""
STATE_OFFSETS, STATE_SIZE = OBSERVATION.offsets, OBSERVATION.size
ACTION_OFFSETS, ACTION_SIZE = ACTION.offsets, ACTION.size
MAX_STATE_BITS = DECK_SIZE + 3 + 5 * 20 + DECK_SIZE + 33 + HISTORY + 48 + 24
"""A bound on the ones of a state: hand, unseen, shown and played are one deck; bottom; five plays
of 20 cards at most; the history is of one deck at most, and a category each; one bit for each
question with one answer; the multiplier's digits; room for the encoder to write beyond."""
CRITIC_BITS = MAX_STATE_BITS + DECK_SIZE + 3 + 3
MAX_ACTION_BITS = 20 + len(ACTION_FIELDS) + 12
"""A bound on the ones of an action: the cards taken and left are one hand; room beyond."""
SCHEMA_NAME = OBSERVATION.name


def schema_hash() -> str:
    """A hash of both schemas, of states and of actions; checkpoints store it beside the name."""
    return hashlib.sha256(f"{OBSERVATION.hash}{ACTION.hash}".encode()).hexdigest()[:12]


(
    S_HAND, S_UNSEEN, S_SHOWN_NEXT, S_SHOWN_PREV, S_BOTTOM, S_TO_BEAT, S_LAST_NEXT, S_LAST_PREV,
    S_PLAYED_SELF, S_PLAYED_NEXT, S_PLAYED_PREV, S_COUNT_SELF, S_COUNT_NEXT, S_COUNT_PREV,
    S_PLAYS, S_BOMBS, S_ROLE, S_TURN, S_TRICK, S_CATEGORY, S_LENGTH, S_RANK, S_PHASE, S_CALL,
    S_ROB, S_SHOW, S_DOUBLE, S_LOOK, S_CALLER, S_FIRST, S_BLIND, S_RAISES, S_TURNED,
    S_TURNED_SEAT, S_WILD, S_DECLARED, S_DECLARED_CATEGORY, S_DECLARED_LENGTH, S_DECLARED_RANK,
    S_FILLED, S_MULTIPLIER, S_BASE, S_HISTORY, S_HISTORY_CATEGORY,
) = STATE_OFFSETS.values()  # fmt: skip
_RANK_BITS = U64((1 << 52) - 1)
_SHOW_AT_12, _SHOW_LAST = int(Phase.SHOW_AT_12), int(Phase.SHOW_AFTER_BOTTOM)
_DOUBLE, _OVER = int(Phase.DOUBLE), int(Phase.OVER)


@njit([types.int64(T_U64, T_INT, T_BITS, T_INT)])
def put_cards(cards, offset, out, n):
    """Append the bits of packed cards; the new length.

    All counts become a thermometer of ones at once, four bits a rank; then the ones are numbered.
    """
    one, two, four = cards & ONES, (cards >> U64(1)) & ONES, (cards >> U64(2)) & ONES
    ones = one | two | four | ((two | four) << U64(1))
    ones |= (((two & one) | four) << U64(2)) | (four << U64(3))
    # The jokers have one bit each, 52 and 53; wild cards follow.
    jokers = ((ones >> U64(52)) & U64(1)) | ((ones >> U64(55)) & U64(2))
    ones = (ones & _RANK_BITS) | (jokers << U64(52)) | ((ones >> U64(60)) << U64(54))
    while ones != U64(0):
        out[n] = offset + trailing_zeros(ones)
        ones &= ones - U64(1)
        n += 1
    return n


@njit([types.int64(T_VIEW, T_TABLES, T_BITS, T_INT)])
def _put_history(view, tables, out, n):
    """Append cards and categories of the last decisions of the play, latest first."""
    # The play begins with the decision that accounts for the first card played.
    older = hand_size(view.played[0]) + hand_size(view.played[1]) + hand_size(view.played[2])
    for back in range(min(HISTORY, view.n_history)):
        if older == 0:
            break
        i = view.n_history - 1 - back
        cards = view.history_cards[i]
        category = np.int64(tables[0].categories[view.history_action[i]])
        out[n] = S_HISTORY_CATEGORY + CATEGORIES * back + category
        n = put_cards(cards, S_HISTORY + CARDS * back, out, n + 1)
        older -= hand_size(cards)
    return n


@njit([types.int64(T_INT, T_INT)])
def _relative(other, seat):
    """A seat seen from another: 0 itself, 1 next, 2 previous, 3 for nobody (-1)."""
    return 3 if other < 0 else (other - seat + 3) % 3


@njit([types.int64(T_VIEW, T_INT, T_BITS, T_INT)])
def _put_auction(view, seat, out, n):
    """Append the bits of what was decided before the play."""
    for k in range(3):
        other = (seat + k) % 3
        out[n] = S_CALL + 5 * k + np.int64(view.calls[other]) + 1
        out[n + 1] = S_ROB + 3 * k + np.int64(view.robs[other]) + 1
        out[n + 2] = S_SHOW + 5 * k + np.int64(view.shows[other])
        out[n + 3] = S_DOUBLE + 2 * k + np.int64(view.doubles[other])
        out[n + 4] = S_LOOK + 2 * k + np.int64(view.looked[other])
        n += 5
    out[n] = S_CALLER + _relative(np.int64(view.caller), seat)
    out[n + 1] = S_FIRST + _relative(np.int64(view.first), seat)
    out[n + 2] = S_BLIND + np.int64(view.blind)
    out[n + 3] = S_RAISES + np.int64(view.raises)
    out[n + 4] = S_TURNED_SEAT + _relative(np.int64(view.turned_seat), seat)
    n += 5
    if view.turned_rank >= 0:
        out[n] = S_TURNED + np.int64(view.turned_rank)
        n += 1
    if view.wild >= 0:
        out[n] = S_WILD + np.int64(view.wild)
        n += 1
    multiplier, digit = np.int64(view.multiplier), 0
    while multiplier > 0:
        if multiplier & 1:
            out[n] = S_MULTIPLIER + digit
            n += 1
        multiplier >>= 1
        digit += 1
    return n


@njit([types.uint64(T_VIEW, T_INT)])
def _last_of(view, seat):
    """The cards of a seat's last decision; none for a pass and before it has decided."""
    # Seats decide in turn: who has just decided is one back, who is on turn now is three back.
    back = (view.turn - seat + 2) % 3 + 1
    return view.history_cards[view.n_history - back] if view.n_history >= back else U64(0)


@njit([types.int64(T_VIEW, T_INT, T_TABLES, T_BITS, T_INT)])
def _put_cards_seen(view, seat, tables, out, n):
    """Append the bits of all sets of cards but the history: the first eleven fields."""
    nxt, prv = (seat + 1) % 3, (seat + 2) % 3
    words = (
        view.hand, view.unseen, view.hands[nxt], view.hands[prv], view.bottom, view.last_cards,
        _last_of(view, nxt), _last_of(view, prv), view.played[seat], view.played[nxt],
        view.played[prv],
    )  # fmt: skip
    for k in range(11):
        n = put_cards(words[k], CARDS * k, out, n)
    return n


@njit([types.int64(T_VIEW, T_TABLES, T_BITS, T_INT)])
def _put_declared(view, tables, out, n):
    """Append what the seat has declared and is filling."""
    declared = tables[0].actions[view.pending]
    out[n] = S_DECLARED_CATEGORY + declared.category
    out[n + 1] = S_DECLARED_LENGTH + declared.length
    out[n + 2] = S_DECLARED_RANK + declared.rank
    n = put_cards(declared.need, S_DECLARED, out, n + 3)
    return put_cards(view.pending_wilds, S_FILLED, out, n)


@njit([types.boolean(T_INT)])
def _at_once(phase):
    """Whether a phase asks several seats at once, or nobody."""
    return phase <= _SHOW_AT_12 or phase == _SHOW_LAST or phase == _DOUBLE or phase == _OVER


@njit([types.int64(T_VIEW, T_TABLES, T_BITS, T_INT)])
def encode_state(view, tables, out, n):
    """Append the ones of a view's state features to `out[n:]`; the new length.

    `out` needs room for `MAX_STATE_BITS` more.
    """
    seat = np.int64(view.seat)
    n = _put_cards_seen(view, seat, tables, out, n)
    if view.pending != 0:
        n = _put_declared(view, tables, out, n)
    for k in range(3):
        other = (seat + k) % 3
        out[n + k] = S_COUNT_SELF + 21 * k + np.int64(view.counts[other])
        out[n + 3 + k] = S_PLAYS + 3 * k + min(np.int64(view.plays[other]), 2)
    role = 3 if view.landlord < 0 else (seat - view.landlord + 3) % 3
    last = tables[0].actions[view.last_action]
    out[n + 6] = S_BOMBS + np.int64(view.bombs)
    out[n + 7] = S_ROLE + role
    out[n + 8] = S_TURN + (3 if _at_once(view.phase) else _relative(np.int64(view.turn), seat))
    out[n + 9] = S_TRICK + _relative(np.int64(view.last_seat), seat)
    out[n + 10] = S_CATEGORY + last.category
    out[n + 11] = S_LENGTH + last.length
    out[n + 12] = S_PHASE + view.phase
    out[n + 13] = S_BASE + view.base
    n += 14
    if view.last_action != 0:
        out[n] = S_RANK + last.rank
        n += 1
    n = _put_auction(view, seat, out, n)
    return _put_history(view, tables, out, n)


def dense(bits: np.ndarray, size: int) -> np.ndarray:
    """The dense form of one list of ones: `int8[size]`."""
    row = np.zeros(size, np.int8)
    row[bits] = 1
    return row


assert STATE_OFFSETS["count_self"] == 11 * CARDS  # what `_put_cards_seen` relies on
assert ACTIONS["length"].max() < LENGTHS and STATE_SIZE < 65536


def schema(kind: str = "observation") -> Schema:
    """The frozen schema of what agents are given.

    Args:
        kind: `observation`, what a seat may know (`ddz-obs-v1`); `action`, one listed action
            (`ddz-act-v1`); or `critic`, what a centralised critic may see in training
            (`ddz-critic-v1`). `schema().describe()` prints the table.

    Raises:
        DdzError: another kind.
    """
    kinds = {"observation": OBSERVATION, "action": ACTION, "critic": CRITIC}
    if not isinstance(kind, str) or kind not in kinds:
        raise DdzError(f"schema: expected one of {', '.join(kinds)}, got {brief(kind)}")
    return kinds[kind]
