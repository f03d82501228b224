"""Index columns of an encoded row, written one after another (see `expansion`)."""

from __future__ import annotations

import numpy as np

from deepcrib.kernels import jit


@jit
def put_rank(row: np.ndarray, column: int, start: int, rank: int) -> int:
    """Write the channel of a rank (-1: none) into a column; returns the next column."""
    row[column] = start + rank if rank >= 0 else -1
    return column + 1


@jit
def put_flag(row: np.ndarray, column: int, start: int, flag: int) -> int:
    """Write the channel of a flag that is up, or -1; returns the next column."""
    row[column] = start if flag else -1
    return column + 1
