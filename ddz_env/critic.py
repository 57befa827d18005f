"""What a centralised critic may see in training: all hands beside the view of the seat on turn.

A schema of its own, which no agent is ever given: `Agent.act` gets views, and these features are
encoded from the record.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.features import (
    CRITIC,
    T_BITS,
    encode_state,
    put_cards,
)
from ddz_env.moves import T_INT, T_PARAMS, T_TABLES
from ddz_env.scoring import T_STATE
from ddz_env.view import T_VIEW, cut_view

U64 = np.uint64
_HANDS = tuple(CRITIC.offsets[name] for name in ("hand_self", "hand_next", "hand_prev"))
_BOTTOM, _CHOSEN = CRITIC.offsets["hidden_bottom"], CRITIC.offsets["chosen"]


@njit([types.int64(T_STATE, T_PARAMS, T_TABLES, T_VIEW, T_BITS, T_INT)])
def encode_critic(state, params, tables, view, out, n):
    """Append the ones of a game's critic features to `out[n:]`; the new length.

    `view` is scratch; `out` needs room for `CRITIC_BITS` more.
    """
    seat = np.int64(state.turn)
    cut_view(state, seat, params, view)
    n = encode_state(view, tables, out, n)
    for k in range(3):
        other = (seat + k) % 3
        n = put_cards(state.hands[other], _HANDS[k], out, n)
        out[n] = _CHOSEN + 3 * k + max(np.int64(state.choices[other]) + 1, 0)
        n += 1
    return put_cards(state.bottom, _BOTTOM, out, n)


@njit([types.void(T_STATE[::1], T_PARAMS, T_TABLES, T_VIEW[::1], T_BITS, types.int8[:, ::1])])
def dense_critics(states, params, tables, scratch, bits, out):
    """Write the dense critic features of every row; `bits` is scratch, `out` is overwritten."""
    for i in range(states.shape[0]):
        n = encode_critic(states[i], params, tables, scratch[0], bits, 0)
        out[i, :] = 0
        for j in range(n):
            out[i, bits[j]] = 1
