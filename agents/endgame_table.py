"""Kernels of the endgame solver: what a search writes to, and the table of positions.

A position is seen from the landlord: hand 0 is his, 1 and 2 those of the farmers after and before
him. The table keeps positions that differ only in names of ranks as one: what counts is the order
of the ranks that anybody holds, and which neighbours can stand in a chain together.
"""

from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from ddz_env._jit import array_type, njit, records
from ddz_env.engine import WILD_JOKERS, mix
from ddz_env.errors import DdzError
from ddz_env.moves import (
    CHAIN,
    JOKERS,
    MAX_LEGAL,
    T_INT,
    T_PARAMS,
    T_TABLES,
    T_U64,
    at_least,
    lowest,
)
from ddz_env.wild import HARD, HELD, NATURAL, bomb_value, value_of_bomb

U64 = np.uint64
SURE = 1 << 28
"""The proof number of what can't be proved."""
MAX_DEPTH = 176
"""Decisions of a line: at most 54 plays and twice as many passes."""
MAX_GOAL = 32_000
"""The highest goal of a search, and the lowest below 0 with its sign changed."""
FILLINGS = 256
WAYS = 4  # entries of the table that a position may stand in
FARMERS_NONE, LANDLORD_ONCE, LANDLORD_NONE = 1, 2, 4
"""Bits of a position's `spring`: no farmer has played yet, the landlord has once, or not at all."""
CALLS, NODES, WILD_RANK = 0, 1, 2
"""Places of `Work.count`."""
_SHORTEST = (0, 5, 3, 2)  # chains by the cards of a rank
_FACTORS = (U64(0x9E3779B97F4A7C15), U64(0xC2B2AE3D27D4EB4F), U64(0x165667B19E3779F9))
_LAST_FACTOR = U64(0x27D4EB2F165667C5)
_PLAIN = U64(1) << U64(63)  # of a key whose ranks keep their names

MOVE = np.dtype(
    [
        ("cards", "<u8"),  # packed cards that it takes, 0 for pass
        ("last_cards", "<u8"),  # packed cards of the play to beat afterwards, 0 for a lead
        ("links", "<u8"),  # `links_of` the hand of who moved, afterwards
        ("key", "<u8", 4),  # the position afterwards, as the table knows it
        ("action", "<i4"),  # id, 0 for pass
        ("choice", "<i4"),  # id that the seat on turn chooses for it
        ("last", "<i4"),  # id of the play to beat afterwards, 0 for a lead
        ("proof", "<i4"),  # how much is missing to prove that the landlord wins, 0..SURE
        ("disproof", "<i4"),  # the same for the farmers
        ("effort", "<i4"),  # positions looked into below it
        ("goal", "<i4"),  # the landlord's goal afterwards
        ("turn", "i1"),  # role that is asked afterwards
        ("last_role", "i1"),  # role of the play to beat afterwards, -1 for a lead
        ("plays", "i1"),  # bound on the plays that empty the hand of who moved, afterwards
        ("spring", "i1"),  # `FRAME.spring` afterwards
    ],
    align=True,
)
"""One whole play (or pass) of a position, and the position that follows it."""
T_MOVE = from_dtype(MOVE)

FRAME = np.dtype(
    [
        ("hands", "<u8", 3),  # packed hands, the landlord's first
        ("links", "<u8", 3),  # `links_of` each
        ("last_cards", "<u8"),  # packed cards of the play to beat
        ("key", "<u8", 4),  # the position as the table knows it
        ("last", "<i4"),  # id of the play to beat, 0 for a lead
        ("goal", "<i4"),  # least further multiplier to win with; below 0: not to lose with
        ("start", "<i4"),  # its moves in the list of all
        ("end", "<i4"),  # -1 before they are listed
        ("chosen", "<i4"),  # the move that is being looked into, -1 none
        ("most_proof", "<i4"),  # numbers from which on the search turns back
        ("most_disproof", "<i4"),
        ("proof", "<i4"),
        ("disproof", "<i4"),
        ("before", "<i4"),  # positions looked into before it
        ("turn", "i1"),  # role that is asked
        ("last_role", "i1"),  # role of the play to beat, -1 for a lead
        ("spring", "i1"),  # bits, which plays could still make a spring
        ("plays", "i1", 3),  # bounds on the plays that empty each hand
    ],
    align=True,
)
"""One position on the line that is being looked into."""
T_FRAME = from_dtype(FRAME)

