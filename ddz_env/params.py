"""What kernels get of a rule set: `PARAMS`, a record of whole numbers."""

from typing import NamedTuple

import numpy as np


class Params(NamedTuple):
    """What kernels get of a rule set: integers only, so that all rooms share compiled code.

    A choice between words is the index of the word in its type in `rules`.
    """

    categories: int  # bit c: plays of category c exist in this room
    kickers: int  # bits of `catalogue.Kicker`: which of the wider kicker rules hold
    auction: int
    first_caller: int
    redeal_rotates: int
    turned_card_public: int
    all_pass: int
    max_redeals: int
    rob: int
    caller_robs: int
    look_then: int
    show_before_deal: int  # multiplier of a show at each moment, 0: not asked
    show_at_6: int
    show_at_12: int
    show_after_bottom: int
    show_cards_1: int  # cards dealt at the two moments
    show_cards_2: int
    shows_combine: int
    show_tie: int
    shower: int
    double: int
    raising: int
    raise_order: int
    start_multiplier: int
    rob_multiplier: int
    blind_multiplier: int
    raise_multiplier: int
    soft_bomb: int
    bomb: int
    pure_bomb: int
    rocket: int
    spring: int
    score_quarters: int
    cap: int
    cap_scales: int
    wild: int
    wild_solo_kicker_any: int
    wild_pair_kicker: int
    soft_bomb_naturals: int
    bomb_order: int
    joker_spent: int


PARAMS = np.dtype([(name, "<i8") for name in Params._fields])
"""The record that kernels get, with the fields of `Params`: one pointer at every call, where a
tuple would be some thirty arguments."""
