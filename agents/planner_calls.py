"""What the planner chooses before the play: from its chance to win, estimated from its hand."""

import numpy as np
from numba import types

from agents.planner_jit import njit
from ddz_env.bots import greedy_choice
from ddz_env.cards import HAND_SIZE
from ddz_env.decompose import THOROUGH, plays_to_go_wild
from ddz_env.moves import JOKERS, T_IDS, T_INT, T_TABLES, T_U64, at_least, count_ones
from ddz_env.phases import LOOK
from ddz_env.state import Phase
from ddz_env.view import T_VIEW

U64 = np.uint64
NATURAL = U64((1 << 60) - 1)
_POINTS, _BLIND, _PLAY = int(Phase.CALL_POINTS), int(Phase.BLIND), int(Phase.PLAY)
_SHOW_AFTER_BOTTOM = int(Phase.SHOW_AFTER_BOTTOM)

HAND_FACTS = (
    "constant", "to go", "big joker", "small joker", "rocket", "twos", "aces", "bombs",
    "low solos", "wilds",
)  # fmt: skip
"""What the chance to win is estimated from."""
WHEN = ("before the bottom", "landlord", "farmer")
"""The moments for which there are estimates; three more for rooms with wild cards."""
T_ROW = types.float64[::1]


@njit([types.void(T_U64, T_ROW)])
def facts_of_deal(hand, out):
    """Write `HAND_FACTS` of a packed hand."""
    natural = hand & NATURAL
    out[0], out[1] = 1.0, plays_to_go_wild(hand, THOROUGH)
    out[2], out[3] = (hand >> U64(56)) & U64(15), (hand >> U64(52)) & U64(15)
    out[4] = 1.0 if hand & JOKERS == JOKERS else 0.0
    out[5], out[6] = (hand >> U64(48)) & U64(15), (hand >> U64(44)) & U64(15)
    out[7] = count_ones(at_least(natural, 4))
    solos = at_least(natural, 1) & ~at_least(natural, 2)
    out[8] = count_ones(solos & U64(0x11111111))
    out[9] = hand >> U64(60)


@njit([types.float64(T_U64, T_ROW)])
def chance(hand, weights):
    """The estimated chance that a hand's side wins (logistic in `HAND_FACTS`)."""
    facts = np.zeros(weights.shape[0])
    facts_of_deal(hand, facts)
    total = 0.0
    for k in range(facts.shape[0]):
        total += facts[k] * weights[k]
    return 1.0 / (1.0 + np.exp(-total))


@njit([types.int64(T_VIEW, T_IDS, types.float64[:, ::1], types.float64[:, ::1], types.boolean)])
def choose_before(view, ids, estimates, levels, wild_room):
    """A choice before the play.

    Args:
        view: the view.
        ids: its legal ids.
        estimates: weights of `HAND_FACTS`, `float64[6, n]`: `WHEN`, then the same with wild cards.
        levels: chances from which a choice is yes, `float64[2, 16]`: as landlord or before there
            is one, as farmer; by phase, and from 13 on the calls of 1, 2, 3 points.
        wild_room: whether cards will be wild, which is not seen before the bottom.
    """
    phase = np.int64(view.phase)
    if phase == _BLIND:
        return LOOK
    if view.counts[view.seat] < HAND_SIZE:
        return 0
    when = 0
    if phase >= _SHOW_AFTER_BOTTOM:
        when = 1 if view.seat == view.landlord else 2
    if view.wild >= 0 or wild_room:
        when += 3
    p = chance(view.hand, estimates[when])
    if phase == _POINTS:
        best = 0
        for j in range(ids.shape[0]):
            if ids[j] > 0 and p >= levels[0, 12 + ids[j]]:
                best = np.int64(ids[j])
        return best
    row = levels[1 if when % 3 == 2 else 0]
    return np.int64(ids[1]) if p >= row[phase] else 0
