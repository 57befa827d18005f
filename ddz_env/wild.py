"""Wild cards (癞子): what a hand declares, and which of its cards are wild (rules par. 4).

A play is declared first, by its id in the catalogue; then, only where there is a choice, the same
seat says which natural cards further wilds stand in for, one wild at a time (`fill`). A declaration
is possible when the cards that the hand lacks are no more than its wilds, and each part that holds
wilds keeps to its rule: the main part has a natural card or is of the wilds' own rank; a wild among
solo kickers is its own rank; a wild completes a pair kicker where the room allows it.

This module and `wild_core` are compiled only when a room with wild cards is first used.
"""

import numpy as np
from numba import from_dtype, types

from ddz_env._jit import njit
from ddz_env.cards import BIG_JOKER, SMALL_JOKER
from ddz_env.catalogue import CHOICES, COPIES, Category
from ddz_env.engine import WILD_JOKERS
from ddz_env.moves import (
    ACE,
    JOKERS,
    ONES,
    RANKS,
    T_IDS,
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    at_least,
    contains,
    hand_size,
    lacking,
    list_leads,
)

U64 = np.uint64
WILD_AS_3, WILD_DONE = CHOICES["wild_as_3"], CHOICES["wild_done"]
NATURAL = U64((1 << 60) - 1)
SOFT, HARD, PURE = 0, 1, 2
"""Classes of bombs, weakest first."""
_SOLO, _BOMB, _ROCKET = int(Category.SOLO), int(Category.BOMB), int(Category.ROCKET)
_FIRST_CHAIN, _LAST_CHAIN = int(Category.SOLO_CHAIN), int(Category.AIRPLANE_WITH_PAIRS)
_PAIR_KICKERS = (
    int(Category.TRIO_WITH_PAIR), int(Category.AIRPLANE_WITH_PAIRS),
    int(Category.FOUR_WITH_TWO_PAIRS),
)  # fmt: skip

HELD = np.dtype(
    [
        ("natural", "<u8"),  # packed natural cards, jokers among them even where they are wild
        ("wilds", "<i8"),  # wild cards, 0..4
        ("own", "<i8"),  # the wilds' own rank 0..12, -1 where the jokers are wild
    ],
    align=True,
)
"""A hand as the kernels here look at it."""
T_HELD = from_dtype(HELD)


@njit([types.void(T_U64, T_INT, T_PARAMS, T_HELD)])
def look(hand, wild, params, held):
    """Split a packed hand into natural and wild cards; `wild` is the record's."""
    held.natural = hand & NATURAL
    if params.wild == WILD_JOKERS:
        held.own = -1
        held.wilds = hand_size(hand & JOKERS)
    else:
        held.own = wild
        held.wilds = np.int64(hand >> U64(60))


@njit([types.uint64(T_PARAMS)])
def first_joker(params):
    """The joker, packed, that is spent first where both are wild."""
    return U64(1) << U64(4 * (SMALL_JOKER if params.joker_spent == 0 else BIG_JOKER))


@njit([types.int64(T_HELD, T_INT, T_INT, T_U64, T_PARAMS)])
def wilds_left(held, category, rank, main, params):
    """Wilds that are left when a main part is made with as few as possible, -1 when it can't be."""
    if main & ~RANKS != U64(0):  # a joker or the rocket, never made by a wild
        if not contains(held.natural, main):
            return -1
        return held.wilds
    need = hand_size(lacking(held.natural, main))
    if need > held.wilds:
        return -1
    if need > 0 and need == hand_size(main) and rank != held.own:
        return -1  # made of wilds alone, a main part is their own rank
    if category == _BOMB and 0 < need < 4 and 4 - need < params.soft_bomb_naturals:
        return -1
    return held.wilds - need


