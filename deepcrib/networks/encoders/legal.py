"""Which actions a compact state allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import VALUES
from deepcrib.game.rules import COUNT_LIMIT, DISCARD_SLOTS_6, HAND_SIZE
from deepcrib.networks.encoders.states import COUNT, OWN_RANKS


def legal_plays(states: NDArray[np.int8]) -> NDArray[np.bool_]:
    """bool [..., 4] of compact play states [..., 24]: the slots that could be played."""
    ranks = states[..., OWN_RANKS : OWN_RANKS + HAND_SIZE]
    counts = states[..., COUNT, None].astype(np.int64) + VALUES[np.maximum(ranks, 0)]
    return (ranks >= 0) & (counts <= COUNT_LIMIT)


def legal_discards(states: NDArray[np.int8]) -> NDArray[np.bool_]:
    """bool [..., 15] of compact discard states [..., 9]: any two of the six cards."""
    return np.ones((*states.shape[:-1], len(DISCARD_SLOTS_6)), dtype=bool)
