"""Ratings from a league's results (Bradley, Terry 1952) on the scale of Elo's, with the intervals of duplicate deals.

The model: A beats B with chance 1 / (1 + 10^((R_B - R_A) / 400)). So 100 points more are a win rate of 64%, 10 points
more 51.4%. Only differences matter; the ratings of a league have the mean 1500.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from deepcrib.evaluation.league.pair_sums import Sums
from deepcrib.intervals import Interval, Z

MEAN = 1500.0
SCALE = 400 / math.log(10)
"""Rating points of one unit of log odds."""
_STEPS, _TOLERANCE = 100, 1e-12


def bradley_terry(results: Mapping[tuple[str, str], Sums]) -> dict[str, Interval]:
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
    signs = np.array([[(name == a) - (name == b) for name in names] for a, b in played], dtype=np.float64)
    games, rates, variances = np.array([(sums.games, sums.rate, sums.variance) for sums in played.values()]).T
    strengths = _most_likely(signs, games, rates)
    inverse = np.linalg.pinv(_information(signs, games * _spread(signs, strengths)))
    errors = np.sqrt(np.diag(inverse @ _information(signs, games**2 * variances) @ inverse))
    return {
        name: Interval(*(MEAN + SCALE * (strength + sign * Z * error) for sign in (0, -1, 1)))
        for name, strength, error in zip(names, strengths, errors, strict=True)
    }


def expected_rate(rating: Interval, opponent: Interval) -> float:
    """The win rate that the model expects."""
    return 1 / (1 + 10 ** ((opponent.estimate - rating.estimate) / 400))


def misfit(results: Mapping[tuple[str, str], Sums], ratings: Mapping[str, Interval]) -> float:
    """Root mean square, over pairings, of win rate minus the model's, 0..1: what one number an agent cannot say."""
    both = [(pair, result) for pair, result in results.items() if set(pair) <= set(ratings)]
    gaps = [result.rate - expected_rate(ratings[a], ratings[b]) for (a, b), result in both]
    return math.sqrt(sum(gap * gap for gap in gaps) / len(gaps)) if gaps else 0.0


def _most_likely(
    signs: NDArray[np.float64], games: NDArray[np.float64], rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log odds [N] of sum 0 that maximise the likelihood, by Newton's method; a step that overshoots is halved.

    signs [M, N]: of each of M pairings 1 for its first agent and -1 for its second; games, rates [M] of the first.
    """
    strengths = np.zeros(signs.shape[1])

    def loss(at: NDArray[np.float64]) -> float:
        gap = signs @ at
        return float((games * (np.logaddexp(0, gap) - rates * gap)).sum())

    for _ in range(_STEPS):
        score = signs.T @ (games * (rates - _chances(signs, strengths)))
        step = np.linalg.pinv(_information(signs, games * _spread(signs, strengths))) @ score
        size = 1.0
        while loss(strengths + size * step) > loss(strengths) + 1e-9 and size > 1e-6:
            size /= 2
        strengths = strengths + size * step
        strengths -= strengths.mean()
        if np.abs(size * step).max() < _TOLERANCE:
            break
    return strengths


def _chances(signs: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """[M] that the first agent of each pairing wins."""
    return 1 / (1 + np.exp(-(signs @ strengths)))


def _spread(signs: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """[M] variances of a game's result."""
    chances = _chances(signs, strengths)
    return chances * (1 - chances)


def _information(signs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """[N, N] sum over pairings of their weights [M] times the square of their signs."""
    return signs.T @ (weights[:, None] * signs)


def _connected(results: Mapping[tuple[str, str], Sums]) -> list[str]:
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
