"""What experts throw: two players who each maximise the mean of hand and crib, knowing how the other throws.

The dealer keeps what maximises its hand mean plus the crib mean, given the pone's discards; the pone what maximises
its hand mean minus the crib mean, given the dealer's. The two distributions of discards by rank pair that answer each
other are found by iteration from uniform ones. They stand in `experts.csv`, so that nobody has to wait for them.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import StringIO
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.exact.cribs import CribSums, crib_sums, uniform_weights
from deepcrib.exact.discards import HAND_STARTERS, crib_means, discard_statistics
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_NAMES, rank_of
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

DEALER, PONE = 1, 0
EXPERTS_FILE = "experts.csv"
SETTLING = 10
_TIE = 1e-9


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
    """The self-consistent discards of two maximisers, as `solve` found them."""
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


def solve(
    most: int = 60, tolerance: float = 5e-5, progress: Callable[[int, float], None] | None = None
) -> tuple[Experts, int, float]:
    """Iterate from uniform discards until they answer each other: (experts, iterations, change).

    Every iteration takes both players' best discards of all 20,358,520 hands, by suit class. Where two discards are
    worth the same, best replies jump to and fro between them and the fixed point is a mixture; so after the first
    SETTLING iterations the discards are the average of the best replies from there on. The change is the most, in
    points, by which an iteration moves an entry of the crib table; the last one's is at most `tolerance`, unless `most`
    iterations came first. `progress` is called with both.
    """
    classes = suit_classes()
    hands, sizes = class_hands(classes.keys), class_sizes(classes.keys)
    hand_means = discard_statistics(hands)["hand_sum"] / HAND_STARTERS
    found, change, iteration = Experts(uniform_weights(), uniform_weights()), np.inf, 0
    while iteration < most and change > tolerance:
        iteration += 1
        reply = Experts(
            discard_weights(hands, sizes, hand_means, found.pone, True),
            discard_weights(hands, sizes, hand_means, found.dealer, False),
        )
        step = 1 / max(1, iteration - SETTLING)
        following = Experts(
            found.dealer + step * (reply.dealer - found.dealer), found.pone + step * (reply.pone - found.pone)
        )
        change = max(_table_change(found.dealer, following.dealer), _table_change(found.pone, following.pone))
        found = following
        if progress is not None:
            progress(iteration, change)
    return found, iteration, change


def _table_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    return float(np.abs(rank_pair_means(before) - rank_pair_means(after)).max())


def discard_weights(
    hands: NDArray[np.int8],
    sizes: NDArray[np.int64],
    hand_means: NDArray[np.float64],
    theirs: NDArray[np.float64],
    is_dealer: bool,
) -> NDArray[np.float64]:
    """Relative weights [13, 13] of the discards that maximise hand mean plus (pone: minus) crib mean.

    hands [C, 6] stand for sizes [C] hands each and have the means hand_means [C, 15]; theirs [13, 13] are the weights
    of the other's discards. Between equally good discards the choice is uniform.
    """
    values = hand_means + (1 if is_dealer else -1) * crib_means(hands, crib_sums(theirs))
    best = values >= values.max(axis=1, keepdims=True) - _TIE
    chance = best * (sizes / best.sum(axis=1))[:, None]
    ranks = hands[:, DISCARD_SLOTS_6].astype(np.int64) // NUM_SUITS  # [C, 15, 2], ascending
    pairs = np.bincount((ranks[..., 0] * NUM_RANKS + ranks[..., 1]).ravel(), chance.ravel(), NUM_RANKS**2)
    shares = pairs.reshape(NUM_RANKS, NUM_RANKS) / chance.sum()
    uniform = _pair_ways() / comb(NUM_CARDS, 2)
    upper = np.divide(shares, uniform, out=np.zeros_like(shares), where=uniform > 0)
    return upper + np.triu(upper, 1).T


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


def _pair_ways() -> NDArray[np.float64]:
    """Pairs of cards of ranks a <= b, [13, 13]."""
    return np.triu(np.full((NUM_RANKS, NUM_RANKS), 16.0)) - 10 * np.eye(NUM_RANKS)


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
