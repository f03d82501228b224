"""A multi-layer perceptron that learns one example at a time, compiled: sigmoid hidden layers and a linear output.

The network of O'Connor 2000. Its inputs are few of many, so the first layer is a sum of rows of weights; one pass takes
a microsecond, where a torch call would take a hundred. `sizes` is [inputs, hidden units of each layer, 1]. The weights
are one array: layer by layer, the rows of its inputs and then a row of biases, an entry a unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.randomness import gaussian
from deepcrib.kernels import jit


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
    for i in range(len(numbers)):
        numbers[i] = gaussian(seed, i)


@jit
def _sigmoid(values: np.ndarray, low: int, high: int) -> None:
    for j in range(low, high):
        values[j] = 1 / (1 + np.exp(-values[j]))


@jit
def _layer(weights: np.ndarray, start: int, inputs: int, units: int) -> np.ndarray:
    """The weights [inputs + 1, units] of the layer that begins at `start`, biases last: a view.

    Loops over its rows are vectorised; with indices into the one array they would not be.
    """
    return weights[start : start + (inputs + 1) * units].reshape((inputs + 1, units))


@jit
def forward(
    weights: np.ndarray, sizes: np.ndarray, index: np.ndarray, x: np.ndarray, n: int, units: np.ndarray
) -> float:
    """The output for inputs index[i] = x[i], i < n, all others 0; units [sum of hidden] receives the hidden outputs."""
    width = sizes[1]
    first = _layer(weights, 0, sizes[0], width)
    for j in range(width):
        units[j] = first[sizes[0], j]
    for i in range(n):
        row, value = index[i], x[i]
        for j in range(width):
            units[j] += value * first[row, j]
    _sigmoid(units, 0, width)
    start, low = (sizes[0] + 1) * width, 0
    for layer in range(2, len(sizes) - 1):
        following = sizes[layer]
        matrix, own = _layer(weights, start, width, following), units[low + width : low + width + following]
        for j in range(following):
            own[j] = matrix[width, j]
        for i in range(width):
            value = units[low + i]
            for j in range(following):
                own[j] += value * matrix[i, j]
        _sigmoid(own, 0, following)
        start += (width + 1) * following
        low += width
        width = following
    output = weights[start + width]
    for i in range(width):
        output += units[low + i] * weights[start + i]
    return output


@jit
def backward(weights: np.ndarray, sizes: np.ndarray, units: np.ndarray, slopes: np.ndarray) -> None:
    """slopes [sum of hidden]: the output's derivative by the sum that enters each hidden unit, after `forward`."""
    last = len(sizes) - 2
    width = sizes[last]
    start = len(weights) - (width + 1)  # of the weights above the layer
    low = len(units) - width
    for i in range(width):
        slopes[low + i] = weights[start + i]
    for layer in range(last, 0, -1):
        for i in range(low, low + width):
            slopes[i] *= units[i] * (1 - units[i])
        if layer == 1:
            return
        below = sizes[layer - 1]
        start -= (below + 1) * width
        matrix = _layer(weights, start, below, width)
        for i in range(below):
            total = 0.0
            for j in range(width):
                total += matrix[i, j] * slopes[low + j]
            slopes[low - below + i] = total
        low -= below
        width = below


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
    first = _layer(weights, 0, sizes[0], width)
    for i in range(n):
        row, value = index[i], rate * x[i]
        for j in range(width):
            first[row, j] += value * slopes[j]
    for j in range(width):
        first[sizes[0], j] += rate * slopes[j]
    start, low = (sizes[0] + 1) * width, 0
    for layer in range(2, len(sizes) - 1):
        following = sizes[layer]
        matrix, own = _layer(weights, start, width, following), slopes[low + width : low + width + following]
        for i in range(width):
            value = rate * units[low + i]
            for j in range(following):
                matrix[i, j] += value * own[j]
        for j in range(following):
            matrix[width, j] += rate * own[j]
        start += (width + 1) * following
        low += width
        width = following
    for i in range(width):
        weights[start + i] += rate * units[low + i]
    weights[start + width] += rate
