"""A person at a table with two players: what is asked, what an answer does. No screen, no keys.

`Session` is a state machine: `prompt` says what is asked, `answer` takes a typed line and says what
came of it. The terminal (terminal.py) is one face of it; whatever shows `prompt`, `scene` and the
lines of replies is another.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ddz_env._jit import records
from ddz_env.bots import TrusteeBot
from ddz_env.catalogue import FIRST_PLAY, TEXTS
from ddz_env.checks import brief
from ddz_env.errors import DdzError, IllegalActionError
from ddz_env.fillings import holding, starred
from ddz_env.game import Game
from ddz_env.listed import Legal
from ddz_env.play import typed
from ddz_env.play.phrases import choice_words, say
from ddz_env.scene import Scene, look
from ddz_env.table import Table
from ddz_env.view import VIEW

HINTS = 8
"""Plays that a hint lists."""
COMMANDS = {
    "?": "help", "help": "help", "帮助": "help",
    "h": "hint", "hint": "hint", "提示": "hint",
    "u": "back", "undo": "back", "悔棋": "back",
    "q": "leave", "quit": "leave", "exit": "leave", "离开": "leave", "退出": "leave",
}  # fmt: skip
"""What may be typed at any time."""
PASSES = ("p", "pass", "不要", "过", "要不起")


class Advice(NamedTuple):
    """One choice as a helper sees it; chance and points are None where it does not say."""

    action: int
    chance: float | None = None
    """Chance that the seat's side wins."""
    points: float | None = None
    """Points of the seat expected."""


class Chooses(Protocol):
    """A player: an agent or a bot."""

    def act(self, views: np.ndarray, legal: Legal) -> Any:
        """One legal id for each row."""
        ...


Adviser = Callable[[np.ndarray, Legal], Sequence[Advice]]
"""What stands behind hints: of a view (`VIEW[1]`) and its legal ids, choices, the best first."""


class Option(NamedTuple):
    """One of the answers that a prompt offers."""

    key: str  # what is typed
    words: tuple[str, str]  # English and Chinese, which may be typed as well
    value: str  # what it means: a choice's text, a number


class Event(NamedTuple):
    """One decision that has come to light, or, with seat -1, something that the table says."""

    seat: int
    text: str
    phase: str = ""


class Prompt(NamedTuple):
    """What is asked: `kind` is choice, cards, which, leave, next or over."""

    kind: str
    text: str
    options: tuple[Option, ...] = ()
    head: tuple[str, ...] = ()  # lines to show before it


class Reply(NamedTuple):
    """What came of an answer: `kind` is moved (show the table again), told or refused."""

    kind: str
    lines: tuple[str, ...] = ()
    page: str = ""  # "help" where a page is to be shown


