"""Small pictures that a table is put together from: cards, backs, icons, plates.

Each is drawn `SCALE` times as large and reduced, so that its edges are smooth, and kept.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import cos, pi, sin

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from ddz_env.cards import BIG_JOKER, RANKS
from ddz_env.errors import DdzError

SCALE = 4
PAD = 6
"""Pixels around a card for its shadow."""
LARGE, MEDIUM, SMALL = (88, 124), (60, 84), (50, 70)
"""Width and height of a card."""

Color = tuple[int, int, int]
Point = tuple[float, float]
Shown = tuple[int, int, bool] | None
"""What a card shows: rank 0..14, suit 0..3 (spade, heart, club, diamond), whether it is wild; None
for its back."""

INK, RED = (30, 34, 46), (200, 32, 44)
GOLD, GOLD_DARK, GOLD_INK = (247, 200, 82), (176, 120, 20), (104, 62, 4)
IVORY, CREAM, PENCIL = (255, 255, 252), (241, 238, 228), (150, 152, 150)
BACK, BACK_DARK = (38, 74, 132), (22, 46, 92)
WHITE = (255, 255, 255)


@cache
def font(weight: str, size: int, path: str | None = None) -> ImageFont.FreeTypeFont:
    """A font: Source Sans Pro in a weight (`Regular`, `Semibold`, `Bold`, `Black`), or a file.

    Raises:
        DdzError: the file is no font.
    """
    if path is None:
        path = str(files("font_source_sans_pro") / "files" / f"SourceSansPro-{weight}.ttf")
    try:
        # The basic layout is the same wherever Pillow runs.
        return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
    except OSError as error:
        raise DdzError(f"font: {path!r} is no font file that can be read: {error}") from None


class Canvas:
    """A transparent picture that is drawn `SCALE` times as large as it will be.

    All lengths are pixels of the finished picture.

    Args:
        width: of the finished picture.
        height: of the finished picture.
    """

    def __init__(self, width: float, height: float) -> None:
        self.size = round(width), round(height)
        self.image = Image.new("RGBA", (self.size[0] * SCALE, self.size[1] * SCALE))
        self.draw = ImageDraw.Draw(self.image)

    def box(
        self,
        corners: tuple[float, float, float, float],
        radius: float,
        fill: Sequence[int] | None,
        outline: Sequence[int] | None = None,
        line: float = 0,
    ) -> None:
        """A box with round corners."""
        self.draw.rounded_rectangle(
            [SCALE * c for c in corners],
            SCALE * radius,
            tuple(fill) if fill else None,
            tuple(outline) if outline else None,
            round(SCALE * line),
        )

    def shape(self, points: Sequence[Point], fill: Sequence[int]) -> None:
        """A filled polygon."""
        self.draw.polygon([(SCALE * x, SCALE * y) for x, y in points], fill=tuple(fill))

    def disc(
        self,
        x: float,
        y: float,
        radius: float,
        fill: Sequence[int] | None,
        outline: Sequence[int] | None = None,
        line: float = 0,
    ) -> None:
        """A circle by its middle."""
        corners = (x - radius, y - radius, x + radius, y + radius)
        self.box(corners, radius, fill, outline, line)

    def text(
        self,
        at: Point,
        text: str,
        size: float,
        fill: Color,
        weight: str = "Bold",
        anchor: str = "mm",
    ) -> None:
        """A text, by Pillow's anchors."""
        x, y = at
        drawn = font(weight, round(size * SCALE))
        self.draw.text((SCALE * x, SCALE * y), text, fill, drawn, anchor=anchor)

    def blur(self, radius: float) -> None:
        """Blur what has been drawn so far."""
        self.image = self.image.filter(ImageFilter.GaussianBlur(radius * SCALE))
        self.draw = ImageDraw.Draw(self.image)

    def put(self, image: Image.Image, mask: "Canvas") -> None:
        """Replace what has been drawn by another picture, where a mask has something."""
        self.image = Image.composite(image, self.image, mask.image.getchannel("A"))
        self.draw = ImageDraw.Draw(self.image)

    def done(self) -> Image.Image:
        """The finished picture."""
        return self.image.resize(self.size, Image.Resampling.BOX)


# ----------------------------------------------------------------------------------------- suits


def _heart(x: float, y: float, r: float, down: bool = True) -> list[Point]:
    """The outline of a heart, or of one on its head, in a square of half a side `r`."""
    sign = 1 if down else -1
    points = []
    for i in range(72):
        t = 2 * pi * i / 72
        height = 13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)
        points.append((x + r * sin(t) ** 3, y - sign * r * (height + 2.5) / 15.5))
    return points


def _stem(x: float, y: float, r: float) -> list[Point]:
    """The foot of spades and clubs, its top at the middle."""
    side = [(0.05 + 0.38 * (i / 8) ** 2.2, i / 8) for i in range(9)]
    right = [(x + r * w, y + r * h) for w, h in side]
    return right + [(2 * x - px, py) for px, py in reversed(right)]


