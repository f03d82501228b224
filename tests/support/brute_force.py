"""Hands and cribs counted card by card, compiled for speed: for tests only.

Like `reference`, whose scorer this one is held against, it shares nothing with `deepcrib`: no code, no tables, no
shortcuts by suit or rank. Cards are 4 * rank + suit; discards are the combinations of two of a sorted hand, in order.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numba import njit

from tests.support.reference import cards

JACK = 10
DISCARDS = np.array(list(combinations(range(6), 2)))
KEEPS = np.array([[slot for slot in range(6) if slot not in away] for away in DISCARDS.tolist()])


@njit
def _runs(counts: np.ndarray) -> int:
    """Points of the longest runs of ranks that occur `counts` [13] times."""
    for length in range(5, 2, -1):
        found = 0
        for low in range(14 - length):
            ways = 1
            for rank in range(low, low + length):
                ways *= counts[rank]
            found += ways
        if found:
            return found * length
    return 0


@njit
def _points_by_rank(four: np.ndarray, points: np.ndarray) -> None:
    """points [13]: fifteens, pairs and runs of four cards with a starter of each rank."""
    counts = np.zeros(13, dtype=np.int64)
    sets = np.zeros(16, dtype=np.int64)  # of the four cards, by their sum
    sets[0] = 1
    pairs = 0
    for card in four:
        value = min(card // 4 + 1, 10)
        for total in range(15, value - 1, -1):
            sets[total] += sets[total - value]
        pairs += counts[card // 4]
        counts[card // 4] += 1
    for rank in range(13):
        fifteens = sets[15] + sets[15 - min(rank + 1, 10)]
        both = pairs + counts[rank]
        counts[rank] += 1
        points[rank] = 2 * fifteens + 2 * both + _runs(counts)
        counts[rank] -= 1


@njit
def _shows(four: np.ndarray, unseen: np.ndarray, is_crib: bool, points: np.ndarray) -> int:
    """points [52]: of four cards with each unseen starter, of which there are so many."""
    by_rank = np.empty(13, dtype=np.int64)
    _points_by_rank(four, by_rank)
    suit = four[0] % 4
    one_suit = four[1] % 4 == suit and four[2] % 4 == suit and four[3] % 4 == suit
    n = 0
    for starter in range(52):
        if not unseen[starter]:
            continue
        own = by_rank[starter // 4]
        if one_suit and starter % 4 == suit:
            own += 5
        elif one_suit and not is_crib:
            own += 4
        for card in four:
            own += card // 4 == JACK and card % 4 == starter % 4
        points[n] = own
        n += 1
    return n


@njit
def _crib(first: int, second: int, unseen: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Points of all cribs with two cards, and how many there are; both as often as the other two are thrown."""
    four = np.array([first, second, 0, 0])
    points = np.empty(52, dtype=np.int64)
    total = 0.0
    cribs = 0.0
    for a in range(52):
        for b in range(a):
            if not (unseen[a] and unseen[b]):
                continue
            four[2], four[3] = a, b
            unseen[a] = unseen[b] = False
            starters = _shows(four, unseen, True, points)
            unseen[a] = unseen[b] = True
            total += weights[a // 4, b // 4] * points[:starters].sum()
            cribs += weights[a // 4, b // 4] * starters
    return total, cribs


def show(four: list[int], starter: int, is_crib: bool) -> int:
    """Points of four cards with a starter."""
    points = np.empty(52, dtype=np.int64)
    assert _shows(np.array(four), np.arange(52) == starter, is_crib, points) == 1
    return int(points[0])


def crib_sums(hand: list[int], weights: np.ndarray | None = None) -> tuple[np.ndarray, float]:
    """Points of the crib, [15], over the 45,540 completions of each discard, and how many they are.

    With weights [13, 13] a completion counts as often as they say of the opponent's two ranks.
    """
    weights = np.ones((13, 13)) if weights is None else weights
    unseen = ~np.isin(np.arange(52), hand)
    sums = [_crib(hand[first], hand[second], unseen, weights) for first, second in DISCARDS.tolist()]
    return np.array([points for points, _ in sums]), sums[0][1]


def crib_mean(thrown: list[int], weights: np.ndarray) -> float:
    """Mean points of a crib with two cards, over the other 50."""
    total, cribs = _crib(thrown[0], thrown[1], ~np.isin(np.arange(52), thrown), weights)
    return total / cribs


def hand_points(hand: list[int]) -> np.ndarray:
    """Points of the four kept cards of each discard with the 46 starters, [15, 46]."""
    points = np.empty((15, 52), dtype=np.int64)
    unseen = ~np.isin(np.arange(52), hand)
    for action, keep in enumerate(KEEPS):
        assert _shows(np.array(hand)[keep], unseen, False, points[action]) == 46
    return points[:, :46]


def varied_hands(number: int, seed: int) -> np.ndarray:
    """Sorted hands [number, 6] of all kinds: any cards, one or two suits, few ranks, quads, jacks."""
    rng = np.random.default_rng(seed)
    decks = [
        np.arange(52),  # any
        np.arange(0, 52, 4) + rng.integers(4),  # of one suit
        np.concatenate([np.arange(0, 52, 4) + suit for suit in (1, 2)]),  # of two
        np.arange(16) + 4 * rng.integers(10),  # pairs royal, double runs
        np.array(cards("5c 5d 5h 5s jc jd jh js")),  # quads
        np.unique([*cards("jc jd jh js"), *range(3, 52, 4)]),  # jacks, and a suit
    ]
    return np.array([np.sort(rng.permutation(decks[n % len(decks)])[:6]) for n in range(number)])
