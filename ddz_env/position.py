"""Questions about a position: which plays are legal, and why one is or is not."""

import numpy as np

from ddz_env.cards import RANKS, SMALL_JOKER, WILD, count_cards, from_text, unpack
from ddz_env.catalogue import ACTIONS, FIRST_PLAY, TABLES, TEXTS, Category
from ddz_env.engine import SEVEN
from ddz_env.errors import CardError, PlayError, RuleError
from ddz_env.fillings import Holding, parse_starred
from ddz_env.moves import MAX_LEGAL, contains, list_leads, list_replies
from ddz_env.rules import RuleSet, get_rules


def _category(action: int) -> str:
    return Category(int(ACTIONS[action]["category"])).name.lower()


def _missing(hand: int, need: int) -> str:
    """The first card that a hand lacks for a play."""
    have = unpack(hand)
    for rank, n in enumerate(unpack(need)):
        if n > have[rank]:
            return f"the hand has {have[rank]} of {RANKS[rank]}, the play takes {n}"
    return ""


def why_illegal(hand: int, last: int, action: int, rules: RuleSet) -> str:
    """Why a play (or pass) is not legal, empty when it is. `last` 0 means leading."""
    params = rules.params()
    if action == 0:
        return "" if last else "who leads must play"
    play, beaten = ACTIONS[action], ACTIONS[last]
    name = _category(action)
    if not params.categories >> int(play["category"]) & 1:
        return f"room {rules.name} has no {name}"
    if int(play["kicker"]) & ~params.kickers:
        return f"room {rules.name} does not allow these kickers"
    if not contains(np.uint64(hand), play["need"]):
        return _missing(hand, int(play["need"]))
    if not last:
        return ""
    old = _category(last)
    if play["category"] == beaten["category"]:
        if play["length"] != beaten["length"]:
            return f"a {name} of {play['length']} does not answer one of {beaten['length']}"
        if play["rank"] <= beaten["rank"]:
            return (
                f"its rank {RANKS[play['rank']]} does not beat {RANKS[beaten['rank']]};"
                " kickers never count"
            )
    elif beaten["category"] == Category.ROCKET:
        return "nothing beats the rocket"
    elif play["category"] < Category.BOMB:
        return f"a {name} does not answer a {old}"
    elif beaten["category"] > play["category"]:
        return f"a {name} does not beat a {old}"
    return ""


def _wild_rank(wild: str | None, room: RuleSet) -> int:
    """The number of the wild rank that a room needs to be told, -1 in rooms without wild cards."""
    if room.wild == "none":
        if wild is not None:
            raise RuleError(f"wild {wild!r}: room {room.name!r} has no wild cards")
        return -1
    if room.wild == "red_sevens" or wild == "red7":
        fits = room.wild == "red_sevens" and wild in (None, "red7")
        number = SEVEN
    elif room.wild == "jokers" or wild == "jokers":
        fits = room.wild == "jokers" and wild in (None, "jokers")
        number = SMALL_JOKER
    else:
        letter = "T" if wild == "10" else wild
        fits = isinstance(letter, str) and len(letter) == 1 and letter in RANKS[:13]
        number = RANKS.find(str(letter))
    if not fits:
        what = {"rank": "a rank 3..2", "red_sevens": "'red7'", "jokers": "'jokers'"}[room.wild]
        raise RuleError(f"wild {wild!r}: room {room.name!r} expects {what}")
    return number


def _position_rules(rules: str | RuleSet, wild: str | None) -> RuleSet:
    """The room; `laidou` with the jokers wild where that is what `wild` says."""
    room = get_rules(rules)
    if room.wild == "red_sevens" and wild == "jokers" and room.name == "laidou":
        return room.replace(name="laidou", wild="jokers")
    return room


