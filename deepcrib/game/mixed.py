"""Mixed policies: the chances of choices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def softmax(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    """[N, A] chances of logits [N, A], which are -inf where an action is not legal; one of each row is."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    return powers / powers.sum(axis=1, keepdims=True)


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
