"""Least squares for the small network of Partida 2022, compiled: forward, backward and the optimiser's step.

At 24 units a layer and one position a step, which is how the paper fits, PyTorch takes a hundred times as long, nearly
all of it for calling its operations. The tests hold every step to PyTorch's gradients and its Adam.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels import jit
from deepcrib.learners.partida.agent import Form, Layers, hidden_layer, layer_shapes
from deepcrib.learners.partida.inputs import fill_position

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015), as in PyTorch


class Fit(NamedTuple):
    """A network under training, float32: its layers and their gradient, either also as the numbers [W] of all layers.

    first, second: [W], Adam's running means of gradients and of their squares. steps: [1], taken.
    """

    layers: Layers
    gradients: Layers
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    steps: NDArray[np.int64]


def new_fit(layers: Layers) -> Fit:
    """Before the first step."""
    weights, width = np.concatenate([array.ravel() for array in layers]), len(layers.w1)
    gradient, first, second = np.zeros((3, len(weights)), dtype=np.float32)
    views = _layers_on(weights, width), _layers_on(gradient, width)
    return Fit(*views, weights, gradient, first, second, np.zeros(1, dtype=np.int64))


def _layers_on(numbers: NDArray[np.float32], width: int) -> Layers:
    shapes = layer_shapes(width)
    parts = np.split(numbers, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    return Layers(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))


@jit
def fit_positions(fit: Fit, form: Form, states: np.ndarray, targets: np.ndarray, batch_size: int, rate: float) -> float:
    """One pass over positions [E, STATE] in their order, a step for each `batch_size`; changes `fit`.

    Returns the mean squared error of the values as they were when each position's turn came.
    """
    x = np.empty(len(fit.layers.w1), dtype=np.float32)
    total = 0.0
    for start in range(0, len(states), batch_size):
        end = min(start + batch_size, len(states))
        for r in range(start, end):
            fill_position(states[r], form.inputs, form.encoding, x)
            total += _add_gradient(x, targets[r], 2 / (end - start), fit.layers, fit.gradients)
        fit.steps[0] += 1
        _step(fit, rate)
    return total / len(states)


@jit
def _add_gradient(x: np.ndarray, target: float, scale: float, layers: Layers, gradient: Layers) -> float:
    """Add that of scale / 2 times the squared error at an input; returns the squared error."""
    h1 = hidden_layer(x, layers.w1, layers.b1)
    h2 = hidden_layer(h1, layers.w2, layers.b2)
    h3 = hidden_layer(h2, layers.w3, layers.b3)
    error = layers.b4[0] - target
    for j in range(len(h3)):
        error += h3[j] * layers.w4[j]
    slope = np.float32(scale * error)
    gradient.b4[0] += slope
    d3 = np.zeros_like(h3)
    for j in range(len(h3)):
        gradient.w4[j] += slope * h3[j]
        if h3[j] > 0:
            d3[j] = slope * layers.w4[j]
    d2 = _add_layer(h2, d3, layers.w3, gradient.w3, gradient.b3)
    d1 = _add_layer(h1, d2, layers.w2, gradient.w2, gradient.b2)
    for j in range(len(d1)):
        gradient.b1[j] += d1[j]
    for i in range(len(x)):
        if x[i] != 0:
            for j in range(len(d1)):
                gradient.w1[i, j] += x[i] * d1[j]
    return float(error) * float(error)


@jit
def _add_layer(
    below: np.ndarray, slopes: np.ndarray, weights: np.ndarray, to_weights: np.ndarray, to_bias: np.ndarray
) -> np.ndarray:
    """Add the gradient of one layer from the slopes at its units; returns those at the units below."""
    down = np.zeros_like(below)
    for j in range(len(slopes)):
        to_bias[j] += slopes[j]
    for i in range(len(below)):
        if below[i] > 0:
            total = np.float32(0)
            for j in range(len(slopes)):
                to_weights[i, j] += below[i] * slopes[j]
                total += weights[i, j] * slopes[j]
            down[i] = total
    return down


@jit
def _step(f: Fit, rate: float) -> None:
    """Move the weights against their gradient, which is set back to 0; `steps` counts this one."""
    steps = f.steps[0]
    size = np.float32(rate / (1 - BETA_1**steps))
    correction = np.float32(1 / math.sqrt(1 - BETA_2**steps))
    for j in range(len(f.weights)):
        g = f.gradient[j]
        f.first[j] = np.float32(BETA_1) * f.first[j] + np.float32(1 - BETA_1) * g
        f.second[j] = np.float32(BETA_2) * f.second[j] + np.float32(1 - BETA_2) * g * g
        f.weights[j] -= size * f.first[j] / (np.sqrt(f.second[j]) * correction + np.float32(EPSILON))
        f.gradient[j] = 0
