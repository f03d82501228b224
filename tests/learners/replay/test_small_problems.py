"""Every option of targets and replay on a problem whose values can be counted: a table of 14 numbers must find them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents.q_network import QFunction
from deepcrib.learners.replay.extras import Sampling
from tests.support.replaying import play_samples
from tests.support.small_problems import POINTS, STATES, Lookup, all_hands, counted, entries, exact, learned_table

TOLERANCE = 0.1
"""Points; values that options could be mistaken in are half a point or more apart."""


def test_the_problem_is_what_it_says() -> None:
    """By hand: 3 + 1 + 1 + 2 = 7 at best, but 0 + 5 + 4 + 6 = 15; of random play 3 + .5 + .5 + 1, 0 + 3.5 + 2.5 + 3."""
    assert [counted(0, 0, action, 0) for action in (0, 1)] == [7, 15]
    assert [counted(0, 0, action, 3) for action in (0, 1)] == [5, 9]


def table(algorithm: str, **options: Any) -> np.ndarray:
    """[14] values learned in 40 iterations."""
    return learned_table(algorithm, **options).values(*entries())


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("monte_carlo", {}),
        ("sarsa", {}),
        ("sarsa", {"n_steps": 2}),
        ("sarsa", {"trace_decay": 0.5}),
        ("expected_sarsa", {"n_steps": 3}),
        ("expected_sarsa", {"trace_decay": 0.8}),
        ("q_learning", {"n_steps": 4}),
    ],
)
def test_values_of_the_policy_that_played(algorithm: str, options: dict[str, Any]) -> None:
    """All actions equally often: the mean over all courses. Epsilon is 1, so it is Expected SARSA's policy too.

    n-step Q-learning looks for no best action before the hand is over: from 4 steps on it is Monte Carlo.
    """
    assert table(algorithm, **options) == pytest.approx(exact(3), abs=TOLERANCE)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"trace_decay": 0.9},
        {"target_every": 2, "double": True},
        {"target_every": 3, "double": True, "trace_decay": 0.7},
        {"sampling": Sampling(True, 0.6, 0.4)},
        {"sampling": Sampling(True, 1.0, 1.0), "target_every": 2, "double": True},
        {"sampling": Sampling(combined=True)},
    ],
)
def test_values_of_the_best_policy(options: dict[str, Any]) -> None:
    """Q-learning from random courses; Watkins's traces end where an action was not the best, so they do no harm."""
    assert table("q_learning", **options) == pytest.approx(exact(0), abs=TOLERANCE)


@pytest.mark.parametrize("n", [2, 3])
def test_uncorrected_steps_of_q_learning(n: int) -> None:
    """Its fixed point: n - 1 decisions as they were played, at random, and the best ones only after those."""
    found = table("q_learning", n_steps=n)

    def value(k: int, branch: int, action: int, steps: int) -> float:
        """Of an action; `steps` random decisions come before the next best one, which n - 1 random ones follow."""
        points = POINTS[k][branch][action]
        if k == 3:
            return points
        left = n - 1 if steps == 0 else steps - 1
        after = [value(k + 1, branch if k else action, a, left) for a in (0, 1)]
        return points + (max(after) if steps == 0 else sum(after) / 2)

    expected = [value(k, branch, action, n - 1) for k, branch in STATES for action in (0, 1)]
    assert found == pytest.approx(expected, abs=TOLERANCE)
    assert found[0] != pytest.approx(exact(0)[0], abs=0.3)


@pytest.mark.parametrize("sampling", [Sampling(True, 0.6, 1.0), Sampling(combined=True)])
def test_returns_that_differ_from_hand_to_hand(sampling: Sampling) -> None:
    """With beta = 1 errors weigh nothing: the mean of all hands. Of the combined ones the five newest count twice."""
    encoder: Any = Lookup()
    hands = all_hands()
    samples = play_samples(hands, "monte_carlo", "offensive", QFunction(encoder, torch.nn.Identity()), 1.0)
    counts = np.ones(len(samples)) + sampling.combined * (np.arange(len(samples)) >= 8 * 11)
    entries = encoder.indices(samples.states, samples.actions)
    sums = np.bincount(entries, counts * samples.targets) / np.bincount(entries, counts)
    expected = exact(3) if sampling.prioritised else sums
    passes = 5.0 if sampling.prioritised else 1.0
    assert table("monte_carlo", passes=passes, sampling=sampling) == pytest.approx(expected, abs=0.25)
