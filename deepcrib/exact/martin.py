"""Martin's matrix (2000, as Lang 2018 reviews it in section 2.2): what a crib is worth by the pairs that make it.

Pairs of cards have the numbers of `card_pairs`. As with Martin, what else the players hold is forgotten: given both
pairs, the starter is any of the other 48 cards, and the opponent throws any two of the other 50.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NUM_CARDS, RANKS
from deepcrib.game.rank_sets import NUM_RANK_PAIRS, rank_set_2
from deepcrib.game.rules import HAND_SIZE, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

NUM_CARD_PAIRS = comb(NUM_CARDS, 2)
"""1,326 pairs of cards."""
STARTERS = NUM_CARDS - HAND_SIZE
"""48 cards that may be turned up once the four of the crib are known."""
IMPOSSIBLE = -1


def card_pairs() -> NDArray[np.int8]:
    """All pairs of cards in the order of `itertools.combinations`: int8 [1326, 2]."""
    return np.array(list(combinations(range(NUM_CARDS), 2)), dtype=np.int8)


def pair_number(a: int, b: int) -> int:
    """Number 0..1325 of the pair of cards a < b."""
    return a * (2 * NUM_CARDS - a - 1) // 2 + b - a - 1


@cache
def crib_totals() -> NDArray[np.int16]:
    """[1326, 1326] points of the crib of two pairs, summed over its 48 starters; IMPOSSIBLE where they share a card.

    Symmetric: it does not matter who threw which pair. Takes a second, once a process; it cannot be written.
    """
    totals = np.full((NUM_CARD_PAIRS, NUM_CARD_PAIRS), IMPOSSIBLE, dtype=np.int16)
    run_rows(_fill_totals, len(totals), card_pairs(), totals, piece=1)
    totals = np.maximum(totals, totals.T)  # the lower half is still IMPOSSIBLE
    totals.flags.writeable = False
    return totals


def crib_matrix() -> NDArray[np.float32]:
    """[1326, 1326] mean points of the crib of two pairs; nan where they share a card."""
    totals = crib_totals()
    return np.where(totals == IMPOSSIBLE, np.nan, totals / STARTERS).astype(np.float32)


def rank_pair_matrix() -> NDArray[np.float64]:
    """[91, 91] mean points of the crib of two pairs of ranks (`ranks.rank_set_2`), over all cards of these ranks."""
    ranks = RANKS[card_pairs()]
    numbers = np.array([rank_set_2(a, b) for a, b in ranks.tolist()])
    member = (numbers[:, None] == np.arange(NUM_RANK_PAIRS)).astype(np.float64)  # [1326, 91]
    totals = crib_totals()
    possible = totals != IMPOSSIBLE
    return (member.T @ np.where(possible, totals, 0) @ member) / (STARTERS * (member.T @ possible @ member))


def crib_bounds() -> NDArray[np.float64]:
    """[1326, 3] lowest, mean and highest mean points of the crib that a pair may become.

    Over the 1,225 pairs that the opponent may throw, all as likely for the mean. Whatever the opponent does, the crib
    lies between the bounds on average. So for the pone throwing `a` rather than `b` is provably wrong where it adds
    less to the own hand than lowest(a) - highest(b); for the dealer, where it adds less than lowest(b) - highest(a).
    """
    totals = crib_totals()
    possible = totals != IMPOSSIBLE
    lowest = np.where(possible, totals, np.iinfo(np.int16).max).min(axis=1)
    mean = np.where(possible, totals, 0).sum(axis=1) / possible.sum(axis=1)
    return np.stack([lowest, mean, totals.max(axis=1)], axis=1) / STARTERS


@jit
def _fill_totals(part: Part, pairs: np.ndarray, totals: np.ndarray) -> None:
    """Fill the upper half of totals."""
    for row in range(*part):
        crib = np.empty(HAND_SIZE, dtype=np.int64)
        crib[0], crib[1] = pairs[row, 0], pairs[row, 1]
        for column in range(row + 1, len(pairs)):
            crib[2], crib[3] = pairs[column, 0], pairs[column, 1]
            if crib[2] == crib[0] or crib[2] == crib[1] or crib[3] == crib[0] or crib[3] == crib[1]:
                continue
            points = 0
            for starter in range(NUM_CARDS):
                if starter != crib[0] and starter != crib[1] and starter != crib[2] and starter != crib[3]:
                    points += show_points(crib, starter, True)
            totals[row, column] = points
