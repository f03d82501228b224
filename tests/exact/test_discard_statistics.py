"""Statistics of all 15 discards against hands and cribs counted one by one, and against what is known of cribbage."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod

import numpy as np
import pytest

from deepcrib.errors import StatisticsError
from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.exact.discards import DISCARD_DTYPE, crib_means, discard_statistics, uniform_sums
from deepcrib.game.rank_sets import rank_set_2, rank_set_of, rank_sets
from tests.support import brute_force, reference
from tests.support.reference import cards

HANDS = comb(52, 6)
COMPLETIONS = comb(46, 2) * 44


def statistics_of(hand: str, thrown: str) -> np.void:
    """Statistics of one discard, cards in any order."""
    held, away = sorted(cards(hand)), sorted(cards(thrown))
    action = brute_force.DISCARDS.tolist().index([held.index(card) for card in away])
    return discard_statistics([held])[0, action]


# --- against brute force ------------------------------------------------------------------------------------


def assert_counted(hands: np.ndarray) -> np.ndarray:
    """Each value of each discard of each hand is that of the brute force."""
    found = discard_statistics(hands)
    for hand, row in zip(hands.tolist(), found, strict=True):
        points = brute_force.hand_points(hand)
        assert row["hand_sum"].tolist() == points.sum(axis=1).tolist(), hand
        assert row["hand_min"].tolist() == points.min(axis=1).tolist(), hand
        assert (row["hand_median_2"] / 2).tolist() == np.median(points, axis=1).tolist(), hand
        assert row["hand_max"].tolist() == points.max(axis=1).tolist(), hand
        sums, completions = brute_force.crib_sums(hand)
        assert row["crib_sum"].tolist() == sums.tolist() and completions == COMPLETIONS, hand
    return found


def test_hands_of_all_kinds() -> None:
    hands = brute_force.varied_hands(60, seed=1)
    found = assert_counted(hands)
    ranks, suits = hands // 4, hands % 4
    suited = np.array([max(Counter(row).values()) for row in suits.tolist()])
    alike = np.array([max(Counter(row).values()) for row in ranks.tolist()])
    assert {1, 2, 3, 4, 5, 6} - set(suited.tolist()) == {1} and set(alike.tolist()) == {1, 2, 3, 4}
    assert set((ranks == brute_force.JACK).sum(axis=1).tolist()) >= {0, 1, 2, 3}
    assert (found["hand_median_2"] % 2 == 1).any()  # between two numbers of points


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_two_thousand_hands() -> None:
    """1.4 thousand million cribs."""
    assert_counted(brute_force.varied_hands(2_100, seed=2))


# --- by hand ------------------------------------------------------------------------------------------------


def test_twenty_nine_and_twenty_eight() -> None:
    assert statistics_of("5H 5S 5D JC 2H 8S", "2H 8S")["hand_max"] == 29  # the right five turned
    assert statistics_of("5H 5S 5D 5C 2H 8S", "2H 8S")["hand_max"] == 28  # the same cards with a jack turned
    assert statistics_of("5H 5S 5D JC 5C 8S", "5C 8S")["hand_max"] == 22  # thrown away: now another jack is best


def test_four_kings() -> None:
    """12 points whatever is turned, 8 more with each of four fives."""
    row = statistics_of("KC KD KH KS QC QD", "QC QD")
    assert row["hand_sum"] == 46 * 12 + 4 * 8
    assert (row["hand_min"], row["hand_median_2"], row["hand_max"]) == (12, 24, 20)


def test_a_flush_that_may_grow() -> None:
    """2 4 6 8 of clubs: 4 points, 5 with one of seven clubs left, and what the starter's rank adds."""
    row = statistics_of("2C 4C 6C 8C QC KC", "QC KC")
    # two fifteens each with A, 3, 5, 7, 9; runs with 3, 5, 7; pairs with 2, 4, 6, 8, three of which are left
    assert row["hand_sum"] == 46 * 4 + 7 * 1 + 5 * 4 * 4 + 3 * 4 * 3 + 4 * 3 * 2
    assert (row["hand_min"], row["hand_max"]) == (4, 5 + 4 + 3)


# --- over all hands -----------------------------------------------------------------------------------------


@cache
def rank_points_of_all_shows() -> int:
    """Fifteens, pairs and runs of the 12,994,800 ways to lay four cards and a starter, by sets of five ranks."""
    points = 0
    for ranks in combinations_with_replacement(range(13), 5):
        ways = prod(comb(4, count) for count in Counter(ranks).values())
        five = [4 * rank for rank in ranks]
        points += ways * (reference.fifteens(five) + reference.pairs(five) + reference.runs(five))
    return points * 5  # any of the five is the starter


