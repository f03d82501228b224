"""Minibatches: prioritised replay's chances and weights, combined replay's shares, against what can be counted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcrib.learners.replay.extras import (
    PRIORITY_FLOOR,
    Prioritised,
    Sampling,
    combined,
    in_order,
    proportional,
    sampling_of,
    sweeps,
)
from deepcrib.learners.replay.options import ReplayOptions

ERRORS = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0], dtype=np.float32)


def prioritised(
    errors: np.ndarray, alpha: float = 0.6, beta: float = 1.0, batch_size: int = 64, passes: float = 1.0, seed: int = 1
) -> Prioritised:
    sampling = Sampling(True, priority_exponent=alpha, importance_exponent=beta)
    return Prioritised(np.asarray(errors, np.float32), batch_size, passes, np.random.default_rng(seed), sampling)


def chances(errors: np.ndarray, alpha: float) -> np.ndarray:
    """P(i) by its definition."""
    powers = (np.asarray(errors, np.float64) + PRIORITY_FLOOR) ** alpha
    return powers / powers.sum()


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    expected = expected * counts.sum()
    return float(((counts - expected) ** 2 / expected).sum())


def test_shares_of_priorities_worked_by_hand() -> None:
    """Priorities 3, 1, 2: [0, 3) of 6 is the first one's, [3, 4) the second's, [4, 6) the third's."""
    shares = np.array([0, 2.9, 3, 3.9, 4, 5.9, 6.0]) / 6
    assert proportional(np.array([3.0, 1.0, 2.0]), shares).tolist() == [0, 0, 1, 1, 2, 2, 2]  # at the very end too


# --- prioritised --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_chances_are_in_proportion_to_priorities(alpha: float) -> None:
    """40,000 samples drawn one at a time, of a fixed seed: chi-square, 6 degrees of freedom, 0.1% level (22.458)."""
    drawn = prioritised(ERRORS, alpha, batch_size=1, passes=40_000 / len(ERRORS))
    counts = np.bincount(np.concatenate([rows for rows, _ in drawn]), minlength=len(ERRORS))
    assert counts.sum() == 40_000
    assert chi_square(counts, chances(ERRORS, alpha)) < 22.458


@settings(max_examples=50)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.floats(0, 1), st.integers(1, 200))
def test_a_minibatch_holds_each_sample_as_often_as_its_chance_says(errors: list, alpha: float, size: int) -> None:
    """One number from each of B equal ranges: B P(i) times, but for the range at either end."""
    batches = prioritised(np.array(errors), alpha, batch_size=size, passes=size / len(errors))
    ((rows, _),) = list(batches)
    expected = size * chances(np.array(errors, np.float32), alpha)
    assert (np.abs(np.bincount(rows, minlength=len(errors)) - expected) < 2).all()


@pytest.mark.parametrize(("samples", "passes", "sizes"), [(10, 1.0, [4, 4, 2]), (10, 0.1, [1]), (3, 2.7, [4, 4])])
def test_as_many_samples_as_without_priorities(samples: int, passes: float, sizes: list[int]) -> None:
    batches = prioritised(np.ones(samples), batch_size=4, passes=passes)
    assert [len(rows) for rows, _ in batches] == sizes
    assert batches.total == sum(sizes) == len(sweeps(samples, passes, np.random.default_rng(0)))


def test_weights_worked_by_hand() -> None:
    """Priorities 1, 2, 4 (alpha 1): N P(i) = 3/7, 6/7, 12/7; their inverses over the largest are 1, 1/2, 1/4."""
    batches = prioritised(np.array([1, 2, 4]) - PRIORITY_FLOOR, alpha=1.0)
    assert batches.weights(np.array([0, 1, 2])) == pytest.approx([1, 0.5, 0.25])
    half = prioritised(np.array([1, 2, 4]) - PRIORITY_FLOOR, alpha=1.0, beta=0.5)
    assert half.weights(np.array([2, 1, 0, 0])) == pytest.approx([0.5, 0.5**0.5, 1, 1])
    none = prioritised(ERRORS, beta=0.0)
    assert none.weights(np.arange(7)).tolist() == [1] * 7


