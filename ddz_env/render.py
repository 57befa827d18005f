"""A deal to look at: as text, as a picture, and in a window.

`ansi` needs nothing more; pictures and windows need the extra: `pip install 'ddz-env[render]'`.
What a seat may not know is never in its picture: all faces are made from a `scene.Scene`.
"""

import os
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from ddz_env.cards import to_text
from ddz_env.errors import DdzError
from ddz_env.game import Game
from ddz_env.scene import Scene, look
from ddz_env.words import check_lang, player, score, word

if TYPE_CHECKING:
    import pygame

RENDER_MODES = ("ansi", "rgb_array", "human")
"""The modes of `ansi`, `rgb_array` and `Window`, by the names of Gymnasium."""
RENDER_FPS = 4
"""Frames a second of a window: a decision stays long enough to be seen."""
COLUMNS = 80
"""The most columns of a screen; its lines are fewer than 24."""
_WIDTHS = (1, 12, 13, 4, 20)
"""Columns of the table of seats: mark, name, role, cards left, hand of 20 cards; 25 are left for a
play of 20 cards, four of them wild, with a kicker."""
MISSING = "rendering needs Pillow, pygame-ce and a font: pip install 'ddz-env[render]'"


# ------------------------------------------------------------------------------------------ text


def cell_width(text: str) -> int:
    """The columns that a text takes on a terminal: wide characters two, marks on letters none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _fit(text: str, width: int) -> str:
    """A text cut or filled with spaces to exactly so many columns."""
    while cell_width(text) > width:
        text = text[:-1]
    return text + " " * (width - cell_width(text))


def ansi(game: Game, seat: int | None = None, lang: str = "en") -> str:
    """One screen of a deal: at most 80 columns and 24 lines, without colours.

    Args:
        game: the deal.
        seat: whose knowledge is shown, 0..2; all hands are open when None.
        lang: `en` or `zh`.

    Returns:
        Lines without spaces at their ends: the deal, a table of the seats, and below it what is to
        beat, the cards that the seat has not seen, choices before the play that still count, the
        scores. The table's last column is each seat's last decision, in the play of this trick.

    Raises:
        DdzError: no such seat or language.
    """
    check_lang(lang)
    scene = look(game, seat)
    lines = [*_heads(scene, lang), "", *_aligned(_seat_rows(scene, lang), _WIDTHS)]
    more = _further(scene, lang)
    if more:
        lines += ["", *more]
    return "\n".join(_fit(line, COLUMNS).rstrip() for line in lines)


def _heads(scene: Scene, lang: str) -> list[str]:
    """What concerns the whole deal."""

    def pair(key: str, value: object) -> str:
        return f"{word(key, lang)} {value}"

    first = [_fit(scene.room, 24).rstrip(), pair("phase", word(scene.phase, lang))]
    if scene.redeals:
        first.append(pair("redeals", scene.redeals))
    second = [pair("base", scene.base or "-"), pair("multiplier", scene.multiplier)]
    lord = "-" if scene.landlord is None else player(scene.landlord, lang)
    second.append(pair("landlord", lord))
    hidden = word("hidden", lang)
    second.append(pair("bottom", hidden if scene.bottom is None else to_text(scene.bottom)))
    if scene.wild:
        first.append(pair("wild", word("red 7" if scene.red_wild else scene.wild, lang)))
    if scene.turned:
        card, holder = scene.turned
        first.append(pair("turned up", f"{card} {word('of', lang)} {player(holder, lang)}"))
    return ["  ".join(first), "  ".join(second)]


def _seat_rows(scene: Scene, lang: str) -> list[list[str]]:
    """The table of the seats, its heads first."""
    rows = [["", *(word(key, lang) for key in ("seat", "role", "left", "hand", "last"))]]
    for seat, shown in enumerate(scene.players):
        you = f" {word('you', lang)}" if seat == scene.seat else ""
        rows.append(
            [
                ">" if seat == scene.turn else "",
                player(seat, lang) + you,
                word(shown.role, lang),
                str(shown.left),
                word("hidden", lang) if shown.hand is None else to_text(shown.hand),
                word(shown.last, lang),
            ]
        )
    return rows


def _aligned(rows: list[list[str]], widths: tuple[int, ...]) -> list[str]:
    """Rows as lines: columns of so many cells, then a last one as long as its text."""
    return [" ".join([*map(_fit, row, widths), row[-1]]) for row in rows]


def _further(scene: Scene, lang: str) -> list[str]:
    """What stands below the table: what is to beat, choices before the play, scores."""
    rows = []
    if scene.declared:
        rows.append(["declared", scene.declared])
    if scene.to_beat is not None and scene.turn is not None:
        play = scene.players[scene.to_beat].last
        rows.append(["to beat", f"{play} {word('of', lang)} {player(scene.to_beat, lang)}"])
    if scene.unseen:
        rows.append(["unseen", to_text(scene.unseen)])
    head = "before the play"
    for seat, shown in enumerate(scene.players):
        if shown.marks:
            marks = (word(key, lang) + (f" x{n}" if n else "") for key, n in shown.marks)
            rows.append([head, f"{player(seat, lang)} {', '.join(marks)}"])
            head = ""
    lines = _aligned([[word(key, lang), text] for key, text in rows], (15,))
    if scene.result:
        scores = [[player(seat, lang), score(p.score)] for seat, p in enumerate(scene.players)]
        spring = f", {word('spring', lang)}" if scene.spring else ""
        lines += [""] * bool(lines) + [word(scene.result, lang) + spring, *_aligned(scores, (15,))]
    return lines


# --------------------------------------------------------------------------------------- picture


def rgb_array(
    game: Game, seat: int | None = None, lang: str = "en", font: str | None = None
) -> np.ndarray:
    """A picture of a deal, `uint8[640, 960, 3]`, a new array at each call.

    The seat that looks sits at the bottom (seat 0 with all hands open), the next one in turn at
    the right. Suits are decoration: the game has none.

    Args:
        game: the deal.
        seat: whose knowledge is shown, 0..2; all hands are open when None.
        lang: `en` or `zh`.
        font: path of a font file for all words; `zh` needs one with Chinese glyphs.

    Raises:
        DdzError: no such seat, language or font; a package of the extra is missing.
    """
    if check_lang(lang) == "zh" and font is None:
        raise DdzError("lang 'zh': pass font=PATH, a font file with Chinese glyphs; `ansi` has it")
    scene = look(game, seat)
    try:
        from ddz_env.drawing import draw

        return np.array(draw(scene, lang, font))
    except ImportError as error:  # a font that is missing shows only when it is drawn with
        raise DdzError(f"{MISSING} ({error})") from None


# ---------------------------------------------------------------------------------------- window


class Window:
    """A window that shows deals, for the mode `human`.

    It opens with the first frame. Once it has been closed, by `close` or by the person in front
    of it, further frames are dropped, so that a run goes on without it.

    Args:
        fps: frames a second at most: `show` waits.
        lang: as of `rgb_array`.
        font: as of `rgb_array`.

    Attributes:
        closed: whether it has been closed.

    Raises:
        DdzError: a package of the extra is missing.
    """

    def __init__(self, fps: float = RENDER_FPS, lang: str = "en", font: str | None = None) -> None:
        self._pygame = _load_pygame()
        self.fps, self.lang, self.font, self.closed = fps, lang, font, False
        self._screen: pygame.Surface | None = None
        self._clock = self._pygame.time.Clock()

    def show(self, game: Game, seat: int | None = None) -> None:
        """Show a deal as `rgb_array` draws it.

        Raises:
            DdzError: as `rgb_array`; no display to open a window on.
        """
        if self.closed:
            return
        frame = rgb_array(game, seat, self.lang, self.font)
        size = frame.shape[1], frame.shape[0]
        screen = self._open(size)
        picture = self._pygame.image.frombuffer(frame.tobytes(), size, "RGB")
        screen.blit(picture, (0, 0))
        self._pygame.display.flip()
        self._clock.tick(self.fps)
        if any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()

    def _open(self, size: tuple[int, int]) -> Any:
        """The surface of the window, opened if need be."""
        display = self._pygame.display
        if self._screen is None or display.get_surface() is not self._screen:
            try:
                display.init()
                self._screen = display.set_mode(size)
            except self._pygame.error as error:
                raise DdzError(f"human rendering: no window can be opened: {error}") from None
            display.set_caption("ddz-env")
        return self._screen

    def close(self) -> None:
        """Close the window; again is no error."""
        self.closed = True
        if self._screen is not None:
            self._screen = None
            self._pygame.display.quit()


def _load_pygame() -> Any:
    """The module, without its greeting."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise DdzError(f"{MISSING} ({error})") from None
    return pygame