def parse_position(
    hand: str, last: str | None, rules: str | RuleSet, wild: str | None
) -> tuple[int, int, int, RuleSet, int]:
    """A position, checked: packed hand, last action id (0: leading), its cards, room, wild rank."""
    room = _position_rules(rules, wild)
    number = _wild_rank(wild, room)
    cards = from_text(hand, wild=room.wild in ("rank", "red_sevens"))
    counts = unpack(cards)
    if cards == 0:
        raise CardError("hand: expected at least one card")
    if sum(counts) > 20:
        raise CardError(f"hand {hand!r}: {sum(counts)} cards, expected at most 20")
    if room.wild == "rank" and counts[number]:
        raise CardError(f"hand {hand!r}: cards of the wild rank {RANKS[number]} are written W")
    if room.wild == "red_sevens" and (counts[SEVEN] > 2 or counts[WILD] > 2):
        raise CardError(f"hand {hand!r}: expected at most two natural 7 and two W")
    if last is None:
        return cards, 0, 0, room, number
    last_id, wilds = parse_starred(last)
    if last_id < FIRST_PLAY:
        raise PlayError(f"last {last!r}: expected a play, or None when leading")
    play, params = ACTIONS[last_id], room.params()
    if not params.categories >> int(play["category"]) & 1 or int(play["kicker"]) & ~params.kickers:
        raise PlayError(f"last {last!r}: room {room.name!r} has no such play")
    if wilds and room.wild == "none":
        raise PlayError(f"last {last!r}: room {room.name!r} has no wild cards")
    taken = int(play["need"]) - wilds + (count_cards(wilds) << 60)
    return cards, last_id, taken, room, number


def legal_plays(
    hand: str,
    last: str | None = None,
    rules: str | RuleSet = "play_only",
    wild: str | None = None,
) -> list[str]:
    """All legal whole plays of a hand as texts, each once; `pass` included when it is legal.

    Args:
        hand: the hand's text, cards in any order; wild cards are `W`, but for jokers.
        last: the play to beat, with a star behind each wild; None when leading.
        rules: a preset's name or a `RuleSet`.
        wild: in rooms with wild cards their rank, `red7` or `jokers`.

    Raises:
        DdzError: a text that is no hand or no play, an unknown room.
    """
    cards, last_id, taken, room, number = parse_position(hand, last, rules, wild)
    params = room.params()
    if room.wild != "none":
        return Holding(cards, number, last_id, taken, params).whole_plays()
    out = np.zeros(MAX_LEGAL, np.int32)
    if last_id == 0:
        n = list_leads(np.uint64(cards), params, TABLES, out)
    else:
        n = list_replies(np.uint64(cards), last_id, params, TABLES, out)
    return [TEXTS[i] for i in out[:n]]


def explain(
    hand: str,
    last: str | None,
    play: str,
    rules: str | RuleSet = "play_only",
    wild: str | None = None,
) -> str:
    """Why a play is legal or not, in one sentence.

    The sentence begins with `legal: ` or `illegal: `; a text that is no play of the catalogue is
    illegal too.

    Raises:
        DdzError: a hand, last play or room that does not exist.
    """
    cards, last_id, taken, room, number = parse_position(hand, last, rules, wild)
    try:
        action, wilds = parse_starred(play)
    except PlayError as error:
        return f"illegal: {error}"
    if 0 < action < FIRST_PLAY:
        return f"illegal: {play} is not a choice in phase play"
    if wilds and room.wild == "none":
        return f"illegal: {play}: room {room.name} has no wild cards"
    if room.wild != "none" and action >= FIRST_PLAY:
        reason = Holding(cards, number, last_id, taken, room.params()).why_not(action, wilds)
    else:
        reason = why_illegal(cards, last_id, action, room)
    if reason:
        return f"illegal: {play}: {reason}"
    if action == 0:
        return "legal: pass, since there is a play to beat"
    name = _category(action)
    rank = RANKS[ACTIONS[action]["rank"]]
    verb = f"beats {last}" if last_id else "can be led"
    return f"legal: {play} is a {name} of rank {rank}, which {verb}"
