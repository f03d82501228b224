"""The table as a picture: the characters of the drawing, each in its cell. Needs Pillow, and a font of Matplotlib."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from rich.style import Style

from deepcrib.board.canvas import COLUMNS, Canvas

WIDTH, HEIGHT, FONT_SIZE = 12, 24, 20  # pixels; the characters of the font are 12 wide
Color = tuple[int, ...]
BACKGROUND: Color = (24, 28, 32)
INK: Color = (215, 215, 215)
BRIGHT: Color = (255, 255, 255)


def painted(canvas: Canvas) -> NDArray[np.uint8]:
    """uint8 [24 * lines, 960, 3] of a drawing, in red, green and blue."""
    image = Image.new("RGB", (WIDTH * COLUMNS, HEIGHT * len(canvas.cells)), BACKGROUND)
    draw = ImageDraw.Draw(image)
    for line, cells in enumerate(canvas.cells):
        for column, (character, style) in enumerate(cells):
            if character != " ":
                draw.text((WIDTH * column, HEIGHT * line), character, color_of(style), _font())
    return np.array(image)


@cache
def _font() -> ImageFont.FreeTypeFont:
    """DejaVu Sans Mono, which has the suits and frames; it comes with Matplotlib, so it is the same everywhere."""
    return ImageFont.truetype(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSansMono.ttf"), FONT_SIZE)


@cache
def color_of(style: str) -> Color:
    """The colour of a style on the picture's ground."""
    parsed = Style.parse(style)
    color = BRIGHT if parsed.bold else INK
    if parsed.color is not None:
        color = tuple(parsed.color.get_truecolor())
    if parsed.dim:
        color = tuple((2 * part + ground) // 3 for part, ground in zip(color, BACKGROUND, strict=True))
    return color
