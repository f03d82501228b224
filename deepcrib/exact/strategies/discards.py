"""The strategies of Lang 2018 (section 3.1): how much each likes every discard of a hand, and the choice among them.

A hand's desirability matrix S [m, 15] holds m strategies' opinions of its 15 discards, 0 for the worst and 1 for the
best with a linear scale between. A strategy to which all 15 are worth the same has no opinion, nor has one of a discard
that it knows no figure of; its value then is NO_OPINION, as in the author's program (`kts_evaluator`). Weights w [m]
make the preference p = wS, whose highest value is the choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deepcrib.errors import OptionError
from deepcrib.exact.cribs import NUM_DISCARDS, CribSums
from deepcrib.exact.discards import CRIB_COMPLETIONS, DISCARD_DTYPE, HAND_STARTERS, fill_statistics
from deepcrib.exact.strategies.names import STRATEGIES
from deepcrib.game.policies import pick
from deepcrib.game.randomness import below, uniform
from deepcrib.game.rank_sets import rank_set_of
from deepcrib.game.rules import HAND_SIZE, KEPT_SLOTS_6
from deepcrib.kernels import jit

NO_OPINION = 0.5
"""Desirability of a discard to a strategy that does not tell it from the others: halfway."""
SCORES = 121
"""A score location is one's own score, the opponent's, 0..120 each, and whether one deals."""

NUM_VALUES = 8
# A strategy orders the discards by one column of their values (`fill_values`), upwards or downwards.
_COLUMNS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 4])
_SIGNS = np.array([1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
_TIE = 1e-9
_EXPLORE_CHOICE, _EXPLORE_VALUE = 1, 2  # counters of a decision's key; ties take counter 0


def strategy_codes(names: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of strategies for the compiled functions, [m]. Raises OptionError on a name that there is not."""
    for name in names:
        if name not in STRATEGIES:
            raise OptionError(f"strategy {name!r}: expected one of {', '.join(STRATEGIES)}")
    if not names or len(set(names)) < len(names):
        raise OptionError(f"strategies {list(names)}: expected one or more, each once")
    return np.array([STRATEGIES.index(name) for name in names])


@jit
def fill_values(
    hand: np.ndarray, role: int, cribs: CribSums, plain: np.ndarray, pegging: np.ndarray, values: np.ndarray
) -> None:
    """values [15, 8]: points that the strategies go by, for each discard of a sorted hand [6].

    Hand minimum, mean, median, maximum; crib mean; pegging mean gained, median gained, mean given. cribs, plain:
    `discards.uniform_sums` and `plain_statistics`. pegging: [1820, 2, 3], a summary of pegging records. role: 1 for the
    dealer.
    """
    kept, rows = np.empty(HAND_SIZE, dtype=np.int64), np.empty(NUM_DISCARDS, dtype=DISCARD_DTYPE)
    fill_statistics(hand, cribs, plain[rank_set_of(hand)], rows)
    for action in range(NUM_DISCARDS):
        statistics = rows[action]
        values[action, 0] = statistics.hand_min
        values[action, 1] = statistics.hand_sum / HAND_STARTERS
        values[action, 2] = statistics.hand_median_2 / 2
        values[action, 3] = statistics.hand_max
        values[action, 4] = statistics.crib_sum / CRIB_COMPLETIONS
        for i in range(HAND_SIZE):
            kept[i] = hand[KEPT_SLOTS_6[action, i]]
        number = rank_set_of(kept)
        for i in range(3):
            values[action, 5 + i] = pegging[number, role, i]


@jit
def fill_matrix(codes: np.ndarray, values: np.ndarray, neutral: float, matrix: np.ndarray) -> None:
    """matrix [m, 15]: the desirability of each discard to each strategy (codes [m]), 0 to 1.

    neutral: where a strategy has no opinion: all discards are alike to it, or the value of this one is nan.
    """
    for i in range(len(codes)):
        column = _COLUMNS[codes[i]]
        sign = _SIGNS[codes[i]]
        worst = np.inf
        best = -np.inf
        for action in range(NUM_DISCARDS):
            value = sign * values[action, column]
            if not np.isnan(value):
                worst = min(worst, value)
                best = max(best, value)
        for action in range(NUM_DISCARDS):
            value = sign * values[action, column]
            known = best > worst and not np.isnan(value)
            matrix[i, action] = (value - worst) / (best - worst) if known else neutral


@jit
def fill_preference(weights: np.ndarray, matrix: np.ndarray, preference: np.ndarray) -> None:
    """preference [n] = weights [m] times matrix [m, n]."""
    preference[:] = 0
    for i in range(len(weights)):
        for j in range(len(preference)):
            preference[j] += weights[i] * matrix[i, j]


@jit
def best_choices(preference: np.ndarray) -> int:
    """Mask of the choices with the highest preference, up to rounding."""
    mask = 0
    highest = -np.inf
    for j in range(len(preference)):  # a number that is none stays the highest
        if preference[j] > highest or np.isnan(preference[j]):
            highest = preference[j]
    for j in range(len(preference)):
        if preference[j] >= highest - _TIE:
            mask |= 1 << j
    return mask


@jit
def best_or_any(values: np.ndarray) -> int:
    """As `best_choices`; where values are no numbers, a mask of all that are possible (not -inf)."""
    mask = best_choices(values)
    if mask == 0:
        for j in range(len(values)):
            if values[j] != -np.inf:
                mask |= 1 << j
    return mask


@jit
def choose(preference: np.ndarray, epsilon: float, by_preference: bool, key: int) -> int:
    """The best choice, ties uniform; with chance epsilon any of them, uniformly or with preference [n] as distribution.

    key is the decision's randomness. A preference of all zeros explores uniformly.
    """
    if epsilon <= 0 or uniform(key, _EXPLORE_CHOICE) >= epsilon:
        return pick(best_choices(preference), key)
    total = preference.sum()
    if not by_preference or total <= 0:
        return int(np.int64(below(key, _EXPLORE_VALUE, len(preference))))
    rest = uniform(key, _EXPLORE_VALUE) * total
    for j in range(len(preference)):
        rest -= preference[j]
        if rest < 0:
            return j
    return len(preference) - 1


@jit
def fill_weights(
    weights: np.ndarray, own: int, other: int, role: int, neighbours: int, share: float, blended: np.ndarray
) -> None:
    """blended [m]: the weights that decide at a score location of weights [121, 121, 2, m].

    neighbours 0: the location's own. 1: (1 - share) of them and share of the mean of the up to eight around it (the
    thesis, section 4.2). 2: the sum of those in place of their mean, normalised again (the author's program, where the
    share is 0.4; the draft's formula has the location itself in the sum as well).
    """
    count = weights.shape[3]
    blended[:] = weights[own, other, role]
    if neighbours == 0:
        return
    around = np.zeros(count)
    cells = 0
    for i in range(max(own - 1, 0), min(own + 2, SCORES)):
        for j in range(max(other - 1, 0), min(other + 2, SCORES)):
            if i == own and j == other:
                continue
            cells += 1
            for k in range(count):
                around[k] += weights[i, j, role, k]
    total = 0.0
    for k in range(count):
        blended[k] = (1 - share) * blended[k] + share * around[k] / (cells if neighbours == 1 else 1)
        total += blended[k]
    for k in range(count):
        blended[k] /= total
