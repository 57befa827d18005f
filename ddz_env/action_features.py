"""Features of one listed action for a hand, by `features.ACTION`."""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.catalogue import FIRST_PLAY
from ddz_env.decompose import FAST, plays_to_go, plays_to_go_wild
from ddz_env.features import ACTION_OFFSETS, T_BITS, put_cards
from ddz_env.moves import T_INT, T_TABLES, T_U64, after, hand_size, lacking

U64 = np.uint64
(
    A_CHOICE, A_CARDS, A_LEFT, A_WILDS, A_CATEGORY, A_LENGTH, A_RANK, A_COUNT, A_TO_GO,
) = ACTION_OFFSETS.values()  # fmt: skip


@njit([types.int64(T_U64, T_INT, T_TABLES, T_BITS, T_INT)])
def encode_action(hand, action, tables, out, n):
    """Append the ones of an action's features for a packed hand to `out[n:]`; the new length.

    `out` needs room for `MAX_ACTION_BITS` more.
    """
    play = tables[0].actions[action]
    left = after(hand, play.need)
    n_wilds = hand_size(lacking(hand, play.need))
    if action < FIRST_PLAY:
        out[n] = A_CHOICE + action
    else:
        out[n] = A_RANK + play.rank
    to_go = plays_to_go_wild(left, FAST) if left >> U64(60) else plays_to_go(left, FAST)
    out[n + 1] = A_CATEGORY + play.category
    out[n + 2] = A_LENGTH + play.length
    out[n + 3] = A_COUNT + hand_size(left)
    out[n + 4] = A_TO_GO + min(to_go, 15)
    out[n + 5] = A_WILDS + n_wilds
    n = put_cards(play.need, A_CARDS, out, n + 6)
    return put_cards(left, A_LEFT, out, n)
