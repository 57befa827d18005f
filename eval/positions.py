"""A position of which one hand is known, as a game: for `analyse.py`.

What the seat has not seen is dealt out to the others by rank: its view, which is all that a model
gets, holds only which cards are unseen and how many each seat has.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ddz_env.cards import (
    BOTTOM_SIZE,
    HAND_SIZE,
    RANKS,
    count_cards,
    deck,
    from_text,
    pack,
    to_text,
    unpack,
)
from ddz_env.checks import brief
from ddz_env.engine import make_wild
from ddz_env.errors import CardError, PlayError, RuleError
from ddz_env.game import Game
from ddz_env.position import parse_position
from ddz_env.rules import RuleSet

ROLES = ("landlord", "landlord_down", "landlord_up")
SIDES = ("next", "previous")


def _cards(name: str, text: Any, rules: RuleSet) -> int:
    """Packed cards of an argument's text."""
    if not isinstance(text, str):
        raise CardError(f"{name}: expected a text of cards, got {brief(text)}")
    try:
        return from_text(text, wild=rules.wild in ("rank", "red_sevens"))
    except CardError as error:
        raise CardError(f"{name}{str(error).removeprefix('hand')}") from None


def _less(cards: int, taken: int, name: str) -> int:
    """What packed cards leave when others are taken away."""
    for rank, (have, want) in enumerate(zip(unpack(cards), unpack(taken), strict=True)):
        if want > have:
            raise CardError(f"{name}: {want} cards of {RANKS[rank]!r}, {have} are left in the deck")
    return cards - taken


def _part(cards: int, n: int) -> int:
    """The n lowest of packed cards."""
    return pack([rank for rank, have in enumerate(unpack(cards)) for _ in range(have)][:n])


def _common(cards: int, other: int) -> int:
    """Packed cards that are in both."""
    pairs = enumerate(zip(unpack(cards), unpack(other), strict=True))
    return sum(min(a, b) << 4 * rank for rank, (a, b) in pairs)


class _Seats(NamedTuple):
    """Who sits where: seat 0 is the landlord's."""

    mine: int
    dealt: list[int]  # cards of each seat at the beginning of the play
    last_by: int  # seat of the play to beat, -1 when leading


def _seats(role: Any, last: str | None, last_by: Any) -> _Seats:
    """The seats from the role of the hand and from who made the play to beat."""
    if role not in ROLES:
        raise RuleError(f"role: expected one of {', '.join(ROLES)}, got {brief(role)}")
    if last_by not in (None, *SIDES):
        raise RuleError(f"last_by: expected next or previous, got {brief(last_by)}")
    if last is None and last_by is not None:
        raise RuleError("last_by: given without a play to beat, expected last too")
    mine = ROLES.index(role)
    dealt = [HAND_SIZE + BOTTOM_SIZE, HAND_SIZE, HAND_SIZE]
    by = -1 if last is None else (mine + 1 + SIDES.index(last_by or "previous")) % 3
    return _Seats(mine, dealt, by)


def _check_left(left: Any, seats: _Seats) -> dict[int, int] | None:
    """Cards left of the two others by seat, as given."""
    if left is None:
        return None
    numbers = [] if isinstance(left, str) or not isinstance(left, Sequence) else list(left)
    if len(numbers) != 2 or any(isinstance(n, bool) or not isinstance(n, int) for n in numbers):
        raise CardError(f"left: expected two numbers of cards, next and previous, got {left!r}")
    found = {}
    for k, (side, n) in enumerate(zip(SIDES, numbers, strict=True)):
        seat = (seats.mine + 1 + k) % 3
        if not 1 <= n <= seats.dealt[seat]:
            raise CardError(f"left: expected 1..{seats.dealt[seat]} cards of {side}, got {n}")
        found[seat] = n
    return found


