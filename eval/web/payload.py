"""What a browser is told of a table: JSON from scenes of its seat, never from the game's record.

So what the seat may not know can't be in it. Once a deal is over the scene has all hands open.
"""

import re
from typing import Any

from ddz_env.cards import to_text
from ddz_env.checks import brief
from ddz_env.play.phrases import choice_words, say
from ddz_env.play.typed import wild_text
from ddz_env.rules import RuleSet
from ddz_env.scene import Player, Scene
from ddz_env.table_file import HOUSE
from ddz_env.words import score, word
from eval.web.sessions import BrowserSession

LEDGER = 12
"""Deals of the ledger that are sent."""
_PLAY = re.compile(r"[3-9TJQKA2XD][3-9TJQKA2XD+*]*")


def _cards(packed: int | None) -> str | None:
    """Cards as text, None where they are hidden."""
    return None if packed is None else to_text(packed)


def _last(text: str, lang: str) -> dict[str, Any] | None:
    """What a seat did last: a play, or a choice in words; None where it did nothing."""
    if not text:
        return None
    if _PLAY.fullmatch(text):
        return {"play": text}
    return {"said": word(text, lang)}


def _seat(shown: Player, scene: Scene, lang: str) -> dict[str, Any]:
    """A seat as a scene shows it."""
    calls = scene.phase not in ("play", "fill", "over")
    marks = [word(key, lang) for key, _ in shown.marks if calls or not key.startswith("call")]
    return {
        "role": shown.role,
        "roleText": word(shown.role, lang).replace("_", " "),
        "hand": _cards(shown.hand),
        "left": shown.left,
        "last": _last(shown.last, lang),
        "marks": marks,
        "score": shown.score,
    }


def scene_json(scene: Scene, lang: str) -> dict[str, Any]:
    """A scene, for the table and for what happened on the way to it."""
    return {
        "phase": scene.phase,
        "phaseText": word(scene.phase, lang).replace("_", " "),
        "turn": scene.turn,
        "base": scene.base,
        "multiplier": scene.multiplier,
        "landlord": scene.landlord,
        "bottom": _cards(scene.bottom),
        "toBeat": scene.to_beat,
        "turned": scene.turned,
        "redeals": scene.redeals,
        "wild": scene.wild,
        "redWild": scene.red_wild,
        "unseen": _cards(scene.unseen),
        "players": [_seat(shown, scene, lang) for shown in scene.players],
    }


def parts(view: Any, scene: Scene, rules: RuleSet) -> list[list[Any]]:
    """What a multiplier is made of: name, how often (0: no count), factor; those that count.

    Args:
        view: of the seat, `VIEW`.
        scene: of the same moment.
        rules: the room.
    """
    shows, shown = 1, 0
    for player in scene.players:
        for key, factor in player.marks:
            if key == "show":
                shown += 1
                product = rules.shows_combine != "largest"
                shows = shows * factor if product else max(shows, factor)
    robs, raises = int((view["robs"] == 1).sum()), int(view["raises"])
    found = [
        ["room", 0, rules.start_multiplier],
        ["shows", shown, shows],
        ["robs", robs, rules.rob_multiplier**robs],
        ["blind", 0, rules.blind_multiplier if view["blind"] else 1],
        ["raises", raises, rules.raise_multiplier**raises],
        ["spring", 0, rules.params().spring if scene.spring else 1],
    ]
    others = 1
    for _, _, factor in found:
        others *= int(factor)
    found.insert(5, ["bombs", int(view["bombs"]), scene.multiplier // others])
    return [[name, count, int(factor)] for name, count, factor in found if factor != 1]


def _events(session: BrowserSession) -> list[dict[str, Any]]:
    """What happened since the person's decision: seats and words; seat -1 is the table."""
    lang, found, raises = session.lang, [], 0
    for seat, text, phase in session.events:
        said = text
        if seat >= 0 and phase not in ("", "play", "fill"):
            said = choice_words(phase, text, raises)[lang == "zh"]
            raises += text == "raise"
        elif seat >= 0:
            said = word(text, lang)
        found.append({"seat": seat, "text": said})
    return found


def _prompt(session: BrowserSession) -> dict[str, Any]:
    """What is asked, with the answers as the page sends them back."""
    asked, lang = session.prompt, session.lang
    options = []
    for option in asked.options:
        text = option.words[lang == "zh"] or option.value
        options.append({"key": option.key, "text": text, "value": option.value})
    if asked.kind in ("leave", "which"):
        # The lines say it as a person reads it: "  1  stay".
        texts = [line.strip().partition("  ")[2] for line in asked.head[1:]]
        for option, text in zip(options, texts, strict=True):
            option["text"] = text.strip()
    free = asked.kind == "cards" and int(session.game.state["last_seat"]) >= 0
    return {
        "kind": asked.kind,
        "text": asked.text,
        "head": asked.head[0] if asked.head else "",
        "options": options,
        "mayPass": free,
        "mustPass": free and asked.text == say("ask_pass", lang),
    }


def _ledger(session: BrowserSession) -> list[dict[str, Any]]:
    """Beans of each seat by deals, the last ones."""
    rows: dict[int, list[int]] = {}
    for entry in session.table.ledger:
        row = rows.setdefault(entry.deal, [0, 0, 0])
        if entry.who != HOUSE:
            row[int(entry.who)] += entry.amount
    return [{"deal": deal, "beans": row} for deal, row in list(rows.items())[-LEDGER:]]


def _account(session: BrowserSession, seat: int) -> dict[str, Any]:
    """What a seat has over all deals."""
    table, zh = session.table, session.lang == "zh"
    title = table.titles[seat]
    return {
        "name": session.names[seat],
        "beans": table.beans[seat],
        "points": score(table.points[seat]) or "0",
        "title": title.chinese if zh else title.english,
    }


def state_json(session: BrowserSession, number: int, limit: float | None) -> dict[str, Any]:
    """The whole table as its person may see it.

    Args:
        session: the table.
        number: of this state; answers name the state that they answer.
        limit: seconds that are left to decide, None without a limit.
    """
    lang, scene, table = session.lang, session.scene_now(), session.table
    data = scene_json(scene, lang)
    for seat, shown in enumerate(data["players"]):
        shown |= _account(session, seat)
    frames = [scene_json(frame, lang) for frame in session.frames]
    for frame in frames:
        for shown in frame["players"]:
            del shown["hand"]  # the hand that is shown is the one of the state
        del frame["unseen"]
    return data | {
        "type": "state",
        "n": number,
        "lang": lang,
        "room": scene.room,
        "deal": table.deals,
        "you": session.seat,
        "over": session.game.over,
        "done": session.done,
        "result": word(scene.result, lang),
        "spring": scene.spring,
        "won": _won(scene, session.seat),
        "parts": parts(session.view, scene, table.rules),
        "jokersWild": table.rules.wild == "jokers",
        "wildText": wild_text(session.view, table.rules, lang),
        "doubled": [any(key == "double" for key, _ in p.marks) for p in scene.players],
        "prompt": _prompt(session),
        "events": _events(session),
        "frames": frames,
        "ledger": _ledger(session),
        "back": session.can_take_back,
        "auto": session.auto,
        "open": session.open_hands,
        "helper": brief(session.adviser_name)[1:-1],
        "limit": limit,
    }


def _won(scene: Scene, seat: int) -> bool | None:
    """Whether the seat's side won; None for a void deal or before the end."""
    if scene.winner is None:
        return None
    return (scene.winner == scene.landlord) == (seat == scene.landlord)
