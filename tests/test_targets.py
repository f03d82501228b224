"""The four algorithms' targets on numbers worked by hand."""

import warnings

import numpy as np
import pytest

from deepcrib.training.targets import expected_sarsa, monte_carlo, q_learning, sarsa

INF = np.inf


def float32(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


# Four experiences: all four cards may be played next, two may, one must be, none (one's last card of the hand).
R = float32(1, -2, 0.5, 3)
DISCOUNT = float32(1, 1, 1, 0)
Q = np.array([[1, 2, 4, 1], [-INF, 3, -INF, -1], [-INF, -INF, -INF, -6], [-INF, -INF, -INF, -INF]], dtype=np.float32)
ACTIONS = np.array([3, 1, 3, 0], dtype=np.int8)


def test_monte_carlo_is_the_return() -> None:
    assert monte_carlo(float32(3, -2, 0)).tolist() == [3, -2, 0]


def test_sarsa() -> None:
    """1 + 1, -2 + 3, 0.5 - 6, and 3 with nothing after it."""
    assert sarsa(R, DISCOUNT, Q, ACTIONS).tolist() == [2, 1, -5.5, 3]


def test_sarsa_follows_the_action_taken() -> None:
    for action, value in enumerate([1, 2, 4, 1]):
        assert sarsa(R[:1], DISCOUNT[:1], Q[:1], np.array([action], dtype=np.int8)).tolist() == [1 + value]


def test_q_learning() -> None:
    """1 + 4, -2 + 3, 0.5 - 6, 3."""
    assert q_learning(R, DISCOUNT, Q).tolist() == [5, 1, -5.5, 3]


def test_expected_sarsa() -> None:
    """Means of the legal values 2, 1, -6: 1 + 3/4 * 4 + 1/4 * 2; -2 + 3/4 * 3 + 1/4 * 1; 0.5 - 6; 3."""
    assert expected_sarsa(R, DISCOUNT, Q, 0.25).tolist() == [4.5, 0.5, -5.5, 3]


def test_expected_sarsa_without_exploration_is_q_learning() -> None:
    assert expected_sarsa(R, DISCOUNT, Q, 0.0).tolist() == q_learning(R, DISCOUNT, Q).tolist()


def test_expected_sarsa_with_nothing_but_exploration_is_the_mean() -> None:
    assert expected_sarsa(R, DISCOUNT, Q, 1.0).tolist() == [3, -1, -5.5, 3]


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
