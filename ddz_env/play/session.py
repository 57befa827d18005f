"""A person at a table with two players: what is asked, what an answer does. No screen, no keys.

`Session` is a state machine: `prompt` says what is asked, `answer` takes a typed line and says what
came of it. The terminal (terminal.py) is one face of it; whatever shows `prompt`, `scene` and the
lines of replies is another.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ddz_env._jit import records
from ddz_env.bots import TrusteeBot
from ddz_env.checks import brief
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.game import Game
from ddz_env.listed import Legal
from ddz_env.play import typed
from ddz_env.play.phrases import say
from ddz_env.play.questions import (
    Adviser,
    Chooses,
    Event,
    Option,
    Prompt,
    Reply,
    ask_cards,
    ask_choice,
    ask_leave,
    ask_which,
    hint_lines,
)
from ddz_env.scene import Scene, look
from ddz_env.table import Table
from ddz_env.view import VIEW

HINTS = 8
"""Plays that a hint lists."""
COMMANDS = {
    "?": "help", "help": "help", "帮助": "help",
    "h": "hint", "hint": "hint", "提示": "hint",
    "r": "again", "again": "again", "再来": "again",
    "u": "back", "undo": "back", "悔棋": "back",
    "q": "leave", "quit": "leave", "exit": "leave", "离开": "leave", "退出": "leave",
}  # fmt: skip
"""What may be typed at any time."""
PASSES = ("p", "pass", "不要", "过", "要不起")


class Session:
    """One person and two players at a table.

    Args:
        table: the table; its deals are played from the next one on.
        seat: the person's.
        players: of the seat after the person's and of the one before.
        names: of these two.
        adviser: what stands behind hints, and its name.
        lang: `en` or `zh`.
        deals: how many are played, None until the person leaves.
        keep: called with every deal that stays as it was played, once it can't be taken back, and
            with the person's seat in it.
    """

    def __init__(
        self,
        table: Table,
        seat: int,
        players: Sequence[Chooses],
        names: Sequence[str],
        *,
        adviser: tuple[str, Adviser],
        lang: str = "en",
        deals: int | None = None,
        keep: Callable[[Game, int], None] | None = None,
    ) -> None:
        self.table, self.seat, self.lang, self.deals = table, seat, lang, deals
        self.adviser_name, self._adviser = adviser
        self._keep = keep
        after, before = (seat + 1) % 3, (seat + 2) % 3
        self.players = {after: players[0], before: players[1]}
        self.names = {after: names[0], before: names[1], seat: ""}
        self.events: list[Event] = []
        """What happened since the person's last decision."""
        self.done = False
        self.played = 0
        """Deals that have ended."""
        self.shown_over = False
        """Whether the person was asked what to do after the deal, its end in sight."""
        self._snapshots: list[tuple[Table, list[Event]]] = []
        self._faulty: dict[int, TrusteeBot] = {}
        self._which: list[typed.Reading] = []
        self._leaving = False

    # -------------------------------------------------------------------------------- questions

    @property
    def game(self) -> Game:
        """The deal that is played or was played last."""
        assert self.table.game is not None, "begin() deals first"
        return self.table.game

    @property
    def scene(self) -> Scene:
        """What the person sees: all hands once the deal is over."""
        return look(self.game, None if self.game.over else self.seat)

    @property
    def view(self) -> Any:
        """What the person's seat knows, `VIEW`."""
        return self.game.view(self.seat)

    @property
    def new(self) -> bool:
        """Whether the person is asked something of a kind that is new: the first, the first play.

        A face says then which keys there are.
        """
        if self.table.deals > 1:
            return False
        played = bool(self.view["plays"][self.seat])
        return not self._snapshots or (self.game.phase == "play" and not played)

    @property
    def prompt(self) -> Prompt:
        """What is asked now."""
        lang, game = self.lang, self.game
        if self.done:
            return Prompt("over", "")
        if self._leaving:
            return ask_leave(*self._escape_cost(), self._queen(), lang)
        if game.over:
            return Prompt("next", say("ask_last" if self._last else "ask_next", lang))
        if self._which:
            return ask_which(self._which, lang)
        if game.phase == "play":
            return ask_cards(game, lang)
        return ask_choice(game, lang)

    def _queen(self) -> bool:
        """Whether `q` may have been meant as a card: a queen can be played by itself now."""
        game = self.game
        if game.phase != "play":
            return False
        return bool(typed.readings(typed.pack_letters("Q"), self.view, game.rules)) and not (
            typed.lacking_card(int(self.view["hand"]), typed.pack_letters("Q"))
        )

    def _escape_cost(self) -> tuple[float, int]:
        """What an escape costs the person now: points and beans."""
        other = copy.deepcopy(self.table)
        cost = other.escape(self.seat)
        return cost.penalty, self.table.beans[self.seat] - other.beans[self.seat]

    # ---------------------------------------------------------------------------------- answers

    def begin(self, again: bool = False) -> None:
        """Deal, and let the others choose until the person is asked.

        Args:
            again: the last deal once more, everybody one seat further.
        """
        if again:
            self.table.again()
            self.seat = (self.seat + 1) % 3
            self.players = {(seat + 1) % 3: player for seat, player in self.players.items()}
            self.names = {(seat + 1) % 3: name for seat, name in self.names.items()}
        else:
            self.table.deal()
        self._snapshots, self._faulty, self.events = [], {}, []
        self._advance()

    def answer(self, line: str) -> Reply:
        """What a typed line does; one that can't be used changes nothing and says what can."""
        if self.done:
            return Reply("told")
        text = typed.normal(line)
        if self._leaving:
            return self._leave(text)
        if self._which and not self.game.over:
            return self._chosen(text)
        command = COMMANDS.get(text if text in COMMANDS else text.lower(), "")
        if text == "Q" and self.game.phase == "play":
            command = ""  # a capital is a card
        if command:
            return getattr(self, f"_{command}")()
        if self.game.over:
            return self._next(text)
        if self.game.phase == "play":
            return self._cards(text)
        return self._choice(text)

    def end_of_input(self) -> Reply:
        """The person is gone: auto-play finishes the deal, as for a lost connection."""
        self._leaving, self._which = False, []
        self.shown_over = self.game.over
        lines = () if self.game.over else (say("auto", self.lang),)
        self._auto()
        self._close()
        return Reply("moved", lines)

    def stop(self) -> None:
        """Leave at once, in the middle of everything: a deal that is not over does not count."""
        self._close()

    def _help(self) -> Reply:
        return Reply("told", (), "help")

    def _hint(self) -> Reply:
        """The helper's choices."""
        if self.game.over:
            return Reply("refused", (say("no_hint", self.lang),))
        advice = list(self._adviser(*self._asked()))[:HINTS]
        return Reply("told", hint_lines(self.adviser_name, advice, self.game, self.lang))

    def _back(self) -> Reply:
        """Take back the person's last decision in this deal."""
        if not self._snapshots:
            return Reply("refused", (say("no_back", self.lang),))
        self.played -= self.game.over
        self.table, self.events = self._snapshots.pop()
        return Reply("moved", (say("taken_back", self.lang),))

    def _again(self) -> Reply:
        """The same deal once more, from the next seat."""
        if not self.game.over:
            return Reply("refused", (say("no_again", self.lang),))
        if self._last:
            return self._next("r")
        self._store()
        self.begin(again=True)
        return Reply("moved")

    @property
    def _last(self) -> bool:
        """Whether as many deals have been played as were to be."""
        return self.deals is not None and self.played >= self.deals

    def _next(self, text: str) -> Reply:
        """Between deals."""
        if text:
            expected = "expected_last" if self._last else "expected_next"
            return Reply("refused", (say(expected, self.lang, text=text),))
        if self._last:
            self.shown_over = True
            self._close()
            return Reply("moved")
        self._store()
        self.begin()
        return Reply("moved")

    def _choice(self, text: str) -> Reply:
        """A choice before the play, by its key or by its word."""
        options = self.prompt.options
        low = text.lower()
        for option in options:
            names = {option.key, *option.words, option.value}
            if option.value == "pass":
                names |= {"n", *PASSES}
            if low and low in names:
                return self._decide(option.value)
        keys = ", ".join(f"{o.key} ({' '.join(o.words)})" for o in options)
        return Reply("refused", (say("expected_choice", self.lang, text=text, keys=keys),))

    def _cards(self, text: str) -> Reply:
        """Cards, or a pass."""
        may_pass = int(self.game.state["last_seat"]) >= 0
        if text.lower() in ("", *PASSES):
            if not may_pass:
                return Reply("refused", (say("must_lead", self.lang),))
            return self._decide("pass")
        rules, view, lang = self.game.rules, self.view, self.lang
        cards = typed.letters(text)
        wild = rules.wild in ("rank", "red_sevens")
        foreign = typed.foreign(cards, wild) or ("" if cards else text[:1])
        if foreign:
            more = say("no_card_wild", lang) if wild else ""
            return Reply("refused", (say("no_card", lang, what=foreign, wild=more),))
        if "+" in cards or "*" in cards:
            reading = typed.declared(cards, view, rules)
            if reading is not None:
                return self._decide(reading.text)
            if "*" in cards:
                return Reply("refused", (say("not_declared", lang, text=cards),))
        return self._plain(typed.pack_letters(cards), cards.replace("+", ""))

    def _plain(self, packed: int, cards: str) -> Reply:
        """Cards without marks: the play is found, or asked for where there are several."""
        rules, view, lang = self.game.rules, self.view, self.lang
        lacking = typed.lacking_card(int(view["hand"]), packed)
        if lacking:
            found = typed.stands_for(cards, view, rules)
            if not found:
                card, have, want = lacking
                facts = {"have": have, "card": card, "typed": want}
                return Reply("refused", (say("not_held", lang, **facts),))
        else:
            found = typed.readings(packed, view, rules)
        if not found:
            return Reply("refused", (typed.why_not(packed, view, rules, lang),))
        if len(found) > 1:
            self._which = found
            return Reply("told")
        return self._decide(found[0].text)

    def _numbered(self, text: str) -> Option | None:
        """The option of a number."""
        return next((option for option in self.prompt.options if option.key == text), None)

    def _chosen(self, text: str) -> Reply:
        """One of several plays, by its number."""
        option = self._numbered(text)
        if option is None and text.lower() not in ("u", "q"):
            n = len(self.prompt.options)
            return Reply("refused", (say("expected_number", self.lang, text=text, n=n),))
        self._which = []
        return self._decide(option.value) if option and option.value else Reply("told")

    # ---------------------------------------------------------------------------------- leaving

    def _leave(self, text: str | None = None) -> Reply:
        """The question how to leave, and its answer."""
        if self.game.over:
            self.shown_over = True
            self._close()
            return Reply("moved")
        if text is None:
            self._leaving = True
            return Reply("told")
        option = self._numbered(text)
        if option is None:
            n = len(self.prompt.options)
            return Reply("refused", (say("expected_number", self.lang, text=text, n=n),))
        self._leaving = False
        if option.value == "queen":
            return self._plain(typed.pack_letters("Q"), "Q")
        if option.value == "stay":
            return Reply("told")
        if option.value == "auto":
            self._auto()
            self._close()
            return Reply("moved")
        points, beans = self._escape_cost()
        self.table.escape(self.seat)
        self.done = True
        return Reply("told", (say("fled", self.lang, points=f"{points:g}", beans=beans),))

    def _auto(self) -> None:
        """Auto-play makes the person's choices to the end of the deal."""
        self.players[self.seat] = TrusteeBot()
        self._advance()

    def _close(self) -> None:
        """The person leaves; a finished deal is kept."""
        self._store()
        self.done = True

    def _store(self) -> None:
        """Hand over a deal that can't be taken back any more."""
        game = self.table.game
        if self._keep is not None and game is not None and game.over:
            self._keep(game, self.seat)

    # ------------------------------------------------------------------------------------ moves

    def _decide(self, action: str) -> Reply:
        """The person's decision, and what the others do then."""
        before = copy.deepcopy(self.table), self.events
        self.events = []
        try:
            self._step(action)
        except DdzError as error:
            self.events = before[1]
            return Reply("refused", (str(error),))
        self._snapshots.append(before)
        self._advance()
        return Reply("moved")

    def _step(self, action: str | int) -> None:
        """One decision at the table; notes what it brought to light."""
        game = self.game
        seen, redeals, phase = len(game.history), game.redeals, game.phase
        self.table.step(action)
        if game.redeals != redeals:
            self.events.append(Event(-1, say("redeal", self.lang)))
            seen = 0
        self.events += [Event(seat, text, phase) for seat, text in game.history[seen:]]
        self.played += game.over

    def _advance(self) -> None:
        """Let the others choose until the person is asked or the deal is over."""
        while not self.game.over and self.game.seat in self.players:
            self._step(self._choice_of(self.game.seat))

    def _asked(self) -> tuple[np.ndarray, Legal]:
        """What the seat on turn sees, `VIEW[1]`, and its legal ids."""
        ids = self.game.legal_ids()
        views = records(VIEW, 1)
        views[0] = self.game.view()
        return views, Legal(np.array([0, len(ids)]), ids)

    def _choice_of(self, seat: int) -> int:
        """What a player chooses; one that fails is on auto-play to the end of the deal."""
        views, legal = self._asked()
        if seat not in self._faulty:
            try:
                return self._ask(self.players[seat], views, legal)
            except Exception as error:  # whatever somebody else's agent may do
                self._faulty[seat] = TrusteeBot()
                why = brief(str(error) or type(error).__name__)
                text = say("fault", self.lang, name=self.names[seat], why=why)
                self.events.append(Event(-1, text))
        return int(self._faulty[seat].act(views, legal)[0])

    @staticmethod
    def _ask(player: Chooses, views: np.ndarray, legal: Legal) -> int:
        """A player's choice, checked."""
        answer = np.asarray(player.act(views, legal))
        if answer.shape != (1,) or answer.dtype.kind not in "iu" or answer[0] not in legal.ids:
            raise IllegalActionError(f"expected one of the legal ids, got {brief(answer)}")
        return int(answer[0])
