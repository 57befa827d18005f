"""Cards: ranks, hands as packed words, text to cards and back, deck checks.

A hand is one unsigned 64-bit word of 16 nibbles, each the number of cards of a rank: nibbles 0..12
are the ranks 3..2, 13 the small joker, 14 the big joker, 15 the wild cards (rules.md par. 8: texts
write them `3456789TJQKA2XDW`). Suits never matter.
"""

import numpy as np

from ddz_env.errors import CardError

RANKS = "3456789TJQKA2XDW"
"""The letter of each nibble."""

SMALL_JOKER, BIG_JOKER, WILD = 13, 14, 15
DECK_SIZE, HAND_SIZE, BOTTOM_SIZE, SEATS = 54, 17, 3, 3

_INDEX = {letter: i for i, letter in enumerate(RANKS)}


def deck(red_sevens: bool = False) -> np.ndarray:
    """The 54 cards as ranks, ascending: `uint8[54]`; with the red sevens wild, two 7 are `W`."""
    cards = [r for r in range(13) for _ in range(4)] + [SMALL_JOKER, BIG_JOKER]
    if red_sevens:
        for _ in range(2):
            cards.remove(RANKS.index("7"))
        cards += [WILD, WILD]
    return np.array(cards, np.uint8)


def pack(ranks: "np.ndarray | list[int]") -> int:
    """The packed word of cards given as ranks (0..15)."""
    return sum(1 << (4 * int(r)) for r in ranks)


def unpack(hand: int) -> list[int]:
    """How many cards of each rank a packed word holds: a list of 16 counts."""
    return [(int(hand) >> (4 * r)) & 15 for r in range(16)]


def count_cards(hand: int) -> int:
    """The number of cards in a packed word."""
    return sum(unpack(hand))


def to_text(hand: int) -> str:
    """The text of a packed word, ranks ascending: `3345XD`, wild cards last."""
    return "".join(RANKS[r] * n for r, n in enumerate(unpack(hand)))


def from_text(text: str, wild: bool = False) -> int:
    """The packed word of a hand's text; cards in any order, `10` for `T`, spaces allowed.

    Args:
        text: letters of `3456789TJQKA2XD`, upper or lower case, and `W` where `wild`.
        wild: whether the room has wild cards.

    Raises:
        CardError: another letter, five cards of a rank, two equal jokers (the offender is named).
    """
    if not isinstance(text, str):
        raise CardError(f"hand: expected text such as '334455TJQKA2XD', got {text!r}")
    counts = [0] * 16
    for letter in text.upper().replace("10", "T").replace(" ", ""):
        if letter not in _INDEX or (letter == "W" and not wild):
            raise CardError(f"hand {text!r}: {letter!r} is no card; expected one of {RANKS[:15]}")
        counts[_INDEX[letter]] += 1
    for r, n in enumerate(counts):
        most = 1 if r in (SMALL_JOKER, BIG_JOKER) else 4
        if n > most:
            raise CardError(f"hand {text!r}: {n} cards of {RANKS[r]!r}, a deck has {most}")
    return sum(n << (4 * r) for r, n in enumerate(counts))


def check_deal(deck_order: "np.ndarray | list[int]", red_sevens: bool = False) -> np.ndarray:
    """A deal as `uint8[54]` of ranks: seat 0's 17 cards, seat 1's, seat 2's, the 3 bottom cards.

    Raises:
        CardError: not 54 cards, or not the cards of one deck (the first offending rank is named).
    """
    try:
        cards = np.asarray(deck_order)
    except ValueError:  # lists of different lengths
        raise CardError("deal: expected 54 cards, one number each") from None
    if cards.shape != (DECK_SIZE,):
        raise CardError(f"deal: expected 54 cards, got {cards.size}")
    highest = WILD if red_sevens else BIG_JOKER
    if cards.dtype.kind not in "iu" or cards.min() < 0 or cards.max() > highest:
        raise CardError(f"deal: expected ranks 0..{highest}")
    have, want = np.bincount(cards, minlength=16), np.bincount(deck(red_sevens), minlength=16)
    for r in range(16):
        if have[r] != want[r]:
            raise CardError(f"deal: {have[r]} cards of {RANKS[r]!r}, expected {want[r]}")
    return cards.astype(np.uint8)


def deal_from_text(deal: "dict[str, object]", red_sevens: bool = False) -> np.ndarray:
    """A deal as `uint8[54]` from `{"hands": [text, text, text], "bottom": text}`.

    Within a hand the cards are dealt in the order of the text.

    Raises:
        CardError: wrong keys, a hand that is not 17 cards, a bottom that is not 3, a wrong deck.
    """
    if not isinstance(deal, dict) or set(deal) != {"hands", "bottom"}:
        raise CardError('deal: expected {"hands": [text, text, text], "bottom": text}')
    hands, bottom = deal["hands"], deal["bottom"]
    if not isinstance(hands, (list, tuple)) or len(hands) != SEATS:
        raise CardError("deal: expected three hands")
    order: list[int] = []
    for name, text, size in [
        *((f"hand {i}", h, HAND_SIZE) for i, h in enumerate(hands)),
        ("bottom", bottom, BOTTOM_SIZE),
    ]:
        n = count_cards(from_text(text, red_sevens))  # type: ignore[arg-type]
        if n != size:
            raise CardError(f"deal: {name} {text!r} has {n} cards, expected {size}")
        order += [_INDEX[c] for c in str(text).upper().replace("10", "T").replace(" ", "")]
    return check_deal(np.array(order), red_sevens)
