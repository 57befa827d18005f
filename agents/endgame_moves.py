"""Kernels of the endgame solver: positions, whole plays with what follows them, the table.

A position is seen from the landlord: hand 0 is his, 1 and 2 those of the farmers after and before
him. Passes that are forced, since a hand has no reply, are made at once, so every position below
the root asks a seat that has a choice. Imported only by `endgame_search`.
"""

from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from ddz_env._jit import array_type, njit, records
from ddz_env.catalogue import COPIES, Category
from ddz_env.engine import mix
from ddz_env.moves import (
    CHAIN,
    JOKERS,
    MAX_LEGAL,
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
from ddz_env.wild import (
    HARD,
    HELD,
    NATURAL,
    PURE,
    T_HELD,
    bomb_class,
    list_wild_replies,
    look,
    value_of_bomb,
)

U64 = np.uint64
SURE = 1 << 28
"""The proof number of what can't be proved."""
MAX_DEPTH = 176
"""Decisions of a line: at most 54 plays and twice as many passes."""
FILLINGS = 256
WAYS = 4  # entries of the table that a position may stand in
FARMERS_NONE, LANDLORD_ONCE, LANDLORD_NONE = 1, 2, 4
"""Bits of a position's `spring`: no farmer has played yet, the landlord has once, or not at all."""
MAX_GOAL = 32_000
"""The highest goal of a search, and the lowest below 0."""
_SOLO, _BOMB, _ROCKET = int(Category.SOLO), int(Category.BOMB), int(Category.ROCKET)
_BARE = tuple(c in (1, 2, 3, 6, 7, 8) for c in range(15))  # categories without kickers, bombs apart
_FACTORS = (U64(0x9E3779B97F4A7C15), U64(0xC2B2AE3D27D4EB4F), U64(0x165667B19E3779F9))
_LAST_FACTOR = U64(0x27D4EB2F165667C5)

MOVE = np.dtype(
    [
        ("cards", "<u8"),  # packed cards that it takes, 0 for pass
        ("last_cards", "<u8"),  # packed cards of the play to beat afterwards, 0 for a lead
        ("action", "<i4"),  # id, 0 for pass
        ("choice", "<i4"),  # id that the seat on turn chooses for it
        ("last", "<i4"),  # id of the play to beat afterwards, 0 for a lead
        ("proof", "<i4"),  # how much is missing to prove that the landlord wins, 0..SURE
        ("disproof", "<i4"),  # the same for the farmers
        ("effort", "<i4"),  # positions looked into below it
        ("goal", "<i4"),  # the landlord's goal afterwards
        ("turn", "i1"),  # role that is asked afterwards
        ("last_role", "i1"),  # role of the play to beat afterwards, -1 for a lead
        ("plays", "i1"),  # bound on the plays that empty the hand of who moved
        ("spring", "i1"),  # what a spring still asks for, afterwards
    ],
    align=True,
)
"""One whole play (or pass) of a position, and the position that follows it."""

FRAME = np.dtype(
    [
        ("hands", "<u8", 3),  # packed hands, the landlord's first
        ("last_cards", "<u8"),  # packed cards of the play to beat
        ("meta", "<u8"),  # the rest of the position in one word, for the table
        ("last", "<i4"),  # id of the play to beat, 0 for a lead
        ("goal", "<i4"),  # least further multiplier to win with; below 0: not to lose with
        ("start", "<i4"),  # its moves in the list of all
        ("end", "<i4"),  # -1 before they are listed
        ("chosen", "<i4"),  # the move that is being looked into
        ("most_proof", "<i4"),  # numbers from which on the search turns back
        ("most_disproof", "<i4"),
        ("proof", "<i4"),
        ("disproof", "<i4"),
        ("before", "<i4"),  # positions looked into before it
        ("turn", "i1"),  # role that is asked
        ("last_role", "i1"),  # role of the play to beat, -1 for a lead
        ("spring", "i1"),  # what a spring still asks for: bits as FARMERS_NONE
        ("plays", "i1", 3),  # bounds on the plays that empty each hand
    ],
    align=True,
)
"""One position on the line that is being looked into."""

ENTRY = np.dtype(
    [
        ("hands", "<u8", 3),
        ("meta", "<u8"),
        ("proof", "<i4"),
        ("disproof", "<i4"),
        ("effort", "<i4"),
        ("clock", "<u4"),  # the call that wrote it; entries of other calls count as empty
    ],
    align=True,
)
"""One position of the table, with all that tells it from others: no two are ever mixed up."""

TODO = np.dtype([("wilds", "<u8"), ("low", "<i4"), ("choice", "<i4")], align=True)
"""A filling whose further wilds are still to be chosen."""


class Work(NamedTuple):
    """What a search writes to; `make_work` makes one, nobody reads it between calls."""

    table: np.ndarray  # ENTRY[2**n]
    frames: np.ndarray  # FRAME[MAX_DEPTH]
    moves: np.ndarray  # MOVE[M]
    todo: np.ndarray  # TODO[FILLINGS]
    held: np.ndarray  # HELD[1]
    ids: np.ndarray  # int32[MAX_LEGAL]
    few: np.ndarray  # int32[16]
    count: np.ndarray  # int64[3]: calls so far, positions looked into, the wild rank


CALLS, NODES, WILD_RANK = 0, 1, 2


def make_work(entries: int = 1 << 16, moves: int = 1 << 15) -> Work:
    """Buffers for searches, one after another.

    Args:
        entries: positions that the table keeps, a power of two; 48 bytes each.
        moves: places for the moves of a whole line, 48 bytes each; who needs more gives up.
    """
    return Work(
        records(ENTRY, entries),
        records(FRAME, MAX_DEPTH + 1),
        records(MOVE, moves),
        records(TODO, FILLINGS),
        records(HELD, 1),
        np.zeros(MAX_LEGAL, np.int32),
        np.zeros(16, np.int32),
        np.zeros(3, np.int64),
    )


_LEAST = make_work(WAYS, 1)
T_WORK = types.NamedTuple([array_type(array) for array in _LEAST], Work)
T_MOVE, T_FRAME = from_dtype(MOVE), from_dtype(FRAME)


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


@njit([types.uint64(T_INT, T_INT, T_INT, T_U64, T_INT, T_INT, T_PARAMS, T_TABLES)])
def meta_of(turn, last_role, last, last_cards, goal, spring, params, tables):
    """All of a position but its hands in one word: what the play to beat is, not its kickers."""
    word = U64(turn) + (U64(goal + 32768) << U64(32))
    if goal > 1 or goal < -1:
        word += U64(spring) << U64(4)
    if last == 0:
        return word
    play = tables[0].actions[last]
    kind = U64(play.category) << U64(8) | U64(play.length) << U64(4) | U64(play.rank)
    bomb = U64(0)
    if params.wild:
        bomb = U64(value_of_bomb(last_cards, last, params, tables) + 1)
    return word | U64(last_role + 1) << U64(2) | kind << U64(8) | bomb << U64(20)


@njit([types.int64(T_U64, T_U64, T_U64, T_U64, T_INT)])
def _place(hand_0, hand_1, hand_2, meta, entries):
    """The first of the entries that a position may stand in."""
    key = hand_0 * _FACTORS[0] ^ hand_1 * _FACTORS[1] ^ hand_2 * _FACTORS[2] ^ meta * _LAST_FACTOR
    return np.int64(mix(key) & U64(entries - WAYS))


@njit([types.int64(T_U64, T_U64, T_U64, T_U64, T_WORK)])
def find(hand_0, hand_1, hand_2, meta, work):
    """The entry of a position in the table, -1 when there is none."""
    first = _place(hand_0, hand_1, hand_2, meta, work.table.shape[0])
    for i in range(first, first + WAYS):
        entry = work.table[i]
        if entry.meta == meta and entry.clock == U64(work.count[CALLS]):
            hands = entry.hands
            if hands[0] == hand_0 and hands[1] == hand_1 and hands[2] == hand_2:
                return i
    return -1


@njit([types.void(T_FRAME, T_INT, T_WORK)])
def keep(frame, effort, work):
    """Write what is known of a position to the table, over the entry that cost least."""
    hands = frame.hands
    place = find(hands[0], hands[1], hands[2], frame.meta, work)
    if place < 0:
        place = _place(hands[0], hands[1], hands[2], frame.meta, work.table.shape[0])
        first = place
        for i in range(first, first + WAYS):
            if work.table[i].clock != U64(work.count[CALLS]):
                place = i
                break
            if work.table[i].effort < work.table[place].effort:
                place = i
        for k in range(3):
            work.table[place].hands[k] = hands[k]
        work.table[place].meta = frame.meta
        work.table[place].clock = work.count[CALLS]
        work.table[place].effort = 0
    entry = work.table[place]
    entry.proof = frame.proof
    entry.disproof = frame.disproof
    entry.effort += effort
