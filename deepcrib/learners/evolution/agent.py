"""Discards by what cards are worth keeping, suits ignored (Kendall and Shaw 2002, as Lang 2018, section 2.2, tells it).

A genome has a value for each rank; a discard is worth the values of the four cards that it keeps, in dealer's and in
pone's hand by values of their own. The genome `pairs` has also a value for each two ranks that are kept together, and
for each two that are thrown together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import AgentError
from deepcrib.agents.scripted import BestDiscards
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.files.weights import SavedWeights, write_weights
from deepcrib.game.cards import NUM_RANKS, rank_of
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.rank_sets import NUM_RANK_PAIRS, rank_set_2
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

GENOMES = {"ranks": NUM_RANKS, "pairs": NUM_RANKS + 2 * NUM_RANK_PAIRS}
"""Number of values of each genome: 13 ranks, then 91 pairs kept and 91 pairs thrown."""
KEPT_PAIRS, THROWN_PAIRS = NUM_RANKS, NUM_RANKS + NUM_RANK_PAIRS
MOST_VALUES = 11
"""Summed for a discard: four ranks and six pairs kept, a pair thrown."""


@dataclass
class EvolutionaryAgent(BestDiscards):
    """Keeps the four cards of the highest value, ties uniform; plays as greedy does. For two players.

    weights: float64 [2, G], by role (0 pone, 1 dealer), G one of GENOMES; they have no unit, as only their order
    decides. Raises AgentError on another shape, or on what is no number.
    """

    name: str
    weights: NDArray[np.float64]
    metadata: dict[str, Any] = field(default_factory=dict)
    discard_unit = "own scale"

    def __post_init__(self) -> None:
        self.weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        expected = " or ".join(str((2, size)) for size in GENOMES.values())
        if self.weights.ndim != 2 or len(self.weights) != 2 or self.weights.shape[1] not in GENOMES.values():
            raise AgentError(f"values of cards have the shape {self.weights.shape}, expected {expected}")
        if not np.isfinite(self.weights).all():
            raise AgentError("values of cards are not finite, expected numbers")

    @property
    def genome(self) -> str:
        """Which of GENOMES the weights are."""
        return next(name for name, size in GENOMES.items() if size == self.weights.shape[1])

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] what the discards are worth."""
        values, roles = np.empty((len(observation), NUM_DISCARDS)), observation.is_dealer.astype(np.int8)
        run_rows(_fill_rows, len(values), observation.hand, roles, self.weights, values, piece=128)
        return values

    def save(self, path: Path | str) -> None:
        """Write the agent as a checkpoint. Raises RunError."""
        write_weights(path, "evolution", {"weights": self.weights}, {**self.metadata, "genome": self.genome})


def from_weights(saved: SavedWeights) -> EvolutionaryAgent:
    """The agent of its weights. Raises CheckpointError."""
    with saved.unpacking():
        return EvolutionaryAgent(saved.path, saved.arrays["weights"], saved.metadata)


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def fill_places(hand: np.ndarray, action: int, size: int, places: np.ndarray) -> int:
    """places [MOST_VALUES]: which of `size` values a discard of a sorted hand [6] is worth; returns how many."""
    n = 0
    for i in range(HAND_SIZE):
        rank = rank_of(hand[KEPT_SLOTS_6[action, i]])
        places[n] = rank
        n += 1
        if size > NUM_RANKS:
            for j in range(i):
                places[n] = KEPT_PAIRS + rank_set_2(rank_of(hand[KEPT_SLOTS_6[action, j]]), rank)
                n += 1
    if size > NUM_RANKS:
        first, second = rank_of(hand[DISCARD_SLOTS_6[action, 0]]), rank_of(hand[DISCARD_SLOTS_6[action, 1]])
        places[n] = THROWN_PAIRS + rank_set_2(first, second)
        n += 1
    return n


@jit
def fill_keep_values(hand: np.ndarray, weights: np.ndarray, values: np.ndarray) -> None:
    """values [15]: what each discard of a sorted hand [6] is worth to weights [G] of one role."""
    places = np.empty(MOST_VALUES, dtype=np.int64)
    for action in range(NUM_DISCARDS):
        value = 0.0
        for k in range(fill_places(hand, action, len(weights), places)):
            value += weights[places[k]]
        values[action] = value


@jit
def add_features(hand: np.ndarray, action: int, sign: int, features: np.ndarray) -> None:
    """Add to features [G], `sign` times, how often a discard of a hand [6] has each value of the genome in it."""
    places = np.empty(MOST_VALUES, dtype=np.int64)
    for k in range(fill_places(hand, action, len(features), places)):
        features[places[k]] += sign


@jit
def _fill_rows(part: Part, hands: np.ndarray, roles: np.ndarray, weights: np.ndarray, values: np.ndarray) -> None:
    for r in range(*part):
        fill_keep_values(hands[r], weights[roles[r]], values[r])
