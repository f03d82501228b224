"""The statistics of the verdicts: seeds as the unit, their spread pooled over options, Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t

from benchmarks.verdicts.options import SEEDS, Option

ERROR = 0.05
"""Of all tests of an edition together: the chance that any true tie is called a difference."""
WINS, LOSES = "**beats its base**", "**loses to its base**"


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """[m] p-values [m] adjusted for their number (Holm 1979): those up to 5% are rejected at 5% of all together."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]))
    return adjusted


@dataclass(frozen=True)
class Comparison:
    """An option against one of its bases. rates: [5] share of games that its seeds win from the base's, or fewer."""

    option: Option
    base: Option
    rates: tuple[float, ...]

    @property
    def complete(self) -> bool:
        """Whether all seeds are measured."""
        return len(self.rates) == SEEDS


@dataclass(frozen=True)
class Spread:
    """An estimate of the standard deviation of a rate over seeds, and its degrees of freedom."""

    deviation: float
    freedom: int

    @staticmethod
    def pooled(tests: Sequence[Comparison]) -> Spread:
        """Of complete comparisons whose true spread is taken to be the same: the root of their mean variance."""
        variances = [np.var(test.rates, ddof=1) for test in tests]
        return Spread(float(np.sqrt(np.mean(variances))), len(tests) * (SEEDS - 1))

    @property
    def error(self) -> float:
        """Standard error of the mean of all seeds."""
        return float(self.deviation / np.sqrt(SEEDS))

    def p(self, rates: Sequence[float]) -> float:
        """Two-sided p-value of the t test that rates have mean 0.5."""
        return float(2 * t.sf(abs(np.mean(rates) - 0.5) / self.error, self.freedom))

    def half_width(self, level: float) -> float:
        """Of the interval of a mean rate that covers at this level."""
        return float(t.isf((1 - level) / 2, self.freedom)) * self.error


class Judged(NamedTuple):
    """A comparison, the spread it is judged by, its p-value adjusted for the number of all, and its verdict."""

    test: Comparison
    spread: Spread | None
    adjusted: float
    verdict: str


def judged(tests: Sequence[Comparison], *, pool: bool = True) -> list[Judged]:
    """A verdict on each, by the spread pooled over all that are complete, or by each one's own.

    The number of tests is fixed beforehand: what is not complete counts with p = 1.
    """
    complete = [test for test in tests if test.complete]
    spreads = [Spread.pooled(complete if pool else [test]) if test.complete else None for test in tests]
    adjusted = holm([spread.p(test.rates) if spread else 1.0 for test, spread in zip(tests, spreads, strict=True)])
    return [
        Judged(test, spread, float(p), _verdict(test, spread, p, len(tests)))
        for test, spread, p in zip(tests, spreads, adjusted, strict=True)
    ]


def _verdict(test: Comparison, spread: Spread | None, adjusted: float, tests: int) -> str:
    """In words, from the adjusted p-value, and Bonferroni's interval for as many tests."""
    if spread is None:
        return f"{len(test.rates)} of {SEEDS} seeds"
    if adjusted <= ERROR:
        return WINS if np.mean(test.rates) > 0.5 else LOSES
    farther = abs(np.mean(test.rates) - 0.5) + spread.half_width(1 - ERROR / tests)
    return f"no difference larger than {100 * farther:.1f}%"
