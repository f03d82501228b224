"""Exact statistics of the 15 discards of a six-card hand: what Lang 2018 (section 3.1) kept in a database.

The hand's points over the 46 starters, and the crib's over the opponent's two cards and the starter, 45,540 ways. No
enumeration of cribs: ranks come from a table by rank multiset, flush and nobs are counted (see `cribs`). Where neither
flush nor nobs can come, the hand's points follow from a table by rank multiset too.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepcrib.errors import StatisticsError
from deepcrib.exact.cribs import FLUSH, NUM_DISCARDS, CribSums, crib_sums, fill_crib_sums, uniform_weights
from deepcrib.game.cards import JACK, NUM_CARDS, NUM_RANKS, NUM_SUITS, card_set, rank_of, suit_of
from deepcrib.game.rank_sets import NUM_RANK_SETS_6, rank_set_of, rank_sets
from deepcrib.game.rules import HAND_SIZE, KEPT_SLOTS_6, RANK_POINTS_5, rank_index
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

HAND_STARTERS = 46
CRIB_COMPLETIONS = 45_540
MOST_POINTS = 29
FLUSH_OF_FOUR = 4
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


@cache
def plain_statistics() -> NDArray[np.void]:
    """Hands by rank multiset, without flush and nobs: DISCARD_DTYPE [18564, 15], 0 for cribs. 0.1 s."""
    rows = np.zeros((NUM_RANK_SETS_6, NUM_DISCARDS), dtype=DISCARD_DTYPE)
    run_rows(_fill_plain_rows, len(rows), rank_sets(6), rows, piece=256)
    return rows


def discard_statistics(hands: ArrayLike) -> NDArray[np.void]:
    """Exact statistics of hands [N, 6] of distinct card ids, sorted: DISCARD_DTYPE [N, 15], by discard action.

    Raises StatisticsError on cards that are no sorted hand.
    """
    checked = checked_hands(hands)
    rows = np.empty((len(checked), NUM_DISCARDS), dtype=DISCARD_DTYPE)
    run_rows(_fill_rows, len(checked), checked, uniform_sums(), plain_statistics(), rows, piece=64)
    return rows


def crib_means(hands: ArrayLike, sums: CribSums) -> NDArray[np.float64]:
    """Mean points of the crib by discard action, [N, 15], against the discards that `sums` was made for."""
    checked = checked_hands(hands)
    means = np.empty((len(checked), NUM_DISCARDS))
    run_rows(_fill_means, len(checked), checked, sums, means, piece=64)
    return means


def checked_hands(hands: ArrayLike) -> NDArray[np.int8]:
    """Hands as int8 [N, 6]; StatisticsError names the first that is no sorted hand of six cards."""
    cards = np.atleast_2d(np.asarray(hands))
    if cards.ndim != 2 or cards.shape[1] != 6:
        raise StatisticsError(f"hands have the shape {np.asarray(hands).shape}, expected [N, 6]")
    if cards.dtype.kind not in "iu":
        raise StatisticsError(f"hands are {cards.dtype}, expected whole numbers, card ids 0..{NUM_CARDS - 1}")
    if cards.dtype != np.int8:
        cards = cards.astype(np.int64)
    wrong = (cards[:, 1:] <= cards[:, :-1]).any(axis=1) | (cards[:, 0] < 0) | (cards[:, -1] >= NUM_CARDS)
    if wrong.any():
        row = cards[wrong.argmax()].tolist()
        raise StatisticsError(f"hand {row}: expected six distinct card ids 0..{NUM_CARDS - 1} in ascending order")
    return np.ascontiguousarray(cards, dtype=np.int8)


# --- one hand -----------------------------------------------------------------------------------------------------


@jit
def _fill_bonus(kept: np.ndarray, bonus: np.ndarray) -> bool:
    """bonus [4]: flush and nobs points by the starter's suit; returns whether there can be any."""
    suit = suit_of(kept[0])
    any_bonus = suit_of(kept[1]) == suit and suit_of(kept[2]) == suit and suit_of(kept[3]) == suit
    bonus[:] = FLUSH_OF_FOUR if any_bonus else 0
    if any_bonus:
        bonus[suit] = FLUSH
    for i in range(HAND_SIZE):
        if rank_of(kept[i]) == JACK:
            bonus[suit_of(kept[i])] += 1
            any_bonus = True
    return any_bonus


