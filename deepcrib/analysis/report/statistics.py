"""What several runs say together: intervals over seeds, and differences of setups."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepcrib.intervals import Interval, t_quantile, wilson


def over_seeds(shares: ArrayLike, trials: int = 0) -> Interval:
    """Mean of a share 0..1 over seeds with Student's t interval, cut at 0 and 1; nan bounds for one seed.

    trials: games or hands behind each share. Two or three shares can lie closer together than so many trials allow; the
    variance of their mean is then taken to be that of the trials, p(1 - p) / all of them. 0: as the shares lie.
    """
    values = np.asarray(shares, dtype=np.float64)
    mean = float(values.mean())
    if len(values) < 2:
        return Interval(mean, math.nan, math.nan)
    half = t_quantile(len(values) - 1) * math.sqrt(_error(values, trials))
    return Interval(mean, max(0.0, mean - half), min(1.0, mean + half))


def welch(first: ArrayLike, second: ArrayLike, trials: tuple[int, int]) -> Interval:
    """Mean of shares `first` minus that of `second`, several seeds of each: Welch's t interval.

    trials: the games behind each value of either, as in `over_seeds`.
    """
    samples = [np.asarray(values, dtype=np.float64) for values in (first, second)]
    estimate = float(samples[0].mean() - samples[1].mean())
    errors = [_error(values, number) for values, number in zip(samples, trials, strict=True)]
    total = sum(errors)
    if total == 0:
        return Interval(estimate, estimate, estimate)
    freedom = total**2 / sum(error**2 / (len(values) - 1) for error, values in zip(errors, samples, strict=True))
    half = t_quantile(max(1, math.floor(freedom))) * math.sqrt(total)
    return Interval(estimate, estimate - half, estimate + half)


def _error(values: NDArray[np.float64], trials: int) -> float:
    """Variance of the mean of values [N], and no less than so many trials each make it."""
    found = float(values.var(ddof=1)) / len(values)
    if not trials:
        return found
    games = trials * len(values)
    mean = min(max(float(values.mean()), 1 / games), 1 - 1 / games)  # none won tells as little as one won
    return max(found, mean * (1 - mean) / games)


def newcombe(wins: float, games: float, other_wins: float, other_games: float) -> Interval:
    """Difference of two shares of independent games, between the bounds of both Wilson intervals (Newcombe 1998)."""
    one, other = wilson(wins, games), wilson(other_wins, other_games)
    estimate = one.estimate - other.estimate
    low = math.hypot(one.estimate - one.low, other.high - other.estimate)
    high = math.hypot(one.high - one.estimate, other.estimate - other.low)
    return Interval(estimate, estimate - low, estimate + high)
