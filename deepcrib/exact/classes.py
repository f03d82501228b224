"""Suit classes of six-card hands: hands that a renaming of suits turns into each other have the same statistics.

The 20,358,520 hands fall into 962,988 classes. A hand's suits are four sets of ranks; sorted as numbers, descending,
they are the same for every hand of a class, and name it.
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, rank_of, suit_of
from deepcrib.game.randomness import Word
from deepcrib.game.rank_sets import NUM_RANK_SETS_6, rank_set_6, rank_sets
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

NUM_CLASSES = 962_988
_SIZE = 6


def _suit_sets() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sets of n suits as bit sets, [5, 6], and how many there are, [5]."""
    sets = np.zeros((NUM_SUITS + 1, 6), dtype=np.int64)
    counts = np.zeros(NUM_SUITS + 1, dtype=np.int64)
    for suits in range(1 << NUM_SUITS):
        n = suits.bit_count()
        sets[n, counts[n]] = suits
        counts[n] += 1
    return sets, counts


def _action_table() -> NDArray[np.int8]:
    table = np.full((_SIZE, _SIZE), -1, dtype=np.int8)
    for action, (first, second) in enumerate(DISCARD_SLOTS_6):
        table[first, second] = table[second, first] = action
    return table


_SUIT_SETS, _NUM_SUIT_SETS = _suit_sets()
_ACTION_OF_SLOTS = _action_table()


class SuitClasses(NamedTuple):
    """All classes in the order of their numbers.

    keys: uint64 [962988], ascending within a rank multiset. starts: int64 [18565], keys of multiset m are
    starts[m]:starts[m + 1].
    """

    keys: NDArray[np.uint64]
    starts: NDArray[np.int64]


@cache
def suit_classes() -> SuitClasses:
    """Enumerate all classes: under a second."""
    sets = rank_sets(_SIZE)
    counts = np.zeros(NUM_RANK_SETS_6, dtype=np.int64)
    run_rows(_count_classes, len(sets), sets, counts, piece=64)
    starts = np.concatenate(([0], np.cumsum(counts)))
    keys = np.empty(starts[-1], dtype=np.uint64)
    run_rows(_fill_keys, len(sets), sets, starts, keys, piece=64)
    return SuitClasses(keys, starts)


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
def _key_of_masks(masks: np.ndarray) -> Word:
    """Key of four sets of ranks in descending order."""
    key = np.uint64(0)
    for suit in range(NUM_SUITS):
        key |= np.uint64(masks[suit]) << np.uint64(NUM_RANKS * suit)
    return key


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


# --- enumeration ----------------------------------------------------------------------------------------------------


@jit
def _first_ranks(ranks: np.ndarray, distinct: np.ndarray, counts: np.ndarray) -> int:
    """Distinct ranks of a multiset and how often each occurs; returns their number."""
    n = 0
    for i in range(len(ranks)):
        if i > 0 and ranks[i] == ranks[i - 1]:
            counts[n - 1] += 1
        else:
            distinct[n] = ranks[i]
            counts[n] = 1
            n += 1
    return n


@jit
def _insert(key: Word, keys: np.ndarray, n: int) -> None:
    """Insert a key into the n ascending ones: they are few, and `sort` takes a second to compile."""
    while n > 0 and keys[n - 1] > key:
        keys[n] = keys[n - 1]
        n -= 1
    keys[n] = key


@jit
def _visit(ranks: np.ndarray, keys: np.ndarray, store: bool) -> int:
    """Count the classes of a rank multiset, and store their keys in ascending order if asked to.

    They are the choices of suits whose four sets of ranks are in descending order.
    """
    distinct = np.empty(_SIZE, dtype=np.int64)
    counts = np.empty(_SIZE, dtype=np.int64)
    n = _first_ranks(ranks, distinct, counts)
    for i in range(n):
        if counts[i] > NUM_SUITS:
            return 0
    masks = np.empty(NUM_SUITS, dtype=np.int64)
    choice = np.empty(_SIZE, dtype=np.int64)  # an odometer over the sets of suits of each rank
    choice[:] = 0
    found = 0
    while True:
        masks[:] = 0
        for i in range(n):
            suits = _SUIT_SETS[counts[i], choice[i]]
            for suit in range(NUM_SUITS):
                masks[suit] |= (suits >> suit & 1) << distinct[i]
        if masks[0] >= masks[1] and masks[1] >= masks[2] and masks[2] >= masks[3]:
            if store:
                _insert(_key_of_masks(masks), keys, found)
            found += 1
        i = 0
        while i < n and choice[i] + 1 == _NUM_SUIT_SETS[counts[i]]:
            choice[i] = 0
            i += 1
        if i == n:
            return found
        choice[i] += 1


@jit
def _count_classes(part: Part, sets: np.ndarray, counts: np.ndarray) -> None:
    for row in range(*part):
        counts[row] = _visit(sets[row], np.empty(0, dtype=np.uint64), False)


@jit
def _fill_keys(part: Part, sets: np.ndarray, starts: np.ndarray, keys: np.ndarray) -> None:
    for row in range(*part):
        _visit(sets[row], keys[starts[row] : starts[row + 1]], True)


@jit
def _fill_hands(part: Part, keys: np.ndarray, hands: np.ndarray) -> None:
    for row in range(*part):
        n = 0
        for rank in range(NUM_RANKS):
            for suit in range(NUM_SUITS):
                if keys[row] >> np.uint64(NUM_RANKS * suit + rank) & np.uint64(1):
                    hands[row, n] = NUM_SUITS * rank + suit
                    n += 1