NOBS_OF_ALL_SHOWS = 4 * 12 * comb(50, 3)
"""A jack, a starter of its suit, three other cards."""
FLUSHES_OF_FIVE, FLUSHES_OF_FOUR = 4 * comb(13, 4) * 9, 4 * comb(13, 4) * 39


@cache
def statistics_of_classes() -> np.ndarray:
    return discard_statistics(class_hands(suit_classes().keys))


def all_hands_mean(field: str, ways: int) -> Fraction:
    """Mean over all hands and all their discards: each four cards and starter occur equally often in it."""
    by_class = statistics_of_classes()[field].sum(axis=1, dtype=np.int64)
    total = int(by_class @ class_sizes(suit_classes().keys))
    return Fraction(total, HANDS * 15 * ways)


def test_the_mean_of_all_hands() -> None:
    suits = NOBS_OF_ALL_SHOWS + 5 * FLUSHES_OF_FIVE + 4 * FLUSHES_OF_FOUR
    expected = Fraction(rank_points_of_all_shows() + suits, 12_994_800)
    assert round(float(expected), 4) == 4.7692  # published
    assert all_hands_mean("hand_sum", 46) == expected


def test_the_mean_of_all_cribs() -> None:
    """Hands without the flush of four."""
    expected = Fraction(rank_points_of_all_shows() + NOBS_OF_ALL_SHOWS + 5 * FLUSHES_OF_FIVE, 12_994_800)
    assert round(float(expected), 5) == 4.73482
    assert all_hands_mean("crib_sum", COMPLETIONS) == expected


# --- what comes in ------------------------------------------------------------------------------------------


def test_one_hand_or_many_or_none() -> None:
    hands = brute_force.varied_hands(40, seed=3)
    rows = discard_statistics(hands)
    assert rows.shape == (40, 15) and rows.dtype == DISCARD_DTYPE and DISCARD_DTYPE.itemsize == 9
    assert all(np.array_equal(discard_statistics(hand)[0], row) for hand, row in zip(hands, rows, strict=True))
    means = crib_means(hands, uniform_sums())
    assert all(np.array_equal(crib_means(hand, uniform_sums())[0], row) for hand, row in zip(hands, means, strict=True))
    assert discard_statistics(np.empty((0, 6), dtype=np.int8)).shape == (0, 15)


BAD_HANDS = {
    "five cards": ([[0, 1, 2, 3, 4]], r"shape \(1, 5\), expected \[N, 6\]"),
    "none": ([], r"shape \(0,\), expected"),
    "three dimensions": ([[[0, 1, 2, 3, 4, 5]]], r"shape \(1, 1, 6\)"),
    "not sorted": ([[0, 1, 2, 3, 5, 4]], r"hand \[0, 1, 2, 3, 5, 4\]: expected six distinct"),
    "twice": ([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 4]], r"hand \[0, 1, 2, 3, 4, 4\]"),
    "absent": ([[-1, 1, 2, 3, 4, 5]], r"hand \[-1,"),
    "no card": ([[0, 1, 2, 3, 4, 52]], "ids 0..51"),
    "far beyond": ([[0, 1, 2, 3, 4, 261]], "261"),
    "unsigned": (np.array([[5, 4, 3, 2, 1, 0]], dtype=np.uint64), "ascending"),
    "fractions": ([[0.5, 1.5, 2, 3, 4, 5]], "whole"),
    "names": ([["5H", "5S", "5D", "JC", "2H", "8S"]], "whole"),
}


@pytest.mark.parametrize("name", BAD_HANDS)
def test_bad_hands_are_refused(name: str) -> None:
    hands, message = BAD_HANDS[name]
    for function in (discard_statistics, lambda cards: crib_means(cards, uniform_sums())):
        with pytest.raises(StatisticsError, match=message) as caught:
            function(hands)
        assert "\n" not in str(caught.value)


# --- ranks --------------------------------------------------------------------------------------------------


def test_rank_sets_are_numbered_in_order() -> None:
    pairs, fours, sixes = rank_sets(2), rank_sets(4), rank_sets(6)
    assert [rank_set_2(*map(int, row)) for row in pairs] == list(range(91))
    assert [rank_set_of(4 * row + 3) for row in fours] == list(range(1_820))
    assert [rank_set_of(4 * row) for row in sixes] == list(range(18_564))
    for rows in (pairs, fours, sixes):
        assert len({tuple(row) for row in rows.tolist()}) == len(rows) and (np.diff(rows, axis=1) >= 0).all()
    assert sum(max(Counter(row).values()) <= 4 for row in sixes.tolist()) == 18_395