def adviser_of(bot: Chooses) -> Adviser:
    """A bot's own choice as a hint."""

    def advise(views: np.ndarray, legal: Legal) -> list[Advice]:
        return [Advice(int(np.asarray(bot.act(views, legal))[0]))]

    return advise


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
        keep: called with every deal that stays as it was played, once it can't be taken back.
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
        keep: Callable[[Game], None] | None = None,
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
        self._snapshots: list[Table] = []
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
    def prompt(self) -> Prompt:
        """What is asked now."""
        lang, game = self.lang, self.game
        if self.done:
            return Prompt("over", "")
        if self._leaving:
            return self._ask_leave()
        if game.over:
            last = self.deals is not None and self.played >= self.deals
            return Prompt("next", say("ask_last" if last else "ask_next", lang))
        if self._which:
            return self._ask_which()
        if game.phase == "play":
            return self._ask_cards()
        return self._ask_choice()

    def _ask_choice(self) -> Prompt:
        """A choice before the play."""
        game = self.game
        actions, phase = game.legal(), game.phase
        raises = int(game.state["raises"])
        options = []
        for action in reversed(actions):
            words = choice_words(phase, action, raises)
            key = action[0] if phase == "blind" else "n" if action == "pass" else "y"
            key = action[-1] if action.startswith("call_") else key
            options.append(Option(key, words, action))
        if phase == "call_points":
            options = [*reversed(options[:-1]), options[-1]]
        factor = self._factor(phase)
        text = say(f"q_{phase}", self.lang) + (f" (x{factor})" if factor else "") + "?"
        return Prompt("choice", text, tuple(options))

    def _factor(self, phase: str) -> int:
        """What a yes of a phase multiplies with, 0 where it does not say."""
        rules = self.game.rules
        name = {"rob": "rob_multiplier", "blind": "blind_multiplier", "raise": "raise_multiplier"}
        if phase == "double":
            return 2
        return int(getattr(rules, name.get(phase, phase), 0)) if phase != "call_points" else 0

    def _ask_cards(self) -> Prompt:
        """Cards, or a pass."""
        ids = self.game.legal_ids()
        if ids[0] != 0:
            key = "ask_lead"
        else:
            key = "ask_reply" if len(ids) > 1 else "ask_pass"
        return Prompt("cards", say(key, self.lang))

    def _ask_which(self) -> Prompt:
        """Which of several plays is meant."""
        lines = [say("which_head", self.lang)]
        options = []
        for i, reading in enumerate(self._which, 1):
            lines.append(f"  {i}  {typed.describe(reading, self.lang)}")
            options.append(Option(str(i), ("", ""), reading.text))
        n = len(options) + 1
        lines.append("  " + say("which_none", self.lang, n=n))
        options.append(Option(str(n), ("", ""), ""))
        return Prompt("which", say("ask_which", self.lang), tuple(options), tuple(lines))

    def _ask_leave(self) -> Prompt:
        """How to leave in the middle of a deal."""
        points, beans = self._escape_cost()
        values = ["stay", "auto", "flee"]
        if self._queen():
            values.insert(0, "queen")
        lines, options = [say("leave_head", self.lang)], []
        for n, value in enumerate(values, 1):
            facts: dict[str, object] = {"n": n}
            if value == "flee":
                facts |= {"points": f"{points:g}", "beans": beans}
            lines.append("  " + say(f"leave_{value}", self.lang, **facts))
            options.append(Option(str(n), ("", ""), value))
        return Prompt("leave", say("ask_leave", self.lang), tuple(options), tuple(lines))

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

    def begin(self) -> None:
        """Deal, and let the others choose until the person is asked."""
        self._snapshots, self._faulty, self.events = [], {}, []
        self.table.deal()
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

    def _help(self) -> Reply:
        return Reply("told", (), "help")

    def _hint(self) -> Reply:
        """The helper's choices."""
        game, lang = self.game, self.lang
        if game.over:
            return Reply("refused", (say("no_hint", lang),))
        views, legal = self._asked()
        advice = list(self._adviser(views, legal))[:HINTS]
        texts = [self._action_text(a.action) for a in advice]
        if not advice or advice[0].chance is None:
            play = ", ".join(texts[:1])
            return Reply("told", (say("hint_choice", lang, name=self.adviser_name, play=play),))
        lines = [say("hint_ranked", lang, name=self.adviser_name)]
        for i, (one, text) in enumerate(zip(advice, texts, strict=True), 1):
            points = "" if one.points is None else f"{one.points:+8.2f}"
            lines.append(f"  {i}  {text:<28} {one.chance:6.1%} {points}")
        return Reply("told", tuple(lines))

    def _action_text(self, action: int) -> str:
        """An action as the person would read it."""
        game = self.game
        if action < FIRST_PLAY and game.phase != "play":
            english, chinese = choice_words(game.phase, TEXTS[action], int(game.state["raises"]))
            return chinese if self.lang == "zh" else english
        if action >= FIRST_PLAY and game.rules.wild != "none":
            return starred(action, holding(game.state, game.rules.params()).least(action))
        return ("不要" if self.lang == "zh" else "pass") if action == 0 else TEXTS[action]

    def _back(self) -> Reply:
        """Take back the person's last decision in this deal."""
        if not self._snapshots:
            return Reply("refused", (say("no_back", self.lang),))
        over = self.game.over
        self.table = self._snapshots.pop()
        self.played -= over
        self.events = []
        return Reply("moved", (say("taken_back", self.lang),))

    def _next(self, text: str) -> Reply:
        """Between deals."""
        if text:
            return Reply("refused", (say("expected_next", self.lang, text=text),))
        if self.deals is not None and self.played >= self.deals:
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
        """The person leaves after a finished deal."""
        self._store()
        self.done = True

    def _store(self) -> None:
        """Hand over a deal that can't be taken back any more."""
        if self._keep is not None and self.game.over:
            self._keep(self.game)

    # ------------------------------------------------------------------------------------ moves

    def _decide(self, action: str) -> Reply:
        """The person's decision, and what the others do then."""
        before = copy.deepcopy(self.table)
        self.events = []
        try:
            self._step(action)
        except DdzError as error:
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

    def _advance(self) -> None:
        """Let the others choose until the person is asked or the deal is over."""
        while not self.game.over and self.game.seat in self.players:
            self._step(self._choice_of(self.game.seat))
        self.played += self.game.over

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
