"""The board as an environment shows it: text, a picture, or text on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from deepcrib.board import pegs_behind, picture_of, text_of, view_of
from deepcrib.errors import OptionError

RENDER_MODES = ("ansi", "human", "rgb_array")
Picture = str | NDArray[np.uint8] | None


class Screen:
    """Draws one game, and keeps where the back pegs stand.

    Args:
        mode: one of RENDER_MODES, or None: nothing is drawn. Raises OptionError on others.
    """

    def __init__(self, mode: str | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise OptionError(f"render_mode={mode!r}: expected None or one of {', '.join(RENDER_MODES)}")
        self.mode = mode
        self._behind: tuple[int, ...] = ()
        self._now: tuple[int, ...] = ()

    def follow(self, scores: Sequence[int], render: Callable[[], Picture], begins: bool = False) -> None:
        """Move the pegs to scores [P], `begins`: of a new game; render in mode `human`, where nobody else does."""
        if self.mode is None:
            return
        now = tuple(int(score) for score in scores)
        self._behind = (0,) * len(now) if begins else pegs_behind(self._behind, self._now, now)
        self._now = now
        if self.mode == "human":
            render()

    def draw(self, game: Any, viewer: int | None, names: Sequence[str], turn: int | None) -> Picture:
        """The table of a game (a record) as a seat sees it, or with None as a spectator does who sees all cards.

        Text in mode `ansi`, uint8 [height, width, 3] in mode `rgb_array`; in mode `human` it is printed. Raises
        ResetNeeded before the first game.
        """
        if self.mode is None:
            return None
        if not self._now:
            raise ResetNeeded("there is no game yet: reset the environment before it is drawn")
        view = view_of(game, viewer, self._behind, names, turn)
        if self.mode == "rgb_array":
            return picture_of(view)
        if self.mode == "ansi":
            return text_of(view, color=False)
        print(text_of(view, color=sys.stdout.isatty()), flush=True)
        return None
