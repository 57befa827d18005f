"""Whole plays with wild cards as texts: a declaration and which of its cards are wild.

A wild is written as the rank it stands for and a star, after the natural cards of the rank:
`445566*`, `777*7*`, `333+66*`.
"""

from typing import Any

import numpy as np

from ddz_env._jit import records
from ddz_env.cards import RANKS, unpack
from ddz_env.catalogue import ACTIONS, FIRST_PLAY, TABLES, TEXTS, action_id
from ddz_env.errors import PlayError
from ddz_env.moves import MAX_LEGAL, lacking
from ddz_env.params import Params


def starred(action: int, wilds: int) -> str:
    """The text of a play whose packed ranks `wilds` are made by wild cards."""
    if wilds == 0 or action < FIRST_PLAY:
        return TEXTS[action]
    left, out = unpack(wilds), []
    for part in TEXTS[action].split("+"):
        cards = ""
        for rank in sorted(set(part), key=RANKS.index):
            r = RANKS.index(rank)
            n = part.count(rank)
            stars = min(n, left[r])
            left[r] -= stars
            cards += rank * (n - stars) + (rank + "*") * stars
        out.append(cards)
    return "+".join(out)


def parse_starred(text: str) -> tuple[int, int]:
    """The action id of a text with or without stars, and the packed ranks that wilds stand for.

    Raises:
        PlayError: no play of the catalogue, or a star that follows no rank.
    """
    if not isinstance(text, str) or "*" not in text:
        return action_id(text), 0
    plain = text.upper().replace("10", "T").replace(" ", "")
    wilds = 0
    for i, letter in enumerate(plain):
        if letter != "*":
            continue
        rank = RANKS.find(plain[i - 1]) if i else -1
        if not 0 <= rank < 13:
            raise PlayError(f"play {text!r}: '*' at place {i + 1} follows no rank of 3..2")
        wilds += 1 << (4 * rank)
    return action_id(plain.replace("*", "")), wilds


def wilds_of(action: int, cards: int) -> int:
    """The packed ranks that wilds stand for in a play that took packed cards."""
    if action < FIRST_PLAY:
        return 0
    return int(lacking(np.uint64(cards), ACTIONS[action]["need"]))


class Holding:
    """A hand with wild cards, and the play to beat: what it can declare and how.

    Args:
        hand: packed hand.
        wild: rank of the wild cards, 13 where the jokers are wild, -1 where none are out yet.
        last: action id of the play to beat, 0 when leading.
        last_cards: packed cards that it took.
        params: the room.
    """

    def __init__(self, hand: int, wild: int, last: int, last_cards: int, params: Params) -> None:
        # Compiled when the first room with wild cards is used.
        from ddz_env import wild as kernels

        self.kernels, self.params = kernels, params
        self.last, self.last_cards = last, np.uint64(last_cards)
        self.held = records(kernels.HELD, 1)[0]
        kernels.look(np.uint64(hand), wild, params, self.held)
        self.beaten = -1
        if last:
            self.beaten = kernels.value_of_bomb(self.last_cards, last, params, TABLES)

    def declarations(self) -> list[int]:
        """The ids of pass, where it is legal, and of all plays that can be declared."""
        out = np.zeros(MAX_LEGAL, np.int32)
        if self.last == 0:
            n = self.kernels.list_wild_leads(self.held, self.params, TABLES, out)
        else:
            n = self.kernels.list_wild_replies(
                self.held, self.last, self.last_cards, self.params, TABLES, out
            )
        return [int(action) for action in out[:n]]

    def least(self, action: int) -> int:
        """The packed ranks that wilds have to stand for in a declaration."""
        return int(lacking(self.held["natural"], ACTIONS[action]["need"]))

    def further(self, action: int, wilds: int, low: int) -> list[int]:
        """The ranks from `low` on of which one more natural card may be replaced by a wild."""
        out = np.zeros(16, np.int32)
        n = self.kernels.list_fillings(
            self.held, action, np.uint64(wilds), low, self.beaten, self.params, TABLES, out
        )
        return [int(choice) - self.kernels.WILD_AS_3 for choice in out[: n - 1]]

    def fillings(self, action: int) -> list[int]:
        """All ways to make a declaration, as packed ranks that wilds stand for."""
        found = [self.least(action)]
        todo = [(found[0], 0)]
        while todo:
            wilds, low = todo.pop()
            for rank in self.further(action, wilds, low):
                more = wilds + (1 << (4 * rank))
                found.append(more)
                todo.append((more, rank))
        return found

    def whole_plays(self) -> list[str]:
        """Every whole play as text, in the order of ids; `pass` among them where it is legal."""
        out = []
        for action in self.declarations():
            if action < FIRST_PLAY:
                out.append(TEXTS[action])
            else:
                out += [starred(action, wilds) for wilds in self.fillings(action)]
        return out

    def why_not(self, action: int, wilds: int) -> str:
        """Why a play of the catalogue is not legal as filled; empty when it is."""
        if action not in self.declarations():
            return "the hand does not make it, even with its wild cards, or it does not beat"
        if wilds not in self.fillings(action):
            ways = ", ".join(starred(action, w) for w in self.fillings(action)[:4])
            return f"its wild cards can't stand there; expected {ways}"
        return ""


def holding(state: Any, params: Params) -> Holding:
    """The hand on turn of a record in phase play, and what it has to beat."""
    last = int(state["last_action"]) if state["last_seat"] >= 0 else 0
    hand = int(state["hands"][state["turn"]])
    return Holding(hand, int(state["wild"]), last, int(state["last_cards"]), params)
