"""The table at a glance, as lines of styled text: at most 80 columns, in English or Chinese.

A line is a list of spans (text, style); `plain` drops the styles. Whatever a style says is said by
the text as well, so that nothing is lost without colours.
"""

from ddz_env.cards import RANKS, to_text
from ddz_env.catalogue import ACTIONS
from ddz_env.fillings import parse_starred
from ddz_env.play.phrases import HELP, HELP_STAR, HELP_WILD, category_name, choice_words, say
from ddz_env.play.session import Session
from ddz_env.play.typed import wild_text
from ddz_env.render import COLUMNS, cell_width
from ddz_env.scene import Player, Scene
from ddz_env.words import player, score, word

Span = tuple[str, str]
Line = list[Span]
STYLES = ("", "head", "turn", "landlord", "wild", "joker", "play", "good", "bad", "dim")
"""Names of the styles; what they look like is the face's business."""
_WIDTHS = (3, 13, 14, 15, 7)
"""Columns of the table of seats: mark, seat, player, role, cards left; its last one is a play."""


def plain(line: Line) -> str:
    """A line's text without styles, no spaces at its end."""
    return "".join(text for text, _ in line).rstrip()


def _pad(text: str, width: int) -> str:
    """A text cut or filled with spaces to so many columns, the last one always a space."""
    while cell_width(text) > width - 1:
        text = text[:-1]
    return text + " " * (width - cell_width(text))


def _number(text: str, width: int) -> str:
    """A number in a column: never cut, even where it pushes the rest aside."""
    return text + " " * max(width - len(text), 1)


def _rule(text: str) -> Line:
    """A heading over the whole width."""
    left = COLUMNS - cell_width(text) - 5
    return [(f"-- {text} " + "-" * max(left, 0), "head")]


def card_spans(packed: int, jokers_wild: bool = False) -> Line:
    """A hand by ranks, lowest first; wild cards and jokers have styles of their own."""
    text, spans = to_text(packed), []
    for rank in RANKS:
        if rank in text:
            style = "wild" if rank == "W" or (jokers_wild and rank in "XD") else ""
            spans.append(
                (rank * text.count(rank) + " ", style or ("joker" if rank in "XD" else ""))
            )
    return spans


def _heads(scene: Scene, session: Session) -> list[Line]:
    """What concerns the whole deal."""
    lang, n = session.lang, session.table.deals
    deal = f"第{n}局" if lang == "zh" else f"deal {n}"
    first = f"{deal}  {_pad(scene.room, 25).rstrip()}  {_phase(scene.phase, lang)}"
    if scene.redeals:
        first += f"  {word('redeals', lang)} {scene.redeals}"
    bottom = word("hidden", lang) if scene.bottom is None else to_text(scene.bottom)
    facts = [("base", scene.base or "-"), ("multiplier", f"x{scene.multiplier}")]
    second = "   ".join(f"{word(key, lang)} {value}" for key, value in facts)
    line: Line = [(f"   {second}   {word('bottom', lang)} ", ""), (bottom, "play")]
    wild = wild_text(session.view, session.game.rules, lang)
    if wild:
        line += [(f"   {say('wild_is', lang)} ", ""), (wild, "wild")]
    return [_rule(first), line]


def _phase(phase: str, lang: str) -> str:
    """A phase as a person reads it."""
    return word(phase, lang).replace("_", " ")


def _seat_line(session: Session, scene: Scene, seat: int) -> Line:
    """One row of the table of seats."""
    lang, shown = session.lang, scene.players[seat]
    turn = seat == scene.turn
    mine = seat == session.seat
    name = word("you", lang) if mine else session.names[seat]
    role = word(shown.role, lang)
    left = str(shown.left) + (" !" if 0 < shown.left <= 2 and scene.phase == "play" else "")
    cells = (" > " if turn else "", player(seat, lang), name, role, left)
    styles = ("turn", "turn" if turn else "", "good" if mine else "",
              "landlord" if shown.role == "landlord" else "", "")  # fmt: skip
    line: Line = [(_pad(cell, w), s) for cell, w, s in zip(cells, _WIDTHS, styles, strict=True)]
    line.append((word(shown.last, lang), "play" if seat == scene.to_beat else ""))
    return line


def _marks(shown: Player, scene: Scene, lang: str) -> str:
    """What a seat did before the play that still counts; calls only until it begins."""
    calls = scene.phase not in ("play", "over")
    return ", ".join(
        word(key, lang) for key, _ in shown.marks if calls or not key.startswith("call")
    )


def _notes(session: Session, scene: Scene) -> list[Line]:
    """Below the table: the card turned up, what was said before the play, hands that are shown."""
    lang, lines = session.lang, []
    if scene.turned and scene.phase != "play":
        card, holder = scene.turned
        text = f"{word('turned up', lang)} {card} {word('of', lang)} {player(holder, lang)}"
        lines.append([("   " + text, "")])
    said = [
        f"{player(seat, lang)} {marks}"
        for seat, shown in enumerate(scene.players)
        if (marks := _marks(shown, scene, lang))
    ]
    if said:
        lines.append([("   " + _pad("; ".join(said), COLUMNS - 3), "dim")])
    over = scene.phase == "over"
    for seat, shown in enumerate(scene.players):
        if shown.hand and (over or seat != session.seat):
            head = say("had_left" if over else "shows", lang)
            line: Line = [(f"   {player(seat, lang)} {head}: ", "")]
            lines.append(line + card_spans(shown.hand, scene.wild == "jokers"))
    return lines


def _latest(texts: list[str], width: int) -> str:
    """The last of some texts, as many as fit into so many columns; dots for those before."""
    shown = ", ".join(texts)
    while cell_width(shown) > width:
        texts = texts[1:]
        shown = ", ".join(["...", *texts])
    return shown


