"""What the compiled games of weighted agents read and write, beside their weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.exact.cribs import CribSums
from deepcrib.exact.strategies.discards import NO_OPINION

PLAYERS = 2
MAX_HANDS = 128  # of a game; later ones, should a game ever last so long, are not learned from


class Reading(NamedTuple):
    """What the thesis leaves open about its update, as numbers for compiled code."""

    shared: bool  # several strategies near the highest value answer for a choice; or those that have it
    of_preference: bool  # the variance that exploration goes by is that of the 15 preferences; or of the weights
    no_opinion: float  # the value of a discard to a strategy that does not tell it from the others
    points: float  # in which a margin is counted
    smallest_factor: float
    smallest_weight: float  # of a responsible strategy, before all are normalised


READINGS = {
    # sim/agent.py and sim/strategy3.py of the author's program (github.com/srlang/ms-thesis-code)
    "code": Reading(True, True, NO_OPINION, 121.0, 0.0, 0.001),
    # what the thesis's text alone suggests, a margin as per cent; no factor would bring a weight back from 0
    "text": Reading(False, False, 0.0, 100.0, 0.01, 1e-30),
}


class Method(NamedTuple):
    """How choices are made and answered for: `WeightedOptions` as numbers for compiled code."""

    seed: int
    switch_every: int
    reading: Reading
    scaling: float
    decay: float
    punishment: float
    cap: float  # infinite: none
    by_variance: bool
    epsilon: float
    by_preference: bool
    neighbours: int
    neighbour_share: float
    exploring_starts: bool
    start_spread: int
    update_records: bool
    random_pairs: bool
    random_dealer: bool


class StrategyTables(NamedTuple):
    """What statistics of discards are worked out from (`exact.discards`), and pegging records with their summary."""

    cribs: CribSums
    plain: np.ndarray
    gained: np.ndarray
    given: np.ndarray
    summary: np.ndarray


class DiscardLog(NamedTuple):
    """What a game leaves to learn from; by player: how many discards, where, and who answers for them.

    places: int16 [2, MAX_HANDS, 3], own score, other score, role. masks: int64 [2, MAX_HANDS], bits of strategies.
    counts: [2].
    """

    places: np.ndarray
    masks: np.ndarray
    counts: np.ndarray


class Training(NamedTuple):
    """All that games read and change.

    weights: [K, 121, 121, 2, m] of the members of a pool, which change where learns [K]. codes: [m], the strategies.
    """

    method: Method
    weights: np.ndarray
    learns: np.ndarray
    codes: np.ndarray
    tables: StrategyTables
    log: DiscardLog


def new_log() -> DiscardLog:
    """That of a game."""
    return DiscardLog(
        np.zeros((PLAYERS, MAX_HANDS, 3), dtype=np.int16),
        np.zeros((PLAYERS, MAX_HANDS), dtype=np.int64),
        np.zeros(PLAYERS, dtype=np.int64),
    )
