"""Kernels of the endgame solver: who can answer, what bombs count, how far each side is."""

import numpy as np
from numba import types

from agents.endgame_table import T_FRAME, T_MOVE
from ddz_env._jit import njit
from ddz_env.catalogue import COPIES, Category
from ddz_env.decompose import FAST, plays_to_go
from ddz_env.moves import (
    CHAIN,
    JOKERS,
    ONES,
    T_IDS,
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    at_least,
    contains,
    count_ones,
    hand_size,
    list_replies,
    lowest,
)
from ddz_env.wild import HARD, NATURAL, PURE, T_HELD, bomb_class, list_wild_replies, look

U64 = np.uint64
_BOMB, _ROCKET = int(Category.BOMB), int(Category.ROCKET)
_BARE = tuple(c in (1, 2, 3, 6, 7, 8) for c in range(15))  # categories without kickers, no bombs


@njit([types.boolean(T_U64, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES)])
def _holds_higher(hand, category, length, low, params, tables):
    """Whether a hand without wilds makes a play of a category and length, of rank `low` or more."""
    starts = at_least(hand, COPIES[category])
    if length > 1:
        found = starts & CHAIN
        starts = found
        for i in range(1, length):
            starts &= found >> U64(4 * i)
    first = low - length + 1
    starts = starts >> U64(4 * first) << U64(4 * first)
    if starts == U64(0) or _BARE[category]:
        return starts != U64(0)
    while starts != U64(0):
        group = tables[0].groups[category, length, lowest(starts) + length - 1]
        starts &= starts - U64(1)
        for action in range(group.start, group.start + group.count):
            if contains(hand, tables[0].actions[action].need):
                return True
    return False


@njit([types.boolean(T_U64, T_INT, T_U64, T_INT, T_PARAMS, T_TABLES, T_HELD, T_IDS)])
def can_answer(hand, last, last_cards, wild, params, tables, held, ids):
    """Whether a packed hand beats a play; `list_replies`, without the list where possible."""
    play = tables[0].actions[last]
    category = np.int64(play.category)
    if category == _ROCKET:
        return False
    if hand & JOKERS == JOKERS:
        return True
    if params.wild:
        look(hand, wild, params, held)
        if held.wilds > 0 or category == _BOMB:
            return list_wild_replies(held, last, last_cards, params, tables, ids) > 1
    low = np.int64(play.rank) + 1
    fours = at_least(hand, 4)
    if category == _BOMB:
        return fours >> U64(4 * low) != U64(0)
    if fours != U64(0):
        return True
    if hand_size(hand) < play.size:
        return False
    if params.kickers:
        return list_replies(hand, last, params, tables, ids) > 1
    return _holds_higher(hand, category, np.int64(play.length), low, params, tables)


@njit([types.int64(T_INT, T_INT)])
def less(goal, factor):
    """The goal that is left when a bomb has multiplied with a factor."""
    if goal >= 0:
        return (goal + factor - 1) // factor
    rest = (factor - goal - 1) // factor
    return 1 if rest == 1 else -rest


@njit([types.int64(T_INT, T_U64, T_PARAMS, T_TABLES)])
def bomb_factor(action, cards, params, tables):
    """What a play that takes packed cards multiplies with, 1 for no bomb."""
    play = tables[0].actions[action]
    if play.category < _BOMB:
        return 1
    if play.category == _ROCKET:
        return params.rocket
    naturals = hand_size(cards & (U64(15) << U64(4 * play.rank)))
    kind = bomb_class(4 - naturals, naturals)
    if kind == HARD:
        return params.bomb
    return params.pure_bomb if kind == PURE else params.soft_bomb


@njit([types.int64(T_U64, T_PARAMS)])
def bombs_at_most(hand, params):
    """A bound on the bombs of a hand: each takes four of a kind, a wild or the jokers."""
    n = count_ones(at_least(hand & NATURAL, 4)) + np.int64(hand >> U64(60))
    if hand & JOKERS == JOKERS:
        n += 1
    return n if params.wild == 0 else n + hand_size(hand & JOKERS)


@njit([types.int64(T_U64)])
def plays_of(hand):
    """About how many plays empty a hand; wild cards join others."""
    natural = hand & NATURAL
    return plays_to_go(natural, FAST) if natural else 1


@njit([types.uint64(T_U64)])
def _below(mask):
    """Ones at all nibbles below the highest one of a mask."""
    for shift in (4, 8, 16, 32):
        mask |= mask >> U64(shift)
    return mask >> U64(4)


@njit([types.int64(T_U64, T_U64)])
def _tops(hand, others):
    """Ranks of a hand whose solo, pair or trio no higher one of other hands beats; bombs."""
    one, two, three = at_least(hand, 1), at_least(hand, 2), at_least(hand, 3)
    four = at_least(hand, 4)
    found = count_ones(one & ~two & ~_below(others & ONES))
    found += count_ones(two & ~three & ~_below(others >> U64(1) & ONES))
    found += count_ones(three & ~four & ~_below(others >> U64(2) & ONES))
    return found + count_ones(four)


@njit([types.uint64(T_U64)])
def _copies(hand):
    """Bits 0, 1, 2 of each nibble: whether the hand has one, two, three cards of the rank."""
    hand &= NATURAL
    two = at_least(hand, 2) << U64(1)
    return at_least(hand, 1) | two | at_least(hand, 3) << U64(2)


@njit([types.void(T_FRAME, T_MOVE, T_U64)])
def guess(frame, move, hand):
    """First numbers of a position that nobody has looked into, from what each side has to play.

    In quarters of a play: less for plays that no other hand beats, and for being on turn, more
    when the other side leads. The weights are the best of a few dozen tried on endgames of bots.
    """
    mover, turn = np.int64(frame.turn), np.int64(move.turn)
    lord = hand if mover == 0 else frame.hands[0]
    down = hand if mover == 1 else frame.hands[1]
    up = hand if mover == 2 else frame.hands[2]
    lord_copies, farmers_copies = _copies(lord), _copies(down) | _copies(up)
    lord_plays = np.int64(move.plays if mover == 0 else frame.plays[0])
    down_plays = np.int64(move.plays if mover == 1 else frame.plays[1])
    up_plays = np.int64(move.plays if mover == 2 else frame.plays[2])
    own = 4 * lord_plays - 3 * _tops(lord & NATURAL, farmers_copies)
    after = 4 * down_plays - 3 * _tops(down & NATURAL, lord_copies)
    before = 4 * up_plays - 3 * _tops(up & NATURAL, lord_copies)
    if turn == 0:
        own -= 2
    elif turn == 1:
        after -= 2
    else:
        before -= 2
    other = min(after, before)
    if move.last == 0 and turn == 0:
        other += 4
    elif move.last == 0:
        own += 4
    own, other = max(own, 1), max(other, 1)
    move.proof = 1 + 2 * own + max(own - other, 0)
    move.disproof = 1 + 2 * other + max(other - own, 0)
