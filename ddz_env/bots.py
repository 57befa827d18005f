"""Players that come with the environment: `random`, `greedy`, `trustee`. No learning, no torch.

Every player answers a batch: `act(views, legal)` gets `VIEW[B]` and the legal ids of each row and
returns one id a row. A player's randomness is keyed by its seed, the deal's public number and the
decision's number, so a choice doesn't depend on the neighbours in the batch.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numba import types

from ddz_env._jit import njit
from ddz_env.cards import HAND_SIZE, SMALL_JOKER
from ddz_env.catalogue import TABLES, Category
from ddz_env.decompose import THOROUGH, plays_to_go_wild
from ddz_env.engine import GOLDEN, mix
from ddz_env.errors import DdzError
from ddz_env.moves import (
    JOKERS,
    T_IDS,
    T_INT,
    T_TABLES,
    T_U64,
    after,
    at_least,
    count_ones,
    hand_size,
    lacking,
)
from ddz_env.phases import LOOK
from ddz_env.state import Phase
from ddz_env.vector import T_ROWS, T_VIEWS, Legal, check_seed
from ddz_env.view import T_VIEW

U64 = np.uint64
_POINTS, _BLIND, _PLAY = int(Phase.CALL_POINTS), int(Phase.BLIND), int(Phase.PLAY)
_SHOW_AFTER_BOTTOM, _FILL = int(Phase.SHOW_AFTER_BOTTOM), int(Phase.FILL)
_TRIO, _BOMB = int(Category.TRIO), int(Category.BOMB)

CALL_WEIGHTS = (0.592, -0.038, 0.271, 0.192, 0.060, 0.019, -0.004)
"""Estimated chance that the landlord of three `greedy` players wins, from his 17 cards before the
bottom: constant, plays to go, big joker, small joker, each 2, each ace, each bomb (the rocket is
one). Least squares over 40,000 deals of `play_only` (`python eval/calls.py` fits and checks it);
shares won agree with the estimate within .05 in every tenth from .2 to 1."""
CALL_LEVELS = (0.34, 0.37, 0.40)
"""Chances from which `greedy` calls 1, 2, 3 points. Calling 3 from .40 on was the best of .30 to
.60 when such players met (six layouts, 1,500 deals a pairing, `qq_classic`): below one half, since
who passes mostly meets a stronger landlord; the lower calls cost nothing measurable."""
YES_LEVELS = (2.0, 2.0, 2.0, 2.0, 0.40, 0.50, 2.0, 0.85, 0.55, 0.60)
"""Chances from which `greedy` says yes in a phase, by its number: calls, robs, shows after the
bottom cards, doubles and raises as landlord. A stake that doubles for both sides pays from one half
on."""
FARMER_LEVEL = 0.60
"""The same for a farmer's doubles and raises, by the strength of his own 17 cards."""
LEAD_BONUS, PASS_PENALTY, BOMB_PENALTY, WILD_COST = 1500, 2, 4, 4000
"""Of `greedy`: the best of a handful tried against `rlcard_rule`, 4,000 duplicate deals each."""


class Bot(Protocol):
    """What plays: anything with a batched `act`."""

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One legal id for each row of `VIEW[B]`: `int64[B]`."""
        ...


@njit([types.uint64(T_U64, T_VIEW)])
def decision_bits(seed, view):
    """64 random bits of one decision of a player: from its seed, the deal, seat and ply."""
    key = mix(seed + GOLDEN) ^ mix(view.deal * GOLDEN + U64(view.redeals))
    return mix(key + U64(view.n_history * 4 + view.seat + 1) * GOLDEN)


@njit([types.int64(T_U64, T_INT)])
def pick(bits, n):
    """A whole number in 0..n-1 from random bits."""
    return np.int64(((bits >> U64(32)) * U64(n)) >> U64(32))


@njit([types.void(T_VIEWS, T_ROWS, T_IDS, T_U64, T_ROWS)])
def _act_random(views, offsets, ids, seed, out):
    for i in range(views.shape[0]):
        n = offsets[i + 1] - offsets[i]
        out[i] = ids[offsets[i] + pick(decision_bits(seed, views[i]), n)]


@njit([types.float64(T_U64)])
def landlord_chance(hand):
    """The estimate behind `greedy`'s calls: see `CALL_WEIGHTS`."""
    chance = CALL_WEIGHTS[0] + CALL_WEIGHTS[1] * plays_to_go_wild(hand, THOROUGH)
    chance += CALL_WEIGHTS[2] * ((hand >> U64(56)) & U64(15))
    chance += CALL_WEIGHTS[3] * ((hand >> U64(52)) & U64(15))
    chance += CALL_WEIGHTS[4] * ((hand >> U64(48)) & U64(15))
    chance += CALL_WEIGHTS[5] * ((hand >> U64(44)) & U64(15))
    bombs = count_ones(at_least(hand, 4))
    if hand & JOKERS == JOKERS:
        bombs += 1
    return chance + CALL_WEIGHTS[6] * bombs


