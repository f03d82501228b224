"""Exact statistics of the 15 discards of a six-card hand: what Lang 2018 (section 3.1) kept in a database.

The hand's points over the 46 starters, and the crib's over the opponent's two cards and the starter, 45,540 ways. No
enumeration of cribs: ranks come from a table by rank multiset, flush and nobs are counted (see `cribs`).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import prange
from numpy.typing import ArrayLike, NDArray

from deepcrib.cards import JACK, NUM_CARDS, NUM_RANKS, NUM_SUITS, rank_of, suit_of
from deepcrib.errors import StatisticsError
from deepcrib.kernels import jit
from deepcrib.rules import HAND_SIZE, KEPT_SLOTS_6, RANK_POINTS_5, rank_index
from deepcrib.statistics.cribs import (
    NUM_DISCARDS,
    STARTERS,
    CribSums,
    crib_sums,
    fill_crib_sums,
    seen_cards,
    uniform_weights,
)
from deepcrib.statistics.ranks import rank_set_6

HAND_STARTERS = 46
CRIB_COMPLETIONS = 45_540
MOST_POINTS = 29
DISCARD_DTYPE = np.dtype(
    [
        ("crib_sum", np.uint32),  # points of the crib, over CRIB_COMPLETIONS
        ("hand_sum", np.uint16),  # points of the hand, over HAND_STARTERS
        ("hand_min", np.uint8),
        ("hand_median_2", np.uint8),  # twice the median, which may lie between two numbers of points
        ("hand_max", np.uint8),
    ]
)
"""Statistics of one discard, in 9 bytes."""


@cache
def uniform_sums() -> CribSums:
    """The crib tables of an opponent who throws any two cards alike."""
    return crib_sums(uniform_weights())


def discard_statistics(hands: ArrayLike) -> NDArray[np.void]:
    """Exact statistics of hands [N, 6] of distinct card ids, sorted: DISCARD_DTYPE [N, 15], by discard action.

    Raises StatisticsError on cards that are no sorted hand.
    """
    checked = checked_hands(hands)
    rows = np.empty((len(checked), NUM_DISCARDS), dtype=DISCARD_DTYPE)
    _fill_rows(checked, *uniform_sums(), rows)
    return rows


def crib_means(hands: ArrayLike, sums: CribSums) -> NDArray[np.float64]:
    """Mean points of the crib by discard action, [N, 15], against the discards that `sums` was made for."""
    checked = checked_hands(hands)
    means = np.empty((len(checked), NUM_DISCARDS))
    _fill_means(checked, *sums, means)
    return means


def checked_hands(hands: ArrayLike) -> NDArray[np.int8]:
    """Hands as int8 [N, 6]; StatisticsError names the first that is no sorted hand of six cards."""
    cards = np.atleast_2d(np.asarray(hands))
    if cards.ndim != 2 or cards.shape[1] != 6:
        raise StatisticsError(f"hands have the shape {np.asarray(hands).shape}, expected [N, 6]")
    wrong = np.flatnonzero(
        (np.diff(cards.astype(np.int64), axis=1) <= 0).any(axis=1)
        | (cards < 0).any(axis=1)
        | (cards >= NUM_CARDS).any(axis=1)
    )
    if len(wrong):
        row = cards[wrong[0]].tolist()
        raise StatisticsError(f"hand {row}: expected six distinct card ids 0..{NUM_CARDS - 1} in ascending order")
    return np.ascontiguousarray(cards, dtype=np.int8)


# --- one hand -----------------------------------------------------------------------------------------------------


@jit
def _fill_bonus(kept: np.ndarray, bonus: np.ndarray) -> bool:
    """bonus [4]: flush and nobs points by the starter's suit; returns whether there can be any."""
    bonus[:] = 0
    suit = suit_of(kept[0])
    flush = True
    for i in range(1, HAND_SIZE):
        flush &= suit_of(kept[i]) == suit
    if flush:
        bonus[:] = 4
        bonus[suit] = 5
    any_jack = False
    for i in range(HAND_SIZE):
        if rank_of(kept[i]) == JACK:
            bonus[suit_of(kept[i])] += 1
            any_jack = True
    return flush or any_jack


