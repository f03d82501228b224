"""95% intervals of win rates and of means; over seeds, and of the differences of setups."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)  # 1.95996


class Interval(NamedTuple):
    """An estimate with the bounds of its 95% interval: shares in 0..1, or means in their own unit."""

    estimate: float
    low: float
    high: float

    def named(self, name: str, bounds: str = "") -> dict[str, Any]:
        """Metrics `name`, `name_low`, `name_high`, or bounds of another name; None for one that is not known."""
        low, high = (None if math.isnan(bound) else bound for bound in self[1:])
        return {name: self.estimate, f"{bounds or name}_low": low, f"{bounds or name}_high": high}


def wilson(wins: float, n: float, z: float = Z) -> Interval:
    """Wilson's score interval of a share of `n` independent games (Wilson 1927); also right near 0 and 1."""
    _require_trials(wins, n)
    share, z2 = wins / n, z * z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # at 0 and n wins a bound is 0 or 1 exactly; rounding must not push it past the estimate
    return Interval(share, max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))


def normal(wins: float, n: int) -> Interval:
    """The normal approximation, the interval of Bélanger et al. 2019 (16 of 27 games: 59.3% +- 18.5)."""
    _require_trials(wins, n)
    share = wins / n
    half = Z * math.sqrt(share * (1 - share) / n)
    return Interval(share, max(0.0, share - half), min(1.0, share + half))


def pairs_interval(pair_means: ArrayLike) -> Interval:
    """Interval of the mean over duplicate pairs, `pair_means` [P] in 0..1: Wilson's, of the games that they are worth.

    The two games of a pair share their cards and are not independent, the pairs are. So many independent games would
    have the variance of the mean that the pairs have: these count (the effective sample size of Kish 1965, section
    8.2), with Student's t for the pairs that measured it. Unlike Student's interval of the mean it covers near 0 and 1
    as well. Where all pairs came out alike their spread says nothing: games count if all were won or lost, else pairs.
    """
    means = np.asarray(pair_means, dtype=np.float64)
    n = means.size
    _require_trials(float(means.sum()), n)
    alike = n < 2 or bool(np.all(means == means[0]))
    return spread_interval(n, float(means.mean()), 0.0 if alike else float(means.var(ddof=1)))


def spread_interval(n: int, mean: float, variance: float) -> Interval:
    """`pairs_interval` of n pairs of such a mean and sample variance, 0 for one pair."""
    _require_trials(n * mean, n)
    if variance == 0:
        alike = n if 0 < mean < 1 else 2 * n
        return wilson(mean * alike, alike)
    games = n * mean * (1 - mean) / variance
    return wilson(mean * games, games, t_quantile(n - 1))


def mean_interval(values: ArrayLike) -> Interval:
    """Interval of the mean of independent values [N], in their unit: Student's t; nan bounds for a single one."""
    numbers = np.asarray(values, dtype=np.float64)
    n = numbers.size
    mean = float(numbers.mean())
    if n < 2:
        return Interval(mean, math.nan, math.nan)
    half = t_quantile(n - 1) * float(numbers.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half)


def ratio_interval(totals: ArrayLike, sizes: ArrayLike) -> Interval:
    """Interval of a ratio of sums over independent units [N], such as points over hands of games.

    Student's t on what each unit's total is beyond the ratio times its size (Cochran 1977, section 2.11); nan bounds
    for a single unit.
    """
    total, size = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    ratio = float(total.sum() / size.sum())
    beyond = mean_interval((total - ratio * size) / size.mean())
    return Interval(ratio, ratio + beyond.low, ratio + beyond.high)


def _require_trials(wins: float, n: float) -> None:
    if n <= 0 or not 0 <= wins <= n:
        raise ValueError(f"{wins} wins in {n} games: no share can be estimated")


def t_quantile(freedom: int) -> float:
    """Two-sided 95% quantile of Student's t; exact for 1 and 2 degrees, else the expansion in 1/freedom.

    Cornish-Fisher (Abramowitz & Stegun 26.7.5): within 0.4% from 3 degrees on.
    """
    tail = 0.5 + LEVEL / 2
    if freedom == 1:
        return math.tan(math.pi * (tail - 0.5))
    if freedom == 2:
        return (2 * tail - 1) / math.sqrt(2 * tail * (1 - tail))
    z, v = Z, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )


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
