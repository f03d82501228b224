"""The table as one player sees it: as plain values, and one scene of them that text, picture and terminal draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.board.text import text_of
from deepcrib.board.view import HIDDEN, TableView, pegs_behind, view_of
from deepcrib.errors import MissingExtraError

__all__ = ["HIDDEN", "TableView", "pegs_behind", "picture_of", "text_of", "view_of"]


def picture_of(view: TableView) -> NDArray[np.uint8]:
    """uint8 [640, 960, 3]: the table in red, green and blue; equal views give equal pictures.

    Raises MissingExtraError without Pillow, which only the extra `envs` brings.
    """
    try:
        from deepcrib.board.picture import painted
    except ModuleNotFoundError as error:
        if error.name != "PIL":
            raise
        raise MissingExtraError("pictures", "Pillow", "envs") from error
    return painted(view)