@pytest.mark.parametrize("alpha", [0.3, 0.6, 1.0])
def test_weighted_gradients_are_the_uniform_ones_on_average(alpha: float) -> None:
    """Three samples of a linear network, all 27 minibatches of three draws with their chances, beta = 1.

    The mean of the weighted gradients is that of all samples, but for the one factor that the largest weight is.
    """
    inputs = torch.tensor([[1.0, 2.0], [-1.0, 0.5], [3.0, 1.0]], dtype=torch.float64)
    targets = torch.tensor([1.0, -2.0, 0.25], dtype=torch.float64)
    theta = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)

    def gradient(rows: list[int], weights: list[float]) -> np.ndarray:
        losses = (inputs[rows] @ theta - targets[rows]).square()
        loss = (torch.tensor(weights, dtype=torch.float64) * losses).mean()
        return torch.autograd.grad(loss, theta)[0].numpy()

    errors = (inputs @ theta - targets).detach().abs().numpy()
    weights = prioritised(errors, alpha).weights(np.arange(3)).astype(float)
    chance = chances(errors.astype(np.float32), alpha)
    mean = np.zeros(2)
    for rows in product(range(3), repeat=3):
        mean += np.prod(chance[list(rows)]) * gradient(list(rows), weights[list(rows)].tolist())
    factor = 3 * chance.min()  # of the largest weight, 1 / (N min P)
    np.testing.assert_allclose(mean, factor * gradient([0, 1, 2], [1, 1, 1]), rtol=1e-6)


def test_errors_of_a_minibatch_are_priorities_from_then_on() -> None:
    """Sample 1, learned to perfection, comes no more than the floor lets it; sample 0 most of the time."""
    batches = prioritised(np.array([1.0, 1.0, 1.0]), alpha=1.0, batch_size=300, passes=200)
    drawn = iter(batches)
    rows, _ = next(drawn)
    assert (np.abs(np.bincount(rows) - 100) < 2).all()
    batches.learned(np.array([0, 1, 1]), torch.tensor([3.0, 5.0, 5.0]), torch.tensor([-5.0, 5.0, 5.0]))
    rows, _ = next(drawn)
    expected = 300 * chances(np.array([8.0, 0.0, 1.0]), 1.0)
    assert (np.abs(np.bincount(rows, minlength=3) - expected) < 2).all()


def test_the_importance_exponent_moves_in_a_straight_line() -> None:
    options = ReplayOptions(iterations=5, sampling="prioritised", importance_exponent=0.4)
    exponents = [sampling_of(options, iteration).importance_exponent for iteration in range(5)]
    assert exponents == pytest.approx([0.4, 0.55, 0.7, 0.85, 1.0])
    assert sampling_of(ReplayOptions(iterations=1, sampling="prioritised"), 0).importance_exponent == 0.4
    assert not sampling_of(ReplayOptions(), 3).prioritised


# --- combined -----------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.integers(1, 60), st.data(), st.sampled_from([0.5, 1.0, 1.7, 3.0]), st.integers(1, 20))
def test_each_minibatch_has_its_share_of_the_newest(num: int, data: st.DataObject, passes: float, size: int) -> None:
    """Without the newest ones' own turns the order is a plain one; these are all of them, evenly spread."""
    newest = data.draw(st.integers(0, num))
    order = combined(num, newest, passes, np.random.default_rng(3))
    plain = sweeps(num, passes, np.random.default_rng(3))
    total = len(plain) + newest
    assert len(order) == total
    # Which positions are the newest ones' turns follows from the shares alone, position by position.
    turn = [(k + 1) * newest // total > k * newest // total for k in range(total)]
    assert order[~np.array(turn)].tolist() == plain.tolist()
    assert sorted(order[turn].tolist()) == list(range(num - newest, num))
    batches = [rows for rows, _ in in_order(order, size)]
    assert np.concatenate(batches).tolist() == order.tolist()
    for start, rows in zip(range(0, total, size), batches, strict=True):
        share = len(rows) * newest / total
        assert abs(sum(turn[start : start + size]) - share) < 1
        assert len(rows) == size or start + len(rows) == total
