"""A session in a terminal: lines out, lines in. Colours only where they are wanted and help."""

import os
import sys
from collections.abc import Callable
from typing import TextIO

from ddz_env.play.phrases import say
from ddz_env.play.questions import Reply
from ddz_env.play.screen import Line, help_lines, plain, prompt_lines, table_lines
from ddz_env.play.session import Session

_CODES = {
    "head": "1;36",
    "turn": "1;32",
    "landlord": "1;33",
    "wild": "1;35",
    "joker": "1;31",
    "play": "1",
    "good": "32",
    "bad": "31",
    "dim": "2",
}
"""ANSI codes of the styles of screen.py."""


def wants_colour(stream: TextIO, no_color: bool = False) -> bool:
    """Whether a stream gets colours: a terminal, unless NO_COLOR is set or the option given."""
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(line: Line, colour: bool) -> str:
    """A line as the terminal gets it."""
    if not colour:
        return plain(line)
    return "".join(
        f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style in _CODES else text for text, style in line
    ).rstrip()


def _edit_lines() -> None:
    """Arrow keys and a history of lines, where the system has them."""
    try:
        import readline  # noqa: F401  # importing it is what changes input()
    except ImportError:
        return


def run(
    session: Session,
    *,
    no_color: bool = False,
    read: Callable[[str], str] | None = None,
    out: TextIO | None = None,
) -> None:
    """Play a session to its end.

    Args:
        session: one that has not begun.
        no_color: no colours, whatever the terminal can do.
        read: gives the next typed line after a prompt, `input` unless given; raises EOFError where
            there is none.
        out: where the screens go, the standard output unless given.
    """
    stream = sys.stdout if out is None else out
    colour = wants_colour(stream, no_color)
    echo = read is None and not sys.stdin.isatty()
    if read is None and not echo:
        _edit_lines()
    ask = input if read is None else read

    def show(lines: list[Line]) -> None:
        for line in lines:
            print(paint(line, colour), file=stream)
        stream.flush()

    session.begin()
    show([[], *table_lines(session)])
    while not session.done:
        show(prompt_lines(session))
        try:
            typed = ask("> ")
        except EOFError:
            show([[]])
            reply = session.end_of_input()
        else:
            if echo:  # so that the output of a script reads like a game
                show([[(typed, "")]])
            reply = session.answer(typed)
        show(_reply_lines(session, reply))
    show([[(farewell(session), "")]])


def _reply_lines(session: Session, reply: Reply) -> list[Line]:
    """What came of an answer."""
    style = "bad" if reply.kind == "refused" else ""
    lines: list[Line] = [[(text, style)] for text in reply.lines]
    if reply.page == "help":
        lines += help_lines(session)
    # A finished deal's screen has been shown before the question what to do next.
    if reply.kind == "moved" and not (session.done and session.shown_over):
        lines = [*lines, [], *table_lines(session)]
    return lines


def farewell(session: Session) -> str:
    """The last line: what the person leaves with."""
    table, seat, lang = session.table, session.seat, session.lang
    level = table.titles[seat]
    return say(
        "bye",
        lang,
        deals=session.played,
        points=f"{table.points[seat]:g}",
        beans=table.beans[seat],
        title=level.chinese if lang == "zh" else level.english,
    )
