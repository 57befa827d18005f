"""Hands and last plays with wild cards, for several tests, all drawn from a given `rng`."""

import random

from reference_rules import PASS, RANKS, beats, sort_cards
from reference_wild import (
    DECK,
    NATURAL,
    WILD_ROOMS,
    all_wild_plays,
    fillings,
    own_rank,
    parse_wild,
    plays_up_to,
)

# The rooms with wild cards, and laidou's other choice of them.
ROOMS = {**WILD_ROOMS, "laidou_jokers": {**WILD_ROOMS["laidou"], "wild": "jokers"}}
MOST = {"red7": 2, "jokers": 2}  # wilds in the deck; 4 where a rank is wild


def draw_wild(rng: random.Random, room: dict) -> str:
    """The wild cards of a deal in a room, as `reference_wild` names them."""
    return {"red_sevens": "red7", "jokers": "jokers"}.get(room["wild"]) or rng.choice(NATURAL)


def split_deck(wild: str) -> tuple[list[str], list[str]]:
    """The natural cards and the wild ones of a deck, as hands write them."""
    if wild == "jokers":
        return [card for card in DECK if card not in "XD"], ["X", "D"]
    wilds = ["W"] * MOST.get(wild, 4)
    rest = DECK.replace(own_rank(wild), "", len(wilds))
    return list(rest), wilds


def clumped(rng: random.Random, cards: list[str]) -> list[str]:
    """The cards in a random order, those of few or of neighbouring ranks first."""
    kind = rng.randrange(3)
    if kind == 0:
        return rng.sample(cards, len(cards))
    if kind == 1:
        ranks = rng.sample(RANKS, rng.randint(3, 7))
    else:
        low = rng.randint(0, 8)
        ranks = RANKS[low : low + rng.randint(3, 6)]
    mixed = rng.sample(cards, len(cards))
    return [c for c in mixed if c in ranks] + [c for c in mixed if c not in ranks]


def two_wild_hands(rng: random.Random, wild: str, size: int, wilds: int) -> tuple[str, str]:
    """A hand of so many cards, so many of them wild, and another one of at most 10 cards."""
    naturals, wild_cards = split_deck(wild)
    rng.shuffle(wild_cards)
    order = clumped(rng, naturals)
    hand = order[: size - wilds] + wild_cards[:wilds]
    left, more = order[size - wilds :], wild_cards[wilds:]
    other = more[: rng.randint(0, len(more))]
    other = other + clumped(rng, left)[: rng.randint(max(1, len(other)), 10) - len(other)]
    return "".join(rng.sample(hand, len(hand))), sort_cards("".join(other))


def wild_position(rng: random.Random, room: dict, lead: bool) -> tuple:
    """(hand, last, wild): up to 10 cards with 0 to 2 wilds, up to 8 with 3 or 4.

    Half of the last plays are such as a play of the hand beats, where the deck has one.
    """
    wild = draw_wild(rng, room)
    wilds = rng.randint(0, MOST.get(wild, 4))
    sizes = range(max(wilds, 1), 11 if wilds <= 2 else 9)
    size = max(rng.choice(sizes), rng.choice(sizes))
    hand, other = two_wild_hands(rng, wild, size, wilds)
    last = None
    if not lead:
        facing = facing_play(rng, hand, room, wild) if rng.random() < 0.5 else None
        last = facing or some_wild_play(rng, other, room, wild)
    return hand, last, wild


def facing_play(rng: random.Random, hand: str, room: dict, wild: str) -> str | None:
    """A play of the rest of the deck that some play of the hand beats, of any shape."""
    naturals, wilds = split_deck(wild)
    rest = "".join(naturals + wilds)
    for card in hand:
        rest = rest.replace(card, "", 1)
    shapes: dict[tuple, list[tuple]] = {}
    for play in all_wild_plays(hand, room, wild):
        *parsed, _ = parse_wild(play)
        shapes.setdefault(tuple(parsed[:2]), []).append(tuple(parsed))
    play = rng.choice(shapes[rng.choice(sorted(shapes))])
    lower = [other for other in plays_up_to(len(play[3]), room) if beats(play, other.parsed)]
    lower = [other for other in lower if other.parsed[:2] == play[:2]]
    some = rng.sample(lower, min(5, len(lower)))
    texts = [text for other in some for text in fillings(other, rest, room, wild)]
    return rng.choice(texts) if texts else None


def same_shape(play: str, last: str) -> bool:
    """Whether two plays are of the same type and length (§2)."""
    return play != PASS and parse_wild(play)[:2] == parse_wild(last)[:2]


def some_wild_play(rng: random.Random, hand: str, room: dict, wild: str) -> str:
    """A play of the hand of some shape, with wilds more often than not where it has any."""
    shapes: dict[tuple, list[str]] = {}
    for play in all_wild_plays(hand, room, wild):
        parsed = parse_wild(play)
        shapes.setdefault((*parsed[:2], bool(parsed[4])), []).append(play)
    two = [rng.choice(shapes[rng.choice(sorted(shapes))]) for _ in range(2)]
    return max(two, key=lambda play: (len(parse_wild(play)[3]), play))
