"""A series as one whole number, for searches that try many: four bits a rank, plus 1, the last one in the lowest."""

from __future__ import annotations

from functools import reduce

import numpy as np

from deepcrib.kernels import jit
from deepcrib.rules import COUNT_LIMIT, play_run_points

RANK_BITS = 4
RANK_MASK = (1 << RANK_BITS) - 1
_TAIL = 4  # ranks: as many as a pair, or one of its royals, can have


def _tail_table() -> np.ndarray:
    """int8 [65536]: pair and run points, as those of `rules`, of the last of up to four ranks, by their bits."""
    fourth, third, second, last = np.ogrid[(slice(1 << RANK_BITS),) * _TAIL]
    same = (second == last) * (1 + (third == last) * (1 + (fourth == last)))
    runs = np.where(_is_run(last, second, third, fourth), 4, 3 * _is_run(last, second, third))
    return ((last > 0) * same * (same + 1) + runs).ravel().astype(np.int8)


def _is_run(*codes: np.ndarray) -> np.ndarray:
    """Whether these are ranks (each plus 1; 0: no card) that follow one another, in any order."""
    held = reduce(np.bitwise_or, (1 << code for code in codes))
    lowest = held & -held
    run: np.ndarray = (lowest > 1) & (held == lowest * ((1 << len(codes)) - 1))
    return run


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
