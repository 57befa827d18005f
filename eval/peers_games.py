"""States to ask other engines about: hands and plays to beat out of whole games of card play.

Deals are shuffled, or clumped: dealt in packets out of an ordered deck, so that bombs, airplanes
and long chains are frequent. A deal's number alone decides its cards and its course, so that states
depend on neither the machine nor the number of processes.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ddz_env.cards import HAND_SIZE, count_cards, deck, to_text
from ddz_env.catalogue import ACTIONS, TABLES, TEXTS, Category
from ddz_env.game import Game
from ddz_env.moves import MAX_LEGAL, list_leads, list_replies
from ddz_env.rules import RuleSet

FOLLOW_SHARE = 1 / 3
"""Share of the answers of a game that become states; leads are rarer, and all are taken, as are
answers to airplanes with kickers."""
PACKETS = (2, 3, 4, 6, 8, 12)
"""Cards of a packet of a clumped deal."""
_AIRPLANES = (Category.AIRPLANE_WITH_SOLOS, Category.AIRPLANE_WITH_PAIRS)


class Position(NamedTuple):
    """A state of card play, as far as it decides what is legal."""

    hand: int
    """Packed hand of the seat on turn."""
    last: int
    """Id of the play to beat, 0 for who leads."""

    @property
    def turn(self) -> str:
        """`leading` or `following`."""
        return "following" if self.last else "leading"

    @property
    def size(self) -> int:
        """Cards of the hand and of the play to beat."""
        return count_cards(self.hand) + int(ACTIONS[self.last]["size"])

    def __str__(self) -> str:
        beaten = f"to beat {TEXTS[self.last]}" if self.last else "leading"
        return f"{to_text(self.hand)} {beaten}"


class Lister:
    """What our kernels list under a rule set without wild cards."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self._params = rules.params()
        self._out = np.zeros(MAX_LEGAL, np.int32)

    def ids(self, position: Position) -> np.ndarray:
        """Ids of the legal plays, ascending, `int32[n]`."""
        hand = np.uint64(position.hand)
        if position.last:
            n = list_replies(hand, position.last, self._params, TABLES, self._out)
        else:
            n = list_leads(hand, self._params, TABLES, self._out)
        return self._out[:n].copy()


def shuffled(rng: random.Random) -> np.ndarray:
    """A deal as `uint8[54]` (`cards.check_deal`), every order being as likely."""
    cards = deck().tolist()
    rng.shuffle(cards)
    return np.array(cards, np.uint8)


def packets(rng: random.Random) -> np.ndarray:
    """A deal in packets of neighbouring cards of an ordered deck."""
    cards, size = deck().tolist(), rng.choice(PACKETS)
    first = rng.randrange(size)
    cuts = [0, *range(first or size, len(cards), size), len(cards)]
    parts = [cards[a:b] for a, b in pairwise(cuts)]
    rng.shuffle(parts)
    return np.array([card for part in parts for card in part], np.uint8)


def facing(rng: random.Random) -> np.ndarray:
    """A deal with a chain of trios for who leads, a higher one for another, and more equal cards.

    So that long airplanes meet an answer, and have trios and fours among their kickers.
    """
    length = rng.choice((2, 3, 4, 4))
    low = rng.randint(0, 12 - 2 * length)
    high = rng.randint(low + length, 12 - length)
    chains = [range(first, first + length) for first in (low, high)]
    extras = rng.sample([r for r in range(13) if not any(r in chain for chain in chains)], 2)
    hands = [[r for r in chain for _ in range(3)] for chain in chains] + [[]]
    for hand, extra in zip(hands, extras, strict=False):
        hand += [extra] * rng.choice((0, 3, 3, 4))
    left = Counter(deck().tolist()) - Counter(card for hand in hands for card in hand)
    rest = list(left.elements())
    rng.shuffle(rest)
    for hand in hands:
        while len(hand) < HAND_SIZE:
            hand.append(rest.pop())
    if rng.random() < 1 / 2:
        hands[1:] = hands[:0:-1]
    return np.array([card for cards in (*hands, rest) for card in cards], np.uint8)


def clumped(rng: random.Random) -> np.ndarray:
    """A deal in packets, or one of three times one of hands that face each other."""
    return facing(rng) if rng.random() < 1 / 3 else packets(rng)


DEALS: dict[str, Callable[[random.Random], np.ndarray]] = {"random": shuffled, "clumped": clumped}
"""Kinds of deals by name."""


class Follower:
    """What is told of a game: an engine that has a course of its own plays along.

    These do nothing, for engines that are asked about a hand and a play.
    """

    def start(self, cards: np.ndarray) -> None:
        """A new deal, `uint8[54]`: seat 0 is landlord and leads."""

    def step(self, action: int) -> None:
        """The seat on turn has played this id."""

    def playable(self, ids: Sequence[int]) -> Sequence[int]:
        """Those of our legal ids that the engine can go on with."""
        return ids


def choose(rng: random.Random, kind: str, ids: Sequence[int]) -> int:
    """A random id; where deals are clumped the largest of three, so that long plays get played."""
    if kind == "random":
        return rng.choice(ids)
    return max((rng.choice(ids) for _ in range(3)), key=lambda a: int(ACTIONS[a]["size"]))


def positions(
    rules: RuleSet, kind: str, seed: int, follower: Follower | None = None
) -> Iterator[Position]:
    """States out of games without end, in the order of play, some more than once.

    Args:
        rules: rule set of the games, without calls.
        kind: of `DEALS`.
        seed: key of the sequence.
        follower: an engine that plays along; it is at the state that has just come.
    """
    follower = follower or Follower()
    number = 0
    while True:
        rng = random.Random(f"{seed} {kind} {number}")
        number += 1
        cards = DEALS[kind](rng)
        game = Game(rules, deal=cards)
        follower.start(cards)
        while not game.over:
            state = game.state
            position = Position(int(state["hands"][game.seat]), int(state["last_action"]))
            taken = not position.last or int(ACTIONS[position.last]["category"]) in _AIRPLANES
            if taken or rng.random() < FOLLOW_SHARE:
                yield position
            action = choose(rng, kind, follower.playable(game.legal_ids().tolist()))
            follower.step(action)
            game.step(action)
