"""The slow, obvious referee, part 3: plays with wild cards (rules §4, text form §8).

Written straight from the rules: every play of the plain catalogue is tried on the hand, with every
choice of the cards in it that wilds stand for. `reference_wild_game.py` plays whole deals.

Hands are texts in any order. `wild` says what is wild: a rank whose four cards a hand writes as
`W`; `red7`, two red sevens, written `W` beside the natural `7`; `jokers`, written `X` and `D`.
A play is a text with a star behind each card that a wild stands for: `445566*`.
"""

from functools import cache
from typing import NamedTuple

from reference_rules import OPTIONAL, PASS, RANKS, ROOMS, all_plays, beats, parse, sort_cards

NATURAL = RANKS[:13]  # a wild stands for any rank 3..2, never a joker
DECK = "".join(rank * 4 for rank in NATURAL) + "XD"
LONGEST = 20  # the landlord's hand
JOKERS = {"small": "X", "big": "D"}
CLASSES = ("soft", "hard", "pure", "rocket")  # of bombs, low to high

# What §4's table says of each room; the other side of each **(decided)** is another value.
_WILD = {
    "wild": "rank",  # which cards: "rank", "red_sevens", "jokers"
    "wild_solo_kicker_any": False,  # a wild as a solo kicker: any rank, or its own
    "wild_pair_kicker": True,  # a wild may complete a pair kicker, 6 and a wild are 66*
    "soft_bomb_naturals": 1,  # the fewest natural cards in a soft bomb (3: "a wild and three")
    "joker_spent": "small",  # of two jokers, which one stands for another card first
    "bomb_order": "class",  # by "class" (soft, hard, pure) and then by rank, or by "rank" alone
    "soft_bomb_multiplier": 2,
    "bomb_multiplier": 2,  # hard ones
    "pure_bomb_multiplier": 2,
    "rocket_multiplier": 2,
    "score_quarters": 4,  # §5: quarters of a point that a point of the result counts
    "cap": 0,  # §5: the most points a seat and deal, 0: no cap
    "cap_scales": True,  # over the cap all three scores shrink alike, or each is cut by itself
}
# §7, the rooms with wild cards.
WILD_ROOMS = {
    "happy_laizi": {
        **ROOMS["happy"],
        **_WILD,
        "bomb_multiplier": 4,
        "pure_bomb_multiplier": 4,
        "rocket_multiplier": 4,
        "score_quarters": 1,
        "cap": 10_000,
    },
    "crazy_laizi": {
        **ROOMS["happy"],
        **_WILD,
        "wild_pair_kicker": False,
        "show_before_deal": 4,
        "show_at_6": 0,
        "show_at_12": 0,
        "show_after_bottom": 2,
        "shows_combine": "product",
        "double": False,
        "spring": False,
    },
    "laidou": {
        **ROOMS["qq_classic"],
        **_WILD,
        "wild": "red_sevens",
        "bomb_order": "rank",
        "all_pass": "first_bidder",
    },
}


class Declared(NamedTuple):
    """A plain play: what can be declared, whatever cards make it."""

    text: str
    parsed: tuple  # as `reference_rules.parse` gives it
    groups: tuple  # (part, rank, copies): part is "main", "solo" or "pair" (kickers)


@cache
def _catalogue(keys: tuple) -> dict[str, Declared]:
    """Every play that at most 20 cards of the deck make under these keys of a room."""
    texts = all_plays(DECK, dict(keys))
    return {text: declared(text) for text in texts if len(text.replace("+", "")) <= LONGEST}


@cache
def _up_to(size: int, keys: tuple) -> list[Declared]:
    """Those of at most so many cards."""
    return [play for play in _catalogue(keys).values() if len(play.parsed[3]) <= size]


def keys_of(room: dict) -> tuple:
    """What a room says of the plain plays (§2)."""
    names = (*OPTIONAL, "kicker_adjacent_trio", "kicker_four_solos", "kicker_both_jokers")
    return tuple((name, room[name]) for name in names)


def catalogue(room: dict) -> dict[str, Declared]:
    """Every play that can be declared in a room (§2), by its text."""
    return _catalogue(keys_of(room))


def plays_up_to(size: int, room: dict) -> list[Declared]:
    """The plays of the catalogue that so many cards can make."""
    return _up_to(size, keys_of(room))


@cache
def declared(text: str) -> Declared:
    """The plain play of a text without stars."""
    parsed = parse(text)
    main, _, kickers = text.partition("+")
    kind = "pair" if parsed[0].endswith("pair") or parsed[0].endswith("pairs") else "solo"
    groups = [("main", rank, main.count(rank)) for rank in sort_cards("".join(set(main)))]
    groups += [(kind, rank, kickers.count(rank)) for rank in sort_cards("".join(set(kickers)))]
    return Declared(text, parsed, tuple(groups))