@njit([types.boolean(T_HELD, T_INT, T_U64, T_INT, T_PARAMS)])
def kickers_fit(held, category, kickers, rest, params):
    """Whether `rest` wilds and the natural cards make the kickers."""
    jokers = kickers & ~RANKS
    if jokers != U64(0):
        if not contains(held.natural, jokers):
            return False
        if params.wild == WILD_JOKERS:
            if jokers == JOKERS:
                return False  # where they are wild they are not kickers together
            if jokers & first_joker(params) != U64(0):
                # It would be spent before the other one: here no joker can be wild.
                if rest != held.wilds:
                    return False
                rest = 0
            else:
                rest -= hand_size(jokers)
                if rest < 0:
                    return False
    gap = lacking(held.natural, kickers)
    if gap == U64(0):
        return True
    if hand_size(gap) > rest:
        return False
    own = U64(0)
    if held.own >= 0:
        own = U64(15) << U64(4 * held.own)
    if category not in _PAIR_KICKERS:
        return params.wild_solo_kicker_any == 1 or gap & ~own == U64(0)
    if params.wild_pair_kicker == 0:
        return gap & ~own == U64(0)
    # A pair that lacks both its cards would be made of wilds alone, which are their own rank.
    return at_least(gap & ~own, 2) == U64(0)


@njit(
    [types.int64(T_HELD, T_INT, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES, T_IDS, T_INT)],
    inline="always",
)
def _add_rows(held, category, rest, start, count, params, tables, out, n):
    """Append the plays of a group whose main part leaves `rest` wilds."""
    if count == 1:
        out[n] = start
        return n + 1
    main = (
        tables[0]
        .groups[category, tables[0].actions[start].length, tables[0].actions[start].rank]
        .main
    )
    solos = category not in _PAIR_KICKERS and params.wild_solo_kicker_any == 0
    if solos and params.wild != WILD_JOKERS:
        # Wilds among solo kickers are their own rank: natural cards of it, as it were.
        hand = held.natural + (U64(rest) << U64(4 * held.own))
        for action in range(start, start + count):
            if contains(hand, tables[0].actions[action].need - main):
                out[n] = action
                n += 1
        return n
    for action in range(start, start + count):
        if kickers_fit(held, category, tables[0].actions[action].need - main, rest, params):
            out[n] = action
            n += 1
    return n


@njit([types.int64(T_HELD, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES, T_IDS, T_INT)], inline="always")
def _add_group(held, category, length, rank, params, tables, out, n):
    """Append the plays of a group."""
    group = tables[0].groups[category, length, rank]
    if group.count == 0:
        return n
    rest = wilds_left(held, category, rank, group.main, params)
    if rest < 0:
        return n
    start, count = np.int64(group.start), np.int64(group.count)
    return _add_rows(held, category, rest, start, count, params, tables, out, n)


@njit([types.int64(T_HELD, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES, T_IDS, T_INT)])
def _add_wide_group(held, category, length, rank, params, tables, out, n):
    """Append one group's plays of wider kicker rules."""
    group = tables[0].groups[category, length, rank]
    if group.wide_count == 0:
        return n
    rest = wilds_left(held, category, rank, group.main, params)
    if rest < 0:
        return n
    for action in range(group.wide_start, group.wide_start + group.wide_count):
        play = tables[0].actions[action]
        if play.kicker & ~params.kickers == 0:
            if kickers_fit(held, category, play.need - group.main, rest, params):
                out[n] = action
                n += 1
    return n


@njit([types.int64(T_HELD, T_PARAMS, T_TABLES, T_IDS, T_INT)])
def _add_wide(held, params, tables, out, n):
    """Append the plays that only the room's wider kicker rules allow."""
    for category in range(_SOLO, _ROCKET):
        if not (params.categories >> category) & 1:
            continue
        for length in range(1, 13):
            for rank in range(15):
                n = _add_wide_group(held, category, length, rank, params, tables, out, n)
    return n


