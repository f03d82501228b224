"""Ratings from a league's results (Bradley, Terry 1952) on the scale of Elo's, with the intervals of duplicate deals.

The model: A beats B with chance 1 / (1 + 10^((R_B - R_A) / 400)). So 100 points more are a win rate of 64%, 10 points
more 51.4%. Only differences matter; the ratings of a league have the mean 1500.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.intervals import Interval, Z

MEAN = 1500.0
SCALE = 400 / math.log(10)
"""Rating points of one unit of log odds."""
_STEPS, _TOLERANCE = 100, 1e-12


@dataclass
class Paired:
    """What the pairs of games between A and B came to: how many of two games lost by A, of one each, of two won."""

    lost: int = 0
    shared: int = 0
    won: int = 0

    @property
    def games(self) -> int:
        """Two a pair."""
        return 2 * (self.lost + self.shared + self.won)

    @property
    def rate(self) -> float:
        """The win rate of A, 0..1."""
        return (self.shared + 2 * self.won) / self.games

    @property
    def variance(self) -> float:
        """Of the win rate, from the spread of the pairs; two halves of a pair, lost and won, keep it above 0."""
        pairs, rate = self.games / 2 + 1, (self.shared / 2 + self.won + 0.5) / (self.games / 2 + 1)
        square = (self.shared / 4 + self.won + 0.5) / pairs
        return (square - rate**2) / pairs


def bradley_terry(results: Mapping[tuple[str, str], Paired]) -> dict[str, Interval]:
    """Ratings by maximum likelihood of all agents that the results connect; the others are left out.

    results: by the names (A, B), for A. A rating is finite where among its group everybody has, by a chain of games,
    beaten everybody else (Ford 1957); of several such groups the largest is rated. The interval is that of a model that
    need not hold (White 1982), H^-1 V H^-1 with H the information and V the variance of the score: it takes the spread
    of the duplicate pairs for what it is, and stays right where three agents beat each other in a ring. It is the
    interval of the distance to the mean of the league, to which the rated agent itself belongs.
    """
    names = _connected(results)
    played = {pair: result for pair, result in results.items() if set(pair) <= set(names)}
    if not played:
        return {}
    rows = np.array([[names.index(name) for name in pair] for pair in played])
    games = np.array([result.games for result in played.values()], dtype=np.float64)
    rates = np.array([result.rate for result in played.values()])
    strengths = _most_likely(len(names), rows, games, rates)
    variances = np.array([result.variance for result in played.values()])
    errors = np.sqrt(np.diag(_covariance(strengths, rows, games, variances)))
    return {
        name: Interval(*(MEAN + SCALE * (strength + sign * Z * error) for sign in (0, -1, 1)))
        for name, strength, error in zip(names, strengths, errors, strict=True)
    }


def expected_rate(rating: Interval, opponent: Interval) -> float:
    """The win rate that the model expects."""
    return 1 / (1 + 10 ** ((opponent.estimate - rating.estimate) / 400))


def misfit(results: Mapping[tuple[str, str], Paired], ratings: Mapping[str, Interval]) -> float:
    """Root mean square, over pairings, of win rate minus the model's, 0..1: what one number an agent cannot say."""
    both = [(pair, result) for pair, result in results.items() if set(pair) <= set(ratings)]
    gaps = [result.rate - expected_rate(ratings[a], ratings[b]) for (a, b), result in both]
    return math.sqrt(sum(gap * gap for gap in gaps) / len(gaps)) if gaps else 0.0


def _most_likely(
    num: int, rows: NDArray[np.int64], games: NDArray[np.float64], rates: NDArray[np.float64]
) -> np.ndarray:
    """Log odds [num] of sum 0 that maximise the likelihood, by Newton's method; a step that overshoots is halved."""
    strengths = np.zeros(num)

    def loss(at: NDArray[np.float64]) -> float:
        gap = at[rows[:, 0]] - at[rows[:, 1]]
        return float((games * (np.logaddexp(0, gap) - rates * gap)).sum())

    for _ in range(_STEPS):
        chance = _chances(strengths, rows)
        score = _spread(num, rows, games * (rates - chance))
        step = np.linalg.pinv(_information(num, rows, games * chance * (1 - chance))) @ score
        size = 1.0
        while loss(strengths + size * step) > loss(strengths) + 1e-9 and size > 1e-6:
            size /= 2
        strengths = strengths + size * step
        strengths -= strengths.mean()
        if np.abs(size * step).max() < _TOLERANCE:
            break
    return strengths


def _covariance(
    strengths: NDArray[np.float64], rows: NDArray[np.int64], games: NDArray[np.float64], variances: NDArray[np.float64]
) -> np.ndarray:
    """Of the strengths, which sum to 0."""
    chance = _chances(strengths, rows)
    inverse = np.linalg.pinv(_information(len(strengths), rows, games * chance * (1 - chance)))
    return inverse @ _information(len(strengths), rows, games**2 * variances) @ inverse


def _chances(strengths: NDArray[np.float64], rows: NDArray[np.int64]) -> np.ndarray:
    return 1 / (1 + np.exp(strengths[rows[:, 1]] - strengths[rows[:, 0]]))


def _spread(num: int, rows: NDArray[np.int64], values: NDArray[np.float64]) -> np.ndarray:
    """Sum by agent [num] of values [M] that count for the first of each pair, and against the second."""
    return np.bincount(rows[:, 0], values, num) - np.bincount(rows[:, 1], values, num)


def _information(num: int, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> np.ndarray:
    """Sum over pairs of weights [M] times the square of (1 for the first, -1 for the second): [num, num]."""
    signs = np.zeros((len(rows), num))
    signs[np.arange(len(rows)), rows[:, 0]], signs[np.arange(len(rows)), rows[:, 1]] = 1, -1
    return signs.T @ (weights[:, None] * signs)


def _connected(results: Mapping[tuple[str, str], Paired]) -> list[str]:
    """The largest group of agents in which everybody has beaten everybody else, by a chain of games."""
    names = sorted({name for pair in results for name in pair})
    reached = np.eye(len(names), dtype=bool)  # [beater, beaten]
    for (a, b), result in results.items():
        first, second = names.index(a), names.index(b)
        reached[first, second] |= result.rate > 0
        reached[second, first] |= result.rate < 1
    for _ in range(len(names).bit_length()):
        reached = reached @ reached
    groups = reached & reached.T
    if not names or groups.sum() == len(names):
        return []
    return [names[index] for index in np.flatnonzero(groups[groups.sum(axis=1).argmax()])]