@njit([types.int64(T_VIEW, T_IDS)])
def greedy_call(view, ids):
    """The points that `greedy` calls: its level if that is legal, else pass."""
    chance = landlord_chance(view.hand)
    points = 0
    for level in range(3):
        if chance >= CALL_LEVELS[level]:
            points = level + 1
    for j in range(ids.shape[0]):
        if ids[j] == points:
            return points
    return 0


@njit([types.int64(T_VIEW, T_IDS)])
def greedy_bid(view, ids):
    """What `greedy` chooses before the play: yes from a chance that fits the choice, else no.

    It never shows before it has all its cards, and looks rather than grab blind.
    """
    phase = view.phase
    if phase == _POINTS:
        return greedy_call(view, ids)
    if phase == _BLIND:
        return LOOK
    if view.counts[view.seat] < HAND_SIZE:
        return 0
    chance = landlord_chance(view.hand)
    level = YES_LEVELS[phase]
    if phase >= _SHOW_AFTER_BOTTOM and view.seat != view.landlord:
        level = FARMER_LEVEL
    return np.int64(ids[1]) if chance >= level else 0


@njit([types.int64(T_INT, types.boolean, T_TABLES)])
def play_cost(action, leading, tables):
    """How much a play gives away, in thousandths of a rank.

    The rank of the main part, then the ranks of the kickers; a lead is the cheaper the more cards
    it takes along. Bombs cost more than anything else.
    """
    play = tables[0].actions[action]
    cost = 1000 * np.int64(play.rank)
    kickers = play.need - tables[0].groups[play.category, play.length, play.rank].main
    for rank in range(15):
        cost += rank * np.int64((kickers >> U64(4 * rank)) & U64(15))
    if leading:
        cost -= LEAD_BONUS * np.int64(play.size)
    return cost + 1_000_000 if play.category >= _BOMB else cost


@njit([types.int64(T_VIEW, T_IDS, T_TABLES)])
def greedy_play(view, ids, tables):
    """The id that leaves the fewest plays to go, then the cheapest.

    A bomb waits until it nearly wins; the partner's play is beaten only to go out; passing counts
    as two plays lost, since the trick goes to somebody else.
    """
    leading = view.last_seat < 0
    for j in range(ids.shape[0]):
        action = np.int64(ids[j])
        if action and after(view.hand, tables[0].actions[action].need) == U64(0):
            return action
    if not leading and view.seat != view.landlord and view.last_seat != view.landlord:
        return 0
    best, best_go, best_cost = np.int64(ids[0]), 1000, 0
    for j in range(ids.shape[0]):
        action = np.int64(ids[j])
        left = after(view.hand, tables[0].actions[action].need)
        go = plays_to_go_wild(left, THOROUGH)
        if action == 0:
            go += PASS_PENALTY
        elif tables[0].actions[action].category >= _BOMB and go > 1:
            go += BOMB_PENALTY
        cost = play_cost(action, leading, tables)
        cost += WILD_COST * hand_size(lacking(view.hand, tables[0].actions[action].need))
        if go < best_go or (go == best_go and cost < best_cost):
            best, best_go, best_cost = action, go, cost
    return best


