"""What is decided before the play: shows, calls, robs, blind grabs, doubles, raises (rules par. 3).

Each phase is two kernels: `legal_<phase>` lists what the seat on turn may choose, `apply_<phase>`
makes a choice and says whether the phase has ended; `enter_<phase>` prepares a phase and says
whether anybody is asked in it. Which phase follows is the engine's business (`engine.next_phase`).

Choices made at once (shows, doubles) are asked in seat order and stay in `choices` until the last
seat has chosen; only then do they count and enter the history.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.catalogue import CHOICES
from ddz_env.moves import T_IDS, T_INT, T_PARAMS, T_U64
from ddz_env.scoring import T_STATE, show_value
from ddz_env.state import ASK, NOT_ASKED, Phase

U64 = np.uint64
CALL, ROB, SHOW = CHOICES["call"], CHOICES["rob"], CHOICES["show"]
BLIND, LOOK, DOUBLE, RAISE = (CHOICES[name] for name in ("blind", "look", "double", "raise"))
SHOW_AFTER_BOTTOM, DOUBLING = int(Phase.SHOW_AFTER_BOTTOM), int(Phase.DOUBLE)
CALLING, BLINDING = int(Phase.CALL), int(Phase.BLIND)
AUCTION_POINTS, AUCTION_CALL, AUCTION_BLIND = 1, 2, 3
FIRST_DRAWN, FIRST_ROTATES, FIRST_TURNED = 0, 1, 2
MAX_RAISES = 4


@njit([types.void(T_STATE, T_INT, T_INT, T_U64)])
def record(state, seat, action, cards):
    """Append a decision to the history."""
    i = state.n_history
    state.history_seat[i] = seat
    state.history_action[i] = action
    state.history_cards[i] = cards
    state.n_history = i + 1


@njit([types.int64(T_IDS, T_INT)])
def no_or(out, action):
    """List the no and one other choice."""
    out[0] = 0
    out[1] = action
    return 2


# -------------------------------------------------------------------------- choices made at once


@njit([types.boolean(T_STATE)])
def _ask_next(state):
    """Turn to the first seat that has still to choose at once; False when there is none."""
    for seat in range(3):
        if state.choices[seat] == ASK:
            state.turn = seat
            return True
    return False


@njit([types.boolean(T_STATE, T_INT, T_PARAMS)])
def enter_show(state, phase, params):
    """Ask who does not show yet; after the bottom cards the landlord, or everybody."""
    moment = phase + 1 if phase < SHOW_AFTER_BOTTOM else 4
    if show_value(params, moment) == 0:
        return False
    for seat in range(3):
        asked = state.shows[seat] == 0
        if phase == SHOW_AFTER_BOTTOM and params.shower == 0:
            asked = asked and seat == state.landlord
        state.choices[seat] = ASK if asked else NOT_ASKED
    return _ask_next(state)


@njit([types.boolean(T_STATE, T_PARAMS)])
def enter_double(state, params):
    """Ask who has the beans: for the landlord all three, for a farmer himself and the landlord."""
    if params.double == 0:
        return False
    lord = state.landlord
    for seat in range(3):
        may = state.may_double[seat] and state.may_double[lord]
        if seat == lord:
            may = may and state.may_double[(lord + 1) % 3] and state.may_double[(lord + 2) % 3]
        state.choices[seat] = ASK if may else NOT_ASKED
    return _ask_next(state)


@njit([types.boolean(T_STATE, T_INT)])
def apply_at_once(state, action):
    """Keep a choice hidden; with the last one all of them count."""
    state.choices[state.turn] = 0 if action == 0 else 1
    if _ask_next(state):
        return False
    phase = state.phase
    yes = DOUBLE if phase == DOUBLING else SHOW
    for seat in range(3):
        choice = state.choices[seat]
        if choice == NOT_ASKED:
            continue
        record(state, seat, yes if choice else 0, U64(0))
        if choice and phase == DOUBLING:
            state.doubles[seat] = 1
        elif choice:
            state.shows[seat] = phase + 1 if phase < SHOW_AFTER_BOTTOM else 4
        state.choices[seat] = NOT_ASKED
    return True


@njit([types.int64(T_STATE, T_PARAMS)])
def first_shower(state, params):
    """The seat that showed first before the call, -1 when nobody has."""
    best, best_moment = -1, 4
    for k in range(3):
        seat = (state.first + k) % 3 if params.show_tie == 0 else k
        if 0 < state.shows[seat] < best_moment:
            best, best_moment = seat, np.int64(state.shows[seat])
    return best


# --------------------------------------------------------------------------------------- calling


@njit([types.int64(T_STATE, T_IDS)])
def legal_call_points(state, out):
    """Pass, or more points than the highest call so far."""
    out[0] = 0
    n = 1
    for points in range(state.base + 1, 4):
        out[n] = points
        n += 1
    return n


@njit([types.boolean(T_STATE, T_INT)])
def apply_call_points(state, action):
    """Note the call; 3 points or the third choice end the phase."""
    state.calls[state.turn] = action
    if action > 0:
        state.base = action
        state.caller = state.turn
    state.turn = (state.turn + 1) % 3
    return action == 3 or state.calls[state.turn] >= 0


@njit([types.boolean(T_STATE, T_INT, T_PARAMS)])
def apply_call(state, action, params):
    """Call or pass; the first call ends it, or the third pass.

    In a room with blind grabs, who has looked calls; where that is at once, the next seat is asked
    to grab blind again.
    """
    state.calls[state.turn] = 1 if action else 0
    if action:
        state.caller = state.turn
        return True
    state.turn = (state.turn + 1) % 3
    if state.calls[state.turn] >= 0:
        return True
    if params.auction == AUCTION_BLIND and params.look_then == 0:
        state.phase = BLINDING
    return False


@njit([types.int64(T_STATE, T_IDS)])
def legal_blind(state, out):
    """Grab blind or look."""
    out[0] = BLIND
    out[1] = LOOK
    return 2


@njit([types.boolean(T_STATE, T_INT, T_PARAMS)])
def apply_blind(state, action, params):
    """A blind grab ends the auction; who looks calls at once, or after all have looked."""
    if action == BLIND:
        state.blind = 1
        state.caller = state.turn
        return True
    state.looked[state.turn] = 1
    if params.look_then == 0:
        state.phase = CALLING
        return False
    state.turn = (state.turn + 1) % 3
    if state.looked[state.turn]:
        state.phase = CALLING
    return False


# --------------------------------------------------------------------------------------- robbing


@njit([types.int64(T_STATE, T_PARAMS)])
def next_robber(state, params):
    """The next seat to be asked to rob, -1 when all have been.

    In playing order from the seat after the caller, each once, the caller last; nobody who passed
    the call, and the caller only if somebody robbed, unless the room asks always.
    """
    robbed = False
    for seat in range(3):
        robbed = robbed or state.robs[seat] == 1
    for k in range(1, 4):
        seat = (state.caller + k) % 3
        if state.robs[seat] >= 0 or state.calls[seat] == 0:
            continue
        if k == 3 and not robbed and params.caller_robs == 0:
            continue
        return seat
    return -1


@njit([types.boolean(T_STATE, T_PARAMS)])
def enter_rob(state, params):
    """Ask the first robber; nobody robs a landlord who has not called."""
    if params.rob == 0 or state.calls[state.caller] == 0:
        return False
    seat = next_robber(state, params)
    if seat >= 0:
        state.turn = seat
    return seat >= 0


@njit([types.boolean(T_STATE, T_INT, T_PARAMS)])
def apply_rob(state, action, params):
    """Rob or not."""
    state.robs[state.turn] = 1 if action else 0
    seat = next_robber(state, params)
    if seat < 0:
        return True
    state.turn = seat
    return False


# --------------------------------------------------------------------------------------- raising


@njit([types.void(T_STATE, T_PARAMS)])
def _ask_raise(state, params):
    """Turn to who may raise now: the landlord after an odd number of raises, else a farmer."""
    state.refusals = 0
    if state.raises % 2 == 1:
        state.turn = state.landlord
    else:
        state.turn = (state.landlord + (1 if params.raise_order == 0 else 2)) % 3


@njit([types.boolean(T_STATE, T_PARAMS)])
def enter_raise(state, params):
    """Ask the first farmer."""
    if params.raising == 0:
        return False
    _ask_raise(state, params)
    return True


@njit([types.boolean(T_STATE, T_INT, T_PARAMS)])
def apply_raise(state, action, params):
    """Raise, or refuse; a side that refuses ends it, the farmers when both do."""
    if action:
        state.raises += 1
        if state.raises == MAX_RAISES:
            return True
        _ask_raise(state, params)
        return False
    if state.raises % 2 == 0 and state.refusals == 0:
        state.refusals = 1
        state.turn = 3 - state.landlord - state.turn
        return False
    return True
