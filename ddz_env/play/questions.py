"""What a person is asked: the kinds of questions, and how each is worded.

Questions are values; nothing here changes a game.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ddz_env.catalogue import FIRST_PLAY, TEXTS
from ddz_env.fillings import holding, starred
from ddz_env.game import Game
from ddz_env.listed import Legal
from ddz_env.play import typed
from ddz_env.play.phrases import choice_words, say


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


def ask_choice(game: Game, lang: str) -> Prompt:
    """A choice before the play."""
    actions, phase = game.legal(), game.phase
    raises = int(game.state["raises"])
    options = []
    for action in reversed(actions):
        key = "n" if action == "pass" else "y"
        if phase == "blind":
            key = action[0]
        elif action.startswith("call_"):
            key = action[-1]
        options.append(Option(key, choice_words(phase, action, raises), action))
    if phase == "call_points":
        options = [*reversed(options[:-1]), options[-1]]
    elif phase == "blind":
        options.reverse()
    factor = _factor(game)
    text = say(f"q_{phase}", lang, x=factor)
    text += f" (x{factor})?" if factor and phase != "blind" else "?"
    return Prompt("choice", text, tuple(options))


def _factor(game: Game) -> int:
    """What a yes multiplies with, 0 where the phase has no number for it."""
    if game.phase == "double":
        return 2
    names = {"rob": "rob_multiplier", "blind": "blind_multiplier", "raise": "raise_multiplier"}
    return int(getattr(game.rules, names.get(game.phase, game.phase), 0))


def ask_cards(game: Game, lang: str) -> Prompt:
    """Cards, or a pass."""
    ids = game.legal_ids()
    if ids[0] != 0:
        return Prompt("cards", say("ask_lead", lang))
    return Prompt("cards", say("ask_reply" if len(ids) > 1 else "ask_pass", lang))


def ask_which(found: Sequence[typed.Reading], lang: str) -> Prompt:
    """Which of several plays is meant."""
    lines, options = [say("which_head", lang)], []
    for i, reading in enumerate(found, 1):
        lines.append(f"  {i}  {typed.describe(reading, lang)}")
        options.append(Option(str(i), ("", ""), reading.text))
    n = len(options) + 1
    lines.append("  " + say("which_none", lang, n=n))
    options.append(Option(str(n), ("", ""), ""))
    return Prompt("which", say("ask_which", lang), tuple(options), tuple(lines))


def ask_leave(points: float, beans: int, queen: bool, lang: str) -> Prompt:
    """How to leave in the middle of a deal.

    Args:
        points: what an escape costs.
        beans: the same in beans.
        queen: whether a queen may have been meant.
        lang: `en` or `zh`.
    """
    values = [*(["queen"] if queen else []), "stay", "auto", "flee"]
    lines, options = [say("leave_head", lang)], []
    for n, value in enumerate(values, 1):
        facts: dict[str, object] = {"n": n}
        if value == "flee":
            facts |= {"points": f"{points:g}", "beans": beans}
        lines.append("  " + say(f"leave_{value}", lang, **facts))
        options.append(Option(str(n), ("", ""), value))
    return Prompt("leave", say("ask_leave", lang), tuple(options), tuple(lines))


def hint_lines(name: str, advice: Sequence[Advice], game: Game, lang: str) -> tuple[str, ...]:
    """A hint as lines: choices with values, or the helper's choice alone.

    Args:
        name: the helper's.
        advice: its choices, the best first.
        game: the deal; the seat on turn is asked.
        lang: `en` or `zh`.
    """
    texts = [choice_text(one.action, game, lang) for one in advice]
    if not advice or advice[0].chance is None:
        return (say("hint_choice", lang, name=name, play=", ".join(texts[:1])),)
    lines = [say("hint_ranked", lang, name=name)]
    for i, (one, text) in enumerate(zip(advice, texts, strict=True), 1):
        points = "" if one.points is None else f"{one.points:+8.2f}"
        lines.append(f"  {i}  {text:<28} {one.chance:6.1%} {points}")
    return tuple(lines)


def choice_text(action: int, game: Game, lang: str) -> str:
    """An action of the seat on turn as a person reads it."""
    if action < FIRST_PLAY and game.phase != "play":
        words = choice_words(game.phase, TEXTS[action], int(game.state["raises"]))
        return words[lang == "zh"]
    if action >= FIRST_PLAY and game.rules.wild != "none":
        return starred(action, holding(game.state, game.rules.params()).least(action))
    return say("pass", lang) if action == 0 else TEXTS[action]
