"""The least number of plays that empties a hand, exact, wild cards included.

Iterative deepening: can the hand be played out in one play, in two, ...? The lowest natural card
must go with some play, so only plays that take it are tried, in all their fillings; hands that have
been found impossible are remembered. Cost on one core: well under a millisecond for most hands of
20 cards without wilds; with three or four wilds a hand can take a second. Fine for a question,
too slow for every legal action of a decision: `decompose.plays_to_go` is the fast bound.
"""

import numpy as np
from numba import types

from ddz_env._jit import njit, records
from ddz_env.catalogue import TABLES
from ddz_env.engine import mix
from ddz_env.errors import CardError
from ddz_env.moves import (
    MAX_LEGAL,
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    hand_size,
    lacking,
    list_leads,
)
from ddz_env.position import parse_position
from ddz_env.rules import RuleSet
from ddz_env.wild import (
    HELD,
    T_HELD,
    WILD_AS_3,
    cards_of,
    list_fillings,
    list_wild_leads,
    look,
)

U64 = np.uint64
MAX_DEPTH = 20
MEMO = 1 << 16
_T_KEYS, _T_LIMITS, _T_LISTS = types.uint64[::1], types.int8[::1], types.int32[:, ::1]
_T_SELF = types.boolean(
    T_U64, T_INT, T_INT, T_INT, T_PARAMS, T_TABLES, T_HELD[::1], _T_LISTS, _T_KEYS, _T_LIMITS
)


@njit([types.int64(T_U64)])
def _lowest_natural(hand):
    """The lowest rank 3..2 or joker (0..14) that a packed hand has, 15 when only wilds are left."""
    for rank in range(15):
        if (hand >> U64(4 * rank)) & U64(15):
            return rank
    return 15


@njit([_T_SELF])
def _can(hand, limit, depth, wild, params, tables, helds, lists, keys, limits):
    """Whether a packed hand can be played out in `limit` plays."""
    size = hand_size(hand)
    if size == 0:
        return True
    if limit == 0 or size > 20 * limit:
        return False
    place = np.int64(mix(hand) & U64(MEMO - 1))
    if keys[place] == hand and limits[place] >= limit:
        return False
    ids = lists[depth]
    held = helds[depth]
    if params.wild:
        look(hand, wild, params, held)
        n = list_wild_leads(held, params, tables, ids)
    else:
        n = list_leads(hand, params, tables, ids)
    target = U64(15) << U64(4 * _lowest_natural(hand))
    options = np.zeros(16, np.int32)
    wilds_todo, low_todo = np.zeros(256, np.uint64), np.zeros(256, np.int64)
    for j in range(n - 1, -1, -1):  # longer kinds of plays come later in the list
        action = np.int64(ids[j])
        need = tables[0].actions[action].need
        if params.wild == 0:
            if need & target and _can(
                hand - need, limit - 1, depth + 1, wild, params, tables, helds, lists, keys, limits
            ):
                return True
            continue
        wilds_todo[0] = lacking(held.natural, need)
        low_todo[0] = 0
        todo = 1
        while todo > 0:
            todo -= 1
            wilds, low = wilds_todo[todo], low_todo[todo]
            more = list_fillings(held, action, wilds, low, -1, params, tables, options)
            for k in range(more - 1):
                rank = np.int64(options[k]) - WILD_AS_3
                wilds_todo[todo] = wilds + (U64(1) << U64(4 * rank))
                low_todo[todo] = rank
                todo += 1
            cards = cards_of(held, action, wilds, params, tables)
            if cards & target and _can(
                hand - cards, limit - 1, depth + 1, wild, params, tables, helds, lists, keys, limits
            ):
                return True
    keys[place] = hand
    limits[place] = limit
    return False


def min_plays(hand: str, rules: str | RuleSet = "play_only", wild: str | None = None) -> int:
    """The least number of plays that empties a hand when nobody else plays, exact.

    Args:
        hand: the hand's text, 1 to 20 cards; wild cards are `W`, but for jokers.
        rules: a preset's name or a `RuleSet`.
        wild: in rooms with wild cards their rank, `red7` or `jokers`.

    Raises:
        DdzError: a text that is no hand, an unknown room.
    """
    cards, _, _, room, number = parse_position(hand, None, rules, wild)
    params = room.params()
    lists = np.zeros((MAX_DEPTH + 1, MAX_LEGAL), np.int32)
    helds = records(HELD, MAX_DEPTH + 1)
    keys, limits = np.zeros(MEMO, np.uint64), np.zeros(MEMO, np.int8)
    for limit in range(1, MAX_DEPTH + 1):
        if _can(np.uint64(cards), limit, 0, number, params, TABLES, helds, lists, keys, limits):
            return limit
    raise CardError(f"hand {hand!r}: can't be played out")  # every card can be played alone
