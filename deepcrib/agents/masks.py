"""Choices as bit masks: what agents do that are indifferent between several."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.strategies.discards import best_choices
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.policies import count_choices, pick
from deepcrib.game.rules import HAND_SIZE, discard_slots
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


def uniform_over(masks: NDArray[np.int64], num_choices: int) -> NDArray[np.float64]:
    """Probabilities [N, num_choices], uniform over the bits of each mask [N]."""
    chosen = (masks[:, None] >> np.arange(num_choices)) & 1
    return chosen / chosen.sum(axis=1, keepdims=True)


def best_masks(values: NDArray[np.floating]) -> NDArray[np.int64]:
    """Mask [N] of the choices with the highest of values [N, A], up to rounding."""
    masks = np.empty(len(values), dtype=np.int64)
    run_rows(_best_rows, len(values), values.astype(np.float64, copy=False), masks)
    return masks


def pick_rows(masks: NDArray[np.int64], keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """A choice [N] out of each mask [N], uniformly, by the decisions' keys [N]."""
    choices = np.empty(len(masks), dtype=np.int8)
    run_rows(_pick_rows, len(masks), masks, keys, choices)
    return choices


class DiscardsByMask:
    """Discards one of the choices of `discard_masks`, by default those of the highest of its `discard_values`."""

    discard_values: Callable[[DiscardObservation], NDArray[np.floating]]

    def discard_masks(self, observation: DiscardObservation) -> NDArray[np.int64]:
        """[N] masks of the discards between which the agent is indifferent."""
        return best_masks(self.discard_values(observation))

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return pick_rows(self.discard_masks(observation), observation.key)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15], or 5: uniform over the masks."""
        return uniform_over(self.discard_masks(observation), len(discard_slots(observation.hand.shape[1])))


class PlaysByMask:
    """Plays one of the cards of `play_masks`, by default those of the highest of its `play_values`."""

    play_values: Callable[[PlayObservation], NDArray[np.floating]]

    def play_masks(self, observation: PlayObservation) -> NDArray[np.int64]:
        """[N] masks of the slots between which the agent is indifferent."""
        return best_masks(self.play_values(observation))

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return pick_rows(self.play_masks(observation), observation.key)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]: uniform over the masks."""
        return uniform_over(self.play_masks(observation), HAND_SIZE)


@jit
def _best_rows(part: Part, values: np.ndarray, masks: np.ndarray) -> None:
    for r in range(*part):
        masks[r] = best_choices(values[r])


@jit
def _pick_rows(part: Part, masks: np.ndarray, keys: np.ndarray, choices: np.ndarray) -> None:
    for r in range(*part):
        # An agent that may not act at all gets an action that the engine refuses.
        choices[r] = pick(masks[r], keys[r]) if count_choices(masks[r]) else -1
