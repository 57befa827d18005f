"""RLCard's rule agent for Dou Dizhu (`DouDizhuRuleAgentV1`, rlcard 1.2.0), on this core.

It leads the group of its decomposition that holds its lowest card, and follows with the lowest
play of the same type, whoever played. Without one, a farmer after his partner passes, and everybody
else makes a random legal choice. "After" is the package's own reading: once somebody has passed it
takes the seat before for the one who played, so a farmer also passes on the landlord's play that
his partner has just passed on. RLCard has no calls: here it calls as `greedy` does.
"""

import numpy as np
from numba import types

from agents.base import AgentError
from ddz_env._jit import njit
from ddz_env.bots import decision_bits, greedy_bid, pick
from ddz_env.catalogue import TABLES, Category
from ddz_env.moves import ACE, JOKERS, T_IDS, T_INT, T_TABLES, T_U64, at_least, lowest
from ddz_env.state import Phase
from ddz_env.vector import T_ROWS, T_VIEWS, Legal, check_seed
from ddz_env.view import T_VIEW

U64 = np.uint64
_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)
_SOLO, _PAIR, _TRIO = int(Category.SOLO), int(Category.PAIR), int(Category.TRIO)
_AIRPLANE, _SOLO_CHAIN = int(Category.AIRPLANE), int(Category.SOLO_CHAIN)
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)
_CHAIN_MIN = 5


@njit([types.int64(T_U64, T_INT)])
def _held(hand, rank):
    """Cards of a rank."""
    return np.int64((hand >> U64(4 * rank)) & U64(15))


@njit([types.uint64(T_U64, T_INT)])
def naturally(hand, wild):
    """A packed hand with its wild cards as cards of their own rank: RLCard knows no others."""
    n = hand >> U64(60)
    return hand - (n << U64(60)) + (n << U64(4 * max(wild, 0)))


@njit([types.int64(T_U64, T_TABLES)])
def lead(hand, tables):
    """The group of the decomposition that holds the lowest card of a packed hand."""
    low = lowest(at_least(hand, 1))
    held = _held(hand, low)
    if hand == JOKERS:
        return np.int64(tables[0].groups[_ROCKET, 1, 14].start)
    if held == 4:
        return np.int64(tables[0].groups[_BOMB, 1, low].start)
    if held == 3:
        length = 1
        while low + length <= ACE and _held(hand, low + length) == 3:
            length += 1
        if low > ACE or length == 1:
            return np.int64(tables[0].groups[_TRIO, 1, low].start)
        return np.int64(tables[0].groups[_AIRPLANE, length, low + length - 1].start)
    # Solo chains are made of what bombs and trios have left: whole runs of five ranks or more.
    length = 0
    while low + length <= ACE and 1 <= _held(hand, low + length) <= 2:
        length += 1
    if length >= _CHAIN_MIN:
        return np.int64(tables[0].groups[_SOLO_CHAIN, length, low + length - 1].start)
    return np.int64(tables[0].groups[_PAIR if held == 2 else _SOLO, 1, low].start)


@njit([types.int64(T_VIEW, T_IDS, T_U64, T_TABLES)])
def choose(view, ids, seed, tables):
    """What the agent chooses."""
    if view.phase == _FILL:
        return np.int64(ids[ids.shape[0] - 1])
    if view.phase != _PLAY:
        return greedy_bid(view, ids)
    if view.last_seat < 0:
        return lead(naturally(view.hand, np.int64(view.wild)), tables)
    last = tables[0].actions[view.last_action]
    for j in range(ids.shape[0]):  # ids of one type are in the order of rank
        play = tables[0].actions[ids[j]]
        if play.category == last.category and play.length == last.length:
            return np.int64(ids[j])
    before = (view.seat + 2) % 3
    if before != view.landlord and view.seat != view.landlord:
        return 0
    return np.int64(ids[pick(decision_bits(seed, view), ids.shape[0])])


@njit([types.void(T_VIEWS, T_ROWS, T_IDS, T_U64, T_TABLES, T_ROWS)])
def _act(views, offsets, ids, seed, tables, out):
    for i in range(views.shape[0]):
        out[i] = choose(views[i], ids[offsets[i] : offsets[i + 1]], seed, tables)


class RLCardRuleAgent:
    """RLCard's rule agent.

    Args:
        seed: of its random choices, 0 .. 2**63 - 1.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = np.uint64(check_seed(seed))

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One id a row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        _act(views, legal.offsets, legal.ids, self.seed, TABLES, out)
        return out


def from_spec(argument: str | None) -> RLCardRuleAgent:
    """The agent from its spec, which has no argument."""
    if argument is not None:
        raise AgentError(f"agent rlcard_rule: takes no argument, got {argument!r}")
    return RLCardRuleAgent()
