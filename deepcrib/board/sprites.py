"""What a picture is put together from: cards, pegs and the empty board, each drawn once and kept. Needs Pillow.

Drawn at four times their size and made smaller, since Pillow does not smooth the edges of shapes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from deepcrib.board import words
from deepcrib.board.track import (
    BAR_COLUMNS,
    FIRST_HOLE,
    LAST_HOLE,
    NUM_COLUMNS,
    ROW,
    SKUNK_COLUMN,
    column_of,
    marked_holes,
    place_of,
)
from deepcrib.board.view import HIDDEN
from deepcrib.game.cards import NUM_SUITS

Color = tuple[int, int, int]

SCALE = 4
WIDTH = 960
BOARD_HEIGHT = 172

# The palette of Okabe and Ito (2008), which the colour-blind tell apart, partly darker for small signs on white.
SUIT_COLORS: tuple[Color, ...] = ((0, 120, 88), (0, 100, 168), (205, 70, 0), (20, 20, 20))
SEAT_COLORS: tuple[Color, ...] = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167))
WHITE, INK, PAPER = (255, 255, 255), (30, 30, 30), (252, 250, 244)
LABEL_COLORS = (WHITE, INK, INK, INK)  # readable on those of the seats
CARD_EDGE, FADED = (120, 120, 120), (186, 190, 192)
BACK, BACK_LINES = (70, 60, 110), (150, 140, 190)
WOOD, WOOD_EDGE, WOOD_INK, HOLE = (222, 188, 135), (120, 84, 44), (92, 62, 30), (96, 66, 36)


@cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, so that a picture is the same wherever it is drawn."""
    return ImageFont.load_default(size=size)


