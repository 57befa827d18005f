"""What the planner chooses before the play: from its chance to win, estimated from its hand."""

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.cards import HAND_SIZE
from ddz_env.decompose import THOROUGH, plays_to_go_wild
from ddz_env.moves import JOKERS, T_IDS, T_U64, at_least, count_ones
from ddz_env.phases import LOOK
from ddz_env.state import N_PHASES, Phase
from ddz_env.view import T_VIEW

U64 = np.uint64
_NATURAL, _LOW = U64((1 << 60) - 1), U64(0x11111111)
_POINTS, _BLIND = int(Phase.CALL_POINTS), int(Phase.BLIND)
_SHOW_AFTER_BOTTOM = int(Phase.SHOW_AFTER_BOTTOM)

HAND_FACTS = (
    "constant", "to go", "big joker", "small joker", "rocket", "twos", "aces", "bombs",
    "low solos", "wilds",
)  # fmt: skip
"""What the chance to win is estimated from."""
ESTIMATES = np.array(
    (
        # Before the bottom. What will be wild is seen in laidou only; its weight is the landlord's.
        (-0.345, -0.208, 1.607, 0.896, -0.045, 0.474, 0.205, 0.274, -0.049, 0.857),
        # landlord, farmer
        (0.499, -0.539, 2.540, 1.748, -0.476, 0.576, 0.277, 0.004, 0.028, 0.0),
        (0.479, -0.224, 1.042, 0.622, 0.256, 0.258, 0.131, 0.238, -0.009, 0.0),
        # landlord, farmer in rooms with wild cards
        (-1.656, -0.509, 2.001, 0.911, 0.369, 0.449, 0.232, 0.137, 0.043, 0.857),
        (-0.054, -0.176, 1.076, 0.481, -0.088, 0.183, 0.103, 0.381, -0.011, 0.320),
    )
)
"""Logistic weights of `HAND_FACTS`.

`python agents/planner_fit_calls.py --deals 15000` fits them and checks them by fifths of the deals:
estimates and shares won agree within .03."""


def _levels() -> np.ndarray:
    """Chances from which a choice is yes; see `LEVELS`."""
    levels = np.full((2, N_PHASES + 3), 2.0)  # 2: never
    levels[:, N_PHASES:] = CALL_LEVELS
    for phase, (landlord, farmer) in YES_LEVELS.items():
        levels[:, phase] = landlord, farmer
    return levels


CALL_LEVELS = (0.40, 0.45, 0.50)
"""Chances from which the planner calls 1, 2, 3 points."""
YES_LEVELS = {
    Phase.CALL: (0.44, 2.0),
    Phase.ROB: (0.55, 2.0),
    Phase.SHOW_AFTER_BOTTOM: (0.75, 2.0),
    Phase.DOUBLE: (0.55, 0.55),
    Phase.RAISE: (0.55, 0.55),
}
"""Chances from which it says yes, as landlord (or before there is one) and as farmer.

It never shows before it has all its cards, and looks rather than grab blind. Tried in `happy`
against itself with other levels, 1,000 to 2,000 deals in six layouts, points a seat and deal:
showing from .75 on instead of .88 gained .57 (+.31..+.89), from .95 lost .52 (-.83..-.25); doubling
from .46 instead of .52 lost .15 (-.29..-.02); other calls and robs made no difference."""
LEVELS = _levels()
"""The same for kernels, `float64[2, N_PHASES + 3]`: by phase; the last three are the calls."""
T_ROW, T_ROWS_OF = types.float64[::1], types.float64[:, ::1]


@njit([types.void(T_U64, T_ROW)])
def facts_of_deal(hand, out):
    """Write `HAND_FACTS` of a packed hand."""
    natural = hand & _NATURAL
    out[0], out[1] = 1.0, plays_to_go_wild(hand, THOROUGH)
    out[2], out[3] = (hand >> U64(56)) & U64(15), (hand >> U64(52)) & U64(15)
    out[4] = 1.0 if hand & JOKERS == JOKERS else 0.0
    out[5], out[6] = (hand >> U64(48)) & U64(15), (hand >> U64(44)) & U64(15)
    out[7] = count_ones(at_least(natural, 4))
    out[8] = count_ones(at_least(natural, 1) & ~at_least(natural, 2) & _LOW)
    out[9] = hand >> U64(60)


@njit([types.float64(T_U64, T_ROW)])
def chance(hand, weights):
    """The estimated chance that a packed hand's side wins."""
    facts = np.zeros(weights.shape[0])
    facts_of_deal(hand, facts)
    total = 0.0
    for k in range(facts.shape[0]):
        total += facts[k] * weights[k]
    return 1.0 / (1.0 + np.exp(-total))


@njit([types.int64(T_VIEW, T_IDS, T_ROWS_OF, T_ROWS_OF)])
def choose_before(view, ids, estimates, levels):
    """A choice before the play, from `ESTIMATES` and `LEVELS`."""
    phase = np.int64(view.phase)
    if phase == _BLIND:
        return LOOK
    if view.counts[view.seat] < HAND_SIZE:
        return 0
    when = 0
    if phase >= _SHOW_AFTER_BOTTOM:
        when = 1 if view.seat == view.landlord else 2
        when += 2 if view.wild >= 0 else 0
    p = chance(view.hand, estimates[when])
    row = levels[1 if when == 2 or when == 4 else 0]
    if phase != _POINTS:
        return np.int64(ids[1]) if p >= row[phase] else 0
    best = 0
    for j in range(ids.shape[0]):
        if ids[j] > 0 and p >= row[N_PHASES - 1 + ids[j]]:
            best = np.int64(ids[j])
    return best