@jit
def _fill_histogram(kept: np.ndarray, seen: int, bonus: np.ndarray, histogram: np.ndarray) -> None:
    """histogram [30]: starters by the points of four kept cards with them; bonus [4] by the starter's suit."""
    histogram[:] = 0
    index = rank_index(kept[0], kept[1], kept[2], kept[3]) * NUM_RANKS
    for rank in range(NUM_RANKS):
        points = RANK_POINTS_5[index + rank]
        for suit in range(NUM_SUITS):
            if not seen >> (NUM_SUITS * rank + suit) & 1:
                histogram[points + bonus[suit]] += 1


@jit
def _summarise(histogram: np.ndarray, row: np.ndarray, action: int) -> None:
    """Write sum, lowest, median and highest of 46 numbers of points, given how often each occurs.

    The k-th lowest is how many numbers of points 0, 1, ... are reached or stayed below by fewer than k starters.
    """
    total, lowest, median_2, highest, at_most = 0, 0, 0, 0, 0
    for points in range(MOST_POINTS):
        at_most += histogram[points]
        total += HAND_STARTERS - at_most  # each starter worth more counts once for every number below its own
        lowest += at_most < 1
        median_2 += (at_most < HAND_STARTERS // 2) + (at_most < HAND_STARTERS // 2 + 1)
        highest += at_most < HAND_STARTERS
    row[action].hand_sum = total
    row[action].hand_min = lowest
    row[action].hand_median_2 = median_2
    row[action].hand_max = highest


@jit
def fill_statistics(hand: np.ndarray, cribs: CribSums, plain: np.ndarray, row: np.ndarray) -> None:
    """row: DISCARD_DTYPE [15] of one sorted hand; cribs: uniform; plain [15]: of `plain_statistics`, for its ranks."""
    seen = card_set(hand)
    histogram = np.empty(MOST_POINTS + 1, dtype=np.int64)
    bonus = np.empty(NUM_SUITS, dtype=np.int64)
    kept = np.empty(HAND_SIZE, dtype=np.int64)
    sums = np.empty(NUM_DISCARDS)
    fill_crib_sums(hand, cribs, sums)
    for action in range(NUM_DISCARDS):
        for i in range(HAND_SIZE):
            kept[i] = hand[KEPT_SLOTS_6[action, i]]
        if _fill_bonus(kept, bonus):
            _fill_histogram(kept, seen, bonus, histogram)
            _summarise(histogram, row, action)
        else:
            row[action] = plain[action]
        row[action].crib_sum = int(sums[action])


# --- many hands ---------------------------------------------------------------------------------------------------


@jit
def _fill_plain_rows(part: Part, sets: np.ndarray, rows: np.ndarray) -> None:
    for r in range(*part):
        left = np.empty(NUM_RANKS, dtype=np.int64)
        left[:] = NUM_SUITS
        fewest = NUM_SUITS
        for i in range(len(sets[r])):
            left[sets[r, i]] -= 1
            fewest = min(fewest, left[sets[r, i]])
        if fewest < 0:  # a rank five or six times: no hand
            continue
        histogram = np.empty(MOST_POINTS + 1, dtype=np.int64)
        for action in range(NUM_DISCARDS):
            index = 0
            for i in range(HAND_SIZE):
                index = (index + sets[r, KEPT_SLOTS_6[action, i]]) * NUM_RANKS
            histogram[:] = 0
            for rank in range(NUM_RANKS):
                histogram[RANK_POINTS_5[index + rank]] += left[rank]
            _summarise(histogram, rows[r], action)


@jit
def _fill_rows(part: Part, hands: np.ndarray, cribs: CribSums, plain: np.ndarray, rows: np.ndarray) -> None:
    for r in range(*part):
        fill_statistics(hands[r], cribs, plain[rank_set_of(hands[r])], rows[r])


@jit
def _fill_means(part: Part, hands: np.ndarray, cribs: CribSums, means: np.ndarray) -> None:
    for r in range(*part):
        total = fill_crib_sums(hands[r], cribs, means[r])
        for action in range(NUM_DISCARDS):
            means[r, action] /= total
