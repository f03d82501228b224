"""Pegging records of every pair of hands: python -m benchmarks.exact.pegging_records [--to pegging.npz].

What `exact.pegging.exact_records` reads; saved anew when the rules change.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np

from deepcrib.exact.pegging import DEALER, PONE, RECORDS_FILE, PeggingRecords, greedy_pegging, no_records
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS
from deepcrib.game.rank_sets import NUM_RANK_SETS_4, rank_sets
from deepcrib.game.rules import HAND_SIZE
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


def play_every_pair() -> PeggingRecords:
    """`exact_records`, played anew: 3.3 million plays, some five seconds on two cores."""
    sets = rank_sets(HAND_SIZE)
    points = np.zeros((NUM_RANK_SETS_4, NUM_RANK_SETS_4, 2), dtype=np.int8)
    run_rows(_play_all, len(sets), sets, points, piece=1)
    counts = (sets[:, :, None] == np.arange(NUM_RANKS)).sum(axis=1)  # [1820, 13]
    ways = np.array([[comb(left, taken) for taken in range(HAND_SIZE + 1)] for left in range(NUM_SUITS + 1)])
    gained, given = no_records(), no_records()
    run_rows(_tally, len(counts), counts, ways, points, gained, given, piece=8)
    return PeggingRecords(gained, given)


@jit
def _play_all(part: Part, sets: np.ndarray, points: np.ndarray) -> None:
    """Fill points [1820, 1820, 2] of pone's and dealer's set; a pair that needs five of a rank does no harm."""
    cards = sets * NUM_SUITS
    for pone in range(*part):
        for dealer in range(len(sets)):
            points[pone, dealer, PONE], points[pone, dealer, DEALER] = greedy_pegging(cards[pone], cards[dealer])


@jit
def _tally(
    part: Part, counts: np.ndarray, ways: np.ndarray, points: np.ndarray, gained: np.ndarray, given: np.ndarray
) -> None:
    """Count the points of every set against all hands of the opponent; ways [5, 5] of k cards out of n."""
    for own in range(*part):
        for other in range(len(counts)):
            hands = 1
            for rank in range(NUM_RANKS):
                hands *= ways[NUM_SUITS - counts[own, rank], counts[other, rank]]
            gained[own, PONE, points[own, other, PONE]] += hands
            given[own, PONE, points[own, other, DEALER]] += hands
            gained[own, DEALER, points[other, own, DEALER]] += hands
            given[own, DEALER, points[other, own, PONE]] += hands


def main(words: Sequence[str] | None = None) -> None:
    """Play, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=Path(RECORDS_FILE))
    records = play_every_pair()
    np.savez_compressed(parser.parse_args(words).to, gained=records.gained, given=records.given)


if __name__ == "__main__":
    main()
