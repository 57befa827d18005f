"""What a person types, read as cards and plays: pure functions that know no screen.

A position is what the seat sees (`VIEW`) and its room. Typed cards are taken as they are, in any
order; which play they are is found here, so that the main part and kickers need no marks.
"""

import unicodedata
from typing import Any, NamedTuple

import numpy as np

from ddz_env.cards import RANKS, WILD, count_cards, to_text, unpack
from ddz_env.catalogue import ACTIONS, FIRST_PLAY, TABLES, TEXTS
from ddz_env.errors import PlayError
from ddz_env.fillings import Holding, parse_starred, starred
from ddz_env.moves import MAX_LEGAL, list_leads, list_replies
from ddz_env.play.phrases import category_name, reason, say
from ddz_env.position import why_illegal
from ddz_env.rules import RuleSet

_WORDS = {"小王": "X", "大王": "D", "王炸": "XD", "火箭": "XD", "癞子": "W"}
_LOOSE = " ,;.、，。-"


class Reading(NamedTuple):
    """One play that typed cards can be."""

    action: int  # id of what is declared
    text: str  # as `Game.step` takes it, a star behind each wild card


def normal(text: str) -> str:
    """A typed line in one form: full-width letters narrow, no spaces around."""
    return unicodedata.normalize("NFKC", text).strip()


def letters(text: str) -> str:
    """Typed cards as letters of `RANKS`, `+` and `*`; what is no card is left in."""
    text = normal(text)
    for word, cards in _WORDS.items():
        text = text.replace(word, cards)
    text = text.upper().replace("10", "T")
    return "".join(letter for letter in text if letter not in _LOOSE)


def foreign(text: str, wild: bool) -> str:
    """The first letter of normalised cards that is no card, empty if all are."""
    known = RANKS[: 16 if wild else 15] + "+*"
    return next((letter for letter in text if letter not in known), "")


def pack_letters(text: str) -> int:
    """Packed cards of letters of `RANKS`; at most 15 of a rank count."""
    return sum(min(text.count(rank), 15) << 4 * i for i, rank in enumerate(RANKS))


def lacking_card(hand: int, cards: int) -> tuple[str, int, int] | None:
    """The first card that a hand lacks of typed ones: its letter, how many there are and typed."""
    for rank, (have, want) in enumerate(zip(unpack(hand), unpack(cards), strict=True)):
        if want > have:
            return RANKS[rank], have, want
    return None


def _to_beat(view: Any) -> tuple[int, int]:
    """The play to beat of a view: (id, packed cards), id 0 for a lead."""
    if view["last_seat"] < 0:
        return 0, 0
    return int(view["last_action"]), int(view["last_cards"])


def _all_used(cards: int, last: tuple[int, int], wild: int, rules: RuleSet) -> list[Reading]:
    """The plays that use exactly these cards and beat `last`, in the order of ids."""
    size, params = count_cards(cards), rules.params()
    if rules.wild != "none":
        held = Holding(cards, wild, *last, params)
        return [
            Reading(action, starred(action, wilds))
            for action in held.declarations()
            if action >= FIRST_PLAY and ACTIONS[action]["size"] == size
            for wilds in held.fillings(action)
        ]
    out = np.zeros(MAX_LEGAL, np.int32)
    if last[0]:
        n = list_replies(np.uint64(cards), last[0], params, TABLES, out)
    else:
        n = list_leads(np.uint64(cards), params, TABLES, out)
    ids = [int(action) for action in out[:n] if action >= FIRST_PLAY]
    return [Reading(action, TEXTS[action]) for action in ids if ACTIONS[action]["size"] == size]


def _distinct(found: list[Reading]) -> list[Reading]:
    """One reading of each kind, length and rank, the strongest first.

    Readings that differ in their kickers alone take the same cards and are beaten by the same
    plays: which of them is meant makes no difference.
    """
    kinds: dict[tuple[int, ...], Reading] = {}
    for reading in found:
        play = ACTIONS[reading.action]
        key = tuple(int(play[name]) for name in ("category", "length", "rank"))
        kinds.setdefault(key, reading)
    return [kinds[key] for key in sorted(kinds, reverse=True)]