def suit(canvas: Canvas, kind: int, x: float, y: float, r: float, fill: Color) -> None:
    """A suit around a point: 0 spade, 1 heart, 2 club, 3 diamond."""
    if kind == 0:
        canvas.shape(_heart(x, y - 0.14 * r, 0.92 * r, down=False), fill)
        canvas.shape(_stem(x, y, r), fill)
    elif kind == 1:
        canvas.shape(_heart(x, y, r), fill)
    elif kind == 2:
        for dx, dy in ((0, -0.5), (-0.48, 0.2), (0.48, 0.2)):
            canvas.disc(x + dx * r, y + dy * r, 0.46 * r, fill)
        canvas.disc(x, y, 0.25 * r, fill)
        canvas.shape(_stem(x, y, r), fill)
    else:
        sides = [(0, -1.05), (0.34, -0.4), (0.8, 0), (0.34, 0.4)]
        sides += [(-px, -py) for px, py in sides]
        canvas.shape([(x + r * px, y + r * py) for px, py in sides], fill)


def star(canvas: Canvas, x: float, y: float, r: float, fill: Sequence[int]) -> None:
    """A star of five points."""
    points = []
    for i in range(10):
        t, length = pi * i / 5, r if i % 2 == 0 else 0.45 * r
        points.append((x + length * sin(t), y - length * cos(t)))
    canvas.shape(points, fill)


# ----------------------------------------------------------------------------------------- icons


def _bend(start: Point, by: Point, end: Point) -> list[Point]:
    """Points of a quadratic curve."""
    points = []
    for i in range(13):
        t = i / 12
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        points.append(
            (a * start[0] + b * by[0] + c * end[0], a * start[1] + b * by[1] + c * end[1])
        )
    return points


def jester(
    canvas: Canvas, x: float, y: float, r: float, outer: Color, inner: Color, bell: Color
) -> None:
    """A cap with three horns and bells, the middle one in a colour of its own."""

    def at(points: list[Point]) -> list[Point]:
        return [(x + r * px, y + r * py) for px, py in points]

    left = [(-0.62, 0.6), *_bend((-0.62, 0.6), (-0.7, 0.0), (-1.02, 0.18))]
    left += [*_bend((-1.02, 0.18), (-0.9, -0.75), (-0.38, -0.62)), (0.1, 0.6)]
    right = [(-px, py) for px, py in left]
    middle = _bend((-0.36, 0.6), (-0.4, -0.3), (0.0, -0.95))
    middle += _bend((0.0, -0.95), (0.4, -0.3), (0.36, 0.6))
    canvas.shape(at(left), outer)
    canvas.shape(at(right), outer)
    canvas.shape(at(middle), inner)
    canvas.box((x - 0.66 * r, y + 0.5 * r, x + 0.66 * r, y + 0.78 * r), 0.12 * r, bell)
    for bx, by in ((-1.0, 0.2), (0.0, -0.98), (1.0, 0.2)):
        canvas.disc(x + bx * r, y + by * r, 0.15 * r, bell)


def crown(canvas: Canvas, x: float, y: float, r: float, fill: Color) -> None:
    """A crown, for the landlord."""
    points = [
        (-0.8, 0.55), (-0.95, -0.4), (-0.45, 0.05), (0, -0.75), (0.45, 0.05), (0.95, -0.4),
        (0.8, 0.55),
    ]  # fmt: skip
    canvas.shape([(x + r * px, y + r * py) for px, py in points], fill)
    for px, py in ((-0.95, -0.46), (0, -0.8), (0.95, -0.46)):
        canvas.disc(x + r * px, y + r * py, 0.14 * r, fill)
    canvas.box((x - 0.8 * r, y + 0.62 * r, x + 0.8 * r, y + 0.8 * r), 0.05 * r, fill)


def straw_hat(canvas: Canvas, x: float, y: float, r: float, fill: Color, band: Color) -> None:
    """A straw hat, for a farmer."""
    cone = [
        *_bend((-0.62, 0.3), (-0.42, -0.62), (0, -0.66)),
        *_bend((0, -0.66), (0.42, -0.62), (0.62, 0.3)),
    ]
    canvas.shape([(x + r * px, y + r * py) for px, py in cone], fill)
    canvas.shape(
        [
            (x + r * px, y + r * py)
            for px, py in ((-0.58, 0.1), (0.58, 0.1), (0.62, 0.32), (-0.62, 0.32))
        ],
        band,
    )
    brim = [
        (x + r * 1.05 * cos(pi * i / 24), y + r * (0.36 + 0.24 * sin(pi * i / 24)))
        for i in range(48)
    ]
    canvas.shape(brim, fill)


# ----------------------------------------------------------------------------------------- cards


@cache
def _paper(size: tuple[int, int], top: Color, low: Color, edge: Color, line: float) -> Image.Image:
    """A card without anything on it: its shadow, its paper shaded from top to bottom, its edge."""
    width, height = size
    radius = 0.09 * width
    canvas = Canvas(width + 2 * PAD, height + 2 * PAD)
    place = (PAD, PAD, PAD + width, PAD + height)
    canvas.box((PAD - 1, PAD + 1, PAD + width, PAD + height + 2), radius, (0, 0, 0, 120))
    canvas.blur(2)
    mask = Canvas(*canvas.size)
    mask.box(place, radius, WHITE)
    shade = Image.linear_gradient("L").resize(canvas.image.size)
    colors = [Image.new("RGBA", shade.size, (*color, 255)) for color in (low, top)]
    canvas.put(Image.composite(colors[0], colors[1], shade), mask)
    canvas.box(place, radius, None, edge, line)
    return canvas.image