def _event_texts(session: Session) -> list[str]:
    """What the others did, in words; who does not show, double or the like goes without saying."""
    lang, texts, raises = session.lang, [], 0
    for seat, text, phase in session.events:
        if seat < 0:
            continue
        words = text
        if phase not in ("", "play", "fill"):
            words = choice_words(phase, text, raises)[lang == "zh"]
            raises += text == "raise"
        quiet = text == "pass" and (phase.startswith("show") or phase == "double")
        if seat != session.seat and not quiet:
            texts.append(f"{player(seat, lang)} {word(words, lang)}")
    return texts


def _since(session: Session) -> list[Line]:
    """What the others did since the person's last decision."""
    said = dict.fromkeys(text for seat, text, _ in session.events if seat < 0)
    lines: list[Line] = [[("   " + _pad(text, COLUMNS - 3), "bad")] for text in said]
    texts = _event_texts(session)
    if texts:
        head = say("since", session.lang) + ": "
        lines.append([(f"   {head}", "dim"), (_latest(texts, COLUMNS - 4 - cell_width(head)), "")])
    return lines


def _to_beat(session: Session, scene: Scene) -> list[Line]:
    """The play that stands."""
    if scene.to_beat is None or scene.turn is None:
        return []
    lang, text = session.lang, scene.players[scene.to_beat].last
    kind = category_name(int(ACTIONS[parse_starred(text)[0]]["category"]), lang)
    who = player(scene.to_beat, lang)
    return [
        [
            (f"   {word('to beat', lang)}: ", ""),
            (text, "play"),
            (f"  {kind} ({who})", ""),
        ]
    ]


def _own_hand(session: Session, scene: Scene) -> list[Line]:
    """The person's cards."""
    lang, mine = session.lang, scene.players[session.seat]
    if scene.phase == "over":
        return []
    line: Line = [(f"   {say('hand', lang)}: ", "")]
    if not mine.hand:
        key = "not_looked" if mine.hand is None else "not_dealt"
        return [[*line, (say(key, lang), "dim")]]
    n = sum(len(text.strip()) for text, _ in card_spans(mine.hand))
    count = f"({n}{say('cards', lang)})" if lang == "zh" else f"({n} {say('cards', lang)})"
    return [[*line, *card_spans(mine.hand, scene.wild == "jokers"), (count, "dim")]]


def _result(session: Session, scene: Scene) -> list[Line]:
    """How the deal ended, and the table over all deals."""
    lang = session.lang
    text = word(scene.result, lang) if scene.winner is not None else say("void", lang)
    if scene.spring:
        text += f", {word('spring', lang)}"
    mine = scene.players[session.seat].score or 0
    head: Line = [("   ", ""), (_pad(word("seat", lang), 13), "dim")]
    for key, width in (("name", 14), ("this_deal", 11), ("points", 11), ("beans", 9)):
        head.append((_pad(say(key, lang), width), "dim"))
    lines: list[Line] = [
        [(f"   {text}", "good" if mine > 0 else "bad" if mine < 0 else "")],
        [*head, (say("title", lang), "dim")],
    ]
    return lines + [_standing(session, scene, seat) for seat in range(3)]


def _standing(session: Session, scene: Scene, seat: int) -> Line:
    """A seat's points of the deal and of all deals, beans and title."""
    lang, table = session.lang, session.table
    mine = seat == session.seat
    level = table.titles[seat]
    cells = (
        _pad(player(seat, lang), 13),
        _pad(word("you", lang) if mine else session.names[seat], 14),
        _number(score(scene.players[seat].score or 0), 11),
        _number(score(table.points[seat]), 11),
        _number(str(table.beans[seat]), 9),
        level.chinese if lang == "zh" else level.english,
    )
    return [("   " + "".join(cells), "good" if mine else "")]


def table_lines(session: Session) -> list[Line]:
    """The screen of what the person may see now, each line at most 80 columns."""
    scene, lang = session.scene, session.lang
    keys = ("seat", "name", "role", "left", "last")
    heads = ["", *(say(k, lang) if k == "name" else word(k, lang) for k in keys)]
    lines = _heads(scene, session)
    row: Line = [(_pad(head, w), "dim") for head, w in zip(heads[:-1], _WIDTHS, strict=True)]
    lines.append([*row, (heads[-1], "dim")])
    lines += [_seat_line(session, scene, seat) for seat in range(3)]
    lines += [*_notes(session, scene), *_since(session)]
    lines += [*_to_beat(session, scene), *_own_hand(session, scene)]
    if scene.phase == "over":
        lines += _result(session, scene)
    elif session.new:
        lines.append([("   " + say("keys", lang), "dim")])
    return lines


def help_lines(session: Session) -> list[Line]:
    """The page behind `?`."""
    lang, rules = session.lang, session.game.rules
    lines = list(HELP[lang])
    if rules.wild != "none":
        wild = wild_text(session.view, rules, lang) or "W = ?"
        lines[2:2] = [HELP_WILD[rules.wild][lang].format(wild=wild), HELP_STAR[lang]]
    return [[(line, "")] for line in lines]


def prompt_lines(session: Session) -> list[Line]:
    """What is asked; the answer is typed on a line of its own."""
    prompt = session.prompt
    lines: list[Line] = [[(text, "")] for text in prompt.head]
    question: Line = [(prompt.text, "turn")]
    if prompt.kind == "choice":
        options = "   ".join(f"{o.key} = {o.words[0]} {o.words[1]}" for o in prompt.options)
        question.append((f"   {options}", ""))
    return [*lines, question]
