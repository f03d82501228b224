"""Games asked seat by seat: on to the next choice."""

from __future__ import annotations

import numpy as np

from deepcrib.game.engine import Turns
from deepcrib.game.engine.phases import DEAL, SHOW, STARTER


def settle(turns: Turns) -> None:
    """Deal, turn up starters and count hands until a seat must choose in every game that is not over."""
    while len(rows := np.flatnonzero(np.isin(turns.phase, (DEAL, STARTER, SHOW)))):
        turns.step(rows)
