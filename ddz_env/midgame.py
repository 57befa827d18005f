"""Positions in the middle of a deal, from hands and the play to beat: `Game.from_position`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ddz_env import core
from ddz_env._jit import records
from ddz_env.cards import (
    BIG_JOKER,
    BOTTOM_SIZE,
    HAND_SIZE,
    RANKS,
    SMALL_JOKER,
    WILD,
    count_cards,
    from_text,
    pack,
    to_text,
)
from ddz_env.catalogue import ACTIONS, FIRST_PLAY
from ddz_env.checks import brief, seat_of, whole
from ddz_env.engine import start
from ddz_env.errors import CardError, PlayError, RuleError
from ddz_env.fillings import parse_starred
from ddz_env.moves import MAX_LEGAL
from ddz_env.phases import record as note
from ddz_env.rules import RuleSet
from ddz_env.state import NOT_ASKED, STATE, Phase
from ddz_env.view import all_cards


def _texts(name: str, value: Any, wild: bool) -> list[int]:
    """Three texts of cards as packed words."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 3:
        raise CardError(f"{name}: expected three texts of cards, got {value!r}")
    return [from_text(text, wild) for text in value]


def _take(cards: int, have: int, name: str) -> int:
    """What is left of packed cards `have` without `cards`."""
    for rank in range(16):
        want, there = (cards >> 4 * rank) & 15, (have >> 4 * rank) & 15
        if want > there:
            raise CardError(
                f"{name}: {want} cards of {RANKS[rank]!r}, {there} are left in the deck"
            )
    return have - cards


def _set_wild(state: Any, rules: RuleSet, wild: str | None) -> None:
    """The rank of the wild cards, where the room draws one."""
    if rules.wild == "rank":
        if not isinstance(wild, str) or len(wild) != 1 or not 0 <= RANKS.find(wild) < 13:
            raise RuleError(f"wild: room {rules.name} needs its rank, one of {RANKS[:13]}")
        state["wild"] = RANKS.index(wild)
    elif wild is not None:
        raise RuleError(f"wild: room {rules.name} draws no wild rank, got {wild!r}")


def _sizes(hands: list[int], landlord: int) -> list[int]:
    """How many cards each seat has played."""
    sizes = []
    for seat in range(3):
        held = count_cards(hands[seat])
        dealt = HAND_SIZE + BOTTOM_SIZE * (seat == landlord)
        if held > dealt:
            raise CardError(f"hands: player_{seat} holds {held} cards, was dealt {dealt}")
        sizes.append(dealt - held)
    return sizes


def _check_played(given: list[int], sizes: list[int], left: int) -> list[int]:
    """The cards that each seat has played, as given."""
    for seat in range(3):
        left = _take(given[seat], left, f"played by player_{seat}")
        if count_cards(given[seat]) != sizes[seat]:
            got = to_text(given[seat])
            raise CardError(f"played: player_{seat} has played {sizes[seat]} cards, got {got!r}")
    return given


def _make_up_played(piles: list[int], sizes: list[int], left: int) -> list[int]:
    """The cards that each seat has played: some known ones, then the others by rank."""
    for seat, pile in enumerate(piles):
        left = _take(pile, left, f"last and bottom: played by player_{seat}")
    ranks = [rank for rank in range(16) for _ in range((left >> 4 * rank) & 15)]
    out = []
    for seat, pile in enumerate(piles):
        n = sizes[seat] - count_cards(pile)
        if n < 0:
            raise CardError(f"last: player_{seat} has played {sizes[seat]} cards, fewer than it")
        out.append(pile + pack(ranks[:n]))
        ranks = ranks[n:]
    return out


def _without(cards: int, other: int) -> int:
    """Packed cards beyond those of another hand."""
    beyond = 0
    for rank in range(16):
        beyond += max(((cards >> 4 * rank) & 15) - ((other >> 4 * rank) & 15), 0) << 4 * rank
    return beyond


