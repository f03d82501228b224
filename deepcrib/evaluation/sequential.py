"""A match that stops when it is decided, and an interval of its win rate that holds wherever it stops.

The unit is two games in a row, of which each player deals first in one: the share of them that an agent wins, 0, 0.5
or 1, is drawn anew from one distribution, whether or not the two games share their cards. About the mean m of that
distribution, the win rate, one bets: a capital of 1 is multiplied by 1 + l (x - m) at every pair x, with a stake l that
is chosen before. If m is the true mean the capital is a martingale, and the chance that it ever reaches 1/alpha is at
most alpha (Ville 1939), however often one looks.

All m whose capital has not reached 1/alpha form a confidence sequence, valid at all times at once (Howard, Ramdas,
McAuliffe, Sekhon 2021; by betting: Waudby-Smith, Ramdas 2024). The stake is averaged over many sizes, half of the
capital betting on a higher mean and half on a lower one (their hedged capital; with a mixture of stakes, as of Orabona,
Jun 2024). The match stops when the interval leaves out 1/2, or lies within 1/2 +- difference.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepcrib.agents import make_agent
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import Evaluation, check_games, summarise
from deepcrib.intervals import Interval
from deepcrib.matches import MatchResult, Progress, play_match

SIGNIFICANT = "significant"
"""The name of the rule, as the option `until` of a match."""
BETTER, WORSE, EQUAL, UNDECIDED = "better", "worse", "equal", "undecided"
SHARES = np.array([0.0, 0.5, 1.0])
"""What a pair of games can come to."""

# Stakes of the confidence sequence as shares of the highest that cannot lose everything: those that suit from about
# ten to ten million pairs, equally many for each order of magnitude.
_STAKES = np.geomspace(1e-3, 0.95, 48)
_FIRST_BATCH, _LAST_BATCH, _CYCLE = 128, 8192, 4  # games


@dataclass(frozen=True)
class StoppingRule:
    """When a match is decided: when the interval leaves out 1/2, or lies within 1/2 +- difference.

    difference: a distance of the win rate from 1/2. alpha: the chance that the interval ever misses the win rate, so
    1 - alpha is its level. Both above 0 and below 0.5. Raises OptionError for values out of range.
    """

    difference: float = 0.02
    alpha: float = 0.05

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        for name, value in asdict(self).items():
            if not 0 < value < 0.5:
                raise OptionError(f"{name}={value}: expected more than 0 and less than 0.5")


@dataclass(frozen=True)
class SequentialEvaluation:
    """A match that could stop early.

    evaluation: of the games up to the stop, win_rate with the interval that is valid there, of level 1 - alpha.
    verdict: `better` or `worse` (the agent), `equal` (within `difference` of 1/2), or `undecided` after the last game.
    max_games: how many would have been played at most.
    """

    evaluation: Evaluation
    verdict: str
    rule: StoppingRule
    max_games: int

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        rule = {"until": SIGNIFICANT, **asdict(self.rule), "level": 1 - self.rule.alpha}
        return {**self.evaluation.to_dict(), "verdict": self.verdict, "max_games": self.max_games, **rule}

    def sentence(self) -> str:
        """The verdict in words."""
        games = f"after {self.evaluation.games:,} games"
        if self.verdict == UNDECIDED:
            return f"undecided {games}, the most allowed"
        if self.verdict == EQUAL:
            return f"decided {games}: within {100 * self.rule.difference:g} percentage points of 50%"
        return f"decided {games}: the agent wins {'more' if self.verdict == BETTER else 'fewer'} than half"


def evaluate_until(
    agent: Any,
    opponent: Any,
    games: int,
    seed: int,
    rule: StoppingRule,
    *,
    duplicate: bool = False,
    dealing: str = "acc",
    device: str = "cpu",
    progress: Progress | None = None,
) -> SequentialEvaluation:
    """Play full games to 121 between two agents, or agent specs, until `rule` has decided, `games` at most.

    What comes out is what `evaluate` makes of the first so many games of the same match, but for the interval.
    `progress` is called with the number of games finished since its last call. Raises OptionError.
    """
    check_pairs(games)
    players = [make_agent(spec, device) for spec in (agent, opponent)]
    parts: list[MatchResult] = []
    means = np.empty(0)
    stop, verdict = games // 2, UNDECIDED
    while 2 * len(means) < games:
        done = 2 * len(means)
        first = done // 2 if duplicate else done
        part = play_match(players, _batch(done, games), seed, duplicate=duplicate, dealing=dealing, first_game=first)
        parts.append(part)
        means = np.concatenate([means, (part.winner == 0).reshape(-1, 2).mean(axis=1)])
        if progress is not None:
            progress(len(part.winner))
        found = first_stop(means, rule, done // 2)
        if found is not None:
            stop, verdict = found
            break
    played = MatchResult.concatenate(parts)
    result = replace(played.take(slice(2 * stop)), seconds=played.seconds)
    interval = always_valid(pair_counts(means[:stop])[-1], rule.alpha)
    evaluation = summarise(result, duplicate=duplicate)
    honest = replace(evaluation, ci_low=interval.low, ci_high=interval.high, normal_low=None, normal_high=None)
    honest = replace(honest, hand_margin_low=None, hand_margin_high=None)
    return SequentialEvaluation(honest, verdict, rule, games)


def check_pairs(games: int) -> None:
    """Refuse game counts that are no pairs. Raises OptionError."""
    check_games(games, duplicate=False)
    if games % 2:
        raise OptionError(f"games={games}: until={SIGNIFICANT} counts in pairs of games, expected an even number")


def _batch(done: int, games: int) -> int:
    """Games to play next: a quarter of those behind, so that little is played in vain."""
    size = min(max(_FIRST_BATCH, done // 4), _LAST_BATCH)
    return min(size - size % _CYCLE, games - done)


def first_stop(means: NDArray[np.float64], rule: StoppingRule, start: int = 0) -> tuple[int, str] | None:
    """(pairs, verdict) at the first of the pairs means [P] at which `rule` has decided, or None.

    means: 0, 0.5 or 1, in the order of play. start: so many pairs are known not to have decided it.
    """
    counts = pair_counts(means)[start:]
    estimate = counts @ SHARES / counts.sum(axis=1)
    limit = -math.log(rule.alpha)

    def left_out(mean: float) -> NDArray[np.bool_]:
        return log_capital(counts, mean) >= limit

    unequal, near = left_out(0.5), np.abs(estimate - 0.5) < rule.difference
    equal = near & ~unequal & left_out(0.5 - rule.difference) & left_out(0.5 + rule.difference)
    decided = unequal | equal
    if not decided.any():
        return None
    pair = int(np.argmax(decided))
    verdict = EQUAL if equal[pair] else BETTER if estimate[pair] > 0.5 else WORSE
    return start + pair + 1, verdict


# --- the confidence sequence ------------------------------------------------------------------------------------


def pair_counts(means: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many of the first 1, 2, ... pairs came to 0, 0.5 and 1: [P, 3] from means [P]."""
    counts: NDArray[np.int64] = np.cumsum(np.asarray(means)[:, None] == SHARES, axis=0)
    return counts


