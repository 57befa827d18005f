"""Hands, last plays and players that several tests share, all drawn from a given `rng`."""

import random

import numpy as np
from reference_rules import RANKS, all_plays, parse

DECK = "".join(rank * 4 for rank in RANKS[:13]) + "XD"


def clumped_hands(rng: random.Random) -> list[list[str]]:
    """Cards for two hands out of few ranks, so that bombs, airplanes and chains are frequent."""
    if rng.random() < 0.5:
        ranks = rng.sample(RANKS[:13], rng.randint(4, 11))
    else:
        low = rng.randint(0, 6)
        ranks = list(RANKS[low : min(low + rng.randint(4, 9), 13)])
    cards = [rank for rank in ranks for _ in range(4)] + rng.sample("XD", rng.randint(0, 2))
    return [rng.sample(cards, len(cards)) for _ in range(2)]


def facing_hands(rng: random.Random) -> list[list[str]]:
    """Cards for two hands that begin with main parts of one shape, the second of lower rank."""
    copies, most, last = rng.choice(((1, 12, 11), (2, 8, 11), (3, 5, 11), (3, 5, 11), (4, 1, 12)))
    length = rng.randint(1, most)
    lows = (
        sorted(rng.sample(range(last - length + 2), 2), reverse=True) if length < last else [0, 0]
    )
    hands = []
    for low in lows:
        main = [rank for rank in RANKS[low : low + length] for _ in range(copies)]
        hands.append(main + rng.sample(DECK, len(DECK)))
    return hands


def two_hands(rng: random.Random) -> tuple[str, str]:
    """Two hands of 1 to 20 cards out of one deck: random, clumped, or facing each other."""
    make = rng.choice((clumped_hands, facing_hands, lambda _: [rng.sample(DECK, 54)] * 2))
    left = list(DECK)
    hands = []
    for cards in make(rng):
        size, hand = rng.randint(1, 20), []
        if make is facing_hands:
            size = max(size, rng.randint(8, 20))
        for card in cards:
            if card in left and len(hand) < size:
                left.remove(card)
                hand.append(card)
        hands.append("".join(rng.sample(hand, len(hand))))
    return hands[0], hands[1] or left[0]


def some_play(rng: random.Random, hand: str, room: dict) -> str:
    """A play of the hand of some shape (category and length), larger ones being more likely."""
    shapes: dict[tuple[str, int], list[str]] = {}
    for play in all_plays(hand, room):
        shapes.setdefault(parse(play)[:2], []).append(play)
    two = [rng.choice(shapes[rng.choice(sorted(shapes))]) for _ in range(2)]
    return max(two, key=len)


def choose(rng: random.Random, legal: list[str]) -> str:
    """A choice that often is a long play, so that bombs and airplanes get played."""
    return max(rng.choice(legal), rng.choice(legal), key=len)


def fixed_choice(ids: np.ndarray, ply: int) -> int:
    """A choice that depends on nothing but the listed ids and the number of the decision."""
    return int(ids[(2654435761 * (ply + 1) >> 13) % len(ids)])


def same_cards(one: str, other: str) -> bool:
    """Whether two texts hold the same cards."""
    return sorted(one) == sorted(other)
