"""The slow, obvious endgame solver: minimax over every play of the slow referee.

Positions are texts: hands in any order, the play to beat, who made it, how often each has played.
"""

from reference_rules import PASS, legal_plays, parse
from reference_rules import ROOMS as PLAIN_ROOMS
from reference_wild import bomb_class, cards_taken, legal_wild_plays
from reference_wild_game import MULTIPLIERS
from wild_hands import ROOMS as WILD_ROOMS

WIDE = {"kicker_adjacent_trio": True, "kicker_four_solos": True, "kicker_both_jokers": True}
ROOMS = {
    **PLAIN_ROOMS,
    **WILD_ROOMS,
    "wide": {**PLAIN_ROOMS["qq_classic"], **WIDE},
    "wide_laizi": {**WILD_ROOMS["happy_laizi"], **WIDE, "wild_solo_kicker_any": True},
}


class Referee:
    """Plain minimax: what the landlord gets, in the multiplier from here on, when all play for it.

    `plays` are the plays that each seat has made so far; nobody's bombs count but those to come.
    """

    def __init__(self, room, wild, landlord):
        self.room, self.wild, self.landlord = ROOMS[room], wild, landlord
        self.known, self.listed = {}, {}

    def legal(self, hand, last):
        """Texts of the whole plays, and pass."""
        if (hand, last) not in self.listed:
            if self.wild is None:
                found = legal_plays(hand, last, self.room)
            else:
                found = legal_wild_plays(hand, last, self.room, self.wild)
            self.listed[hand, last] = found
        return self.listed[hand, last]

    def factor(self, play):
        """What a play multiplies with."""
        if self.wild is None:
            bomb = parse(play)[0] in ("bomb", "rocket")
            return self.room["bomb_multiplier"] if bomb else 1
        name = bomb_class(play)
        return self.room[MULTIPLIERS[name]] if name else 1

    def spring(self, winner, plays):
        """What the end multiplies with."""
        if winner == self.landlord:
            others = [n for seat, n in enumerate(plays) if seat != self.landlord]
            found = others == [0, 0]
        else:
            found = plays[self.landlord] == 1
        return 2 if found and self.room["spring"] else 1

    def after(self, hands, turn, last, who, plays, play):
        """What the landlord gets when the seat on turn makes a play."""
        nxt = (turn + 1) % 3
        if play == PASS:
            lead = nxt == who
            return self.value(hands, nxt, None if lead else last, None if lead else who, plays)
        if self.wild is None:
            cards = play.replace("+", "")
        else:
            spent = self.room["joker_spent"]
            cards = cards_taken(play, self.wild, hands[turn], spent)
        left = hands[turn]
        for card in cards:
            left = left.replace(card, "", 1)
        plays = tuple(n + (seat == turn) for seat, n in enumerate(plays))
        if not left:
            sign = 1 if turn == self.landlord else -1
            return sign * self.factor(play) * self.spring(turn, plays)
        hands = tuple(left if seat == turn else hand for seat, hand in enumerate(hands))
        return self.factor(play) * self.value(hands, nxt, play, turn, plays)

    def values(self, hands, turn, last, who, plays):
        """What the landlord gets, by whole play of the seat on turn."""
        found = self.legal(hands[turn], last)
        return {play: self.after(hands, turn, last, who, plays, play) for play in found}

    def value(self, hands, turn, last, who, plays):
        """What the landlord gets."""
        plays = tuple(min(n, 2) for n in plays)
        key = hands, turn, last, who, plays
        if key not in self.known:
            found = self.values(*key).values()
            self.known[key] = max(found) if turn == self.landlord else min(found)
        return self.known[key]
