"""The scripted agents `random`, `deterministic` and `greedy`: `policies` over batches of observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.masks import DiscardsByMask, PlaysByMask
from deepcrib.game.observations import DiscardObservation, PlayColumns, PlayObservation
from deepcrib.game.policies import GREEDY, POLICIES, discard_choices, play_choices
from deepcrib.game.rules import series_from
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


class ScriptedAgent(DiscardsByMask, PlaysByMask):
    """A player of `policies.POLICIES`, by name, for two to four players."""

    num_players = frozenset({2, 3, 4})

    def __init__(self, name: str) -> None:
        self.name = name
        self.policy = self.play_policy = POLICIES[name]

    def discard_masks(self, observation: DiscardObservation) -> NDArray[np.int64]:
        """[N] masks of the discards that the policy is indifferent between."""
        masks = np.empty(len(observation), dtype=np.int64)
        run_rows(_discard_masks, len(observation.hand), self.policy, observation.hand, masks)
        return masks

    def play_masks(self, observation: PlayObservation) -> NDArray[np.int64]:
        """[N] masks of the slots that the policy is indifferent between."""
        masks = np.empty(len(observation), dtype=np.int64)
        run_rows(_play_masks, len(masks), self.policy, observation.columns, masks)
        return masks


class BestDiscards(DiscardsByMask):
    """Discards for the highest of `discard_values`, ties uniform; plays as greedy does."""

    num_players = frozenset({2})
    play_policy = GREEDY
    _greedy = ScriptedAgent("greedy")

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self._greedy.play(observation)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]."""
        return self._greedy.play_probabilities(observation)


@jit
def _discard_masks(part: Part, policy: int, hands: np.ndarray, masks: np.ndarray) -> None:
    for r in range(*part):
        masks[r] = discard_choices(policy, hands[r])


@jit
def _play_masks(part: Part, policy: int, o: PlayColumns, masks: np.ndarray) -> None:
    for r in range(*part):
        masks[r] = play_choices(policy, o.hand[r], series_from(o.history[r], o.series_start[r]), o.counts[r])