ENTRY = np.dtype(
    [
        ("key", "<u8", 4),
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
    frames: np.ndarray  # FRAME[MAX_DEPTH + 2]
    moves: np.ndarray  # MOVE[M]
    todo: np.ndarray  # TODO[FILLINGS]
    held: np.ndarray  # HELD[1]
    ids: np.ndarray  # int32[MAX_LEGAL]
    few: np.ndarray  # int32[16]
    count: np.ndarray  # int64[3]: calls so far, positions looked into, the wild rank


def make_work(entries: int = 1 << 16, moves: int = 1 << 14) -> Work:
    """Buffers for searches, one after another.

    Args:
        entries: positions that the table keeps, a power of two, `WAYS` or more; 48 bytes each.
        moves: places for the moves of a whole line, 104 bytes each; who needs more gives up.

    Raises:
        DdzError: a size that is too small, or `entries` no power of two.
    """
    if entries < WAYS or entries & (entries - 1):
        raise DdzError(f"entries: expected a power of two from {WAYS} on, got {entries!r}")
    if moves < 1:
        raise DdzError(f"moves: expected 1 or more, got {moves!r}")
    return Work(
        records(ENTRY, entries),
        records(FRAME, MAX_DEPTH + 2),
        records(MOVE, moves),
        records(TODO, FILLINGS),
        records(HELD, 1),
        np.zeros(MAX_LEGAL, np.int32),
        np.zeros(16, np.int32),
        np.zeros(3, np.int64),
    )


T_WORK = types.NamedTuple([array_type(array) for array in make_work(WAYS, 1)], Work)


@njit([types.uint64(T_U64)])
def links_of(hand):
    """A one for each rank that stands in a chain of the hand together with the next rank."""
    found = U64(0)
    for copies in range(1, 4):
        shortest = _SHORTEST[copies]
        held = at_least(hand, copies) & CHAIN
        starts = held
        for i in range(1, shortest):
            starts &= held >> U64(4 * i)
        if starts != U64(0):
            for i in range(shortest - 1):
                found |= starts << U64(4 * i)
    return found


@njit([types.boolean(T_U64, T_PARAMS)])
def has_wilds(hands, params):
    """Whether one of some packed hands, laid over one another, holds a wild card."""
    if params.wild == WILD_JOKERS:
        return hands & JOKERS != U64(0)
    return hands & ~NATURAL != U64(0)


@njit([types.uint64(T_MOVE, T_INT, T_PARAMS, T_TABLES)])
def _what_to_beat(move, beaten, params, tables):
    """The play to beat after a move in one word; `beaten` of the ranks held are too low."""
    play = tables[0].actions[move.last]
    word = U64(play.category) << U64(4) | U64(play.length)
    return word << U64(4) | U64(beaten) | U64(move.last_role + 1) << U64(12)


@njit([types.void(T_MOVE, T_U64, T_U64, T_U64, T_U64, T_PARAMS, T_TABLES)])
def write_key(move, lord, down, up, links, params, tables):
    """Write `key` of the position after a move: hands, and all the rest in one word.

    Without wilds the ranks are numbered anew, those that nobody holds left out: a play beats
    another by the order of ranks, chains need neighbours, and nothing else asks for a rank (that a
    trio beside an airplane is no kicker of it, too, is a matter of chains in one hand). Of the
    jokers it counts whether both are there. So positions of one key are the same game.

    Args:
        move: with turn, play to beat, goal and spring filled in.
        lord: packed hand of the landlord.
        down: packed hand of the farmer after him.
        up: packed hand of the farmer before him.
        links: `links_of` all three.
        params: the room.
        tables: the catalogue's `TABLES`.
    """
    word = U64(move.turn) | U64(move.goal + 32768) << U64(2)
    if move.goal > 1 or move.goal < -1:
        word |= U64(move.spring) << U64(18)
    bomb, rank = -1, -1
    if move.last != 0:
        rank = np.int64(tables[0].actions[move.last].rank)
        if params.wild:
            bomb = value_of_bomb(move.last_cards, np.int64(move.last), params, tables)
    held = lord | down | up
    if has_wilds(held, params):
        move.key[0], move.key[1], move.key[2] = lord, down, up
        word |= _PLAIN | U64(bomb + 1) << U64(48)
        if move.last != 0:
            word |= _what_to_beat(move, rank, params, tables) << U64(21)
        move.key[3] = word
        return
    n, beaten = 0, 0
    packed_lord, packed_down, packed_up, chained = U64(0), U64(0), U64(0), U64(0)
    ranks = at_least(held, 1)
    while ranks != U64(0):
        r = lowest(ranks)
        ranks &= ranks - U64(1)
        here, there = U64(4 * r), U64(4 * n)
        packed_lord |= (lord >> here & U64(15)) << there
        packed_down |= (down >> here & U64(15)) << there
        packed_up |= (up >> here & U64(15)) << there
        chained |= (links >> here & U64(1)) << U64(n)
        if (bomb < 0 and r <= rank) or (bomb >= 0 and bomb_value(HARD, r, params) <= bomb):
            beaten += 1
        n += 1
    move.key[0], move.key[1], move.key[2] = packed_lord, packed_down, packed_up
    if move.last != 0:
        word |= _what_to_beat(move, beaten, params, tables) << U64(21)
    if held & JOKERS == JOKERS:
        word |= U64(1) << U64(47)
    move.key[3] = word | chained << U64(48)


@njit([types.int64(T_U64, T_U64, T_U64, T_U64, T_INT)])
def _place(hand_0, hand_1, hand_2, rest, entries):
    """The first of the entries that a position may stand in."""
    key = hand_0 * _FACTORS[0] ^ hand_1 * _FACTORS[1] ^ hand_2 * _FACTORS[2] ^ rest * _LAST_FACTOR
    return np.int64(mix(key) & U64(entries - WAYS))


@njit([types.int64(T_U64, T_U64, T_U64, T_U64, T_WORK)])
def find(hand_0, hand_1, hand_2, rest, work):
    """The entry of a position in the table, from its key; -1 when there is none."""
    first = _place(hand_0, hand_1, hand_2, rest, work.table.shape[0])
    for i in range(first, first + WAYS):
        entry = work.table[i]
        if entry.clock == U64(work.count[CALLS]):
            key = entry.key
            if key[3] == rest and key[0] == hand_0 and key[1] == hand_1 and key[2] == hand_2:
                return i
    return -1


@njit([types.void(T_FRAME, T_INT, T_WORK)])
def keep(frame, effort, work):
    """Write the numbers of a position to the table, over what took least effort."""
    key = frame.key
    place = find(key[0], key[1], key[2], key[3], work)
    if place < 0:
        first = _place(key[0], key[1], key[2], key[3], work.table.shape[0])
        place = first
        for i in range(first, first + WAYS):
            if work.table[i].clock != U64(work.count[CALLS]):
                place = i
                break
            if work.table[i].effort < work.table[place].effort:
                place = i
        for k in range(4):
            work.table[place].key[k] = key[k]
        work.table[place].clock = work.count[CALLS]
        work.table[place].effort = 0
    entry = work.table[place]
    entry.proof = frame.proof
    entry.disproof = frame.disproof
    entry.effort += effort
