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

from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, RANKS, rank_of, suit_of
from deepcrib.game.randomness import Word
from deepcrib.game.rank_sets import NUM_RANK_SETS_6, rank_set_6, rank_set_numbers
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

NUM_CLASSES = 962_988
_SIZE = 6


def _action_table() -> NDArray[np.int8]:
    table = np.full((_SIZE, _SIZE), -1, dtype=np.int8)
    for action, (first, second) in enumerate(DISCARD_SLOTS_6):
        table[first, second] = table[second, first] = action
    return table


_ACTION_OF_SLOTS = _action_table()
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
    keys: NDArray[np.uint64] = (np.sort(suits, axis=1) << places).sum(axis=1).astype(np.uint64)
    return keys


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
def suit_order(hand: np.ndarray, order: np.ndarray) -> Word:
    """order [4]: the suit of the class's hand that each suit of a hand becomes. Returns the key of the class."""
    masks = np.zeros(NUM_SUITS, dtype=np.int64)
    for i in range(_SIZE):
        masks[suit_of(hand[i])] |= 1 << rank_of(hand[i])
    for suit in range(NUM_SUITS):
        place = 0
        for other in range(NUM_SUITS):
            if masks[other] > masks[suit] or (masks[other] == masks[suit] and other < suit):
                place += 1
        order[suit] = place
    key = np.uint64(0)
    for suit in range(NUM_SUITS):
        key |= np.uint64(masks[suit]) << np.uint64(NUM_RANKS * order[suit])
    return key


@jit
def find_class(hand: np.ndarray, keys: np.ndarray, starts: np.ndarray, actions: np.ndarray) -> int:
    """Number of the class of a sorted hand [6].

    actions [15] receives the class's discard action for each of the hand's: another order where equal ranks change
    places with their suits.
    """
    order = np.empty(NUM_SUITS, dtype=np.int64)
    key = suit_order(hand, order)
    number = rank_set_6(hand)
    low = starts[number]
    high = starts[number + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if keys[middle] <= key:
            low = middle
        else:
            high = middle
    place = np.empty(_SIZE, dtype=np.int64)
    for i in range(_SIZE):
        place[i] = i
        for j in range(_SIZE):  # cards of the same rank stand in the order of their new suits
            if j != i and rank_of(hand[j]) == rank_of(hand[i]):
                after = order[suit_of(hand[j])] < order[suit_of(hand[i])]
                place[i] += 1 if after and j > i else 0
                place[i] -= 1 if not after and j < i else 0
    for action in range(len(actions)):
        actions[action] = _ACTION_OF_SLOTS[place[DISCARD_SLOTS_6[action, 0]], place[DISCARD_SLOTS_6[action, 1]]]
    return low


@jit
def _fill_hands(part: Part, keys: np.ndarray, hands: np.ndarray) -> None:
    for row in range(*part):
        n = 0
        for rank in range(NUM_RANKS):
            for suit in range(NUM_SUITS):
                if keys[row] >> np.uint64(NUM_RANKS * suit + rank) & np.uint64(1):
                    hands[row, n] = NUM_SUITS * rank + suit
                    n += 1