def _default_left(seats: _Seats, played: int, last_size: int, total: int | None) -> dict[int, int]:
    """Cards left of the others where they are not given.

    Args:
        seats: who sits where.
        played: cards that the hand's seat has played.
        last_size: cards of the play to beat.
        total: cards that both others have played; without, each has played as many as the hand's
            seat, or the play to beat.
    """
    after, before = (seats.mine + 1) % 3, (seats.mine + 2) % 3
    gone = {seat: last_size if seat == seats.last_by else 0 for seat in (after, before)}
    if total is None:
        return {
            seat: max(seats.dealt[seat] - max(played, least), 1) for seat, least in gone.items()
        }
    most = {seat: seats.dealt[seat] - 1 for seat in gone}
    share = min(max((total + 1) // 2, gone[after], total - most[before]), most[after])
    share = min(share, total - gone[before])
    gone = {after: share, before: total - share}
    for seat, n in gone.items():
        if not 0 <= n <= most[seat]:
            raise CardError(
                f"seen: {total} cards played by the others, expected at most"
                f" {sum(most.values())}, and the play to beat among them"
            )
    return {seat: seats.dealt[seat] - n for seat, n in gone.items()}


def _check_seen(pile: int, last: int, mine: int, left: dict[int, int], seats: _Seats) -> None:
    """Raise unless so many cards have been played and the play to beat is among them."""
    if _common(pile, last) != last:
        raise CardError(f"seen: expected the cards of last, {to_text(last)}, among them")
    want = mine + sum(seats.dealt[seat] - n for seat, n in left.items())
    if count_cards(pile) != want:
        raise CardError(
            f"seen: {count_cards(pile)} cards, expected {want}: {mine} of the hand's own seat and"
            f" those that the others don't have left ({', '.join(map(str, left.values()))})"
        )


def _piles(seen: Any, rules: RuleSet) -> tuple[int | None, list[int] | None]:
    """Cards that were played: (all of them, those of own seat, next and previous), as given."""
    if seen is None:
        return None, None
    if isinstance(seen, str):
        return _cards("seen", seen, rules), None
    if not isinstance(seen, Sequence) or len(seen) != 3:
        raise CardError(
            f"seen: expected a text, or three: own, next's, previous's; got {brief(seen)}"
        )
    piles = [_cards("seen", text, rules) for text in seen]
    return sum(piles), piles


def _deck(rules: RuleSet, wild: int) -> int:
    """All cards of a room, packed."""
    cards = pack(deck(rules.wild == "red_sevens"))
    return int(make_wild(np.uint64(cards), wild)) if rules.wild == "rank" else cards


def _other_hands(
    unseen: int, left: dict[int, int], seats: _Seats, bottom: int
) -> dict[int, int]:  # fmt: skip
    """The unseen cards, dealt out by rank; first of all bottom cards to the landlord."""
    hands = dict.fromkeys(left, 0)
    if 0 in left:
        hands[0] = _part(_common(bottom, unseen), left[0])
    for seat in left:
        rest = unseen - sum(hands.values())
        hands[seat] += _part(rest, left[seat] - count_cards(hands[seat]))
    return hands


def _counts(
    left: Any, pile: int | None, piles: list[int] | None, seats: _Seats, mine: int, last_size: int
) -> dict[int, int]:
    """Cards left of the two others by seat: as given, as the piles say, or by default.

    Args:
        left: the argument.
        pile: all cards played, None where they are not given.
        piles: those of own seat, next and previous, None where not given apart.
        seats: who sits where.
        mine: cards that the hand's seat has played.
        last_size: cards of the play to beat.
    """
    counts = _check_left(left, seats)
    if piles is not None and counts is None:
        order = [(seats.mine + k) % 3 for k in range(3)]
        sizes = [seats.dealt[seat] - count_cards(p) for seat, p in zip(order, piles, strict=True)]
        counts = _check_left(sizes[1:], seats)
    if counts is not None:
        by = seats.last_by
        if by >= 0 and seats.dealt[by] - counts[by] < last_size:
            most = seats.dealt[by] - last_size
            raise CardError(f"left: {counts[by]} cards of who played last, expected {most} at most")
        return counts
    total = None if pile is None else count_cards(pile) - mine
    if total is not None and total < last_size:
        raise CardError(
            f"seen: {count_cards(pile or 0)} cards, expected the {mine} of the hand's own seat"
            f" and the {last_size} of last at least"
        )
    return _default_left(seats, mine, last_size, total)


def _bottom(bottom: Any, rules: RuleSet, held: int, rest: int, mine: int, lord: bool) -> int:
    """The bottom cards, packed: three that the landlord can have been dealt.

    Args:
        bottom: the argument.
        rules: the room.
        held: the hand.
        rest: the deck without it.
        mine: cards that the hand's seat has played.
        lord: whether it is the landlord's.
    """
    low = _cards("bottom", bottom, rules) if bottom else 0
    if low and count_cards(low) != BOTTOM_SIZE:
        raise CardError(f"bottom: expected three cards, got {bottom!r}")
    if lord and count_cards(low - _common(low, held)) > mine:
        missing = to_text(low - _common(low, held))
        raise CardError(
            f"bottom: {missing} is not in the landlord's hand, expected at most the {mine} cards"
            " that he has played"
        )
    if not lord:
        _less(rest, low, "bottom")
    return low


def _made_up(free: int, low: int, kept: int, landlord_left: int, n: int) -> int:
    """Cards that have been played where nobody says so: the lowest ones.

    Args:
        free: cards that are neither in the hand nor of the play to beat.
        low: the bottom cards; those that the landlord does not hold he has played.
        kept: those of them that he may hold.
        landlord_left: how many he holds, of a hand that is not known.
        n: cards to find.
    """
    low = _common(low, free)
    kept = _common(kept, low)
    spare = max(count_cards(kept) - landlord_left, 0)
    gone = low - kept + _part(kept, spare)
    rest = free - low
    return gone + _part(rest, max(n - count_cards(gone), 0))


def position(
    hand: str,
    seen: str | Sequence[str] | None = None,
    last: str | None = None,
    rules: str | RuleSet = "play_only",
    *,
    role: str = "landlord",
    last_by: str | None = None,
    left: Sequence[int] | None = None,
    bottom: str = "",
    wild: str | None = None,
    base: int = 1,
) -> Game:
    """The game that `analyse` looks at; its arguments are those of `analyse`."""
    try:
        held, _, taken, room, number = parse_position(hand, last, rules, wild)
    except PlayError as error:
        raise PlayError(f"last: {str(error).removeprefix('last ')}") from None
    seats = _seats(role, last, last_by)
    mine = seats.dealt[seats.mine] - count_cards(held)
    if mine < 0:
        got = count_cards(held)
        raise CardError(f"hand: {got} cards, a {role} was dealt {seats.dealt[seats.mine]}")
    pile, piles = _piles(seen, room)
    rest = _less(_deck(room, number), held, "hand")
    low = _bottom(bottom, room, held, rest, mine, seats.mine == 0)
    counts = _counts(left, pile, piles, seats, mine, count_cards(taken))
    if pile is None:
        free = _less(rest, taken, "last")
        gone = mine + sum(seats.dealt[seat] - n for seat, n in counts.items())
        kept = low if seats.mine else _common(low, held)
        pile = taken + _made_up(free, low, kept, counts.get(0, 0), gone - count_cards(taken))
    _check_seen(pile, taken, mine, counts, seats)
    hands = _other_hands(_less(rest, pile, "seen"), counts, seats, low)
    texts = [to_text(held if seat == seats.mine else hands[seat]) for seat in range(3)]
    played = None
    if piles is not None:
        played = [to_text(piles[(seat - seats.mine) % 3]) for seat in range(3)]
    return Game.from_position(
        texts, last, seats.mine, rules=room, landlord=0,
        last_seat=None if last is None else seats.last_by, played=played, bottom=bottom,
        wild=RANKS[number] if room.wild == "rank" else None, base=base,
    )  # fmt: skip
