"""Strategies of the thesis (section 3.1): desirability of the 15 discards, weights around a score, and the choice."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.errors import OptionError
from deepcrib.exact.discards import plain_statistics, uniform_sums
from deepcrib.exact.pegging import exact_records
from deepcrib.exact.strategies.discards import (
    NO_OPINION,
    NUM_VALUES,
    choose,
    fill_matrix,
    fill_values,
    fill_weights,
    strategy_codes,
)
from deepcrib.exact.strategies.names import STRATEGIES, THESIS_STRATEGIES
from tests.support import brute_force, reference
from tests.support.reference import assert_drawn, cards

SETS = sorted(combinations_with_replacement(range(13), 4), key=lambda ranks: ranks[::-1])
HANDS = [cards(text) for text in ("5C 5D 5H JS QS KS", "AC 2C 3C 4C 7D JC", "7C 7D 8C 8S 9H JH", "2D 4S 6D 8H TD QC")]


def values_of(hand: list[int], role: int, pegging: np.ndarray) -> np.ndarray:
    """[15, 8]."""
    values = np.empty((15, NUM_VALUES))
    fill_values(np.array(hand, dtype=np.int8), role, uniform_sums(), plain_statistics(), pegging, values)
    return values


def matrix_of(values: np.ndarray, names: tuple[str, ...] = STRATEGIES, neutral: float = NO_OPINION) -> np.ndarray:
    matrix = np.empty((len(names), 15))
    fill_matrix(strategy_codes(names), values, neutral, matrix)
    return matrix


# --- values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [0, 1])
@pytest.mark.parametrize("hand", HANDS, ids=map(str, HANDS))
def test_values_are_those_of_a_count_card_by_card(hand: list[int], role: int) -> None:
    found = values_of(sorted(hand), role, exact_records().summary())
    points = brute_force.hand_points(sorted(hand))
    cribs, completions = brute_force.crib_sums(sorted(hand))
    assert np.array_equal(found[:, 0], points.min(axis=1)) and np.array_equal(found[:, 3], points.max(axis=1))
    np.testing.assert_allclose(found[:, 1], points.mean(axis=1), rtol=1e-14)
    assert np.array_equal(found[:, 2], np.median(points, axis=1))
    np.testing.assert_allclose(found[:, 4], cribs / completions, rtol=1e-14)
    records = exact_records()
    for keep, row in zip(brute_force.KEEPS, found[:, 5:], strict=True):
        number = SETS.index(tuple(reference.rank(sorted(hand)[slot]) for slot in keep))
        gains = np.repeat(np.arange(32), records.gained[number, role])
        gives = np.repeat(np.arange(32), records.given[number, role])
        assert row == pytest.approx([gains.mean(), np.median(gains), gives.mean()], rel=1e-12)


# --- desirability -------------------------------------------------------------------------------------------


def test_the_example_of_the_thesis() -> None:
    """Section 3.1: of 12, 2 and 7 points guaranteed 12 is worth 1, 2 is worth 0, 7 is worth 0.5."""
    column = np.array([12, 2, 7] + [12] * 12)
    values = np.repeat(column[:, None], NUM_VALUES, axis=1).astype(float)
    for name, row in zip(STRATEGIES, matrix_of(values), strict=True):
        wanted = [0, 1, 0.5] if "_min_avg" in name else [1, 0, 0.5]
        assert row[:3].tolist() == wanted, name


@pytest.mark.parametrize("neutral", [0.0, 0.5])
def test_a_strategy_without_an_opinion(neutral: float) -> None:
    """Lang's program: where no difference is, or no record, a discard is worth one half; 0.5 by default."""
    assert NO_OPINION == 0.5
    values = np.random.default_rng(0).random((15, NUM_VALUES))
    values[:, 0] = 4  # hand_max_min: all alike
    values[:4, 5] = [1, np.nan, 3, 2]  # pegging_max_avg_gained: one without a record
    values[4:, 5] = 1
    values[:, 6] = np.nan  # pegging_max_med_gained: no record at all
    values[:14, 7] = np.nan  # pegging_min_avg_given: one record tells nothing
    rows = dict(zip(THESIS_STRATEGIES, matrix_of(values, THESIS_STRATEGIES, neutral), strict=True))
    assert rows["pegging_max_avg_gained"].tolist() == [0, neutral, 1, 0.5, *[0] * 11]
    for name in ("hand_max_min", "pegging_max_med_gained", "pegging_min_avg_given"):
        assert rows[name].tolist() == [neutral] * 15


