"""The table as a picture: items of a scene, each line an equal part of the height.

Needs Pillow, which does not smooth the edges of shapes: cards and discs are drawn at four times their size, made
smaller, and kept.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from deepcrib.board import scene
from deepcrib.board.scene import Card, Item, Sign, Words
from deepcrib.board.text import rank_text
from deepcrib.board.track import NUM_COLUMNS, ROW, place_of
from deepcrib.board.view import HIDDEN, TableView
from deepcrib.game.cards import NUM_SUITS

Color = tuple[int, int, int]

SCALE = 4
WIDTH, HEIGHT = 960, 640
MARGIN = 10
COLUMN = (WIDTH - 2 * MARGIN) / scene.COLUMNS

# The palette of Okabe and Ito (2008), which the colour-blind tell apart, partly darker for small signs on white.
SUIT_COLORS: tuple[Color, ...] = ((0, 120, 88), (0, 100, 168), (205, 70, 0), (20, 20, 20))
SEAT_COLORS: tuple[Color, ...] = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167))
WHITE, INK, PAPER = (255, 255, 255), (30, 30, 30), (252, 250, 244)
LABEL_COLORS = (WHITE, INK, INK, INK)  # readable on those of the seats
CARD_EDGE, FADED = (120, 120, 120), (186, 190, 192)
BACK, BACK_LINES = (70, 60, 110), (150, 140, 190)
WOOD, WOOD_EDGE, WOOD_INK, HOLE = (222, 188, 135), (120, 84, 44), (92, 62, 30), (96, 66, 36)
TABLE, QUIET, BRIGHT = (38, 54, 66), (176, 190, 200), (255, 214, 90)
WORD_COLORS = {scene.PLAIN: WHITE, scene.STRONG: BRIGHT, scene.QUIET: QUIET, scene.WOOD: WOOD_INK}
DIAMETERS = {scene.HOLE: 6, scene.BACK: 11, scene.FRONT: 13}
BADGE = 18


def painted(view: TableView) -> NDArray[np.uint8]:
    """uint8 [640, 960, 3] of a view."""
    items, lines = scene.table(view)
    image = _background(view.num_players, HEIGHT / lines).copy()
    draw = ImageDraw.Draw(image)
    for item in items:
        _paint(image, draw, item, HEIGHT / lines)
    return np.array(image)


def middle_of(item: Item, height: float) -> tuple[int, int]:
    """Pixel (x, y) of the middle of the cell in which an item begins; lines are so many pixels high."""
    return _left(item.column + 0.5), round((item.line + 0.5) * height)


def _left(column: float) -> int:
    return round(MARGIN + column * COLUMN)


def _paint(image: Image.Image, draw: ImageDraw.ImageDraw, item: Item, height: float) -> None:
    x, y = middle_of(item, height)
    if isinstance(item, Card):
        _paint_card(image, draw, item, height)
    elif isinstance(item, Words):
        _paint_words(image, draw, item, height)
    elif item.kind in DIAMETERS:
        _paint_disc(image, (x, y), _disc_of(item))
    elif item.kind == scene.BAR:
        draw.line((x, y - height // 2, x, y + height // 2), WOOD_INK, 1)
    else:
        draw.polygon([(x - 5, y - 7), (x + 7, y), (x - 5, y + 7)], BRIGHT)


# --- words and discs ----------------------------------------------------------------------------------------------


@cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, so that a picture is the same wherever it is drawn."""
    return ImageFont.load_default(size=size)


def _paint_words(image: Image.Image, draw: ImageDraw.ImageDraw, item: Words, height: float) -> None:
    """A text; one character of a player's is a badge."""
    x, y = middle_of(item, height)
    if item.role in scene.SEATS and len(item.text) == 1:
        _badge(image, draw, (x, y), item.text, scene.SEATS.index(item.role))
        return
    color = WORD_COLORS.get(item.role, WHITE)
    size = 12 if item.role == scene.WOOD else 16
    draw.text((_left(item.column), y), item.text, color, font(size), anchor="rm" if item.ends else "lm")


def _badge(image: Image.Image, draw: ImageDraw.ImageDraw, middle: tuple[int, int], text: str, seat: int | None) -> None:
    """A disc with a label, of a player's colour or white."""
    color, ink = (WHITE, INK) if seat is None else (SEAT_COLORS[seat], LABEL_COLORS[seat])
    _paint_disc(image, middle, disc(BADGE, color))
    draw.text(middle, text, ink, font(13), anchor="mm")


