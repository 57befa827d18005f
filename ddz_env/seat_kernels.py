"""Kernels of games in which one seat is the learner's and players choose for the others.

`seat_games.py` is their face. Rooms with wild cards have their own `play_on`, `step_rows`,
`illegal_row` and `list_some` in seat_wild.py. The room comes as an array of one: from Python a
record costs ten microseconds a call, an array less than one.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.bots import decision_bits, greedy_choice, pick, trustee_choice
from ddz_env.engine import apply, legal, mix, next_seed, start
from ddz_env.features import T_BITS, encode_state
from ddz_env.moves import T_IDS, T_INT, T_PARAMS, T_TABLES, T_U64
from ddz_env.scoring import T_STATE
from ddz_env.state import Phase
from ddz_env.vector_kernels import T_ROWS, T_STATES, T_VIEWS, first_illegal, list_rows
from ddz_env.view import T_VIEW, cut_view

U64 = np.uint64
T_KEYS = types.uint64[::1]
T_MASKS = types.int8[:, ::1]
T_ROOMS = T_PARAMS[::1]
DRAWN, LANDLORD, FARMER = 3, 4, 5
"""Whose the learner's seat is, beside the numbers of the seats: drawn each deal, or that role's."""
LEARNER = -1
"""What `whose` gives where the learner is asked; else the index of one of the two players."""
RANDOM, GREEDY, TRUSTEE = 0, 1, 2
"""Players that kernels know, as `choose` numbers them."""
_SALT = U64(0x6A09E667F3BCC909)  # makes the draw of a seat another one than those of the cards
_OVER = int(Phase.OVER)


@njit([types.int64(T_STATE, T_INT, T_INT, T_U64)])
def learner_seat(state, kind, seat, key):
    """The learner's seat in a deal, -1 while it is not known: before there is a landlord.

    Args:
        state: the deal.
        kind: a seat, or `DRAWN`, `LANDLORD` or `FARMER`.
        seat: what was found out before, else -1.
        key: the deal's key; a seat, or one of the two farmers, is drawn from it.
    """
    if seat >= 0:
        return seat
    if kind < DRAWN:
        return kind
    if kind == DRAWN:
        return pick(mix(key ^ _SALT), 3)
    landlord = np.int64(state.landlord)
    if landlord < 0 or kind == LANDLORD:
        return landlord
    return (landlord + 1 + pick(mix(key ^ _SALT), 2)) % 3


@njit([types.int64(T_STATE, T_INT)])
def player_of(state, seat):
    """Who chooses now: `LEARNER`, or player 0 or 1, of the seat after the learner's and before it.

    While the learner has no seat, player 0 chooses for all.
    """
    return 0 if seat < 0 else (state.turn - seat + 3) % 3 - 1


@njit([types.void(T_STATES, T_ROWS, T_INT, T_ROWS, T_KEYS, T_ROWS)])
def whose(states, rows, kind, seats, keys, out):
    """Who chooses now in each of some rows, as `player_of` numbers them; -1 too where it is over.

    Seats of learners that have become known are noted in `seats`.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        state = states[row]
        seats[row] = learner_seat(state, kind, seats[row], keys[row])
        out[i] = LEARNER if state.phase == _OVER else player_of(state, seats[row])


@njit([types.int64(T_VIEW, T_IDS, T_INT, T_U64, T_TABLES)])
def choose(view, ids, player, seed, tables):
    """What one of the players that kernels know chooses."""
    if player == GREEDY:
        return greedy_choice(view, ids, tables)
    if player == TRUSTEE:
        return trustee_choice(view, ids, tables)
    return np.int64(ids[pick(decision_bits(seed, view), ids.shape[0])])


