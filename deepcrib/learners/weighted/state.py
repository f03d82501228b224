"""What the compiled games of weighted agents read and write, beside their weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.strategies.discards import NO_OPINION, NUM_VALUES, SCORES
from deepcrib.game.rules import HAND_SIZE

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

    reading: Reading
    scaling: float
    decay: float
    punishment: float
    baseline: bool
    cap: float  # infinite: none
    by_variance: bool
    epsilon: float
    by_preference: bool
    neighbours: int
    neighbour_share: float
    exploring_starts: bool
    spread: int
    update_records: bool
    weighted_play: bool
    random_pairs: bool
    random_dealer: bool


class Tables(NamedTuple):
    """Rows of the table of statistics, keys and starts of its classes, and pegging records with their summary."""

    rows: np.ndarray
    keys: np.ndarray
    starts: np.ndarray
    gained: np.ndarray
    given: np.ndarray
    summary: np.ndarray


class Memory(NamedTuple):
    """What a game leaves to learn from; by player: how many discards (and plays), where, and who answers for them.

    places: int16 [2, MAX_HANDS, 3], own score, other score, role. masks: int64 [2, MAX_HANDS], bits of strategies.
    play_places: [2, 4 * MAX_HANDS, 4], with the number of the hand. play_masks likewise. counts: [2, 2]. outcomes:
    [121, 121, 2, 2], sum and number of the margins of earlier games that were at each score location.
    """

    places: np.ndarray
    masks: np.ndarray
    play_places: np.ndarray
    play_masks: np.ndarray
    counts: np.ndarray
    outcomes: np.ndarray


class Scratch(NamedTuple):
    """Arrays that every decision uses again."""

    actions: np.ndarray
    values: np.ndarray
    matrix: np.ndarray
    preference: np.ndarray
    blended: np.ndarray
    play_matrix: np.ndarray
    play_preference: np.ndarray
    play_blended: np.ndarray


def new_memory() -> Memory:
    """Scratch of a game."""
    return Memory(
        np.zeros((PLAYERS, MAX_HANDS, 3), dtype=np.int16),
        np.zeros((PLAYERS, MAX_HANDS), dtype=np.int64),
        np.zeros((PLAYERS, HAND_SIZE * MAX_HANDS, 4), dtype=np.int16),
        np.zeros((PLAYERS, HAND_SIZE * MAX_HANDS), dtype=np.int64),
        np.zeros((PLAYERS, 2), dtype=np.int64),
        np.zeros((SCORES, SCORES, 2, 2)),
    )


def new_scratch(strategies: int) -> Scratch:
    """Scratch for decisions with so many strategies."""
    return Scratch(
        np.zeros(NUM_DISCARDS, dtype=np.int64),
        np.zeros((NUM_DISCARDS, NUM_VALUES)),
        np.zeros((strategies, NUM_DISCARDS)),
        np.zeros(NUM_DISCARDS),
        np.zeros(strategies),
        np.zeros((2, HAND_SIZE)),
        np.zeros(HAND_SIZE),
        np.zeros(2),
    )