@jit
def _fill_histogram(kept: np.ndarray, seen: int, left: np.ndarray, bonus: np.ndarray, histogram: np.ndarray) -> None:
    """histogram [30]: starters by the points of four kept cards with them; left [13] counts unseen cards."""
    histogram[:] = 0
    row = rank_index(kept[0], kept[1], kept[2], kept[3]) * NUM_RANKS
    if not _fill_bonus(kept, bonus):
        for rank in range(NUM_RANKS):
            histogram[RANK_POINTS_5[row + rank]] += left[rank]
        return
    for rank in range(NUM_RANKS):
        points = RANK_POINTS_5[row + rank]
        for suit in range(NUM_SUITS):
            if not seen >> (NUM_SUITS * rank + suit) & 1:
                histogram[points + bonus[suit]] += 1


@jit
def _summarise(histogram: np.ndarray) -> tuple[int, int, int, int]:
    """(sum, lowest, twice the median, highest) of 46 numbers of points, given how often each occurs."""
    total = 0
    lowest = -1
    highest = 0
    median_2 = 0
    below = 0
    half = HAND_STARTERS // 2
    for points in range(len(histogram)):
        count = histogram[points]
        if count == 0:
            continue
        if lowest < 0:
            lowest = points
        highest = points
        total += points * count
        # the median lies between numbers `half` and `half + 1` in ascending order
        if below < half <= below + count:
            median_2 += points
        if below < half + 1 <= below + count:
            median_2 += points
        below += count
    return total, lowest, median_2, highest


@jit
def fill_statistics(
    hand: np.ndarray,
    weights: np.ndarray,
    points: np.ndarray,
    by_rank: np.ndarray,
    total: float,
    row: np.ndarray,
) -> None:
    """row: DISCARD_DTYPE [15] of one sorted hand; the other arguments as for `fill_crib_sums`, uniform."""
    seen = seen_cards(hand)
    left = np.full(NUM_RANKS, NUM_SUITS, dtype=np.int64)
    for i in range(len(hand)):
        left[rank_of(hand[i])] -= 1
    histogram = np.empty(MOST_POINTS + 1, dtype=np.int64)
    bonus = np.empty(NUM_SUITS, dtype=np.int64)
    kept = np.empty(HAND_SIZE, dtype=np.int64)
    sums = np.empty(NUM_DISCARDS)
    fill_crib_sums(hand, weights, points, by_rank, total, sums)
    for action in range(NUM_DISCARDS):
        for i in range(HAND_SIZE):
            kept[i] = hand[KEPT_SLOTS_6[action, i]]
        _fill_histogram(kept, seen, left, bonus, histogram)
        hand_sum, lowest, median_2, highest = _summarise(histogram)
        row[action].crib_sum = int(sums[action])
        row[action].hand_sum = hand_sum
        row[action].hand_min = lowest
        row[action].hand_median_2 = median_2
        row[action].hand_max = highest


# --- many hands ---------------------------------------------------------------------------------------------------


@jit(parallel=True)
def _fill_rows(
    hands: np.ndarray,
    weights: np.ndarray,
    points: np.ndarray,
    by_rank: np.ndarray,
    total: np.ndarray,
    rows: np.ndarray,
) -> None:
    for r in prange(len(hands)):
        number = rank_set_6(hands[r])
        fill_statistics(hands[r], weights, points[number], by_rank[number], total[number], rows[r])


@jit(parallel=True)
def _fill_means(
    hands: np.ndarray,
    weights: np.ndarray,
    points: np.ndarray,
    by_rank: np.ndarray,
    total: np.ndarray,
    means: np.ndarray,
) -> None:
    for r in prange(len(hands)):
        number = rank_set_6(hands[r])
        fill_crib_sums(hands[r], weights, points[number], by_rank[number], total[number], means[r])
        for action in range(NUM_DISCARDS):
            means[r, action] /= STARTERS * total[number]
