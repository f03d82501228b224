"""Figures 5 and 6 of 2019: what values of hands are compared with, and the best that can be known of a starter."""

from math import comb

import numpy as np
import pytest

from benchmarks.paper2019 import deal as paper2019_deal
from benchmarks.paper2019.deal import best, compared, density, measure, with_starters
from deepcrib.exact.shows import all_hands, bare_hand_values
from deepcrib.game.cards import SUITS


def test_numbers_worked_by_hand() -> None:
    # errors 0, -2, 0 and 0.4, which is rounded away
    found = compared(np.array([1, 2.4]), np.array([[1, 3], [2.4, 2]]))
    assert (found["mean_absolute_error"], found["rms_error"]) == (0.6, pytest.approx((4.16 / 4) ** 0.5, abs=1e-4))
    assert found["exact_share"] == 0.5
    assert found["correlation"] == pytest.approx(np.corrcoef([1, 1, 2.4, 2.4], [1, 3, 2.4, 2])[0, 1], abs=1e-5)


def test_all_hands_with_all_starters_and_what_can_be_known() -> None:
    """12,994,800 hands, of which 4 are of 29 points and 76 of 28; no other guess than mean and median is better."""
    true = with_starters(all_hands())
    assert true.shape == (270_725, 48) and (true == 29).sum() == 4 and (true == 28).sum() == 76
    known, means = best(true), true.mean(axis=1)
    within = (true.astype(np.int64) ** 2).mean() - (means**2).mean()  # the mean variance within hands
    assert known["best_mean"]["rms_error"] == pytest.approx(within**0.5, abs=1e-4)
    assert known["best_mean"]["correlation"] == pytest.approx(means.std() / true.std(), abs=1e-5)
    for guess in (means + 0.2, np.rint(means), np.median(true, axis=1) + 1):
        other = compared(guess, true)
        assert other["rms_error"] > known["best_mean"]["rms_error"]
        assert other["mean_absolute_error"] > known["best_median"]["mean_absolute_error"]


def test_a_network_blind_to_flushes_is_four_points_off_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    hands = all_hands()
    flush = np.ptp(SUITS[hands], axis=1) == 0
    blind = (bare_hand_values(hands) - 4.0 * flush).astype(np.float32)
    monkeypatch.setattr(paper2019_deal, "pretrained", lambda shown, seed: blind)
    found = measure("5a", 1)
    assert flush.sum() == 4 * comb(13, 4) == 2860
    assert found["flushes"]["mean_absolute_error"] == 4 and found["rest"]["mean_absolute_error"] == 0
    assert found["all"]["mean_absolute_error"] == pytest.approx(4 * 2860 / 270_725, abs=1e-4)
    assert found["all"]["exact_share"] == pytest.approx(1 - 2860 / 270_725, abs=1e-5)


def test_densities_count_every_value_once() -> None:
    found = density(np.array([-0.1, 0.3, 0.3, 1.0]), np.array([0, 0, 2, 2]))
    assert found == {"0": [-1, 1, 0, 1], "2": [1, 1, 0, 0, 1]}
    assert density(np.array([0.3, 1.0]), np.array([[0, 2], [2, 2]])) == {"0": [1, 1], "2": [1, 1, 0, 0, 2]}
