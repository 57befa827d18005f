"""One person's table in a browser: `ddz_env.play.Session` with what a page shows besides words."""

import copy
from collections.abc import Callable
from typing import Any

from ddz_env.bots import TrusteeBot
from ddz_env.errors import DdzError
from ddz_env.play import typed
from ddz_env.play.phrases import category_name, say
from ddz_env.play.questions import Reply, choice_text
from ddz_env.play.session import HINTS, Session
from ddz_env.scene import Scene, look


class BrowserSession(Session):
    """A session that keeps how the table looked after every decision, for the page to show.

    Args:
        keys: gives the key of each deal. Keys of past deals are shown with their replays, so the
            next one must not follow from them, as it does along a `Table`'s own.
        open_hands: whether all hands are shown during the deal (practice).
        given: as `Session`.
    """

    def __init__(
        self, *given: Any, keys: Callable[[], int], open_hands: bool = False, **named: Any
    ) -> None:
        super().__init__(*given, **named)
        self.open_hands = open_hands
        self.auto = False
        """Whether auto-play decides for the person."""
        self.frames: list[Scene] = []
        """What the person's seat saw after each decision since its last one."""
        self._keys = keys
        self._trustee = TrusteeBot()

    def scene_now(self) -> Scene:
        """What may be seen now: one seat's knowledge, all hands at the end or in open practice."""
        opened = self.game.over or self.open_hands
        return look(self.game, None if opened else self.seat)

    def begin(self, again: bool = False) -> None:
        """As `Session.begin`; a new deal has a key of its own."""
        self.frames = []
        if not again:
            self.table.rekey(self._keys())
        super().begin(again)

    def answer(self, line: str) -> Reply:
        """As `Session.answer`; frames are those of this answer."""
        self.frames = []
        return super().answer(line)

    def _step(self, action: str | int) -> None:
        super()._step(action)
        if self.game.phase != "fill":  # half a decision is none to show
            self.frames.append(look(self.game, None if self.open_hands else self.seat))

    def auto_step(self) -> None:
        """Auto-play makes one decision of the person, who may take it back; the others follow."""
        self._leaving, self._which = False, []
        if self.done or self.game.over:
            return
        before = copy.deepcopy(self.table), self.events
        self.events, self.frames = [], []
        self._step(int(self._trustee.act(*self._asked())[0]))
        while self.game.phase == "fill" and self.game.seat == self.seat:
            self._step(int(self._trustee.act(*self._asked())[0]))
        self._snapshots.append(before)
        self._advance()

    @property
    def can_take_back(self) -> bool:
        """Whether there is a decision of this deal to take back."""
        return bool(self._snapshots) and not self.done

    @property
    def asked_cards(self) -> bool:
        """Whether the person is asked for cards."""
        return not (self.done or self.game.over) and self.game.phase == "play"

    def hints(self) -> list[dict[str, Any]]:
        """What the helper thinks, the best first: text, chance and points (None: it says none).

        Raises:
            DdzError: nothing is asked.
        """
        if self.done or self.game.over:
            raise DdzError(say("no_hint", self.lang))
        advice = list(self._adviser(*self._asked()))[:HINTS]
        if not advice or advice[0].chance is None:
            advice = advice[:1]
        found = []
        for one in advice:
            text = choice_text(one.action, self.game, self.lang)
            play = ("pass" if one.action == 0 else text) if self.asked_cards else ""
            found.append({"text": text, "play": play, "chance": one.chance, "points": one.points})
        return found

    def tried(self, text: str) -> dict[str, Any]:
        """What selected cards would be: the plays, or why they are none.

        Args:
            text: letters of cards of the person's hand.
        """
        if not self.asked_cards:
            return {"plays": [], "why": ""}
        cards, rules, view = typed.letters(text), self.game.rules, self.view
        packed = typed.pack_letters(cards)
        strange = typed.foreign(cards, True) or typed.lacking_card(int(view["hand"]), packed)
        if strange or not packed:
            return {"plays": [], "why": ""}
        found = typed.readings(packed, view, rules)
        plays = []
        for reading in found:
            kind = int(typed.ACTIONS[reading.action]["category"])
            name = category_name(kind, self.lang).replace("_", " ")
            plays.append({"text": reading.text, "name": name})
        why = "" if found else typed.why_not(packed, view, rules, self.lang)
        return {"plays": plays, "why": why}
