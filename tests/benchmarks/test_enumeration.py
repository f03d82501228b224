"""Statistics counted by the rules alone, and the comparison with them."""

import numpy as np
import pytest

from benchmarks.exact import enumeration
from benchmarks.exact.enumeration import enumerate_discards, random_hands, verify
from deepcrib.errors import StatisticsError
from deepcrib.exact.discards import discard_statistics
from tests.support import brute_force


def test_the_enumeration_by_the_rules() -> None:
    hands = brute_force.varied_hands(12, seed=4)
    found = enumerate_discards(hands)
    assert np.array_equal(found, discard_statistics(hands))
    for hand, row in zip(hands[:3].tolist(), found, strict=False):
        points = brute_force.hand_points(hand)
        assert row["hand_sum"].tolist() == points.sum(axis=1).tolist()
        assert (row["hand_median_2"] / 2).tolist() == np.median(points, axis=1).tolist()
        assert row["crib_sum"].tolist() == brute_force.crib_sums(hand)[0].tolist()


def test_random_hands_are_hands_all_alike() -> None:
    hands = random_hands(20_000, 3)
    assert (np.diff(hands, axis=1) > 0).all() and len(np.unique(hands, axis=0)) > 19_900
    counts = np.bincount(hands.ravel(), minlength=52)
    assert (((counts - 20_000 * 6 / 52) ** 2).sum() / (20_000 * 6 / 52)) < 90  # chi squared, 51 degrees, 99.9%


def test_verifying_finds_a_single_wrong_point(monkeypatch: pytest.MonkeyPatch) -> None:
    hands, done = random_hands(20, 7), []

    def nearly(wanted: np.ndarray) -> np.ndarray:
        rows = discard_statistics(wanted)
        rows["crib_sum"][(wanted == hands[13]).all(axis=1), 14] += 1
        return rows

    verify(20, 7, progress=done.append)
    assert sum(done) == 20
    monkeypatch.setattr(enumeration, "discard_statistics", nearly)
    with pytest.raises(StatisticsError, match="there are .* expected .* by the rules"):
        verify(20, 7)