def declaration(text: str) -> str:
    """What a play is declared as: its text without the stars."""
    return text.replace("*", "")


def cards_of(text: str) -> list[str]:
    """The cards of a part as written: `33*` is ["3", "3*"]."""
    cards = []
    for letter in text:
        if letter == "*" and cards:
            cards[-1] += "*"
        else:
            cards.append(letter)
    return cards


def canonical(text: str) -> str:
    """The text with each part in ascending order, natural cards before equal wild ones."""
    if text == PASS:
        return text

    def order(card):
        return RANKS.index(card[0]), card

    return "+".join("".join(sorted(cards_of(part), key=order)) for part in text.split("+"))


def parse_wild(text: str) -> tuple[str, int, int, str, str]:
    """(category, length, main_rank, cards, stars) of a play; ValueError if it is no play.

    The first four as `reference_rules.parse` gives them for the declaration; stars: the ranks that
    its wilds stand for, ascending, a rank as often as it is starred.
    """
    if not set(text) <= set(RANKS + "+*"):
        raise ValueError(f"no play: {text!r}")
    cards = [card for part in text.split("+") for card in cards_of(part)]
    stars = "".join(card[0] for card in cards if len(card) > 1)
    if not set(stars) <= set(NATURAL) or "**" in text or text != canonical(text):
        raise ValueError(f"no play: {text!r}")
    return (*parse(declaration(text)), sort_cards(stars))


def own_rank(wild: str) -> str | None:
    """The rank of the wild cards themselves; jokers have none that a star could be written at."""
    return None if wild == "jokers" else wild[-1]


def count_wilds(hand: str, wild: str) -> int:
    """How many wilds a hand holds."""
    return hand.count("X") + hand.count("D") if wild == "jokers" else hand.count("W")


def check_hand(hand: str, wild: str) -> None:
    """ValueError unless the hand is one that this kind of wild cards can give (§4)."""
    if wild != "jokers" and wild != "red7" and wild not in NATURAL:
        raise ValueError(f"unknown wild: {wild!r}")
    most = {"jokers": 0, "red7": 2}.get(wild, 4)
    limits = dict.fromkeys(NATURAL, 4) | {"X": 1, "D": 1, "W": most}
    if wild != "jokers":
        limits[own_rank(wild)] = 4 - most
    wrong = [card for card in set(hand) if hand.count(card) > limits.get(card, 0)]
    if wrong:
        raise ValueError(f"hand {hand!r} with wild {wild}: {sorted(wrong)}")


def wild_counts(part: str, rank: str, copies: int, room: dict, wild: str) -> list[int]:
    """How many of so many equal cards of a part may be wilds, by §4's table alone.

    Main part: any. A solo kicker: the wild's own rank. A pair kicker made only of wilds: their own
    rank; a pair with a natural card: where the room lets a wild complete it, and where the wild
    stands for its own rank anyway.
    """
    if rank not in NATURAL:
        return [0]  # a wild is never a joker
    if part == "main" or rank == own_rank(wild):
        return list(range(copies + 1))
    if part == "solo":
        return list(range(copies + 1)) if room["wild_solo_kicker_any"] else [0]
    return [0, 1] if room["wild_pair_kicker"] else [0]


def spread(choices: list[list[int]], wilds: int) -> list[list[int]]:
    """Every way to take one number from each list, at most so many in sum."""
    if not choices:
        return [[]]
    return [
        [first, *rest]
        for first in choices[0]
        if first <= wilds
        for rest in spread(choices[1:], wilds - first)
    ]


def main_part_holds(play: Declared, stars: list[int], room: dict, wild: str) -> bool:
    """§4 of the main part: one natural card in it, or it is the wild's own rank. Soft bombs."""
    main = [(rank, copies) for part, rank, copies in play.groups if part == "main"]
    wild_cards = sum(stars[: len(main)])
    if wild_cards == sum(copies for _, copies in main):
        return [rank for rank, _ in main] == [own_rank(wild)]
    return play.parsed[0] != "bomb" or 4 - wild_cards >= room["soft_bomb_naturals"]


def jokers_hold(play: Declared, stars: int, hand: str, room: dict) -> bool:
    """§4 of jokers as wilds: one is spent first; they are not kickers together."""
    taken = [card for card in "XD" if card in play.parsed[3]]
    if play.text == "XD":
        return True
    if len(taken) == 2 or stars + len(taken) > count_wilds(hand, "jokers"):
        return False
    return not (stars and taken == [JOKERS[room["joker_spent"]]])


