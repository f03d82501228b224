"""A series as one whole number, for searches that try many: four bits a rank, plus 1, the last one in the lowest."""

from __future__ import annotations

import numpy as np

from deepcrib.cards import NUM_RANKS
from deepcrib.kernels import jit
from deepcrib.rules import COUNT_LIMIT, play_pair_points, play_run_points

RANK_BITS = 4
RANK_MASK = (1 << RANK_BITS) - 1
_TAIL = 4  # ranks: as many as a pair, or one of its royals, can have


@jit
def _tail_table() -> np.ndarray:
    """Pair and run points of the last of up to four ranks, by their bits in `series`; 0 for what is no series."""
    table = np.zeros(1 << (_TAIL * RANK_BITS), dtype=np.int8)
    ranks = np.empty(_TAIL, dtype=np.int8)
    for tail in range(1, len(table)):
        n = 0
        sound = True
        for place in range(_TAIL - 1, -1, -1):
            code = tail >> (RANK_BITS * place) & RANK_MASK
            sound = sound and code <= NUM_RANKS and (code > 0 or n == 0)
            if code > 0:
                ranks[n] = code - 1
                n += 1
        if sound:
            table[tail] = play_pair_points(ranks, n) + play_run_points(ranks, n)
    return table


TAIL_POINTS = _tail_table()


@jit
def series_points(series: int, count: int, ranks: np.ndarray) -> int:
    """`rules.play_points` of the last rank of a series that counts `count`; ranks: int8 [8], to work in.

    The last four ranks decide, unless five or more make a run, of which the last four are a part, or the last three,
    or none.
    """
    points = int(TAIL_POINTS[series & ((1 << (_TAIL * RANK_BITS)) - 1)])
    if series >> (_TAIL * RANK_BITS) > 0 and (points == 0 or points == 3 or points == 4) and _may_run(series):
        n = 0
        while series >> (RANK_BITS * n) > 0:
            n += 1
        for i in range(n):
            ranks[i] = (series >> (RANK_BITS * (n - 1 - i)) & RANK_MASK) - 1
        points = play_run_points(ranks, n)
    return points + 2 if count == 15 or count == COUNT_LIMIT else points


@jit
def _may_run(series: int) -> bool:
    """Whether the last five ranks are different and within seven: no longer run counts 31 or less than ace to seven."""
    seen = 0
    for place in range(_TAIL + 1):
        bit = 1 << (series >> (RANK_BITS * place) & RANK_MASK)
        if seen & bit:
            return False
        seen |= bit
    return seen < (seen & -seen) << 7


@jit
def add_rank(series: int, rank: int) -> int:
    """The series with one more rank 0..12."""
    return series << RANK_BITS | (rank + 1)