def readings(cards: int, view: Any, rules: RuleSet) -> list[Reading]:
    """The legal plays that typed cards can be, each meaning once, the strongest first.

    Args:
        cards: packed cards, wild ones as such; of the hand.
        view: what the seat on turn sees, `VIEW`, in phase play.
        rules: its room.
    """
    return _distinct(_all_used(cards, _to_beat(view), int(view["wild"]), rules))


def declared(text: str, view: Any, rules: RuleSet) -> Reading | None:
    """The legal play that a text with marks names (`333+4`, `445566*`), None for no such play.

    Where wild cards are needed and no stars say where, as few of them are used as can be.
    """
    try:
        action, wilds = parse_starred(text)
    except PlayError:
        return None
    if action < FIRST_PLAY:
        return None
    last = _to_beat(view)
    if rules.wild != "none":
        held = Holding(int(view["hand"]), int(view["wild"]), *last, rules.params())
        if action not in held.declarations():
            return None
        wilds = wilds or held.least(action)
        legal = wilds in held.fillings(action)
        return Reading(action, starred(action, wilds)) if legal else None
    if wilds or why_illegal(int(view["hand"]), last[0], action, rules):
        return None
    return Reading(action, TEXTS[action])


def stands_for(text: str, view: Any, rules: RuleSet) -> list[Reading]:
    """The legal plays whose ranks are these cards, wild cards standing in for what is missing.

    Args:
        text: letters of natural cards, more of some than the hand has.
        view: as in `readings`.
        rules: the room.
    """
    if rules.wild == "none":
        return []
    need = pack_letters(text)
    held = Holding(int(view["hand"]), int(view["wild"]), *_to_beat(view), rules.params())
    found = [
        Reading(action, starred(action, held.least(action)))
        for action in held.declarations()
        if action >= FIRST_PLAY and int(ACTIONS[action]["need"]) == need
    ]
    return _distinct(found)


def _any_room(rules: RuleSet) -> RuleSet:
    """The same room with every play and every kicker allowed."""
    return rules.replace(
        trio_with_pair=True, airplane_with_pairs=True, four_with_two_solos=True,
        four_with_two_pairs=True, kicker_adjacent_trio=True, kicker_four_solos=True,
        kicker_both_jokers=True,
    )  # fmt: skip


def why_not(cards: int, view: Any, rules: RuleSet, lang: str) -> str:
    """Why cards of the hand are no legal play now, in one line that says what was expected.

    Args:
        cards: packed cards of the hand that `readings` finds no play in.
        view: as in `readings`.
        rules: the room.
        lang: `en` or `zh`.
    """
    last, wild = _to_beat(view), int(view["wild"])
    text = to_text(cards)
    found = _all_used(cards, (0, 0), wild, rules)
    found = found or _all_used(cards, (0, 0), wild, _any_room(rules))
    if not found:
        return say("no_play", lang, cards=text)
    same = [r for r in found if ACTIONS[r.action]["category"] == ACTIONS[last[0]]["category"]]
    best = _distinct(same or found)[0]
    # The play's own cards as the hand: that the hand makes it, with its wild cards, is known.
    why = why_illegal(int(ACTIONS[best.action]["need"]), last[0], best.action, rules)
    if not why:
        return say("weaker_bomb", lang, last=TEXTS[last[0]])
    return say("illegal", lang, play=best.text, why=reason(why, lang))


def describe(reading: Reading, lang: str) -> str:
    """A reading with the name of its kind."""
    return f"{reading.text}  {category_name(int(ACTIONS[reading.action]['category']), lang)}"


def wild_text(view: Any, rules: RuleSet, lang: str) -> str:
    """What is wild, for a line of the screen; empty where nothing is yet."""
    if rules.wild == "jokers":
        return "X, D" if view["wild"] >= 0 else ""
    if rules.wild == "red_sevens":
        return "W = " + ("红7" if lang == "zh" else "red 7")
    return f"W = {RANKS[view['wild']]}" if 0 <= view["wild"] < WILD else ""
