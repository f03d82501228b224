"""Targets of a play's value on numbers worked by hand, and what n-step and lambda-returns have in common."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deepcrib.learners.replay.extras import distributed_step
from deepcrib.learners.replay.targets import (
    expected_sarsa_value,
    lambda_returns,
    n_step_returns,
    one_step,
    q_learning_value,
    sarsa_value,
    watkins_decay,
)

INF = np.inf


def sarsa(r_t: np.ndarray, discount: np.ndarray, q_tp1: np.ndarray, a_tp1: np.ndarray) -> np.ndarray:
    return one_step(r_t, discount, sarsa_value(q_tp1, a_tp1))


def expected_sarsa(r_t: np.ndarray, discount: np.ndarray, q_tp1: np.ndarray, epsilon: float) -> np.ndarray:
    return one_step(r_t, discount, expected_sarsa_value(q_tp1, epsilon))


def q_learning(r_t: np.ndarray, discount: np.ndarray, q_tp1: np.ndarray) -> np.ndarray:
    return one_step(r_t, discount, q_learning_value(q_tp1))


def float32(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


# Four experiences: all four cards may be played next, two may, one must be, none (one's last card of the hand).
R = float32(1, -2, 0.5, 3)
DISCOUNT = float32(1, 1, 1, 0)
Q = np.array([[1, 2, 4, 1], [-INF, 3, -INF, -1], [-INF, -INF, -INF, -6], [-INF, -INF, -INF, -INF]], dtype=np.float32)
ACTIONS = np.array([3, 1, 3, 0], dtype=np.int8)


def test_any_number_of_steps_beyond_the_hand_is_the_return_at_once() -> None:
    """4 + 2 + 1, 2 + 1 and 1, whatever a network says of the decisions between."""
    r_t, following, v_tp1 = float32(4, 2, 1)[None], np.array([[1, 2, -1]]), float32(50, -50, 9)[None]
    assert n_step_returns(r_t, following, v_tp1, n=10**12).tolist() == [[7, 3, 1]]
    atoms = torch.arange(-10.0, 11.0)
    p_tp1 = np.tile(np.eye(21, dtype=np.float32)[20], (1, 3, 1))  # 10 points for certain
    found = n_step_returns(r_t, following, p_tp1, 10**12, partial(distributed_step, atoms))
    assert (found @ atoms.numpy()).tolist() == [[7, 3, 1]] and found.max(axis=2).tolist() == [[1, 1, 1]]


def test_one_step_by_hand() -> None:
    """1 + 1, -2 + 3, 0.5 - 6, and 3 with nothing after it; the best next is 4; expected values by legal 2, 1, -6."""
    assert sarsa(R, DISCOUNT, Q, ACTIONS).tolist() == [2, 1, -5.5, 3]
    assert q_learning(R, DISCOUNT, Q).tolist() == [5, 1, -5.5, 3]
    # 1 + 3/4 * 4 + 1/4 * 2; -2 + 3/4 * 3 + 1/4 * 1; 0.5 - 6; 3
    assert expected_sarsa(R, DISCOUNT, Q, 0.25).tolist() == [4.5, 0.5, -5.5, 3]


def test_a_discount_between() -> None:
    """Half of what follows."""
    half = DISCOUNT / 2
    assert sarsa(R, half, Q, ACTIONS).tolist() == [1.5, -0.5, -2.5, 3]
    assert q_learning(R, half, Q).tolist() == [3, -0.5, -2.5, 3]
    assert expected_sarsa(R, half, Q, 1.0).tolist() == [2, -1.5, -2.5, 3]


TARGETS = {
    "sarsa": lambda discount, q: sarsa(R, discount, q, ACTIONS),
    "q_learning": lambda discount, q: q_learning(R, discount, q),
    "expected_sarsa": lambda discount, q: expected_sarsa(R, discount, q, 0.3),
    "expected_sarsa, all exploration": lambda discount, q: expected_sarsa(R, discount, q, 1.0),
    "expected_sarsa, no exploration": lambda discount, q: expected_sarsa(R, discount, q, 0.0),
}


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_leaks_past_the_end_of_a_hand(name: str) -> None:
    """Whatever the values of a terminal next state are, -inf and nan too, the target is the reward, silently."""
    none = np.zeros(4, dtype=np.float32)
    for value in (-INF, INF, np.nan, 1e30):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = TARGETS[name](none, np.full((4, 4), value, dtype=np.float32))
        assert found.tolist() == R.tolist()


@pytest.mark.parametrize("name", TARGETS)
def test_targets_are_float32_and_leave_their_arguments_alone(name: str) -> None:
    before = Q.copy(), R.copy(), DISCOUNT.copy()
    found = TARGETS[name](DISCOUNT, Q)
    assert found.dtype == np.float32 and np.isfinite(found).all()
    for array, copy in zip((Q, R, DISCOUNT), before, strict=True):
        assert (array == copy).all()


def test_no_experiences() -> None:
    none = np.empty((0, 4), dtype=np.float32)
    assert len(q_learning(R[:0], R[:0], none)) == 0
    assert len(expected_sarsa(R[:0], R[:0], none, 0.1)) == 0
    assert len(sarsa(R[:0], R[:0], none, ACTIONS[:0])) == 0


# --- several steps ------------------------------------------------------------------------------------------

# One player's four plays of a hand, and a hand of which only two were decisions (filled up with zeros).
HAND = np.array([[1, -2, 3, 4], [2, 5, 0, 0]], dtype=np.float32)
FOLLOWING = np.array([[1, 2, 3, -1], [1, -1, -1, -1]])
NEXT = np.array([[10, 20, 30, 0], [40, 0, 0, 0]], dtype=np.float32)
RETURNS = [[6, 5, 7, 4], [7, 5, 0, 0]]


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, [[11, 18, 33, 4], [42, 5, 0, 0]]),  # 1 + 10, -2 + 20, 3 + 30, 4; 2 + 40, 5
        (2, [[19, 31, 7, 4], [7, 5, 0, 0]]),  # 1 - 2 + 20, -2 + 3 + 30, 3 + 4, 4; 2 + 5, 5
        (3, [[32, 5, 7, 4], [7, 5, 0, 0]]),  # 1 - 2 + 3 + 30, -2 + 3 + 4
        (4, RETURNS),
        (9, RETURNS),
    ],
)
def test_n_steps(n: int, expected: list[list[float]]) -> None:
    assert n_step_returns(HAND, FOLLOWING, NEXT, n).tolist() == expected


def test_half_a_trace() -> None:
    """From the last play on: 4; 3 + (30 + 4)/2 = 20; -2 + (20 + 20)/2 = 18; 1 + (10 + 18)/2 = 15. 5; 2 + (40 + 5)/2."""
    half = np.full((2, 4), 0.5, dtype=np.float32)
    assert lambda_returns(HAND, FOLLOWING, NEXT, half).tolist() == [[15, 18, 20, 4], [24.5, 5, 0, 0]]


def test_a_trace_that_is_cut() -> None:
    """lambda 1, but 0 at the third decision: -2 + 20 there, and 1 - 2 + 20 before it, as in a two-step return."""
    cut = np.array([[1, 0, 1, 1], [1, 1, 1, 1]], dtype=np.float32)
    assert lambda_returns(HAND, FOLLOWING, NEXT, cut).tolist() == [[19, 18, 7, 4], [7, 5, 0, 0]]


def of_hands(low: float, high: float) -> st.SearchStrategy[np.ndarray]:
    """Whole numbers [3, 4], sums of which are exact."""
    return arrays(np.float32, (3, 4), elements=st.integers(low, high).map(float))


LENGTHS = st.lists(st.integers(1, 4), min_size=3, max_size=3)


def order(lengths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """[3, 4]: where there is a decision, 0 or 1, and the number of that which follows."""
    number = np.arange(4)
    ends = np.array(lengths)[:, None]
    return (number < ends).astype(np.float32), np.where(number + 1 < ends, number + 1, -1)


@given(of_hands(-9, 9), of_hands(-99, 99), LENGTHS, st.integers(4, 8))
def test_far_enough_ahead_all_are_the_return(r: np.ndarray, v: np.ndarray, lengths: list[int], n: int) -> None:
    """n of 4 and more, and lambda 1: the sum of what is left of the hand, whatever the values are."""
    there, following = order(lengths)
    r *= there
    whole = np.cumsum(r[:, ::-1], axis=1)[:, ::-1]
    assert (n_step_returns(r, following, v, n) == whole).all()
    assert (lambda_returns(r, following, v, np.ones_like(v)) == whole).all()


@given(of_hands(-9, 9), of_hands(-99, 99), LENGTHS)
def test_without_a_trace_it_is_one_step(r: np.ndarray, v: np.ndarray, lengths: list[int]) -> None:
    there, following = order(lengths)
    r *= there
    assert (lambda_returns(r, following, v, np.zeros_like(v)) == n_step_returns(r, following, v, 1)).all()


@given(of_hands(-9, 9), of_hands(-99, 99), LENGTHS, st.floats(0, 1))
def test_a_lambda_return_is_the_mean_of_n_step_returns(
    r: np.ndarray, v: np.ndarray, lengths: list[int], decay: float
) -> None:
    """Its definition (Sutton and Barto, equation 12.3): weights (1 - lambda) lambda^(n-1), the rest on the return."""
    there, following = order(lengths)
    r *= there
    weights = [(1 - decay) * decay ** (n - 1) for n in (1, 2, 3)] + [decay**3]
    mean = sum(weight * n_step_returns(r, following, v, n) for n, weight in enumerate(weights, start=1))
    trace = np.full_like(v, decay)
    np.testing.assert_allclose(lambda_returns(r, following, v, trace), mean, rtol=1e-5, atol=1e-3)


def test_watkins_cuts_behind_an_action_that_is_not_the_best() -> None:
    """Actions 2, 1, 3, of values 4 (the best), 3 (the best), 7 of 8; and one of two that are equally good."""
    values = np.array([[1, 2, 4, 1], [-INF, 3, -INF, -1], [8, -INF, -INF, 7], [5, 5, -INF, 0]], dtype=np.float32)
    found = watkins_decay(0.25, values, np.array([2, 1, 3, 1], dtype=np.int8))
    assert found.tolist() == [0.25, 0.25, 0, 0.25]


# --- double Q -----------------------------------------------------------------------------------------------


def test_double_q_values_what_the_other_chose() -> None:
    chooser = np.array([[1, 9, 3, 1], [-INF, 3, -INF, 4], [-INF, -INF, -INF, 0]], dtype=np.float32)
    assert q_learning_value(Q[:3], chooser).tolist() == [2, -1, -6]
    assert q_learning_value(Q[:3], Q[:3]).tolist() == q_learning_value(Q[:3]).tolist()


@pytest.mark.parametrize("actions", [2, 3])
def test_the_best_of_noisy_values_is_overrated_and_double_q_is_not(actions: int) -> None:
    """Actions worth 0, each estimated as 1 or -1 with equal chance, by two networks that err independently.

    All cases together: the largest estimate is -1 only where all are, so its mean is 1 - 2 / 2^actions (a half, three
    quarters). What the second network says of the action that the first one rates highest is 0 on average (van
    Hasselt 2010, section 2: the single estimator's bias is never negative, the double one's never positive).
    """
    estimates = np.array(list(product([-1.0, 1.0], repeat=actions)), dtype=np.float32)
    first = np.repeat(estimates, len(estimates), axis=0)
    second = np.tile(estimates, (len(estimates), 1))
    assert q_learning_value(first).mean() == 1 - 2 / 2**actions
    assert q_learning_value(second, first).mean() == 0