def _blank(
    size: tuple[int, int], top: Color = IVORY, low: Color = CREAM, edge: Color = PENCIL,
    line: float = 1,
) -> Canvas:  # fmt: skip
    """A card to draw on."""
    canvas = Canvas(size[0] + 2 * PAD, size[1] + 2 * PAD)
    canvas.image = _paper(size, top, low, edge, line).copy()
    canvas.draw = ImageDraw.Draw(canvas.image)
    return canvas


def _index(canvas: Canvas, text: str, size: tuple[int, int], ink: Color) -> None:
    """The rank in the corner; both digits of a 10 have to fit beside the next card."""
    width = size[0]
    if text != "10":
        canvas.text((PAD + 0.21 * width, PAD + 0.24 * width), text, 0.42 * width, ink)
        return
    for digit, at in (("1", 0.125), ("0", 0.285)):
        canvas.text((PAD + at * width, PAD + 0.24 * width), digit, 0.38 * width, ink)


@cache
def _face(shown: Shown, size: tuple[int, int]) -> Image.Image:
    """The face of a card, or a back, twice as large as it will be, alpha multiplied in."""
    canvas = _back(size) if shown is None else _front(*shown, size)
    return canvas.image.convert("RGBa").reduce(SCALE // 2)


@cache
def card(shown: Shown, size: tuple[int, int]) -> Image.Image:
    """A card as it lies on the table, with a margin of `PAD` around."""
    return _face(shown, size).reduce(2).convert("RGBA")


@lru_cache(maxsize=1024)
def tilted(shown: Shown, angle: float) -> Image.Image:
    """A large card turned clockwise by degrees around its middle."""
    face = _face(shown, LARGE)
    return face.rotate(-angle, Image.Resampling.BICUBIC, expand=True).reduce(2).convert("RGBA")


def _front(rank: int, kind: int, wild: bool, size: tuple[int, int]) -> Canvas:
    """The face of a card; wild ones are golden, with a star for a suit."""
    width, height = size
    canvas = _blank(size, (255, 236, 170), GOLD, GOLD_DARK, width / 36) if wild else _blank(size)
    if rank in (BIG_JOKER, BIG_JOKER - 1):
        _joker(canvas, rank == BIG_JOKER, wild, size)
        return canvas
    ink = GOLD_INK if wild else RED if kind in (1, 3) else INK
    _index(canvas, "10" if RANKS[rank] == "T" else RANKS[rank], size, ink)
    if wild:
        star(canvas, PAD + 0.21 * width, PAD + 0.6 * width, 0.14 * width, ink)
        star(canvas, PAD + 0.67 * width, PAD + height - 0.35 * width, 0.29 * width, GOLD_DARK)
    else:
        suit(canvas, kind, PAD + 0.21 * width, PAD + 0.6 * width, 0.125 * width, ink)
        suit(canvas, kind, PAD + 0.68 * width, PAD + height - 0.35 * width, 0.25 * width, ink)
    return canvas


def _joker(canvas: Canvas, big: bool, wild: bool, size: tuple[int, int]) -> None:
    """What is on a joker: the word downwards and a cap, coloured for the big one."""
    width, height = size
    ink = GOLD_INK if wild else RED if big else INK
    step = 0.135 * height
    for i, letter in enumerate("JOKER"):
        at = PAD + 0.17 * width, PAD + 0.12 * height + i * step
        canvas.text(at, letter, 0.15 * height, ink)
    outer, inner = (RED, (52, 88, 160)) if big else ((96, 100, 110), (44, 48, 58))
    bell = (236, 176, 40) if big else (150, 154, 162)
    jester(
        canvas, PAD + 0.63 * width, PAD + height - 0.42 * width, 0.27 * width, outer, inner, bell
    )


def _back(size: tuple[int, int]) -> Canvas:
    """The back of a card."""
    width, height = size
    canvas = _blank(size)
    edge = 0.07 * width
    inner = (PAD + edge, PAD + edge, PAD + width - edge, PAD + height - edge)
    canvas.box(inner, 0.06 * width, BACK)
    mask = Canvas(*canvas.size)
    mask.box(inner, 0.06 * width, WHITE)
    pattern = Canvas(*canvas.size)
    step = width / 6
    for row in range(round(2 * height / step) + 2):
        for column in range(8):
            x, y = PAD + step * (column + (row % 2) / 2), PAD + step * row / 2
            r = 0.3 * step
            pattern.shape([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], (92, 132, 194))
    canvas.put(Image.alpha_composite(canvas.image, pattern.image), mask)
    canvas.box(inner, 0.06 * width, None, BACK_DARK, width / 60)
    return canvas
