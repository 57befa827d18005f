"""The picture of a scene: a table, three seats around it, cards."""

from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

from ddz_env import faces
from ddz_env.cards import RANKS
from ddz_env.faces import LARGE, MEDIUM, PAD, SMALL, Canvas, Color
from ddz_env.scene import Player, Scene
from ddz_env.suits import Card, Suits
from ddz_env.words import player, score, word

WIDTH, HEIGHT = 960, 640
EDGE = 24
"""Pixels between the border of the picture and what stands at a side."""
SIDE = 272
"""Width of what belongs to the seats at the left and right."""
HEAD = 96
"""Height of the strip at the top."""
ROW = 32
"""Pixels from one row of cards to the next that overlaps it."""
TILT = 0.4
"""Degrees between neighbours of the fan at the bottom."""

PALE, MUTED = (236, 244, 238), (168, 196, 182)
GOLD, GREEN, ROSE = (250, 208, 96), (120, 220, 140), (255, 140, 130)
DARK = (8, 34, 28)
_ROLES = {"landlord": ((*GOLD, 255), (84, 50, 0)), "farmer": ((64, 150, 92, 255), PALE)}


@cache
def _felt() -> Image.Image:
    """The empty table: a green cloth, lighter in the middle, and a strip at the top."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    far = np.hypot((x - WIDTH / 2) / WIDTH, (y - 0.48 * HEIGHT) / HEIGHT)
    shade = np.clip(1.15 - 1.15 * far, 0, 1)[..., None]
    near, edge = np.array([30, 116, 86]), np.array([8, 48, 40])
    cloth = edge + (near - edge) * shade
    cloth[:HEAD] *= 0.55
    image = Image.fromarray(cloth.astype(np.uint8)).convert("RGBA")
    ImageDraw.Draw(image).line([(0, HEAD), (WIDTH, HEAD)], fill=(64, 132, 104), width=1)
    return image


@lru_cache(maxsize=256)
def _plate(
    width: int, height: int, fill: tuple[int, ...], outline: tuple[int, ...] | None, line: float
) -> Image.Image:
    """A box with round ends or corners."""
    canvas = Canvas(width, height)
    canvas.box((0, 0, width, height), min(height / 2, 14), fill, outline, line)
    return canvas.done()


@lru_cache(maxsize=64)
def _glow(width: int, height: int) -> Image.Image:
    """Light around a box of this size, 12 pixels further on each side."""
    canvas = Canvas(width + 24, height + 24)
    canvas.box((7, 7, width + 17, height + 17), 10, (255, 214, 96, 190))
    return canvas.done().filter(ImageFilter.GaussianBlur(4))


@lru_cache(maxsize=32)
def _avatar(role: str, seat: int, turn: bool) -> Image.Image:
    """The round picture of a seat, 72 pixels wide with its light."""
    canvas = Canvas(72, 72)
    if turn:
        canvas.disc(36, 36, 31, (255, 206, 84, 200))
        canvas.blur(3)
        canvas.disc(36, 36, 29, (255, 206, 84))
    lord = role == "landlord"
    fill = (132, 78, 20) if lord else (34, 102, 62) if role else (46, 70, 86)
    canvas.disc(36, 36, 26, fill, PALE, 2)
    if lord:
        faces.crown(canvas, 36, 37, 15, GOLD)
    elif role:
        faces.straw_hat(canvas, 36, 34, 17, (240, 206, 130), (176, 92, 48))
    else:
        canvas.text((36, 35), str(seat), 28, PALE)
    return canvas.done()


class Painter:
    """Paints one scene.

    Args:
        scene: what is shown.
        lang: `en` or `zh`.
        font: path of a font file for the words, or None.
    """

    def __init__(self, scene: Scene, lang: str, font: str | None) -> None:
        self.scene, self.lang, self.font = scene, lang, font
        self.image = _felt().copy()
        self._pen = ImageDraw.Draw(self.image)
        self._suits = Suits(scene)

    # ------------------------------------------------------------------------------ pieces

    def paste(self, piece: Image.Image, x: float, y: float) -> None:
        """Put a piece at a place, its upper left corner."""
        self.image.alpha_composite(piece, (max(round(x), 0), max(round(y), 0)))

    def write(
        self, x: float, y: float, text: str, size: int, color: Color = PALE,
        weight: str = "Semibold", anchor: str = "lm", most: float = WIDTH,
    ) -> float:  # fmt: skip
        """Write a text, smaller or cut where it would be wider than `most`; its width."""
        font = faces.font(weight, size, self.font)
        while font.getlength(text) > most and size > 15:
            size -= 1
            font = faces.font(weight, size, self.font)
        while font.getlength(text) > most and len(text) > 1:
            text = text[:-2] + "…"
        self._pen.text((round(x), round(y)), text, color, font, anchor=anchor)
        return font.getlength(text)

    def say(self, key: str) -> str:
        """A term, without underscores."""
        return word(key, self.lang).replace("_", " ")

    def pill(
        self, x: float, y: float, text: str, fill: tuple[int, ...], color: Color, size: int = 14,
        align: str = "l", outline: tuple[int, ...] | None = None,
    ) -> float:  # fmt: skip
        """A short text on a plate, `y` its middle; the width."""
        width = round(faces.font("Bold", size, self.font).getlength(text)) + size + 4
        height = round(1.6 * size)
        x -= {"l": 0, "m": width / 2, "r": width}[align]
        self.paste(_plate(width, height, fill, outline, 1.5), x, y - height / 2)
        self.write(x + width / 2, y, text, size, color, "Bold", "mm")
        return width

    def row(self, cards: Sequence[Card | None], x: float, y: float, size: tuple[int, int],
            step: float, image: Image.Image | None = None) -> None:  # fmt: skip
        """Cards from left to right, each over the one before; None is a back."""
        for i, shown in enumerate(cards):
            place = round(x + step * i - PAD), round(y - PAD)
            (image or self.image).alpha_composite(faces.card(shown, size), place)

    # ------------------------------------------------------------------------------- strip

    def strip(self) -> None:
        """The strip at the top: the room, the bottom cards, what the deal counts."""
        scene = self.scene
        self.write(EDGE, 30, scene.room, 26, PALE, "Bold", most=240)
        details = [self.say(scene.phase)]
        if scene.turned:
            card, seat = scene.turned
            rank = "10" if card == "T" else card
            of = f"{self.say('of')} {player(seat, self.lang)}"
            details.append(f"{self.say('turned up')} {rank} {of}")
        self.write(EDGE, 64, ",  ".join(details), 16, MUTED, most=290)
        self._bottom_and_wild()
        times = self.write(WIDTH - EDGE, 36, f"×{scene.multiplier}", 38, GOLD, "Bold", "rm", 200)
        counts = f"{self.say('base')} {scene.base or '–'}"
        if scene.redeals:
            counts = f"{self.say('redeals')} {scene.redeals}    {counts}"
        self.write(WIDTH - EDGE, 72, counts, 16, MUTED, anchor="rm")
        self.write(WIDTH - EDGE - times - 10, 42, self.say("multiplier"), 16, MUTED, anchor="rm")

    def _bottom_and_wild(self) -> None:
        """The bottom cards, and a card of what is wild."""
        scene = self.scene
        cards: list[Card | None] = [None] * 3
        if scene.bottom is not None:
            cards = [*self._suits.bottom(scene.bottom)]
        wild = self._suits.sample()
        x = 480 - (3 * 56 + (96 if wild else 0)) / 2 + 3
        self.write(x - 14, HEAD / 2, self.say("bottom"), 16, MUTED, anchor="rm")
        self.row(cards, x, 13, SMALL, 56)
        if wild:
            self.row([wild], x + 3 * 56 + 40, 13, SMALL, 0)
            self.write(x + 3 * 56 + 100, HEAD / 2, self.say("wild"), 16, GOLD)

    # ------------------------------------------------------------------------------- seats

    def seats(self) -> None:
        """Every seat: plate, hand, what it did last."""
        own = self.scene.seat or 0
        self._bottom_seat(own)
        self._side_seat((own + 1) % 3, right=True)
        self._side_seat((own + 2) % 3, right=False)

    def _side_seat(self, seat: int, right: bool) -> None:
        """A seat at the left or the right."""
        shown = self.scene.players[seat]
        self._name_plate(seat, 134, right)
        self._marks(shown, 184, right)
        most = 20 if shown.hand is None else 10
        self._group(self._hand(seat, shown), 202, "r" if right else "l", SMALL, most)
        self._last(seat, shown, 312, "l" if right else "r", 632 if right else 328)

    def _bottom_seat(self, seat: int) -> None:
        """The seat at the bottom, its cards large."""
        shown = self.scene.players[seat]
        self._name_plate(seat, 450, right=False)
        self._marks(shown, 464, right=True)
        cards = self._hand(seat, shown)
        step = min(44.0, (WIDTH - 2 * EDGE - LARGE[0]) / max(len(cards) - 1, 1))
        for i, card in enumerate(cards):
            aside = i - (len(cards) - 1) / 2
            face = faces.tilted(card, round(TILT * int(aside), 2))
            middle = WIDTH / 2 + step * aside, 552 + 0.15 * aside * aside
            self.paste(face, middle[0] - face.width / 2, middle[1] - face.height / 2)
        self._last(seat, shown, 372, "m", WIDTH // 2)

    def _name_plate(self, seat: int, y: int, right: bool) -> None:
        """Picture, name, role, cards left and score of a seat."""
        scene, shown = self.scene, self.scene.players[seat]
        anchor, sign = ("rm", -1) if right else ("lm", 1)
        x = WIDTH - EDGE if right else EDGE
        turn = seat == scene.turn
        self.paste(_avatar(shown.role, seat, turn), x - (66 if right else 6), y - 36)
        x += sign * 70
        name = player(seat, self.lang) + (f" ({self.say('you')})" if seat == scene.seat else "")
        wide = self.write(x, y - 13, name, 20, GOLD if turn else PALE, "Bold", anchor)
        if shown.score is not None:
            color = GREEN if shown.score > 0 else ROSE if shown.score < 0 else PALE
            self.write(
                x + sign * (wide + 14), y - 13, _points(shown.score), 24, color, "Bold", anchor, 90
            )
        if shown.role:
            role = "landlord" if shown.role == "landlord" else "farmer"
            fill, color = _ROLES[role]
            wide = self.pill(x, y + 14, self.say(role), fill, color, align="r" if right else "l")
            x += sign * (wide + 8)
        self.write(x, y + 13, self._cards_left(shown), 16, MUTED, anchor=anchor)

    def _cards_left(self, shown: Player) -> str:
        """How many cards a seat has, in words."""
        if self.lang == "zh":
            return f"{shown.left}张"
        return f"{shown.left} card" + ("" if shown.left == 1 else "s")

    def _marks(self, shown: Player, y: int, right: bool) -> None:
        """What a seat did before the play, as small plates."""
        x, sign = (WIDTH - EDGE, -1) if right else (EDGE, 1)
        for key, times in shown.marks:
            text = self.say(key) + (f" ×{times}" if times else "")
            wide = self.pill(x, y, text, (*DARK, 150), PALE, 13, "r" if right else "l",
                             (*MUTED, 255))  # fmt: skip
            x += sign * (wide + 6)

    def _hand(self, seat: int, shown: Player) -> list[Card | None]:
        """The cards of a hand, high ones first, or as many backs."""
        if shown.hand is None:
            return [None] * shown.left
        return [*self._suits.hand(seat)]

    # ------------------------------------------------------------------------------- plays

    def _last(self, seat: int, shown: Player, y: int, align: str, x: int) -> None:
        """What a seat did last: cards, or words on a plate.

        Args:
            seat: the seat.
            shown: the same as the scene has it.
            y: the top of the place.
            align: whether `x` is the left (`l`), the right (`r`) or the middle (`m`) of it.
            x: pixels from the left.
        """
        declared = self.scene.declared if seat == self.scene.turn else ""
        text = declared or shown.last
        if not text:
            return
        if text[0] in RANKS:
            cards = self._suits.play(seat, text, held=bool(declared))
            lit = bool(declared) or seat == self.scene.to_beat
            self._group(cards, y, align, MEDIUM, 10, x, lit)
            return
        passed = text in ("pass", "no")
        fill, color = ((*DARK, 170), MUTED) if passed else ((*PALE, 255), DARK)
        self.pill(x, y + MEDIUM[1] / 2, self.say(text), fill, color, 20, align)

    def _group(
        self, cards: Sequence[Card | None], y: int, align: str, size: tuple[int, int], most: int,
        x: int | None = None, lit: bool | None = None,
    ) -> None:  # fmt: skip
        """Cards in one row, or in two where there are more than `most`.

        Plays are lit, or dimmed where `lit` is False.
        """
        if not cards:
            return
        n = len(cards) if len(cards) <= most else (len(cards) + 1) // 2
        step = min(0.5 * size[0], (SIDE - size[0]) / max(n - 1, 1))
        width = round(size[0] + step * (n - 1))
        if x is None:
            x = EDGE if align == "l" else WIDTH - EDGE
        x -= {"l": 0, "m": width // 2, "r": width}[align]
        rows = [row for row in (cards[:n], cards[n:]) if row]
        height = size[1] + ROW * (len(rows) - 1)
        if align == "m":
            y -= 20 * (len(rows) - 1)  # away from the hand
        for i, row in enumerate(rows if lit else []):
            wide = round(size[0] + step * (len(row) - 1))
            self.paste(_glow(wide, size[1]), x - 12, y + ROW * i - 12)
        layer = Image.new("RGBA", (width + 2 * PAD, height + 2 * PAD))
        for i, row in enumerate(rows):
            self.row(row, PAD, PAD + ROW * i, size, step, layer)
        if lit is False:
            layer = ImageEnhance.Brightness(layer).enhance(0.62)
        self.paste(layer, x - PAD, y - PAD)

    # ------------------------------------------------------------------------------ middle

    def middle(self) -> None:
        """What is going on, in words."""
        scene = self.scene
        if scene.result:
            self._result()
            return
        assert scene.turn is not None
        name = player(scene.turn, self.lang)
        if scene.phase in ("play", "fill"):
            verb = "plays" if scene.to_beat is not None else "leads"
            title = f"{name} {self.say('fills wilds' if scene.phase == 'fill' else verb)}"
            self.write(480, 178, title, 28, PALE, "Bold", "mm", 340)
            if scene.declared:
                text = f"{self.say('declared')} {scene.declared}"
            elif scene.to_beat is not None:
                text = f"{self.say('to beat')} {scene.players[scene.to_beat].last}"
            else:
                return
            self.write(480, 214, text, 20, GOLD, anchor="mm", most=340)
            return
        self.write(480, 178, self.say(scene.phase), 28, GOLD, "Bold", "mm", 340)
        self.write(480, 214, f"{name} {self.say('decides')}", 20, PALE, anchor="mm")

    def _result(self) -> None:
        """How the deal ended."""
        scene = self.scene
        self.paste(_plate(316, 168, (*DARK, 150), (*GOLD, 255), 2), 322, 122)
        self.write(480, 152, self.say(scene.result), 28, GOLD, "Bold", "mm", 290)
        if scene.spring:
            self.write(480, 178, self.say("spring"), 17, PALE, anchor="mm")
        for seat, shown in enumerate(scene.players):
            y = (208 if scene.spring else 200) + 28 * seat
            self.write(352, y, player(seat, self.lang), 19, PALE)
            points = shown.score or 0.0
            color = GREEN if points > 0 else ROSE if points < 0 else PALE
            self.write(608, y, _points(points), 22, color, "Bold", "rm", 120)


def _points(points: float) -> str:
    """A score with a true minus."""
    return score(points).replace("-", "−")


def draw(scene: Scene, lang: str, font: str | None) -> Image.Image:
    """The picture of a scene, 960 x 640, RGB.

    Raises:
        DdzError: the font can't be read.
    """
    painter = Painter(scene, lang, font)
    painter.strip()
    painter.seats()
    painter.middle()
    return painter.image.convert("RGB")
