"""Mixed policies: the chances of choices, and drawing by them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.randomness import uniform
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


def softmax(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    """[N, A] chances of logits [N, A], which are -inf where an action is not legal; one of each row is."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    found: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return found


def epsilon_greedy_probabilities(
    values: NDArray[np.float32], epsilon: float, temperature: float = 0.0
) -> NDArray[np.float64]:
    """[N, A] probabilities of an epsilon-greedy choice among values [N, A] (-inf: not legal).

    With a temperature, the softmax of values / temperature is in the place of the best one.
    """
    legal = np.isfinite(values)
    probabilities: NDArray[np.float64] = epsilon * legal / legal.sum(axis=1, keepdims=True)
    if temperature:
        return probabilities + (1 - epsilon) * softmax(values / temperature)
    probabilities[np.arange(len(values)), values.argmax(axis=1)] += 1 - epsilon
    return probabilities


def draw(chances: NDArray[np.float64], keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """[N] actions drawn by their chances [N, A], each row by its decision's key."""
    actions = np.empty(len(chances), dtype=np.int8)
    run_rows(_draw_rows, len(actions), chances, keys, actions)
    return actions


@jit
def _draw_rows(part: Part, chances: np.ndarray, keys: np.ndarray, actions: np.ndarray) -> None:
    for r in range(*part):
        left = uniform(keys[r], 0)
        for action in range(chances.shape[1]):
            if chances[r, action] > 0:
                actions[r] = action  # the last one, should rounding leave something over
                left -= chances[r, action]
                if left < 0:
                    break
