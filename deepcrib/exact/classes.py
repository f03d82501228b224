"""Suit classes of six-card hands: hands that a renaming of suits turns into each other have the same statistics.

The 20,358,520 hands fall into 962,988 classes. A hand's suits are four sets of ranks; sorted as numbers, descending,
they are the same for every hand of a class, and name it.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, RANKS
from deepcrib.game.rank_sets import NUM_RANK_SETS_6, rank_set_numbers
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

_SIZE = 6
_SIZES = ((6,), (5, 1), (4, 2), (4, 1, 1), (3, 3), (3, 2, 1), (3, 1, 1, 1), (2, 2, 2), (2, 2, 1, 1))
"""How many cards of a hand each of its suits may have."""


class SuitClasses(NamedTuple):
    """All classes in the order of their numbers.

    keys: uint64 [962988], ascending within a rank multiset. starts: int64 [18565], keys of multiset m are
    starts[m]:starts[m + 1].
    """

    keys: NDArray[np.uint64]
    starts: NDArray[np.int64]


@cache
def suit_classes() -> SuitClasses:
    """Enumerate all classes: a second."""
    keys = np.concatenate([_keys_of(sizes) for sizes in _SIZES])
    numbers = rank_set_numbers(RANKS[class_hands(keys)])
    order = np.lexsort([keys, numbers])
    return SuitClasses(keys[order], np.searchsorted(numbers[order], np.arange(NUM_RANK_SETS_6 + 1)))


def _keys_of(sizes: tuple[int, ...]) -> NDArray[np.uint64]:
    """Keys of the classes with so many cards in each suit that has any: all choices of their sets of ranks."""
    suits = np.zeros((1, 0), dtype=np.int64)
    for size, count in Counter(sizes).items():
        sets = [sum(1 << rank for rank in ranks) for ranks in combinations(range(NUM_RANKS), size)]
        chosen = np.array(list(combinations_with_replacement(sets, count)), dtype=np.int64)
        suits = np.hstack([np.repeat(suits, len(chosen), axis=0), np.tile(chosen, (len(suits), 1))])
    places = NUM_RANKS * np.arange(len(sizes) - 1, -1, -1)
    return (np.sort(suits, axis=1) << places).sum(axis=1).astype(np.uint64)


def class_sizes(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Hands in each class, [C]: 24 by the orders of the suits, equal ones not told apart."""
    masks = (keys[:, None] >> np.arange(0, NUM_SUITS * NUM_RANKS, NUM_RANKS, dtype=np.uint64)) & np.uint64(0x1FFF)
    sizes = np.full(len(keys), factorial(NUM_SUITS), dtype=np.int64)
    run = np.ones(len(keys), dtype=np.int64)
    for suit in range(1, NUM_SUITS):  # masks are sorted: equal ones are neighbours
        run = np.where(masks[:, suit] == masks[:, suit - 1], run + 1, 1)
        sizes //= run
    return sizes


def class_hands(keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """The hand that stands for each class, int8 [C, 6], sorted."""
    hands = np.empty((len(keys), _SIZE), dtype=np.int8)
    run_rows(_fill_hands, len(keys), keys, hands, piece=512)
    return hands


@jit
def _fill_hands(part: Part, keys: np.ndarray, hands: np.ndarray) -> None:
    for row in range(*part):
        n = 0
        for rank in range(NUM_RANKS):
            for suit in range(NUM_SUITS):
                if keys[row] >> np.uint64(NUM_RANKS * suit + rank) & np.uint64(1):
                    hands[row, n] = NUM_SUITS * rank + suit
                    n += 1
