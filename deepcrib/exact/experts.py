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
