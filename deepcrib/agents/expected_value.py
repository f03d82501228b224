"""The expected-value player: the best mean of hand and crib, against an opponent who throws as experts do."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from deepcrib.agents.masks import pick_rows, uniform_over
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.kernels import jit
from deepcrib.observations import DiscardObservation, PlayObservation
from deepcrib.policies import GREEDY
from deepcrib.statistics.cribs import NUM_DISCARDS
from deepcrib.statistics.discards import HAND_STARTERS, crib_means, discard_statistics
from deepcrib.statistics.experts import expert_sums
from deepcrib.statistics.strategies import best_choices


class ExpectedValueAgent:
    """Discards for the highest hand mean plus (as pone: minus) crib mean, ties uniform; plays as greedy does.

    Means are exact, over the 46 cards not seen; the crib mean is that against the self-consistent discards of
    `statistics.experts`. For two players.
    """

    name = "expected_value"
    num_players = frozenset({2})
    play_policy = GREEDY

    def __init__(self) -> None:
        self._greedy = ScriptedAgent("greedy")

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] points of hand and crib on average, the crib's with the sign of the one who counts it."""
        values = discard_statistics(observation.hand)["hand_sum"] / HAND_STARTERS
        for is_dealer in (False, True):
            rows = observation.is_dealer == is_dealer
            cribs = crib_means(observation.hand[rows], expert_sums(is_dealer))
            values[rows] += cribs if is_dealer else -cribs
        return values

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return pick_rows(self._masks(observation), observation.key)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]: uniform over the best discards."""
        return uniform_over(self._masks(observation), NUM_DISCARDS)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self._greedy.play(observation)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]."""
        return self._greedy.play_probabilities(observation)

    def _masks(self, observation: DiscardObservation) -> NDArray[np.int64]:
        masks = np.empty(len(observation), dtype=np.int64)
        _best_rows(self.discard_values(observation), masks)
        return masks


@jit(parallel=True)
def _best_rows(values: np.ndarray, masks: np.ndarray) -> None:
    for r in prange(len(values)):
        masks[r] = best_choices(values[r])
