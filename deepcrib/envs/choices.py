"""Quick random actions: one of those that each row of a mask allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


def random_actions(mask: NDArray[np.int8] | NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Actions [N], each uniform over those that its row of mask [N, A] allows; 0 where none is."""
    actions = np.empty(len(mask), dtype=np.int64)
    run_rows(
        _pick_rows,
        len(np.ascontiguousarray(mask).view(np.int8)),
        np.ascontiguousarray(mask).view(np.int8),
        rng.random(len(mask)),
        actions,
    )
    return actions


@jit
def _pick_rows(part: Part, masks: np.ndarray, chances: np.ndarray, actions: np.ndarray) -> None:
    for r in range(*part):
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