def _smaller(image: Image.Image) -> Image.Image:
    return image.resize((image.width // SCALE, image.height // SCALE), Image.Resampling.BOX)


# --- cards --------------------------------------------------------------------------------------------------------


@cache
def card_sprite(card: int, width: int, height: int, faded: bool = False) -> Image.Image:
    """A card of a size, pixels, HIDDEN its back; faded: less bright."""
    w, h = width * SCALE, height * SCALE
    image = Image.new("RGBA", (w, h), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    paper = FADED if faded else PAPER
    draw.rounded_rectangle((0, 0, w - 1, h - 1), w // 9, BACK if card == HIDDEN else paper, CARD_EDGE, SCALE)
    if card == HIDDEN:
        _draw_back(draw, w, h)
    else:
        _draw_face(image, card, paper)
    return _smaller(image)


def _draw_back(draw: ImageDraw.ImageDraw, w: int, h: int) -> None:
    margin, across, down, r = w // 9, 5, 7, w // 28
    draw.rounded_rectangle((margin, margin, w - margin, h - margin), w // 12, None, BACK_LINES, SCALE)
    for row in range(1, down + 1):
        for column in range(1, across + 1):
            x = margin + (w - 2 * margin) * column // (across + 1)
            y = margin + (h - 2 * margin) * row // (down + 1)
            draw.polygon([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], BACK_LINES)


def _draw_face(image: Image.Image, card: int, paper: Color) -> None:
    """Rank and suit in the upper left corner, so that covered cards can be read, and the suit in the middle."""
    draw = ImageDraw.Draw(image)
    w, h = image.size
    suit, rank = card % NUM_SUITS, words.rank_text(card)
    size = w * 11 // 32
    middle = w // 4
    draw.text((middle, h // 24), rank, SUIT_COLORS[suit], font(size), anchor="mt", stroke_width=SCALE // 3)
    draw_suit(draw, suit, (middle, h * 5 // 12), w // 4, paper)
    draw_suit(draw, suit, (w * 5 // 8, h * 2 // 3), w * 9 // 16, paper)


def draw_suit(draw: ImageDraw.ImageDraw, suit: int, center: tuple[int, int], size: int, paper: Color) -> None:
    """The sign of a suit (clubs, diamonds, hearts, spades) in a square of `size` pixels."""
    x, y = center
    r = size / 2
    color = SUIT_COLORS[suit]

    def disc(dx: float, dy: float, radius: float) -> None:
        left, top = x + dx * r, y + dy * r
        draw.ellipse((left - radius * r, top - radius * r, left + radius * r, top + radius * r), color)

    def shape(*points: tuple[float, float]) -> None:
        draw.polygon([(x + dx * r, y + dy * r) for dx, dy in points], color)

    if suit == 0:
        for dx, dy in ((0, -0.5), (-0.52, 0.2), (0.52, 0.2)):
            disc(dx, dy, 0.46)
        shape((-0.15, -0.3), (0.15, -0.3), (0.15, 0.4), (-0.15, 0.4))
        shape((0, 0), (0.4, 1), (-0.4, 1))
    elif suit == 1:
        shape((0, -1), (0.76, 0), (0, 1), (-0.76, 0))
    elif suit == 2:
        disc(-0.46, -0.42, 0.5)
        disc(0.46, -0.42, 0.5)
        shape((-0.91, -0.2), (0, -0.45), (0.91, -0.2), (0, 1))
    else:
        disc(-0.46, 0.2, 0.47)
        disc(0.46, 0.2, 0.47)
        shape((-0.89, 0), (0, -1), (0.89, 0), (0, 0.5))
        shape((0, 0.1), (0.38, 1), (-0.38, 1))


# --- the board ----------------------------------------------------------------------------------------------------

LEFT, COLUMN_STEP = 34, 11.2  # of the holes' grid, pixels
TOP, LINES_HEIGHT = 36, 100
PEG_SIZE = 13


def hole_position(num_players: int, seat: int, hole: int) -> tuple[int, int]:
    """Pixel (x, y) of the middle of a hole; an empty track's width parts the two rows."""
    place = place_of(num_players, seat, hole)
    spacing = LINES_HEIGHT / (2 * num_players)
    gap = spacing if place.line >= num_players else 0
    return round(LEFT + COLUMN_STEP * place.column), round(TOP + spacing * place.line + gap)


@cache
def peg_sprite(seat: int, front: bool) -> Image.Image:
    """A peg of a player's colour: the front peg has a white middle, the back peg is smaller and has none."""
    size = PEG_SIZE * SCALE
    image = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    inset = 0 if front else size // 8
    draw.ellipse((inset, inset, size - 1 - inset, size - 1 - inset), SEAT_COLORS[seat], INK, SCALE)
    if front:
        third = size * 3 // 10
        draw.ellipse((third, third, size - 1 - third, size - 1 - third), WHITE)
    return _smaller(image)


@cache
def board_sprite(num_players: int) -> Image.Image:
    """The empty board: wood, holes, numbers, bars between the streets and the line of the skunk."""
    image = _wood(WIDTH * SCALE, BOARD_HEIGHT * SCALE)
    draw = ImageDraw.Draw(image)
    _draw_tracks(draw, num_players)
    for seat in range(num_players):
        for hole in range(FIRST_HOLE, LAST_HOLE + 1):
            x, y = (SCALE * value for value in hole_position(num_players, seat, hole))
            r = SCALE * (4 if hole == LAST_HOLE else 2.5)
            draw.ellipse((x - r, y - r, x + r, y + r), HOLE)
    return _smaller(image)


def _wood(width: int, height: int) -> Image.Image:
    """A plank with its grain along the board."""
    x, y = np.linspace(0, 1, width)[None], np.linspace(0, 1, height)[:, None]
    bent = y + 0.02 * np.sin(7 * x + 2) + 0.012 * np.sin(17 * x)
    grain = 5 * np.sin(60 * bent) + 4 * np.sin(143 * bent + 3 * x) + 2 * np.sin(391 * bent)
    pixels = np.clip(np.array(WOOD) + grain[..., None], 0, 255).astype(np.uint8)
    image = Image.fromarray(pixels)
    ImageDraw.Draw(image).rectangle((0, 0, width - 1, height - 1), None, WOOD_EDGE, 4 * SCALE)
    return image


def _draw_tracks(draw: ImageDraw.ImageDraw, num_players: int) -> None:
    """What is painted on the wood: the bends, the bars and the numbers."""
    turn = LEFT + COLUMN_STEP * NUM_COLUMNS
    for seat in range(num_players):
        (_, upper), (_, lower) = (hole_position(num_players, seat, hole) for hole in (ROW, ROW + 1))
        r = (lower - upper) / 2
        box = [SCALE * value for value in (turn - r * 0.8, upper, turn + r * 0.8, lower)]
        draw.arc(box, -90, 90, SEAT_COLORS[seat], SCALE * 2)
    for row in (0, 1):
        near, far = (
            hole_position(num_players, seat, LAST_HOLE if row else FIRST_HOLE)[1] for seat in (0, num_players - 1)
        )
        top, bottom = min(near, far) - 8, max(near, far) + 8
        for column in BAR_COLUMNS:
            skunk = row == 1 and column == SKUNK_COLUMN
            x = LEFT + COLUMN_STEP * column
            line = [SCALE * value for value in (x, top, x, bottom)]
            draw.line(line, SUIT_COLORS[2] if skunk else WOOD_INK, SCALE * (3 if skunk else 1))
    for hole in marked_holes():
        x = SCALE * (LEFT + COLUMN_STEP * column_of(hole))
        y = SCALE * (16 if hole <= ROW else BOARD_HEIGHT - 17)
        draw.text((x, y), str(hole), WOOD_INK, font(12 * SCALE), anchor="mm")