COLUMNS = dict(zip(STRATEGIES, (0, 1, 2, 3, 4, 5, 6, 7, 4), strict=True))


@given(
    st.lists(st.floats(0, 40, width=16), min_size=15 * NUM_VALUES, max_size=15 * NUM_VALUES),
    st.permutations(STRATEGIES),
    st.integers(1, 9),
)
def test_desirability_is_linear(numbers: list[float], names: list[str], size: int) -> None:
    values, chosen = np.array(numbers).reshape(15, NUM_VALUES), tuple(names[:size])
    for name, row in zip(chosen, matrix_of(values, chosen), strict=True):
        column = values[:, COLUMNS[name]] * (-1 if name in ("crib_min_avg", "pegging_min_avg_given") else 1)
        assert row.min() >= 0 and row.max() <= 1
        if np.ptp(column) == 0:
            assert (row == 0.5).all()
            continue
        np.testing.assert_allclose(row, (column - column.min()) / np.ptp(column), atol=1e-12)
        # what is best is so exactly, since strategies that call a discard best answer for it together
        assert np.array_equal(row == 1, column == column.max()) and row.min() == 0


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("hand_max_avg", "hand_max_mean"), "strategy 'hand_max_mean': expected one of hand_max_min, "),
        ((), r"strategies \[\]: expected one or more"),
        (("hand_max_avg", "crib_min_avg", "hand_max_avg"), "expected one or more, each once"),
    ],
)
def test_mistaken_strategies(names: tuple[str, ...], words: str) -> None:
    with pytest.raises(OptionError, match=words) as error:
        strategy_codes(names)
    assert "\n" not in str(error.value)


# --- weights around a score ---------------------------------------------------------------------------------


def test_the_program_s_sum_of_neighbours_by_hand() -> None:
    """0.6 of (0.5, 0.5) and 0.4 times the sum of a corner's three, each (1, 0): (1.5, 0.3), divided by 1.8."""
    weights = np.zeros((121, 121, 2, 2))
    weights[..., 0] = 1
    weights[0, 0, 1] = 0.5
    blended = np.empty(2)
    fill_weights(weights, 0, 0, 1, 2, 0.4, blended)
    assert blended == pytest.approx([5 / 6, 1 / 6])


# --- choices ------------------------------------------------------------------------------------------------


UNEVEN = [0.0, 0.25, 0.9, 0.9 + 1e-13, 0.5, 0.9, 0.1]
BEST = np.array([0, 0, 1, 1, 0, 1, 0]) / 3
CHOICES: list[tuple[list[float], float, bool, Any]] = [
    (UNEVEN, 0.0, False, BEST),
    (UNEVEN, -0.1, True, BEST),  # a variance greater than k leaves nothing to chance
    (UNEVEN, 1.0, False, np.full(7, 1 / 7)),
    (UNEVEN, 0.3, False, 0.7 * BEST + 0.3 / 7),
    (UNEVEN, 1.0, True, np.array(UNEVEN) / sum(UNEVEN)),
    (UNEVEN, 0.3, True, 0.7 * BEST + 0.3 * np.array(UNEVEN) / sum(UNEVEN)),
    ([0.0] * 15, 1.0, True, np.full(15, 1 / 15)),  # no strategy has an opinion
]


@pytest.mark.parametrize(("preference", "epsilon", "by_preference", "wanted"), CHOICES)
def test_choices_fall_as_likely_as_they_should(
    preference: list[float], epsilon: float, by_preference: bool, wanted: np.ndarray
) -> None:
    """Over 30,000 keys."""
    keys = np.random.default_rng(7).integers(0, 2**64, 30_000, dtype=np.uint64)
    chosen = [choose(np.array(preference), epsilon, by_preference, key) for key in keys]
    assert_drawn(np.bincount(chosen, minlength=len(preference)), wanted)