def _paint_disc(image: Image.Image, middle: tuple[int, int], sprite: Image.Image) -> None:
    image.paste(sprite, (middle[0] - sprite.width // 2, middle[1] - sprite.height // 2), sprite)


def _disc_of(sign: Sign) -> Image.Image:
    if sign.kind == scene.HOLE:
        return disc(DIAMETERS[sign.kind], HOLE, HOLE)
    return disc(DIAMETERS[sign.kind], SEAT_COLORS[scene.SEATS.index(sign.role)], hollow=sign.kind == scene.FRONT)


@cache
def disc(diameter: int, color: Color, edge: Color = INK, hollow: bool = False) -> Image.Image:
    """A disc with an edge; hollow: with a white middle, as front pegs have."""
    size = diameter * SCALE
    image = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.ellipse((0, 0, size - 1, size - 1), color, edge, SCALE)
    if hollow:
        inner = size * 5 // 16
        draw.ellipse((inner, inner, size - inner, size - inner), WHITE)
    return _smaller(image)


def _smaller(image: Image.Image) -> Image.Image:
    return image.resize((image.width // SCALE, image.height // SCALE), Image.Resampling.BOX)


# --- cards --------------------------------------------------------------------------------------------------------

# In a square from -1 to 1, for clubs, diamonds, hearts and spades: discs (x, y, radius), and polygons.
_DISCS = (
    ((0, -0.5, 0.46), (-0.52, 0.2, 0.46), (0.52, 0.2, 0.46)),
    (),
    ((-0.46, -0.42, 0.5), (0.46, -0.42, 0.5)),
    ((-0.46, 0.2, 0.47), (0.46, 0.2, 0.47)),
)
_POLYGONS = (
    (((-0.15, -0.3), (0.15, -0.3), (0.15, 0.4), (-0.15, 0.4)), ((0, 0), (0.4, 1), (-0.4, 1))),
    (((0, -1), (0.76, 0), (0, 1), (-0.76, 0)),),
    (((-0.91, -0.2), (0, -0.45), (0.91, -0.2), (0, 1)),),
    (((-0.89, 0), (0, -1), (0.89, 0), (0, 0.5)), ((0, 0.1), (0.38, 1), (-0.38, 1))),
)


def _paint_card(image: Image.Image, draw: ImageDraw.ImageDraw, item: Card, height: float) -> None:
    small = item.kind == scene.SMALL
    lines, columns = (1, 3.5) if small else (scene.CARD_HEIGHT, scene.CARD_WIDTH)
    left, top = _left(item.column), round(item.line * height) + 2
    width, tall = round(columns * COLUMN) - 3, round(lines * height) - 4
    sprite = card_sprite(item.card, width, tall, item.kind in (scene.DIM, scene.ASIDE), small)
    image.paste(sprite, (left, top), sprite)
    if item.mark:
        seat = scene.SEATS.index(item.role) if item.role in scene.SEATS else None
        _badge(image, draw, (left + BADGE // 2 + 4, top + tall - BADGE // 2 - 3), item.mark, seat)


@cache
def card_sprite(card: int, width: int, height: int, faded: bool = False, small: bool = False) -> Image.Image:
    """A card of a size, pixels, HIDDEN its back; faded: less bright; small: rank and suit side by side."""
    w, h = width * SCALE, height * SCALE
    image = Image.new("RGBA", (w, h), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    paper = FADED if faded else PAPER
    draw.rounded_rectangle((0, 0, w - 1, h - 1), w // 9, BACK if card == HIDDEN else paper, CARD_EDGE, SCALE)
    if card == HIDDEN:
        margin = w // 9
        draw.rounded_rectangle((margin, margin, w - margin, h - margin), w // 12, None, BACK_LINES, SCALE)
        return _smaller(image)
    suit, color = card % NUM_SUITS, SUIT_COLORS[card % NUM_SUITS]
    size, corner = (h * 5 // 8, (w * 3 // 10, h // 2)) if small else (w * 11 // 32, (w // 4, h // 24 + w // 6))
    draw.text(corner, rank_text(card), color, font(size), anchor="mm", stroke_width=SCALE // 3)
    places = (
        [(w * 3 // 4, h // 2, h // 2)] if small else [(w // 4, h * 7 // 16, w // 4), (w * 5 // 8, h * 2 // 3, w // 2)]
    )
    for x, y, across in places:
        _draw_suit(draw, suit, (x, y), across / 2)
    return _smaller(image)


def _draw_suit(draw: ImageDraw.ImageDraw, suit: int, middle: tuple[int, int], r: float) -> None:
    """The sign of a suit (clubs, diamonds, hearts, spades) in a square of 2r pixels."""
    x, y = middle
    for dx, dy, radius in _DISCS[suit]:
        left, top = x + (dx - radius) * r, y + (dy - radius) * r
        draw.ellipse((left, top, left + 2 * radius * r, top + 2 * radius * r), SUIT_COLORS[suit])
    for points in _POLYGONS[suit]:
        draw.polygon([(x + dx * r, y + dy * r) for dx, dy in points], SUIT_COLORS[suit])


# --- the table ----------------------------------------------------------------------------------------------------


@cache
def _background(num_players: int, height: float) -> Image.Image:
    """The table with the wood of the board and the bends of its tracks."""
    image = Image.new("RGB", (WIDTH, HEIGHT), TABLE)
    tall = round((2 * num_players + 3) * height)
    image.paste(_wood(WIDTH, tall), (0, round(scene.BOARD_LINE * height)))
    draw = ImageDraw.Draw(image)
    right = _left(scene.TRACKS + NUM_COLUMNS)
    for seat in range(num_players):
        upper, lower = (
            (scene.BOARD_LINE + place_of(num_players, seat, hole).line + gap + 0.5) * height
            for hole, gap in ((ROW, 1), (ROW + 1, 2))
        )
        r = (1 - seat / num_players) * (WIDTH - right - 8)
        draw.arc((right - r, upper, right + r, lower), -90, 90, SEAT_COLORS[seat], 2)
    return image


def _wood(width: int, height: int) -> Image.Image:
    """A plank with its grain along the board."""
    x, y = np.linspace(0, 1, width)[None], np.linspace(0, 1, height)[:, None]
    bent = y + 0.02 * np.sin(7 * x + 2) + 0.012 * np.sin(17 * x)
    grain = 5 * np.sin(60 * bent) + 4 * np.sin(143 * bent + 3 * x) + 2 * np.sin(391 * bent)
    image = Image.fromarray(np.clip(np.array(WOOD) + grain[..., None], 0, 255).astype(np.uint8))
    ImageDraw.Draw(image).rectangle((0, 0, width - 1, height - 1), None, WOOD_EDGE, 4)
    return image
