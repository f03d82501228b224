"""Hands as rank multisets: fifteens, pairs and runs depend on nothing else, and there are few of them.

A multiset of n ascending ranks r has the number sum over i of C(r[i] + i, i + 1) (the combinatorial number system,
of the strictly ascending r[i] + i): 0..1,819 for four ranks, 0..18,563 for six. Of the latter 169 hold a rank five
or six times and stand for no hand.
"""

from __future__ import annotations

from itertools import chain, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NUM_RANKS, rank_of
from deepcrib.kernels import jit

NUM_RANK_PAIRS = comb(NUM_RANKS + 1, 2)
"""91 pairs of ranks."""
NUM_RANK_SETS_4 = comb(NUM_RANKS + 3, 4)
"""1,820 multisets of four ranks."""
NUM_RANK_SETS_6 = comb(NUM_RANKS + 5, 6)
"""18,564 multisets of six ranks, 18,395 of which are hands."""
_BINOMIALS = np.array([[comb(n, k) for k in range(7)] for n in range(NUM_RANKS + 6)], dtype=np.int64)


@jit
def rank_set_2(a: int, b: int) -> int:
    """Number of the pair of ranks a <= b, 0..90."""
    return a + _BINOMIALS[b + 1, 2]


@jit
def rank_set_of(cards: np.ndarray) -> int:
    """Number of the rank multiset of cards, sorted by id: of four kept 0..1,819, of six 0..18,563."""
    number = 0
    for i in range(len(cards)):
        number += _BINOMIALS[rank_of(cards[i]) + i, i + 1]
    return number


def rank_set_numbers(ranks: NDArray[np.integer]) -> NDArray[np.int64]:
    """Numbers [...] of multisets of n ascending ranks [..., n]."""
    n = ranks.shape[-1]
    return _BINOMIALS[ranks + np.arange(n), np.arange(1, n + 1)].sum(axis=-1)


def rank_sets(size: int) -> NDArray[np.int8]:
    """All multisets of `size` ranks, ascending, in the order of their numbers: int8 [C(12 + size, size), size]."""
    every = chain.from_iterable(combinations_with_replacement(range(NUM_RANKS), size))
    rows = np.fromiter(every, dtype=np.int8).reshape(-1, size)
    return rows[np.lexsort(rows.T)]
