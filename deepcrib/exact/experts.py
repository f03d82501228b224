"""What experts throw: two players who each maximise the mean of hand and crib, knowing how the other throws.

The dealer keeps what maximises its hand mean plus the crib mean, given the pone's discards; the pone what maximises
its hand mean minus the crib mean, given the dealer's. The two distributions of discards by rank pair that answer each
other were found by iteration from uniform ones (`benchmarks/exact/solve_experts.py`) and stand in `experts.csv`.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import StringIO
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.cribs import CribSums, crib_sums
from deepcrib.exact.pegging import DEALER, PONE
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_NAMES, rank_of
from deepcrib.game.rules import HAND_SIZE, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

EXPERTS_FILE = "experts.csv"


@dataclass(frozen=True)
class Experts:
    """How both throw: relative weights by rank, [13, 13] each (see `cribs`), 1 on average over pairs of cards."""

    dealer: NDArray[np.float64]
    pone: NDArray[np.float64]

    def against(self, is_dealer: bool) -> NDArray[np.float64]:
        """The weights of the other player's discards."""
        return self.pone if is_dealer else self.dealer


@cache
def experts() -> Experts:
    """The self-consistent discards of two maximisers, as that script found them."""
    text = resources.files("deepcrib.exact").joinpath(EXPERTS_FILE).read_text(encoding="utf-8")
    weights = np.zeros((2, NUM_RANKS, NUM_RANKS))
    for row in csv.DictReader(StringIO(text)):
        a, b = RANK_NAMES.index(row["rank_1"]), RANK_NAMES.index(row["rank_2"])
        for role, column in ((DEALER, "dealer"), (PONE, "pone")):
            weights[role, a, b] = weights[role, b, a] = float(row[column])
    return Experts(weights[DEALER], weights[PONE])


@cache
def expert_sums(is_dealer: bool) -> CribSums:
    """Crib tables of a dealer (or pone) whose opponent throws as an expert."""
    return crib_sums(experts().against(is_dealer))


def crib_table(found: Experts) -> list[tuple[str, str, float, float]]:
    """91 rows (rank_1, rank_2, own crib, opponent's crib): mean points of the crib by the two ranks thrown into it.

    Over the other player's discards and the starter, nothing else of the hand being known; two ranks are an average
    over their suits. The weights are the same whatever one throws, but a player whose cards' mates are gone throws them
    more readily, and does not see its kept cards turned up: between experts that play, the same cribs are worth 0.09
    points more on average to the dealer's two cards (0.03 to 0.24) and 0.17 more to the pone's (0.07 to 0.36).
    """
    tables = [rank_pair_means(weights) for weights in (found.pone, found.dealer)]
    rows = []
    for a, b in combinations_with_replacement(range(NUM_RANKS), 2):
        rows.append((RANK_NAMES[a], RANK_NAMES[b], float(tables[0][a, b]), float(tables[1][a, b])))
    return rows


def rank_pair_means(theirs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean points of a crib by the two ranks thrown, [13, 13], against discards of weights `theirs` [13, 13]."""
    means = np.zeros((NUM_RANKS, NUM_RANKS))
    run_rows(_fill_pair_means, NUM_RANKS, np.ascontiguousarray(theirs), means, piece=1)
    return np.triu(means) + np.triu(means, 1).T


@jit
def _two_card_mean(first: int, second: int, weights: np.ndarray) -> float:
    """Mean points of a crib into which two cards were thrown, over the other 50."""
    crib = np.empty(HAND_SIZE, dtype=np.int64)
    crib[0], crib[1] = first, second
    points = 0.0
    weight = 0.0
    for a in range(NUM_CARDS):
        for b in range(a):
            if a in (first, second) or b in (first, second):
                continue
            crib[2], crib[3] = a, b
            own = 0
            for starter in range(NUM_CARDS):
                if starter not in (first, second, a, b):
                    own += show_points(crib, starter, True)
            points += weights[rank_of(a), rank_of(b)] * own
            weight += weights[rank_of(a), rank_of(b)] * (NUM_CARDS - HAND_SIZE)
    return points / weight


@jit
def _fill_pair_means(part: Part, weights: np.ndarray, means: np.ndarray) -> None:
    for row in range(*part):
        for column in range(row, NUM_RANKS):
            # suits matter only by being the same (4 of 16 ways) or not; a pair is never of one suit
            apart = _two_card_mean(NUM_SUITS * row, NUM_SUITS * column + 1, weights)
            mean = apart
            if column > row:
                mean = (_two_card_mean(NUM_SUITS * row, NUM_SUITS * column, weights) + 3 * apart) / 4
            means[row, column] = mean
