"""The planner, the rule agent: card counting, hands planned to their end, certain wins, weights.

In the play, in this order:

1. Go out when a choice does.
2. A certain win, whatever the others hold and do, is taken (`planner_wins`): exact over all cuts of
   the hand into plays.
3. Each choice is described by facts of what it leaves behind (`planner_features`): the best way to
   play out the rest (`planner_hand`), the chances that opponents or partner beat it, from the cards
   not seen (`planner_odds`), everybody's number of cards, what others have passed on. The choice
   with the largest weighted sum is made; weights differ by role, lead or reply, and wild cards or
   none (`planner_weights.csv`). A farmer leads no solo that the landlord's last card may beat while
   it has another play.

Before the play it says yes from a chance to win that its cards give it (`planner_calls`). It has no
randomness: a choice depends on the view and the legal ids alone.

The table was fitted by `python agents/planner_fit.py` in about ten rounds of 40,000 to 60,000
games, the facts growing between the first ones; its columns with wild cards by four rounds with
`--rules happy_laizi`. From zeros, six rounds of 15,000 games (ten minutes on a core) reach .688.

WP against `greedy` over duplicate deals of `play_only` on the way:

- 66 facts, weights from 20,000 decisions of `greedy` playing itself: .618 +-.008; from games of the
  planner itself, 2 rounds: .688 +-.008.
- Certain wins: from .663 to .679 +-.008 with the same weights.
- 118 facts (plays to go by the opponents' cards, passes, what is left to win the lead back): .694
  +-.008. More games: .696, .702, .708 +-.006 after 2, 3, 7 more rounds.
- No gain: the rule about the landlord's last card (.692 and .690); means of the weights of several
  rounds (.708). A hidden layer of 48 in place of the weighted sum won -.002 to +.011 more of the
  drawn decisions that matter: not worth a table that nobody can read.

Now (`python eval/tournament.py planner greedy --deals 10000 --seed 31`): WP .703 +-.005, landlord
.667 +-.009, farmers .740 +-.009, 12 microseconds a decision. In `happy_laizi` with greedy's calls
(`--rules happy_laizi --calls greedy --deals 4000`): .662 +-.008, 64 microseconds.
"""

import numpy as np
from numba import types

from agents.base import AgentError
from agents.planner_calls import ESTIMATES, LEVELS, T_ROWS_OF, choose_before
from agents.planner_play import T_SCRATCH, choose_filling, choose_play, make_scratch, with_room
from agents.planner_weights import read_weights
from ddz_env._jit import njit
from ddz_env.catalogue import TABLES
from ddz_env.moves import T_IDS, T_TABLES
from ddz_env.state import Phase
from ddz_env.vector import T_ROWS, T_VIEWS, Legal

_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)


_T_ACT = types.void(
    T_VIEWS, T_ROWS, T_IDS, T_ROWS_OF, T_ROWS_OF, T_ROWS_OF, T_TABLES, T_SCRATCH, T_ROWS
)


@njit([_T_ACT])
def _act(views, offsets, ids, weights, estimates, levels, tables, scratch, out):
    for i in range(views.shape[0]):
        mine = ids[offsets[i] : offsets[i + 1]]
        if mine.shape[0] == 1:
            out[i] = mine[0]
        elif views[i].phase == _PLAY:
            out[i] = choose_play(views[i], mine, weights, tables, scratch)
        elif views[i].phase == _FILL:
            out[i] = choose_filling(views[i], mine, tables, scratch)
        else:
            out[i] = choose_before(views[i], mine, estimates, levels)


class Planner:
    """The planner.

    Args:
        weights: of the facts, `float64[12, K]`; those of `planner_weights.csv` unless given.
    """

    def __init__(self, weights: np.ndarray | None = None) -> None:
        self.weights = np.ascontiguousarray(read_weights() if weights is None else weights)
        self._scratch = make_scratch()

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id a row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        self._scratch = with_room(self._scratch, int(np.diff(legal.offsets).max(initial=1)))
        _act(
            views, legal.offsets, legal.ids, self.weights, ESTIMATES, LEVELS, TABLES,
            self._scratch, out,
        )  # fmt: skip
        return out


def from_spec(argument: str | None) -> Planner:
    """The agent from its spec, which has no argument."""
    if argument is not None:
        raise AgentError(f"agent planner: takes no argument, got {argument!r}")
    return Planner()