@njit([types.int64(T_HELD, T_PARAMS, T_TABLES, T_IDS)])
def list_wild_leads(held, params, tables, out):
    """All declarations that a hand can lead, ids ascending, into `out`; their number."""
    if held.wilds == 0:
        return list_leads(held.natural, params, tables, out)
    n = 0
    for category in range(_SOLO, _BOMB + 1):
        if not (params.categories >> category) & 1:
            continue
        chain = _FIRST_CHAIN <= category <= _LAST_CHAIN
        # What every rank lacks for its part of a main part; most groups lack too much.
        lack = lacking(held.natural, ONES * U64(COPIES[category]))
        for length in range(1, 13 if chain else 2):
            if chain and tables[0].groups[category, length, ACE].count == 0:
                continue
            window = (U64(1) << U64(4 * length)) - U64(1)
            for rank in range(length - 1, ACE + 1 if chain else 13):
                if hand_size(lack & (window << U64(4 * (rank - length + 1)))) <= held.wilds:
                    n = _add_group(held, category, length, rank, params, tables, out, n)
        if category == _SOLO:
            for rank in range(SMALL_JOKER, BIG_JOKER + 1):
                n = _add_group(held, category, 1, rank, params, tables, out, n)
    if contains(held.natural, JOKERS):
        out[n] = tables[0].groups[_ROCKET, 1, BIG_JOKER].start
        n += 1
    if params.kickers:
        n = _add_wide(held, params, tables, out, n)
    return n


@njit([types.int64(T_INT, T_INT, T_PARAMS)])
def bomb_value(bomb_class, rank, params):
    """What bombs are compared by: class and rank, or rank alone."""
    return rank if params.bomb_order == 1 else 16 * bomb_class + rank


@njit([types.int64(T_INT, T_INT)])
def bomb_class(wilds, naturals):
    """The class of a bomb of so many wild and natural cards."""
    if wilds == 0:
        return HARD
    return PURE if naturals == 0 else SOFT


@njit([types.int64(T_U64, T_INT, T_PARAMS, T_TABLES)])
def value_of_bomb(cards, action, params, tables):
    """`bomb_value` of a bomb that was played as packed cards, -1 of another play."""
    play = tables[0].actions[action]
    if play.category != _BOMB:
        return -1
    naturals = hand_size(cards & (U64(15) << U64(4 * play.rank)))
    return bomb_value(bomb_class(4 - naturals, naturals), np.int64(play.rank), params)


@njit([types.int64(T_HELD, T_INT, T_PARAMS)])
def best_bomb(held, rank, params):
    """`bomb_value` of the strongest bomb of a rank that the hand makes, -1 when it makes none."""
    if not (params.categories >> _BOMB) & 1:
        return -1
    main = U64(4) << U64(4 * rank)
    rest = wilds_left(held, _BOMB, rank, main, params)
    if rest < 0:
        return -1
    wilds = held.wilds - rest
    return bomb_value(bomb_class(wilds, 4 - wilds), rank, params)


@njit([types.int64(T_HELD, T_INT, T_U64, T_PARAMS, T_TABLES, T_IDS)])
def list_wild_replies(held, last, last_cards, params, tables, out):
    """Pass and all declarations that can beat a play, ids ascending, into `out`; their number.

    Args:
        held: the hand.
        last: action id of the play to beat.
        last_cards: packed cards that it took.
        params: the room.
        tables: the catalogue's `TABLES`.
        out: int32 buffer with room for `MAX_LEGAL` ids.
    """
    out[0] = 0
    n = 1
    category = np.int64(tables[0].actions[last].category)
    length = np.int64(tables[0].actions[last].length)
    low = np.int64(tables[0].actions[last].rank) + 1
    if category == _ROCKET:
        return n
    beaten = value_of_bomb(last_cards, last, params, tables)
    if category != _BOMB:
        for rank in range(low, 15):
            n = _add_group(held, category, length, rank, params, tables, out, n)
    for rank in range(13):
        if best_bomb(held, rank, params) > beaten:
            out[n] = tables[0].groups[_BOMB, 1, rank].start
            n += 1
    if contains(held.natural, JOKERS):
        out[n] = tables[0].groups[_ROCKET, 1, BIG_JOKER].start
        n += 1
    if params.kickers and category != _BOMB:
        for rank in range(low, 15):
            n = _add_wide_group(held, category, length, rank, params, tables, out, n)
    return n