@njit([types.void(
    T_STATES, T_ROWS, T_INT, T_ROWS, T_KEYS, T_ROWS, T_KEYS, T_ROOMS, T_TABLES, T_VIEWS, T_IDS,
)])  # fmt: skip
def play_on(states, rows, kind, seats, keys, players, seeds, rooms, tables, scratch, ids):
    """Let the two players choose in some rows until the learner is asked or the deal is over.

    Args:
        states: the games.
        rows: which of them.
        kind: as in `learner_seat`.
        seats: the learner's seat in every game, -1 while it is not known; written.
        keys: the key of every deal.
        players: the two players, as `choose` numbers them.
        seeds: their seeds.
        rooms: the room's parameters.
        tables: the catalogue's.
        scratch: one view.
        ids: room for `MAX_LEGAL` ids.
    """
    params = rooms[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        state = states[row]
        while state.phase != _OVER:
            seats[row] = learner_seat(state, kind, seats[row], keys[row])
            player = player_of(state, seats[row])
            if player == LEARNER:
                break
            n = legal(state, params, tables, ids)
            action = np.int64(ids[0])
            if n > 1:
                cut_view(state, state.turn, params, scratch[0])
                action = choose(scratch[0], ids[:n], players[player], seeds[player], tables)
            apply(state, action, params, tables)


@njit([types.void(
    T_STATES, T_ROWS, T_ROWS, T_INT, T_ROWS, T_KEYS, T_ROWS, T_KEYS, T_ROOMS, T_TABLES, T_VIEWS,
    T_IDS,
)])  # fmt: skip
def step_rows(
    states, rows, actions, kind, seats, keys, players, seeds, rooms, tables, scratch, ids
):
    """Make a legal choice of the learner in each of some rows, then `play_on`."""
    for i in range(rows.shape[0]):
        apply(states[rows[i]], actions[i], rooms[0], tables)
    play_on(states, rows, kind, seats, keys, players, seeds, rooms, tables, scratch, ids)


@njit([types.int64(T_STATES, T_ROWS, T_ROWS, T_ROOMS, T_TABLES)])
def illegal_row(states, rows, actions, rooms, tables):
    """The first index whose action is not legal on its row, -1 when all are."""
    return first_illegal(states, rows, actions, rooms[0], tables)


@njit([types.int64(T_STATES, T_ROWS, T_INT, T_ROOMS, T_TABLES, T_ROWS, T_IDS)])
def list_some(states, rows, begin, rooms, tables, offsets, ids):
    """List the legal actions of rows[begin:]; the index at which `ids` got too short."""
    return list_rows(states, rows, begin, rooms[0], tables, offsets, ids)


@njit([types.void(T_ROWS, T_KEYS, T_KEYS)])
def next_keys(rows, keys, numbers):
    """Go on to the key and the public number of the next deal in some rows."""
    for i in range(rows.shape[0]):
        keys[rows[i]] = next_seed(keys[rows[i]])
        numbers[rows[i]] += U64(1)


@njit([types.void(T_STATES, T_ROWS, T_KEYS, T_ROWS, T_ROOMS)])
def deal_rows(states, rows, keys, firsts, rooms):
    """Start a shuffled deal in some rows.

    Args:
        states: the games.
        rows: which of them.
        keys: the key of every deal.
        firsts: the seat that calls first in each of the rows, -1 to draw it.
        rooms: the room's parameters.
    """
    for i in range(rows.shape[0]):
        start(states[rows[i]], keys[rows[i]], firsts[i], rooms[0])


@njit([types.void(T_STATES, T_ROWS, T_ROWS, T_ROOMS, T_TABLES, T_VIEWS, T_BITS, T_MASKS)])
def observe(states, rows, seats, rooms, tables, scratch, bits, out):
    """Write the dense features of what seat `seats[row]` may know of each of some rows.

    `out[i]` is overwritten with those of `rows[i]`; `scratch` is one view, `bits` has room for
    `MAX_STATE_BITS`.
    """
    for i in range(rows.shape[0]):
        cut_view(states[rows[i]], seats[rows[i]], rooms[0], scratch[0])
        n = encode_state(scratch[0], tables, bits, 0)
        out[i, :] = 0
        for j in range(n):
            out[i, bits[j]] = 1


@njit([types.void(T_ROWS, T_IDS, T_INT, T_MASKS)])
def mark(offsets, ids, value, masks):
    """Write a value at the listed ids of every row: those of row i are `ids[offsets[i]:...]`."""
    for i in range(offsets.shape[0] - 1):
        for j in range(offsets[i], offsets[i + 1]):
            masks[i, ids[j]] = value
