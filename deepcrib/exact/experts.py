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

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.cribs import CribSums, crib_sums
from deepcrib.exact.pegging import DEALER, PONE
from deepcrib.game.cards import NUM_RANKS, RANK_NAMES

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
    weights = np.zeros((2, NUM_RANKS, NUM_RANKS))
    for row in _rows():
        a, b = RANK_NAMES.index(row["rank_1"]), RANK_NAMES.index(row["rank_2"])
        for role, column in ((DEALER, "dealer"), (PONE, "pone")):
            weights[role, a, b] = weights[role, b, a] = float(row[column])
    return Experts(weights[DEALER], weights[PONE])


@cache
def expert_sums(is_dealer: bool) -> CribSums:
    """Crib tables of a dealer (or pone) whose opponent throws as an expert."""
    return crib_sums(experts().against(is_dealer))


def crib_table(opponent: str) -> list[tuple[str, str, float, float]]:
    """91 rows (rank_1, rank_2, own crib, opponent's crib): mean points of the crib by the two ranks thrown into it.

    opponent: who throws the other two cards, `experts`, or `uniform`: any two. Over these and the starter, nothing else
    of the hand being known; two ranks are an average over their suits. The weights are the same whatever one throws,
    but a player whose cards' mates are gone throws them more readily, and does not see its kept cards turned up:
    between experts that play, the same cribs are worth 0.09 points more on average to the dealer's two cards (0.03 to
    0.24) and 0.17 more to the pone's (0.07 to 0.36).
    """
    own, other = ("uniform_crib", "uniform_crib") if opponent == "uniform" else ("own_crib", "opponent_crib")
    return [(row["rank_1"], row["rank_2"], float(row[own]), float(row[other])) for row in _rows()]


@cache
def _rows() -> list[dict[str, str]]:
    """Of each pair of ranks the two weights, and the means of the crib."""
    text = resources.files("deepcrib.exact").joinpath(EXPERTS_FILE).read_text(encoding="utf-8")
    return list(csv.DictReader(StringIO(text)))
