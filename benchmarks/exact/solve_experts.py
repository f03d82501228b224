"""What experts throw, found anew: python -m benchmarks.exact.solve_experts [--to experts.csv].

Two players who each maximise the mean of hand and crib answer each other; `exact.experts` reads what this found. Some
seconds an iteration.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import write_csv
from deepcrib.errors import UserError
from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.exact.cribs import crib_sums, uniform_weights
from deepcrib.exact.discards import HAND_STARTERS, crib_means, discard_statistics
from deepcrib.exact.experts import EXPERTS_FILE, Experts
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_NAMES, rank_of
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

SETTLING = 10
_TIE = 1e-9


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


def _pair_ways() -> NDArray[np.float64]:
    """Pairs of cards of ranks a <= b, [13, 13]."""
    return np.triu(np.full((NUM_RANKS, NUM_RANKS), 16.0)) - 10 * np.eye(NUM_RANKS)


def save(found: Experts, path: Path) -> None:
    """Write the weights as `exact.experts` reads them. Raises RunError."""
    ranks = [(a, b) for a in range(NUM_RANKS) for b in range(a, NUM_RANKS)]
    weights = [(RANK_NAMES[a], RANK_NAMES[b], found.dealer[a, b], found.pone[a, b]) for a, b in ranks]
    write_csv(path, ("rank_1", "rank_2", "dealer", "pone"), weights)


# --- cribs by the ranks thrown ------------------------------------------------------------------------------------


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


def main(words: Sequence[str] | None = None) -> None:
    """Iterate, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=Path(EXPERTS_FILE))
    options = parser.parse_args(words)
    found, _, _ = solve(progress=lambda number, change: print(f"iteration {number} moved {change:.1g} points"))
    try:
        save(found, options.to)
    except UserError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