@njit([types.int64(T_VIEW, T_IDS, T_TABLES)])
def greedy_choice(view, ids, tables):
    """What `greedy` chooses, in any phase."""
    if ids.shape[0] == 1:
        return np.int64(ids[0])
    if view.phase == _FILL:
        return np.int64(ids[ids.shape[0] - 1])  # done: no wild where a natural card does as well
    if view.phase != _PLAY:
        return greedy_bid(view, ids)
    return greedy_play(view, ids, tables)


@njit([types.void(T_VIEWS, T_ROWS, T_IDS, T_TABLES, T_ROWS)])
def _act_greedy(views, offsets, ids, tables, out):
    for i in range(views.shape[0]):
        out[i] = greedy_choice(views[i], ids[offsets[i] : offsets[i + 1]], tables)


@njit([types.int64(T_VIEW, T_IDS, T_TABLES)])
def trustee_lead(view, ids, tables):
    """All cards of the lowest rank that are no bomb and no half of the rocket; else a bomb."""
    best, best_rank = np.int64(ids[0]), 99
    for j in range(ids.shape[0]):
        play = tables[0].actions[ids[j]]
        rank = np.int64(play.rank)
        held = (view.hand >> U64(4 * rank)) & U64(15)
        if play.category > _TRIO or U64(play.size) != held or rank >= best_rank:
            continue
        if rank < SMALL_JOKER or view.hand & JOKERS != JOKERS:
            best, best_rank = np.int64(ids[j]), rank
    if best_rank == 99:
        for j in range(ids.shape[0]):
            if tables[0].actions[ids[j]].category >= _BOMB:
                return np.int64(ids[j])
    return best


@njit([types.int64(T_VIEW, T_IDS, T_TABLES)])
def trustee_choice(view, ids, tables):
    """What auto-play chooses, in any phase: no; the lowest play that does, no bomb unless it ends.

    It leaves its partner's plays and looks rather than grab blind.
    """
    if view.phase == _BLIND:
        return LOOK
    if view.phase == _FILL:
        return np.int64(ids[ids.shape[0] - 1])
    if view.phase != _PLAY:
        return np.int64(ids[0])
    for j in range(ids.shape[0]):
        if ids[j] and after(view.hand, tables[0].actions[ids[j]].need) == U64(0):
            return np.int64(ids[j])
    if view.last_seat < 0:
        return trustee_lead(view, ids, tables)
    if view.seat != view.landlord and view.last_seat != view.landlord:
        return 0
    if ids.shape[0] > 1 and tables[0].actions[ids[1]].category < _BOMB:
        return np.int64(ids[1])  # replies are listed from the lowest of the same type
    return 0


@njit([types.void(T_VIEWS, T_ROWS, T_IDS, T_TABLES, T_ROWS)])
def _act_trustee(views, offsets, ids, tables, out):
    for i in range(views.shape[0]):
        out[i] = trustee_choice(views[i], ids[offsets[i] : offsets[i + 1]], tables)


class RandomBot:
    """Chooses among the listed actions, all alike.

    Args:
        seed: the player's own seed, 0 .. 2**63 - 1.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = np.uint64(check_seed(seed))

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One random legal id a row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        _act_random(views, legal.offsets, legal.ids, self.seed, out)
        return out


class GreedyBot:
    """Fewest plays to go afterwards, then the cheapest; bombs late; leaves its partner's plays."""

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """The greedy id of each row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        _act_greedy(views, legal.offsets, legal.ids, TABLES, out)
        return out


class TrusteeBot:
    """Auto-play (托管): no to every question, the lowest sensible play, no bomb unless it ends."""

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """The trustee's id of each row, `int64[B]`."""
        out = np.zeros(len(views), np.int64)
        _act_trustee(views, legal.offsets, legal.ids, TABLES, out)
        return out


BOTS: dict[str, Callable[[], Bot]] = {
    "random": RandomBot,
    "greedy": GreedyBot,
    "trustee": TrusteeBot,
}
"""Bots by name."""


def make_bot(name: str) -> Bot:
    """A bot by name.

    Raises:
        DdzError: no such bot.
    """
    if name not in BOTS:
        raise DdzError(f"unknown bot {name!r}; expected one of {', '.join(BOTS)}")
    return BOTS[name]()