def always_valid(counts: ArrayLike, alpha: float = 0.05) -> Interval:
    """The confidence sequence of level 1 - alpha after pairs that came to 0, 0.5 and 1, counts [3].

    The capital is convex in m and at most 1 at the mean of the pairs, so the interval's ends are found by bisection.
    """
    counts = np.asarray(counts)
    mean = float(counts @ SHARES / counts.sum())
    limit = -math.log(alpha)

    def end(outside: float) -> float:
        inside = mean
        for _ in range(50):
            middle = (inside + outside) / 2
            if log_capital(counts, middle) < limit:
                inside = middle
            else:
                outside = middle
        return outside

    return Interval(mean, end(0.0), end(1.0))


def log_capital(counts: ArrayLike, mean: float) -> NDArray[np.float64]:
    """Logarithm of the capital [...] that has been made by betting against the win rate `mean`, counts [..., 3]."""
    counts = np.asarray(counts)
    return np.logaddexp(_upward(counts, mean), _upward(counts[..., ::-1], 1 - mean)) - math.log(2)


def _upward(counts: NDArray[np.int64], mean: float) -> NDArray[np.float64]:
    """The mixture of stakes on more than `mean`: each bets its share of 1/mean, all it has when that is 1."""
    if mean <= 0:
        return np.where(counts[..., 1:].any(axis=-1), np.inf, counts[..., 0] * 0.0)
    factors = np.log1p(_STAKES * (SHARES[:, None] / mean - 1))
    terms = counts @ factors
    highest = terms.max(axis=-1, keepdims=True)
    total: NDArray[np.float64] = highest[..., 0] + np.log(np.exp(terms - highest).mean(axis=-1))
    return total
