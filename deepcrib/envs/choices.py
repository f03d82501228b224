"""Quick random actions: one of those that each row of a mask allows."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from deepcrib.kernels import jit


def random_actions(mask: NDArray[np.int8] | NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Actions [N], each uniform over those that its row of mask [N, A] allows; 0 where none is."""
    actions = np.empty(len(mask), dtype=np.int64)
    _pick_rows(np.ascontiguousarray(mask).view(np.int8), rng.random(len(mask)), actions)
    return actions


@jit(parallel=True)
def _pick_rows(masks: np.ndarray, chances: np.ndarray, actions: np.ndarray) -> None:
    for r in prange(len(masks)):
        allowed = 0
        for a in range(masks.shape[1]):
            allowed += masks[r, a] != 0
        skip = int(chances[r] * allowed)
        actions[r] = 0
        for a in range(masks.shape[1]):
            if masks[r, a] != 0:
                if skip == 0:
                    actions[r] = a
                    break
                skip -= 1