@njit([types.boolean(T_HELD, T_INT, T_INT, T_U64, T_PARAMS, T_TABLES)])
def is_declarable(held, action, last, last_cards, params, tables):
    """Whether a play of the catalogue can be declared; `last` 0 when leading."""
    play = tables[0].actions[action]
    category, rank = np.int64(play.category), np.int64(play.rank)
    if not (params.categories >> category) & 1 or play.kicker & ~params.kickers:
        return False
    main = tables[0].groups[category, play.length, rank].main
    rest = wilds_left(held, category, rank, main, params)
    if rest < 0 or not kickers_fit(held, category, play.need - main, rest, params):
        return False
    if last == 0:
        return True
    beaten = tables[0].actions[last]
    if category == _BOMB:
        value = value_of_bomb(last_cards, last, params, tables)
        return beaten.category != _ROCKET and best_bomb(held, rank, params) > value
    if category == _ROCKET:
        return True
    return category == beaten.category and play.length == beaten.length and rank > beaten.rank


# -------------------------------------------------------------------------------------- fillings


@njit([types.uint64(T_HELD, T_INT, T_U64, T_PARAMS, T_TABLES)])
def cards_of(held, action, wilds, params, tables):
    """The packed cards that a declaration takes when wilds stand for the packed ranks `wilds`."""
    need = tables[0].actions[action].need
    cards = need - wilds
    n = hand_size(wilds)
    if params.wild != WILD_JOKERS:
        return cards + (U64(n) << U64(60))
    first = first_joker(params)
    for joker in (first, JOKERS - first):
        if n > 0 and (held.natural & joker) != U64(0) and (need & joker) == U64(0):
            cards += joker
            n -= 1
    return cards


@njit([types.int64(T_HELD, T_INT, T_U64, T_PARAMS, T_TABLES)])
def wilds_unused(held, action, wilds, params, tables):
    """Wilds that a declaration leaves in the hand."""
    unused = held.wilds - hand_size(wilds)
    if params.wild == WILD_JOKERS:
        kickers = tables[0].actions[action].need & JOKERS
        if kickers & first_joker(params) != U64(0):
            return 0
        unused -= hand_size(kickers)
    return unused


@njit([types.uint64(T_U64)])
def main_ranks(main):
    """The nibbles of the ranks of a main part."""
    return at_least(main, 1) * U64(15)


@njit([types.boolean(T_HELD, T_INT, T_U64, T_INT, T_INT, T_PARAMS, T_TABLES)])
def can_replace(held, action, wilds, rank, beaten, params, tables):
    """Whether one more wild may stand in for a natural card of a rank.

    Args:
        held: the hand.
        action: id of the declaration.
        wilds: packed ranks that wilds stand for already.
        rank: 0..12.
        beaten: `bomb_value` that a bomb must exceed, -1 for any.
        params: the room.
        tables: the catalogue's `TABLES`.
    """
    play = tables[0].actions[action]
    category = np.int64(play.category)
    main = tables[0].groups[category, play.length, play.rank].main
    one = U64(1) << U64(4 * rank)
    natural = (play.need - wilds) & RANKS
    if hand_size(natural & (U64(15) << U64(4 * rank))) == 0:
        return False
    if (main >> U64(4 * rank)) & U64(15):
        left = hand_size(natural & main_ranks(main)) - 1
        if left == 0 and not (play.rank == held.own and play.length == 1):
            return False
        if category == _BOMB:
            if 0 < left < params.soft_bomb_naturals:
                return False
            value = bomb_value(bomb_class(4 - left, left), np.int64(play.rank), params)
            return value > beaten
        return True
    if rank == held.own:
        return True
    if category in _PAIR_KICKERS:
        both = (natural - one) & (U64(15) << U64(4 * rank)) != U64(0)
        return params.wild_pair_kicker == 1 and both
    return params.wild_solo_kicker_any == 1


@njit([types.int64(T_HELD, T_INT, T_U64, T_INT, T_INT, T_PARAMS, T_TABLES, T_IDS)])
def list_fillings(held, action, wilds, low, beaten, params, tables, out):
    """The sub-decision: `wild_as_R` of every rank from `low` on that may be asked, `wild_done`.

    Returns the number of ids in `out`; 1 means that nothing is left to choose.
    """
    n = 0
    if wilds_unused(held, action, wilds, params, tables) > 0:
        for rank in range(low, 13):
            if can_replace(held, action, wilds, rank, beaten, params, tables):
                out[n] = WILD_AS_3 + rank
                n += 1
    out[n] = WILD_DONE
    return n + 1
