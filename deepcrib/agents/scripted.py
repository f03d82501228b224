"""The scripted agents `random`, `deterministic` and `greedy`: `policies` over batches of observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.masks import best_masks, pick_rows, uniform_over
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.policies import GREEDY, POLICIES, discard_choices, play_choices
from deepcrib.game.rules import HAND_SIZE, discard_slots, series_from
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


class ScriptedAgent:
    """A player of `policies.POLICIES`, by name, for two to four players."""

    num_players = frozenset({2, 3, 4})

    def __init__(self, name: str) -> None:
        self.name = name
        self.policy = self.play_policy = POLICIES[name]

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return pick_rows(self._discard_masks(observation), observation.key)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return pick_rows(self._play_masks(observation), observation.key)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15 or 5]: uniform over the choices that the policy is indifferent between."""
        return uniform_over(self._discard_masks(observation), len(discard_slots(observation.hand.shape[1])))

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]: uniform over the choices that the policy is indifferent between."""
        return uniform_over(self._play_masks(observation), HAND_SIZE)

    def _discard_masks(self, observation: DiscardObservation) -> NDArray[np.int64]:
        masks = np.empty(len(observation), dtype=np.int64)
        run_rows(_discard_masks, len(observation.hand), self.policy, observation.hand, masks)
        return masks

    def _play_masks(self, observation: PlayObservation) -> NDArray[np.int64]:
        masks = np.empty(len(observation), dtype=np.int64)
        o = observation
        run_rows(_play_masks, len(o.hand), self.policy, o.hand, o.history, o.series_start, o.count, masks)
        return masks


class GreedyPlay:
    """Plays as greedy does: of an agent that counts, or learns, its discards alone."""

    num_players = frozenset({2})
    _greedy = ScriptedAgent("greedy")

    @property
    def play_policy(self) -> int | None:
        """Greedy's."""
        return GREEDY

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self._greedy.play(observation)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]."""
        return self._greedy.play_probabilities(observation)


class BestDiscards(GreedyPlay):
    """Discards for the highest of `discard_values`, ties uniform; plays as greedy does."""

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]."""
        raise NotImplementedError

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return pick_rows(best_masks(self.discard_values(observation)), observation.key)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]: uniform over the discards of the highest value."""
        return uniform_over(best_masks(self.discard_values(observation)), NUM_DISCARDS)


@jit
def _discard_masks(part: Part, policy: int, hands: np.ndarray, masks: np.ndarray) -> None:
    for r in range(*part):
        masks[r] = discard_choices(policy, hands[r])


@jit
def _play_masks(
    part: Part,
    policy: int,
    hands: np.ndarray,
    histories: np.ndarray,
    starts: np.ndarray,
    counts: np.ndarray,
    masks: np.ndarray,
) -> None:
    for r in range(*part):
        masks[r] = play_choices(policy, hands[r], series_from(histories[r], starts[r]), counts[r])
