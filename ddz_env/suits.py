"""Suits for the cards of a scene, which the game has none of: decoration for pictures."""

from ddz_env.cards import BIG_JOKER, RANKS, SMALL_JOKER, WILD, unpack
from ddz_env.scene import Scene

Card = tuple[int, int, bool]
"""Rank 0..14, suit 0..3 (spade, heart, club, diamond), whether it is drawn as a wild card."""


class Suits:
    """Gives cards suits, which the game has none of, so that no two cards in sight are equal.

    A seat's cards of a rank take the suits that follow those of the seats before it, the hand
    first, then what it has played; so a card keeps its suit as long as what is in sight allows.
    Nothing but what the scene holds decides it.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._first = [[0] * 16 for _ in range(4)]
        order = [((scene.seat or 0) + k) % 3 for k in range(3)]
        order.sort(key=lambda seat: scene.players[seat].hand is None)
        used = [0] * 16
        for seat in order:
            self._first[seat] = list(used)
            shown = scene.players[seat]
            for rank, n in enumerate(unpack(shown.hand or 0)):
                used[rank] += n + unpack(shown.played)[rank]
        self._first[3] = used

    def _card(self, rank: int, kind: int) -> Card:
        """A card as it is drawn: a wild one has the rank it was drawn from."""
        wild = self.scene.wild
        if rank == WILD:
            return RANKS.index(wild), kind % 4, True
        if self.scene.red_wild and RANKS[rank] == wild:
            return rank, (0, 2)[kind % 2], False
        return rank, kind % 4, wild == "jokers" and rank in (SMALL_JOKER, BIG_JOKER)

    def _cards(self, packed: int, first: list[int]) -> list[Card]:
        """Packed cards, wild ones first and then from high to low."""
        return [
            self._card(rank, first[rank] + i)
            for rank in reversed(range(16))
            for i in range(unpack(packed)[rank])
        ]

    def hand(self, seat: int) -> list[Card]:
        """The cards of a hand that is in sight."""
        return self._cards(self.scene.players[seat].hand or 0, self._first[seat])

    def bottom(self, packed: int) -> list[Card]:
        """The bottom cards: the last ones of the landlord's."""
        lord = self.scene.landlord
        first = list(self._first[3])
        if lord is not None:
            own = self.scene.players[lord]
            for rank in range(16):
                n = unpack(own.hand or 0)[rank] + unpack(own.played)[rank] - unpack(packed)[rank]
                first[rank] = self._first[lord][rank] + max(n, 0)
        return self._cards(packed, first)

    def play(self, seat: int, text: str, held: bool) -> list[Card]:
        """The cards of a play, wild ones with the rank they stand for.

        Args:
            seat: whose play.
            text: the play, with stars behind wild cards.
            held: whether the hand still has the cards.
        """
        hand = 0 if held else self.scene.players[seat].hand or 0
        next_kind = [a + b for a, b in zip(self._first[seat], unpack(hand), strict=True)]
        cards: list[Card] = []
        for letter in text.replace("+", ""):
            if letter == "*":
                rank, kind, _ = cards[-1]
                next_kind[rank] -= 1
                cards[-1] = rank, kind, True
                continue
            rank = RANKS.index(letter)
            cards.append(self._card(rank, next_kind[rank]))
            next_kind[rank] += 1
        return cards

    def sample(self) -> Card | None:
        """A card of what is wild."""
        wild = self.scene.wild
        if not wild:
            return None
        return (SMALL_JOKER, 0, True) if wild == "jokers" else (RANKS.index(wild), 0, True)