def fillings(play: Declared, hand: str, room: dict, wild: str) -> list[str]:
    """Every whole play of this declaration that the hand can make, as texts with stars."""
    wilds = count_wilds(hand, wild)
    choices = []
    for part, rank, copies in play.groups:
        natural = hand.count(rank)
        allowed = wild_counts(part, rank, copies, room, wild)
        choices.append([n for n in allowed if n <= wilds and copies - n <= natural])
    found = []
    for stars in spread(choices, wilds):
        if not main_part_holds(play, stars, room, wild):
            continue
        if wild == "jokers" and not jokers_hold(play, sum(stars), hand, room):
            continue
        found.append(write(play, stars))
    return found


def write(play: Declared, stars: list[int]) -> str:
    """The text of a declaration with so many stars in each of its groups."""
    main, kickers = "", ""
    for (part, rank, copies), n in zip(play.groups, stars, strict=True):
        cards = rank * (copies - n) + (rank + "*") * n
        if part == "main":
            main += cards
        else:
            kickers += cards
    return main + "+" + kickers if kickers else main


def can_be_made(play: Declared, held: dict, wilds: int) -> bool:
    """Whether the hand holds enough: a quick look before all fillings are tried."""
    missing = 0
    for _, rank, copies in play.groups:
        if copies > held[rank]:
            missing += copies - held[rank]
    return missing <= wilds


def all_wild_plays(hand: str, room: dict, wild: str) -> list[str]:
    """Every whole play (declaration and which of its cards are wild) of a hand that leads."""
    check_hand(hand, wild)
    held = {rank: hand.count(rank) for rank in RANKS}
    wilds = count_wilds(hand, wild)
    found = []
    for play in plays_up_to(len(hand), room):
        if can_be_made(play, held, wilds):
            found += fillings(play, hand, room, wild)
    return found


def bomb_class(text: str) -> str | None:
    """soft, hard, pure or rocket (§4, Soft bomb); None for what is no bomb."""
    category, *_, stars = parse_wild(text)
    if category == "rocket":
        return "rocket"
    return {0: "hard", 4: "pure"}.get(len(stars), "soft") if category == "bomb" else None


def beats_wild(play: str, last: str, room: dict) -> bool:
    """Whether one play beats another: §2's order, bombs by class and rank or by rank alone (§4)."""
    classes = [bomb_class(text) for text in (play, last)]
    if room["bomb_order"] == "class" and None not in classes and classes[0] != classes[1]:
        return CLASSES.index(classes[0]) > CLASSES.index(classes[1])
    return beats(parse(declaration(play)), parse(declaration(last)))


def could_beat(play: Declared, last: Declared | None) -> bool:
    """A quick look before stars are tried: every bomb against a bomb could."""
    if last is None or play.parsed[0] in ("bomb", "rocket"):
        return True
    return beats(play.parsed, last.parsed)


def legal_wild_plays(hand: str, last: str | None, room: dict, wild: str) -> list[str]:
    """Sorted texts of all legal plays; `last` is the play to beat, None for who leads (§1, §4)."""
    if last is None:
        return sorted(all_wild_plays(hand, room, wild))
    check_hand(hand, wild)
    to_beat = declared(declaration(last))
    held = {rank: hand.count(rank) for rank in RANKS}
    found = [PASS]
    for play in plays_up_to(len(hand), room):
        if could_beat(play, to_beat) and can_be_made(play, held, count_wilds(hand, wild)):
            texts = fillings(play, hand, room, wild)
            found += [text for text in texts if beats_wild(text, last, room)]
    return sorted(found)


def may_play(text: str, hand: str, last: str | None, room: dict, wild: str) -> bool:
    """Whether this one play is legal; the same answer as `legal_wild_plays`, sooner."""
    if text == PASS:
        return last is not None
    parse_wild(text)
    play = catalogue(room).get(declaration(text))
    made = play is not None and text in fillings(play, hand, room, wild)
    return made and (last is None or beats_wild(text, last, room))


def cards_taken(text: str, wild: str, hand: str = "", spent: str = "small") -> str:
    """The cards that a play takes from a hand, as the hand writes them, in ascending order.

    Jokers as wilds: which one a single star spends depends on the hand; `spent` if it is there.
    """
    if text == PASS:
        return ""
    *_, cards, stars = parse_wild(text)
    for card in stars:
        cards = cards.replace(card, "", 1)
    if wild != "jokers":
        return cards + "W" * len(stars)
    order = [card for card in ("XD" if spent == "small" else "DX") if card in hand]
    return sort_cards(cards + "".join(order[: len(stars)]))
