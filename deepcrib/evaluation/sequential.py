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

Without the luck of the cards (`luck`) a pair may come to any number, on which one cannot bet. Its confidence sequence
is asymptotic: valid at all times from some number of pairs on (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024).
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
from deepcrib.evaluation.luck import CHANCE, card_luck
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
_FIRST_FREE, _NARROWEST = 64, 1000  # pairs before which the asymptotic sequence says nothing, and where it is best


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


@dataclass
class SequentialEvaluation(Evaluation):
    """A match that could stop early: the games up to the stop.

    win_rate has the interval that is valid there, of level 1 - alpha; with luck_free, its win_rate has decided.
    verdict: `better` or `worse` (the agent), `equal` (within `difference` of 1/2), or `undecided` after the last game.
    max_games: how many would have been played at most.
    """

    verdict: str = UNDECIDED
    rule: StoppingRule = StoppingRule()
    max_games: int = 0

    @property
    def interval(self) -> str:
        """What the interval of the win rate is."""
        return f"{100 * (1 - self.rule.alpha):g}%, always valid"

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        found = super().to_dict()
        return found | {"until": SIGNIFICANT, **found.pop("rule"), "level": 1 - self.rule.alpha}

    def sentence(self) -> str:
        """The verdict in words."""
        games = f"after {self.games:,} games"
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
    luck: bool = False,
    device: str = "cpu",
    progress: Progress | None = None,
) -> SequentialEvaluation:
    """Play full games to 121 between two agents, or agent specs, until `rule` has decided, `games` at most.

    What comes out is what `evaluate` makes of the first so many games of the same match, but for the intervals.
    luck: the win rate without the luck of the cards decides.
    `progress` is called with the number of games finished since its last call. Raises OptionError.
    """
    check_pairs(games)
    players = [make_agent(spec, device) for spec in (agent, opponent)]
    parts: list[MatchResult] = []
    means = np.empty(0)
    options: dict[str, Any] = {"duplicate": duplicate, "dealing": dealing, "measure": card_luck() if luck else None}
    stop, verdict = games // 2, UNDECIDED
    while (done := 2 * len(means)) < games:
        first = done // 2 if duplicate else done
        part = play_match(players, _batch(done, games), seed, first_game=first, **options)
        parts.append(part)
        means = np.concatenate([means, _pair_means(part, luck)])
        if progress is not None:
            progress(len(part.winner))
        if found := first_stop(means, rule, done // 2, luck):
            stop, verdict = found
            break
    played = MatchResult.concatenate(parts)
    result = replace(played.take(slice(2 * stop)), seconds=played.seconds)
    interval = always_valid(pair_counts(_pair_means(result, luck=False))[-1], rule.alpha)
    evaluation = summarise(result, duplicate=duplicate)
    honest = replace(evaluation, ci_low=interval.low, ci_high=interval.high, normal_low=None, normal_high=None)
    honest = replace(honest, hand_margin_low=None, hand_margin_high=None)
    if honest.luck_free is not None:
        mean, half = (column[-1] for column in free_intervals(means[:stop], rule.alpha))
        low, high = (mean - half, mean + half) if np.isfinite(half) else (None, None)
        free: dict[str, Any] = {"ci_low": low, "ci_high": high, "hand_margin_low": None, "hand_margin_high": None}
        honest.luck_free = replace(honest.luck_free, **free)
    return SequentialEvaluation(**vars(honest), verdict=verdict, rule=rule, max_games=games)


def _pair_means(result: MatchResult, luck: bool) -> NDArray[np.float64]:
    """[P] share of the games that the agent wins of each pair; luck: without the luck of the cards."""
    won = 0.5 + result.measured[:, 0, CHANCE] if luck else result.winner == 0
    return won.reshape(-1, 2).mean(axis=1)


def check_pairs(games: int) -> None:
    """Refuse game counts that are no pairs. Raises OptionError."""
    check_games(games, duplicate=False)
    if games % 2:
        raise OptionError(f"games={games}: until={SIGNIFICANT} counts in pairs of games, expected an even number")


def _batch(done: int, games: int) -> int:
    """Games to play next: a quarter of those behind, so that little is played in vain."""
    size = min(max(_FIRST_BATCH, done // 4), _LAST_BATCH)
    return min(size - size % _CYCLE, games - done)


def first_stop(
    means: NDArray[np.float64], rule: StoppingRule, start: int = 0, luck: bool = False
) -> tuple[int, str] | None:
    """(pairs, verdict) at the first of the pairs means [P] at which `rule` has decided, or None.

    means: 0, 0.5 or 1, in the order of play; any numbers with luck, which is taken off. start: so many pairs are known
    not to have decided it.
    """
    counts = pair_counts(means)[start:]
    estimate, half = (column[start:] for column in free_intervals(means, rule.alpha))
    limit = -math.log(rule.alpha)

    def left_out(mean: float) -> NDArray[np.bool_]:
        return np.abs(estimate - mean) > half if luck else log_capital(counts, mean) >= limit

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
    return np.cumsum(np.asarray(means)[:, None] == SHARES, axis=0)


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


def free_intervals(values: NDArray[np.float64], alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of the first 1, 2, ... of values [P], and the half widths of their asymptotic confidence sequence."""
    n = np.arange(1, len(values) + 1)
    means = values.cumsum() / n
    squares = ((values - 0.5) ** 2).cumsum()
    variances = (squares + 0.25) / n - (means - 0.5) ** 2  # as if one more had come out to 0 or 1: none is free of it
    wanted = -2 * math.log(alpha)
    rho = (wanted + math.log(wanted + 1)) / _NARROWEST  # squared, narrowest there
    scale = n * rho + 1
    halves = np.sqrt(variances * 2 * scale / (n**2 * rho) * np.log(np.sqrt(scale) / alpha))
    return means, np.where(n < _FIRST_FREE, np.inf, halves)


def log_capital(counts: ArrayLike, mean: float) -> NDArray[np.float64]:
    """Logarithm of the capital [...] that has been made by betting against the win rate `mean`, counts [..., 3]."""
    counts = np.asarray(counts)
    return np.logaddexp(_upward(counts, mean), _upward(counts[..., ::-1], 1 - mean)) - math.log(2)


def _upward(counts: NDArray[np.int64], mean: float) -> NDArray[np.float64]:
    """The mixture of stakes on more than `mean`: each bets its share of 1/mean, all it has when that is 1."""
    if mean <= 0:
        return np.where(counts[..., 1:].any(axis=-1), np.inf, counts[..., 0] * 0.0)
    terms = counts @ np.log1p(_STAKES * (SHARES[:, None] / mean - 1))
    highest = terms.max(axis=-1, keepdims=True)
    return highest[..., 0] + np.log(np.exp(terms - highest).mean(axis=-1))
