"""The endgame solver against plain minimax over the slow referee's plays, and what it promises."""

import random
import time

import numpy as np
import pytest
from reference_rules import PASS, parse
from reference_rules import ROOMS as PLAIN_ROOMS
from reference_rules import all_plays, legal_plays
from reference_wild import bomb_class, cards_taken, legal_wild_plays
from reference_wild_game import MULTIPLIERS
from wild_hands import ROOMS as WILD_ROOMS
from wild_hands import clumped, draw_wild, some_wild_play, split_deck

from agents.endgame import (
    FARMERS,
    LANDLORD,
    LOSS,
    UNKNOWN,
    WIN,
    Result,
    action_values,
    make_work,
    solve,
)
from ddz_env import PRESETS, DdzError, Game, action_id, vec_env
from ddz_env.bots import GreedyBot
from ddz_env.cards import RANKS, count_cards
from ddz_env.state import Phase

WIDE = {"kicker_adjacent_trio": True, "kicker_four_solos": True, "kicker_both_jokers": True}
ROOMS = {
    **PLAIN_ROOMS,
    **WILD_ROOMS,
    "wide": {**PLAIN_ROOMS["qq_classic"], **WIDE},
    "wide_laizi": {**WILD_ROOMS["happy_laizi"], **WIDE, "wild_solo_kicker_any": True},
}
RULES = {
    **PRESETS,
    "wide": PRESETS["qq_classic"].replace(**WIDE),
    "laidou_jokers": PRESETS["laidou"].replace(wild="jokers"),
    "wide_laizi": PRESETS["happy_laizi"].replace(**WIDE, wild_solo_kicker_any=True),
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


def cut(rng, cards):
    """The cards in three hands, none empty."""
    cards = rng.sample(cards, len(cards))
    first, second = sorted(rng.sample(range(1, len(cards)), 2))
    return tuple("".join(part) for part in (cards[:first], cards[first:second], cards[second:]))


def play_to_beat(rng, referee, hand, rest):
    """A play of other cards, if one is found that the hand can beat."""
    for _ in range(4):
        other = "".join(clumped(rng, list(rest))[: rng.randint(1, 8)])
        if referee.wild is None:
            last = rng.choice(all_plays(other, referee.room))
        else:
            last = some_wild_play(rng, other, referee.room, referee.wild)
        if len(referee.legal(hand, last)) > 1:
            return last
    return last


def small_position(room, rng, most):
    """(game, referee, the arguments of its `values`): up to so many cards in all."""
    wild = draw_wild(rng, ROOMS[room]) if room in WILD_ROOMS or "laizi" in room else None
    referee = Referee(room, wild, rng.randrange(3))
    naturals, wilds = split_deck(wild) if wild else (list("3456789TJQKA2" * 4 + "XD"), [])
    total, n = rng.randint(4, most), min(len(wilds), rng.choice([0, 1, 1, 2, 2, 3, 4]))
    order = clumped(rng, naturals)
    hands = cut(rng, order[: total - n] + wilds[:n]) if total - n > 0 else cut(rng, wilds)
    turn, last, who = rng.randrange(3), None, None
    if rng.random() < 0.5:
        last = play_to_beat(rng, referee, hands[turn], order[total - n :] + wilds[n:])
        who = (turn + rng.randint(1, 2)) % 3
    rank = wild if ROOMS[room].get("wild") == "rank" else None
    game = Game.from_position(
        hands, last, turn, landlord=referee.landlord, last_seat=who, rules=RULES[room], wild=rank
    )
    # Springs are as rare in positions so late as they are well to be tested.
    plays = tuple(rng.choice([(2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]))
    game.state["plays"] = plays
    return game, referee, (hands, turn, last, who, plays)


def check(room, seed, most, work):
    """One small position: winner, multiplier, best action and every action against the referee."""
    game, referee, position = small_position(room, random.Random(f"{room} {seed}"), most)
    before = game.to_bytes()
    whole = referee.values(*position)
    lord = game.seat == referee.landlord
    best = max(whole.values()) if lord else min(whole.values())
    by_id = {}
    for play, value in whole.items():
        by_id.setdefault(action_id(play.replace("*", "")), []).append(value)
    where = f"{room} seed {seed}: {game} {position}"
    result = solve(game, points=True, work=work)
    assert result.proved, where
    assert result.value == (LANDLORD if best > 0 else FARMERS), where
    assert result.value * result.multiplier == best, where
    assert best in by_id[result.best_action], where
    won = {i: any((value > 0) == lord for value in found) for i, found in by_id.items()}
    values = action_values(game, work=work)
    assert values == {i: WIN if win else LOSS for i, win in won.items()}, where
    plain = solve(game, work=work)
    assert (plain.value, plain.proved, plain.multiplier) == (result.value, True, 1), where
    assert won[plain.best_action] == ((plain.value == LANDLORD) == lord), where
    assert game.to_bytes() == before
    return result.value, lord, position[2] is None
