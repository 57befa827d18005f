"""The record that is a game: `STATE`, one fixed-size numpy row, and the names of its phases.

Clone is a copy, equality is bytes, saving is bytes. Packed cards are words of `cards.py`.
"""

from enum import IntEnum

import numpy as np

ASK, NOT_ASKED = -2, -1
"""Marks of `choices`: a seat that is still to choose, one that is not asked."""
MAX_HISTORY = 192
"""Decisions that a record holds. Play: every play takes a card and ends two passes at most, and
the deal ends with a card or more in both other hands, so at most 52 plays and 51 * 2 passes = 154;
before the play at most: shows 9, calls 6, robs 3, shows after the bottom 3, doubles 3, raises 6. A
redeal starts a new history: only refusals lead to one."""


class Phase(IntEnum):
    """What is being decided, in the order of rules par. 3; the names are those of every face."""

    SHOW_BEFORE_DEAL = 0
    SHOW_AT_6 = 1
    SHOW_AT_12 = 2
    CALL_POINTS = 3
    CALL = 4
    ROB = 5
    BLIND = 6
    SHOW_AFTER_BOTTOM = 7
    DOUBLE = 8
    RAISE = 9
    PLAY = 10
    FILL = 11
    OVER = 12


N_PHASES = len(Phase)

STATE = np.dtype(
    [
        ("seed", "<u8"),  # this deal's key; the next deal's key is derived from it
        ("deal", "<u8"),  # public number of the deal, set by whoever runs it; never the seed
        ("hands", "<u8", 3),  # packed hand of each seat
        ("bottom", "<u8"),  # packed bottom cards
        ("played", "<u8", 3),  # packed cards that each seat has played
        ("last_cards", "<u8"),  # packed cards of the play to beat, 0 when leading
        ("scores", "<i8", 3),  # quarter points of each seat, 0 until over
        ("bomb_factor", "<i8"),  # what bombs and rockets played multiply with, together
        ("pending_wilds", "<u8"),  # while filling: packed ranks that wild cards stand for
        ("draws", "<u4"),  # random numbers drawn so far
        ("deck", "u1", 54),  # ranks in dealing order: seat 0's 17, seat 1's, seat 2's, bottom 3
        ("phase", "i1"),  # Phase
        ("turn", "i1"),  # seat that is asked, 0..2
        ("first", "i1"),  # seat that calls first, unless somebody shows before the calls
        ("landlord", "i1"),  # seat, -1 until there is one
        ("caller", "i1"),  # seat that called, or is landlord without; -1 none yet
        ("turned", "i1"),  # place in the deck of the card turned face up, -1 none
        ("calls", "i1", 3),  # call of each seat: -1 not asked yet, 0 pass, 1..3 points, 1 a call
        ("robs", "i1", 3),  # each seat: -1 not asked, 0 no, 1 has robbed
        ("looked", "i1", 3),  # each seat: 1 has looked instead of grabbing blind
        ("shows", "i1", 3),  # each seat: 0 hidden, 1..4 the moment at which it showed
        ("doubles", "i1", 3),  # each seat: 1 has doubled
        ("may_double", "i1", 3),  # each seat: 1 has the beans that doubling needs
        ("choices", "i1", 3),  # choices at once: ASK, NOT_ASKED, or hidden until all have chosen
        ("blind", "i1"),  # 1: the landlord grabbed blind
        ("raises", "i1"),  # raises so far, 0..4
        ("refusals", "i1"),  # farmers who refused to raise in this turn of their side
        ("base", "i1"),  # the base of the score: the highest call so far, 0 none yet
        ("bombs", "i1"),  # bombs and rockets played
        ("plays", "i1", 3),  # plays of each seat, passes not counted
        ("wild", "i1"),  # rank of the wild cards, 13 the jokers; -1 none yet
        ("pending_low", "i1"),  # while filling: the lowest rank that may be asked next
        ("passes", "i1"),  # passes in a row
        ("last_seat", "i1"),  # seat of the play to beat, -1 when leading
        ("winner", "i1"),  # seat that went out, -1 none
        ("history_seat", "i1", MAX_HISTORY),  # who decided
        ("spare", "u1", 6),  # fills a hole, so that equal games are equal bytes
        ("last_action", "<u2"),  # id of the play to beat, 0 when leading
        ("pending", "<u2"),  # while filling: id of the declared play, else 0
        ("redeals", "<i2"),  # times that the cards were thrown in
        ("n_history", "<i2"),  # decisions in the history
        ("history_action", "<u2", MAX_HISTORY),  # action id
        ("history_cards", "<u8", MAX_HISTORY),  # packed cards that left the hand
    ],
    align=True,
)
"""One game."""

assert sum(STATE[name].itemsize for name in STATE.names or ()) == STATE.itemsize
