"""A `TableView` as a picture. Needs Pillow, which only the extra `envs` brings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.board.view import TableView
from deepcrib.errors import OptionError


def picture_of(view: TableView) -> NDArray[np.uint8]:
    """uint8 [640, 960, 3]: the table in red, green and blue; equal views give equal pictures.

    Raises OptionError without Pillow.
    """
    try:
        from deepcrib.board.scene import draw_table
    except ModuleNotFoundError as error:
        if error.name != "PIL":
            raise
        raise OptionError("pictures need Pillow, which is not installed: pip install 'deepcrib[envs]'") from error
    return draw_table(view)
