"""What a crib is worth on average: over the opponent's two cards, by a distribution, and the starter.

A distribution of the opponent's discards is a matrix of relative weights by rank, [13, 13] and symmetric: any two cards
of ranks a and b are weights[a, b] times as likely to be thrown as two cards at random. All ones is uniform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import JACK, NUM_RANKS, NUM_SUITS, card_set, rank_of, suit_of
from deepcrib.game.rank_sets import NUM_RANK_SETS_6, rank_set_of, rank_sets
from deepcrib.game.rules import DISCARD_SLOTS_6, RANK_POINTS_5
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

STARTERS = 44
"""Cards that may be turned up once six cards and the opponent's two are known."""
FLUSH = 5
NUM_DISCARDS = len(DISCARD_SLOTS_6)


class CribSums(NamedTuple):
    """Tables by rank multiset for one distribution of the opponent's discards; see `crib_sums`.

    weights: [13, 13]. points: [18564, 15], rank points summed over opponent's pairs, weighted, and starters, by discard
    of the sorted hand. by_rank: [18564, 13], the weight of all pairs that hold a given unseen card of that rank.
    total: [18564], the weight of all pairs.
    """

    weights: NDArray[np.float64]
    points: NDArray[np.float64]
    by_rank: NDArray[np.float64]
    total: NDArray[np.float64]


def uniform_weights() -> NDArray[np.float64]:
    """All pairs of cards equally likely, [13, 13] of ones."""
    return np.ones((NUM_RANKS, NUM_RANKS))


def crib_sums(weights: NDArray[np.float64]) -> CribSums:
    """Tables for all rank multisets of six, for one distribution of the opponent's discards: 0.3 s on two cores."""
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    points = np.zeros((NUM_RANK_SETS_6, NUM_DISCARDS))
    by_rank = np.zeros((NUM_RANK_SETS_6, NUM_RANKS))
    total = np.zeros(NUM_RANK_SETS_6)
    run_rows(_fill_sums, len(points), rank_sets(6), weights, points, by_rank, total, piece=16)
    return CribSums(weights, points, by_rank, total)


@jit
def _rank_points_sum(first: int, second: int, left: np.ndarray, weights: np.ndarray) -> float:
    """Rank points of all cribs with two thrown ranks, over the ways to take pair and starter from left [13]."""
    thrown = first * NUM_RANKS + second
    total = 0.0
    for a in range(NUM_RANKS):
        for b in range(a, NUM_RANKS):
            ways = left[a] * (left[a] - 1) // 2 if a == b else left[a] * left[b]
            if ways == 0:
                continue
            left[a] -= 1
            left[b] -= 1
            row = ((thrown * NUM_RANKS + a) * NUM_RANKS + b) * NUM_RANKS
            points = 0
            for starter in range(NUM_RANKS):
                points += left[starter] * RANK_POINTS_5[row + starter]
            left[a] += 1
            left[b] += 1
            total += weights[a, b] * (ways * points)
    return total


@jit
def _fill_sums(
    part: Part, sets: np.ndarray, weights: np.ndarray, points: np.ndarray, by_rank: np.ndarray, total: np.ndarray
) -> None:
    for row in range(*part):
        ranks = sets[row]
        left = np.empty(NUM_RANKS, dtype=np.int64)
        left[:] = NUM_SUITS
        fewest = NUM_SUITS
        for i in range(len(ranks)):
            left[ranks[i]] -= 1
            fewest = min(fewest, left[ranks[i]])
        if fewest < 0:  # a rank five or six times: no hand
            continue
        for a in range(NUM_RANKS):
            for b in range(NUM_RANKS):
                others = left[b] - 1 if a == b else left[b]
                by_rank[row, a] += max(others, 0) * weights[a, b]
            total[row] += left[a] * by_rank[row, a] / 2
        for action in range(NUM_DISCARDS):
            first, second = ranks[DISCARD_SLOTS_6[action, 0]], ranks[DISCARD_SLOTS_6[action, 1]]
            earlier = -1
            for other in range(action):  # equal ranks make equal discards
                if first == ranks[DISCARD_SLOTS_6[other, 0]] and second == ranks[DISCARD_SLOTS_6[other, 1]]:
                    earlier = other
                    break
            if earlier >= 0:
                points[row, action] = points[row, earlier]
            else:
                points[row, action] = _rank_points_sum(first, second, left, weights)


@jit
def _fill_nobs_sums(hand: np.ndarray, seen: int, by_rank: np.ndarray, total: float, nobs: np.ndarray) -> None:
    """nobs [6]: for each jack of a hand, the weight of all (pair, starter) in which the starter has its suit."""
    nobs[:] = 0
    for i in range(len(hand)):
        if rank_of(hand[i]) == JACK:
            for rank in range(NUM_RANKS):
                if not seen >> (NUM_SUITS * rank + suit_of(hand[i])) & 1:
                    nobs[i] += total - by_rank[rank]


@jit
def _their_nobs_sum(seen: int, weights: np.ndarray, by_rank: np.ndarray) -> float:
    """Weight of all (pair, starter) in which the opponent threw the jack of the starter's suit."""
    total = 0.0
    for suit in range(NUM_SUITS):
        if seen >> (NUM_SUITS * JACK + suit) & 1:
            continue
        starters = 0
        beside = 0.0  # a card of the suit that was thrown with the jack cannot be turned up
        for rank in range(NUM_RANKS):
            if rank != JACK and not seen >> (NUM_SUITS * rank + suit) & 1:
                starters += 1
                beside += weights[JACK, rank]
        total += starters * by_rank[JACK] - beside
    return total


@jit
def _flush_sum(suit: int, seen: int, weights: np.ndarray) -> float:
    """Weight of all (pair, starter) of one suit."""
    cards = 0
    pairs = 0.0
    for b in range(NUM_RANKS):
        if seen >> (NUM_SUITS * b + suit) & 1:
            continue
        cards += 1
        for a in range(b):
            if not seen >> (NUM_SUITS * a + suit) & 1:
                pairs += weights[a, b]
    return pairs * (cards - 2)


@jit
def fill_crib_sums(hand: np.ndarray, cribs: CribSums, sums: np.ndarray) -> float:
    """sums [15]: weighted points of the crib after each discard of a sorted hand [6], over pairs and starters.

    Returns the weight of all of these, by which sums are divided to be means. With uniform weights they are exact sums
    over C(46, 2) * 44 = 45,540 completions.
    """
    number = rank_set_of(hand)
    points, by_rank, total = cribs.points[number], cribs.by_rank[number], cribs.total[number]
    seen = card_set(hand)
    their_nobs = _their_nobs_sum(seen, cribs.weights, by_rank)
    nobs = np.empty(len(hand))
    _fill_nobs_sums(hand, seen, by_rank, total, nobs)
    flush = np.empty(NUM_SUITS)  # of each suit once it is asked for
    flush[:] = -1.0
    for action in range(NUM_DISCARDS):
        first, second = DISCARD_SLOTS_6[action, 0], DISCARD_SLOTS_6[action, 1]
        sums[action] = points[action] + their_nobs + nobs[first] + nobs[second]
        suit = suit_of(hand[first])
        if suit == suit_of(hand[second]):
            if flush[suit] < 0:
                flush[suit] = FLUSH * _flush_sum(suit, seen, cribs.weights)
            sums[action] += flush[suit]
    return STARTERS * total
