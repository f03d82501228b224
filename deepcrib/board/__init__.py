"""The table as one player sees it: as plain values, and one drawing of them for text, terminal and picture."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from deepcrib.board.canvas import COLUMNS
from deepcrib.board.scene import drawn_table
from deepcrib.board.view import HIDDEN, TableView, pegs_behind, view_of
from deepcrib.errors import MissingExtraError

__all__ = ["HIDDEN", "TableView", "pegs_behind", "picture_of", "text_of", "view_of"]


def text_of(view: TableView, color: bool = False, suits: str = "symbols", first: int = 0) -> str:
    """The table as text: at most 80 columns, and 21 lines for two players, 27 for four.

    color: with ANSI escapes. suits: `symbols` for 5♥, or `letters` for 5H and nothing outside ASCII but the names.
    first: number of the first card of a hand. Raises OptionError for other suits.
    """
    text = drawn_table(view, suits, first).text
    text.rstrip()
    if not color:
        return text.plain
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, color_system="256", width=COLUMNS, legacy_windows=False)
    console.print(text, end="", soft_wrap=True)
    return written.getvalue()


def picture_of(view: TableView) -> NDArray[np.uint8]:
    """uint8 [24 * lines, 960, 3]: the text as a picture; equal views give equal pictures.

    Raises MissingExtraError without Matplotlib, whose font and Pillow it needs; the extra `envs` brings both.
    """
    try:
        from deepcrib.board.picture import painted
    except ModuleNotFoundError as error:
        if error.name not in ("PIL", "matplotlib"):
            raise
        raise MissingExtraError("pictures", "Matplotlib", "envs") from error
    return painted(drawn_table(view))