def _set_last(last: str | None, last_seat: Any, turn: int, rules: RuleSet) -> tuple[int, int, int]:
    """The play to beat: (action id, its seat, packed cards); id 0 for a lead."""
    if last is not None and not isinstance(last, str):
        raise PlayError(f"last: expected the text of a play or None, got {brief(last)}")
    if last is None:
        if last_seat is not None:
            raise PlayError("last_seat: given without a play to beat (`last`)")
        return 0, 0, 0
    action, stars = parse_starred(last)
    if action < FIRST_PLAY:
        raise PlayError(f"last: expected a play, got {last!r}")
    if stars and rules.wild == "none":
        raise PlayError(f"last: {last!r} has wild cards, the room has none")
    seat = (turn + 2) % 3 if last_seat is None else seat_of("last_seat", last_seat)
    if seat == turn:
        raise PlayError(f"last_seat: player_{turn} is on turn and would answer its own play")
    spent, jokers = count_cards(stars), rules.wild == "jokers"
    # Where the jokers are wild, the small one is spent first.
    cards = pack([SMALL_JOKER, BIG_JOKER][:spent]) if jokers else spent << 4 * WILD
    return action, seat, int(ACTIONS[action]["need"]) - stars + cards


def _deck(hands: list[int], played: list[int], bottom: int, landlord: int, wild: int) -> list[int]:
    """A deck that deals these cards, wild ones as the rank they have."""

    def ranks(cards: int) -> list[int]:
        natural = [rank for rank in range(16) for _ in range((cards >> 4 * rank) & 15)]
        return [wild if rank == WILD and wild >= 0 else rank for rank in natural]

    order, low = [], ranks(bottom)
    for seat in range(3):
        cards = ranks(hands[seat] + played[seat])
        if seat == landlord:
            if not low:
                low = cards[:BOTTOM_SIZE]
            for rank in low:
                cards.remove(rank)
        order += cards
    return order + low


def place(
    rules: RuleSet, hands: Sequence[str], last: str | None, turn: int, *, landlord: int,
    last_seat: int | None, played: Sequence[str] | None, bottom: str, wild: str | None, base: int,
    seed: int,
) -> np.ndarray:  # fmt: skip
    """The record of a position, `STATE[1]`: see `Game.from_position`."""
    params = rules.params()
    rows = records(STATE, 1)
    state: Any = rows[0]
    turn, landlord = seat_of("turn", turn), seat_of("landlord", landlord)
    base = whole("base", base, 1, 3)
    if not isinstance(bottom, str):
        raise CardError(f"bottom: expected a text of three cards, got {brief(bottom)}")
    start(state, np.uint64(seed), -1, params)
    _set_wild(state, rules, wild)
    has_wild = rules.wild != "none"
    held = _texts("hands", hands, has_wild)
    left = int(all_cards(state, params))
    for seat in range(3):
        if not held[seat]:
            raise CardError(f"hands: player_{seat} has no cards: the deal is over")
        left = _take(held[seat], left, f"hand of player_{seat}")
    action, who, cards = _set_last(last, last_seat, turn, rules)
    low = from_text(bottom, has_wild) if bottom else 0
    if low and count_cards(low) != BOTTOM_SIZE:
        raise CardError(f"bottom: expected three cards, got {bottom!r}")
    sizes = _sizes(held, landlord)
    known = [cards if seat == who else 0 for seat in range(3)]
    if played is not None:
        piles = _check_played(_texts("played", played, has_wild), sizes, left)
        _take(cards, piles[who], "last: of the cards that its player has played")
    else:
        # Bottom cards that the landlord no longer holds: he has played them.
        known[landlord] += _without(low, held[landlord] + known[landlord])
        piles = _make_up_played(known, sizes, left)
    _take(low, held[landlord] + piles[landlord], "bottom: of the landlord's cards")
    state["deck"] = _deck(
        held, piles, low, landlord, int(state["wild"]) if rules.wild == "rank" else -1
    )
    state["phase"], state["turn"], state["landlord"] = Phase.PLAY, turn, landlord
    state["caller"], state["base"], state["bottom"] = landlord, base, low
    state["hands"], state["played"] = held, piles
    state["first"], state["turned"], state["n_history"] = landlord, -1, 0
    state["choices"] = NOT_ASKED
    for seat in range(3):
        state["plays"][seat] = 0 if not piles[seat] else 1 if piles[seat] == cards else 2
    state["last_seat"], state["passes"] = -1, 0
    if action:
        state["last_seat"], state["last_action"], state["last_cards"] = who, action, cards
        state["passes"] = (turn - who - 1) % 3
        note(state, who, action, np.uint64(cards))
        for k in range(int(state["passes"])):
            note(state, (who + 1 + k) % 3, 0, np.uint64(0))
    if core.legal(state, params, np.zeros(MAX_LEGAL, np.int32)) == 0:
        raise CardError("position: nothing is legal in it")
    return rows
