"""Kernels over many games at once; `vector.py` and `core.py` are their faces."""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.action_features import encode_action
from ddz_env.engine import GOLDEN, apply, is_legal, legal, mix, next_seed, start
from ddz_env.features import T_BITS, encode_state
from ddz_env.moves import MAX_LEGAL, T_IDS, T_INT, T_PARAMS, T_TABLES
from ddz_env.phases import FIRST_ROTATES
from ddz_env.scoring import T_STATE
from ddz_env.state import Phase
from ddz_env.view import T_VIEW, cut_view

U64 = np.uint64
T_STATES, T_VIEWS = T_STATE[::1], T_VIEW[::1]
T_ROWS = types.int64[::1]
_OVER = int(Phase.OVER)


@njit([types.void(T_STATES, types.uint64[::1], T_INT, T_PARAMS)])
def start_all(states, seeds, first, params):
    """Start every row with its key."""
    for i in range(states.shape[0]):
        start(states[i], seeds[i], first, params)


@njit([types.int64(T_STATES, T_ROWS, T_ROWS, T_PARAMS, T_TABLES)])
def first_illegal(states, rows, actions, params, tables):
    """The first index whose action is not legal on its row, -1 when all are."""
    for i in range(rows.shape[0]):
        if not is_legal(states[rows[i]], actions[i], params, tables):
            return i
    return -1


@njit([types.void(T_STATES, T_ROWS, T_ROWS, T_PARAMS, T_TABLES)])
def apply_rows(states, rows, actions, params, tables):
    """Apply a legal action to each of some rows."""
    for i in range(rows.shape[0]):
        apply(states[rows[i]], actions[i], params, tables)


@njit([types.int64(T_STATES, T_INT, T_PARAMS, types.boolean[::1], T_ROWS)])
def finish(states, restart, params, done, scores):
    """Note the rows that are over; with `restart` they start their next deal at once."""
    finished = 0
    for i in range(states.shape[0]):
        state = states[i]
        done[i] = state.phase == _OVER
        if done[i]:
            finished += 1
            for seat in range(3):
                scores[3 * i + seat] = state.scores[seat]
            if restart:
                first = (state.first + 1) % 3 if params.first_caller == FIRST_ROTATES else -1
                start(state, next_seed(state.seed), first, params)
    return finished


@njit([types.int64(T_STATES, T_ROWS, T_INT, T_PARAMS, T_TABLES, T_ROWS, T_IDS)])
def list_rows(states, rows, begin, params, tables, offsets, ids):
    """List the legal actions of rows[begin:]; the index at which `ids` got too short."""
    n = offsets[begin]
    for i in range(begin, rows.shape[0]):
        if n + MAX_LEGAL > ids.shape[0]:
            return i
        n += legal(states[rows[i]], params, tables, ids[n:])
        offsets[i + 1] = n
    return rows.shape[0]


@njit([types.void(T_ROWS, T_IDS, types.uint64[::1], T_ROWS)])
def sample(offsets, ids, rng, out):
    """One random listed action a row; `rng[0]` is the generator's counter."""
    for i in range(offsets.shape[0] - 1):
        rng[0] += GOLDEN
        n = U64(offsets[i + 1] - offsets[i])
        out[i] = ids[offsets[i] + np.int64(((mix(rng[0]) >> U64(32)) * n) >> U64(32))]


@njit([types.int64(T_STATES, T_INT, T_PARAMS, T_TABLES, T_IDS)])
def play_random_games(states, n, params, tables, ids):
    """Play `n` whole random games on `states[0]`, inside the kernel; the decisions made."""
    state = states[0]
    decisions = 0
    for _ in range(n):
        start(state, next_seed(state.seed), -1, params)
        key = ~state.seed
        while state.phase != _OVER:
            count = U64(legal(state, params, tables, ids))
            # The choice uses a stream of its own, so that a deal is the same however it is played.
            bits = mix(key)
            key += GOLDEN
            apply(state, ids[np.int64(((bits >> U64(32)) * count) >> U64(32))], params, tables)
            decisions += 1
    return decisions


@njit([types.int64(T_STATES, T_ROWS, T_PARAMS, T_TABLES, T_VIEWS, T_ROWS, T_BITS)])
def encode_states(states, rows, params, tables, scratch, offsets, bits):
    """Encode the view of the seat on turn of each game in `rows`; the number of ones."""
    n = 0
    for i in range(rows.shape[0]):
        state = states[rows[i]]
        cut_view(state, state.turn, params, scratch[0])
        n = encode_state(scratch[0], tables, bits, n)
        offsets[i + 1] = n
    return n


@njit([types.int64(T_VIEWS, T_TABLES, T_ROWS, T_BITS)])
def encode_views(views, tables, offsets, bits):
    """Encode a batch of views; the number of ones."""
    n = 0
    for i in range(views.shape[0]):
        n = encode_state(views[i], tables, bits, n)
        offsets[i + 1] = n
    return n


@njit([types.int64(types.uint64[::1], T_ROWS, T_IDS, T_TABLES, T_ROWS, T_BITS)])
def encode_actions(hands, legal_offsets, ids, tables, offsets, bits):
    """Encode every listed action of a batch, by the packed hand of its row; the number of ones."""
    n = 0
    for i in range(hands.shape[0]):
        for j in range(legal_offsets[i], legal_offsets[i + 1]):
            n = encode_action(hands[i], np.int64(ids[j]), tables, bits, n)
            offsets[j + 1] = n
    return n


@njit([types.void(T_STATES, T_PARAMS, T_TABLES, T_VIEWS, T_BITS, types.int8[:, ::1])])
def dense_states(states, params, tables, scratch, bits, out):
    """Write the dense state features of the seat on turn of every row."""
    for i in range(states.shape[0]):
        cut_view(states[i], states[i].turn, params, scratch[0])
        n = encode_state(scratch[0], tables, bits, 0)
        out[i, :] = 0
        for j in range(n):
            out[i, bits[j]] = 1
