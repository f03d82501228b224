"""A multi-layer perceptron that learns one example at a time, compiled: sigmoid hidden layers and a linear output.

The network of O'Connor 2000. Its inputs are few of many, so the first layer is a sum of rows of weights; one pass takes
a microsecond, where a torch call would take a hundred. `sizes` is [inputs, hidden units of each layer, 1]. The weights
are one array: layer by layer, the rows of its inputs and then a row of biases, an entry a unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels import jit
from deepcrib.randomness import uniform


def layer_sizes(inputs: int, hidden: Sequence[int]) -> NDArray[np.int64]:
    """`sizes` of a perceptron with so many inputs and one or more layers of hidden units."""
    return np.array([inputs, *hidden, 1], dtype=np.int64)


def count_weights(sizes: NDArray[np.int64]) -> int:
    """Weights of a perceptron, biases included."""
    return int(((sizes[:-1] + 1) * sizes[1:]).sum())


def new_weights(sizes: NDArray[np.int64], seed: int, deviation: float = 1.0) -> NDArray[np.float64]:
    """float64 [W] from a normal distribution of mean 0; O'Connor 2000 has the deviation 1."""
    weights = np.empty(count_weights(sizes))
    _draw_normal(seed, weights)
    return deviation * weights


@jit
def _draw_normal(seed: int, numbers: np.ndarray) -> None:
    """Independent normal numbers by the method of Box and Muller (1958)."""
    for i in range(len(numbers)):
        radius = np.sqrt(-2 * np.log(1 - uniform(seed, 2 * i)))
        numbers[i] = radius * np.cos(2 * np.pi * uniform(seed, 2 * i + 1))


@jit
def _sigmoid(values: np.ndarray, low: int, high: int) -> None:
    for j in range(low, high):
        values[j] = 1 / (1 + np.exp(-values[j]))


@jit
def forward(
    weights: np.ndarray, sizes: np.ndarray, index: np.ndarray, x: np.ndarray, n: int, units: np.ndarray
) -> float:
    """The output for inputs index[i] = x[i], i < n, all others 0; units [sum of hidden] receives the hidden outputs."""
    width = sizes[1]
    start = sizes[0] * width
    for j in range(width):
        units[j] = weights[start + j]
    for i in range(n):
        row = index[i] * width
        for j in range(width):
            units[j] += x[i] * weights[row + j]
    _sigmoid(units, 0, width)
    start += width
    low = 0
    for layer in range(2, len(sizes) - 1):
        high = low + width
        following = sizes[layer]
        for j in range(following):
            units[high + j] = weights[start + width * following + j]
        for i in range(width):
            for j in range(following):
                units[high + j] += units[low + i] * weights[start + i * following + j]
        _sigmoid(units, high, high + following)
        start += (width + 1) * following
        low, width = high, following
    output = weights[start + width]
    for i in range(width):
        output += units[low + i] * weights[start + i]
    return output


@jit
def backward(weights: np.ndarray, sizes: np.ndarray, units: np.ndarray, slopes: np.ndarray) -> None:
    """slopes [sum of hidden]: the output's derivative by the sum that enters each hidden unit, after `forward`."""
    last = len(sizes) - 2
    width = sizes[last]
    end = len(weights) - (width + 1)  # where the weights of the layer above begin
    low = 0
    for layer in range(1, last):
        low += sizes[layer]
    for i in range(width):
        slopes[low + i] = weights[end + i]
    for layer in range(last, 0, -1):
        width = sizes[layer]
        for i in range(width):
            slopes[low + i] *= units[low + i] * (1 - units[low + i])
        if layer == 1:
            return
        below = sizes[layer - 1]
        end -= (below + 1) * width
        for i in range(below):
            total = 0.0
            for j in range(width):
                total += weights[end + i * width + j] * slopes[low + j]
            slopes[low - below + i] = total
        low -= below


@jit
def add_gradient(
    weights: np.ndarray,
    sizes: np.ndarray,
    index: np.ndarray,
    x: np.ndarray,
    n: int,
    units: np.ndarray,
    slopes: np.ndarray,
    rate: float,
) -> None:
    """weights += rate * gradient of the output by the weights, from what `forward` and `backward` left."""
    width = sizes[1]
    for i in range(n):
        row = index[i] * width
        for j in range(width):
            weights[row + j] += rate * x[i] * slopes[j]
    start = sizes[0] * width
    for j in range(width):
        weights[start + j] += rate * slopes[j]
    start += width
    low = 0
    for layer in range(2, len(sizes) - 1):
        high = low + width
        following = sizes[layer]
        for i in range(width):
            for j in range(following):
                weights[start + i * following + j] += rate * units[low + i] * slopes[high + j]
        for j in range(following):
            weights[start + width * following + j] += rate * slopes[high + j]
        start += (width + 1) * following
        low, width = high, following
    for i in range(width):
        weights[start + i] += rate * units[low + i]
    weights[start + width] += rate
