"""Figures 2 to 25 of Lang 2018 on one sheet: python -m benchmarks.lang2018.sheet RUNS --to FILE [--games-scale 1.0].

RUNS as for `lang2018/figures.py`, such as the folder `runs` of `long_runs.py`. A figure without runs leaves its place
out.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

from benchmarks.lang2018.figures import FIGURES, Matches, named_runs
from benchmarks.lang2018.graphs import DEALER_RED, PONE_BLUE
from deepcrib.errors import UserError
from deepcrib.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, DPI, FINER = 1960, 72, 2
"""Most pixels of a row of figures; an inch of each; and how much finer it is drawn before it is made as small."""
GREYS, SHADES = 16, 4
"""Colours of the sheet: greys, and shades of the two colours of differences."""


def main(words: Sequence[str] | None = None) -> None:
    """Draw the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--to", type=Path, required=True, help="the PNG")
    parser.add_argument("--games-scale", type=float, default=1.0, help="times the 9 to 10,000 games of a match")
    options = parser.parse_args(words)
    try:
        runs = named_runs(options.runs)
    except UserError as error:
        parser.error(str(error))
    matches = Matches(games_scale=options.games_scale)
    drawn = [figure.draw(runs, matches).figure for figure in FIGURES if figure.found(list(runs))]
    write_atomic(options.to, png(sheet([picture(figure) for figure in drawn])))
    print(f"{len(drawn)} of {len(FIGURES)} figures: {options.to}, {options.to.stat().st_size / 1e6:.2f} MB")


def picture(figure: Figure) -> Image.Image:
    """A figure as an image."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=FINER * DPI)
    return Image.open(content).convert("RGB").reduce(FINER)


def sheet(pictures: Sequence[Image.Image]) -> Image.Image:
    """Pictures in rows on white, in their order."""
    places, x, y, height = [], 0, 0, 0
    for one in pictures:
        if x + one.width > WIDTH:
            x, y, height = 0, y + height, 0
        places.append((x, y))
        x, height = x + one.width, max(height, one.height)
    whole = Image.new("RGB", (WIDTH, y + height), "white")
    for one, place in zip(pictures, places, strict=True):
        whole.paste(one, place)
    return whole


def png(image: Image.Image) -> bytes:
    """In few colours, which is a third of the bytes."""
    greys = [[value] * 3 for value in np.linspace(0, 255, GREYS)]
    mixed = [
        255 + (255 * np.array(to_rgb(colour)) - 255) * share
        for colour in (DEALER_RED, PONE_BLUE)
        for share in np.linspace(0, 1, SHADES + 1)[1:]
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.round([*greys, *mixed]).astype(int).ravel().tolist())
    content = io.BytesIO()
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(content, format="png", optimize=True)
    return content.getvalue()


if __name__ == "__main__":
    main()
