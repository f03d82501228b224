"""`Turns` up to the next choice."""

from __future__ import annotations

import numpy as np

from deepcrib.game.engine import Turns
from deepcrib.game.engine.games import Rows
from deepcrib.game.engine.phases import DEAL, SHOW, STARTER


def settle(turns: Turns, rows: Rows | None = None) -> None:
    """Step in games `rows` (by default all) until a seat must choose or the episode is over."""
    rows = np.arange(len(turns)) if rows is None else rows
    while len(rows := rows[np.isin(turns.phase[rows], (DEAL, STARTER, SHOW))]):
        turns.step(rows)
