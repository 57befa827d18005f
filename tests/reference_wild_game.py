"""The slow, obvious referee, part 4: a whole deal of a room with wild cards (rules §3, §4, §5)."""

from fractions import Fraction

from reference_game import SEATS, RefereeGame
from reference_rules import PASS, sort_cards
from reference_wild import (
    NATURAL,
    bomb_class,
    cards_taken,
    check_hand,
    legal_wild_plays,
    may_play,
)

MULTIPLIERS = {
    "soft": "soft_bomb_multiplier",
    "hard": "bomb_multiplier",
    "pure": "pure_bomb_multiplier",
    "rocket": "rocket_multiplier",
}


def capped(scores: list[float], room: dict) -> list[float]:
    """§5: the result times the room's factor; over the cap, all three scaled alike.

    Points are whole quarters; a farmer's share that is none is rounded to the nearest one.
    """
    cap = room["cap"]
    exact = [Fraction(score) * room["score_quarters"] / 4 for score in scores]
    most = max(abs(score) for score in exact)
    if cap and most > cap and not room["cap_scales"]:
        exact = [max(-cap, min(cap, score)) for score in exact]
    elif cap and most > cap:
        landlord = max(SEATS, key=lambda seat: abs(exact[seat]))
        exact = [Fraction(round(score * cap / most * 4), 4) for score in exact]
        exact[landlord] -= sum(exact)
    return [float(score) for score in exact]


class WildReferee(RefereeGame):
    """One deal of a room with wild cards, redeals included.

    As `RefereeGame`; whole plays are texts with stars. Where the four cards of a drawn rank are
    wild, `wild_wanted` says that the rank is due (nobody is asked): tell it with `set_wild(rank)`,
    and hands and bottom cards write `W` from then on. Red sevens are wild from the start: the
    hands that are given write them as `W`.
    """

    def set_wild(self, rank: str) -> None:
        """The table has drawn this wild rank."""
        if not self.wild_wanted or rank not in NATURAL:
            raise ValueError(f"no wild rank is due, or it is none: {rank!r}")
        self._resume(rank)

    def legal(self) -> list[str]:
        """Sorted texts of what the seat on turn may choose; in phase `play` listed only now."""
        if self.phase == "play":
            return legal_wild_plays(self.hands[self.turn], self.standing, self.room, self.wild)
        return super().legal()

    def step(self, text: str) -> None:
        """The seat on turn chooses this; a play is tried by itself, not looked up in the list."""
        if self.phase != "play":
            super().step(text)
            return
        if not may_play(text, self.hands[self.turn], self.standing, self.room, self.wild):
            raise ValueError(f"not legal for seat {self.turn}: {text!r}")
        self.history.append((self.turn, text))
        self._resume(text)

    def _start(self, hands, bottom, first, order):
        self.wild = {"rank": None, "red_sevens": "red7", "jokers": "jokers"}[self.room["wild"]]
        self.wild_wanted = False
        self.standing = None  # the play to beat, None for who leads
        self.bombs_played = []  # their classes
        super()._start(hands, bottom, first, order)

    # §3: the wild rank.

    def _draw_wild(self):
        """A random rank; its four cards are wild from now on."""
        if self.room["wild"] == "rank":
            self.wild_wanted = True
            self.wild = yield "wild", None, []
            self.wild_wanted = False
            self.hands = [sort_cards(hand.replace(self.wild, "W")) for hand in self.hands]
            self.bottom = sort_cards(self.bottom.replace(self.wild, "W"))

    # §1 and §4: play.

    def _play(self):
        """The landlord leads; returns the seat that goes out."""
        seat, owner, spent = self.landlord, self.landlord, self.room["joker_spent"]
        for hand in self.hands:
            check_hand(hand, self.wild)
        while True:
            play = yield "play", seat, []
            if play != PASS:
                self.standing, owner = play, seat
                for card in cards_taken(play, self.wild, self.hands[seat], spent):
                    self.hands[seat] = self.hands[seat].replace(card, "", 1)
                self.plays_made[seat] += 1
                if bomb_class(play):
                    self.bombs += 1
                    self.bombs_played.append(bomb_class(play))
                if not self.hands[seat]:
                    return seat
            seat = (seat + 1) % 3
            if seat == owner:  # all others have passed
                self.standing = None

    # §5: multiplier and score.

    def _bombs_multiplier(self):
        """By class: soft, hard, pure, rocket."""
        result = 1
        for name in self.bombs_played:
            result *= self.room[MULTIPLIERS[name]]
        return result

    def _score(self, winner):
        super()._score(winner)
        self.scores = capped(self.scores, self.room)
