"""Least squares for the small network of Partida 2022, compiled: forward, backward and the optimiser's step.

At 24 units a layer and one position a step, which is how the paper fits, PyTorch takes a hundred times as long, nearly
all of it for calling its operations. The tests hold every step to PyTorch's gradients and its Adam.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels import jit
from deepcrib.learners.partida.agent import Form, Layers, hidden_layer, layer_shapes
from deepcrib.learners.partida.inputs import fill_position

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015), as in PyTorch


FITTED = ("weights", "first", "second", "steps")
"""What a training goes on from."""


@dataclass
class Fit:
    """A network under training.

    weights: float32 [W], all of its layers over `width` inputs one after another. first, second: [W], Adam's running
    means of gradients and of their squares. steps: taken.
    """

    width: int
    weights: NDArray[np.float32]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    steps: int = 0

    @property
    def layers(self) -> Layers:
        """Views of the weights."""
        return _layers_on(self.weights, self.width)


def new_fit(layers: Layers) -> Fit:
    """Before the first step."""
    weights = np.concatenate([array.ravel() for array in layers])
    return Fit(len(layers.w1), weights, np.zeros_like(weights), np.zeros_like(weights))


def _layers_on(numbers: NDArray[np.float32], width: int) -> Layers:
    shapes = layer_shapes(width)
    parts = np.split(numbers, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    return Layers(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))


class Descent(NamedTuple):
    """What steps read and change: layers and their gradient, as layers and as numbers [W]; Adam's means [W]."""

    rate: float
    layers: Layers
    gradients: Layers
    weights: np.ndarray
    gradient: np.ndarray
    first: np.ndarray
    second: np.ndarray


def fit_positions(
    fit: Fit, form: Form, states: NDArray[np.int8], targets: NDArray[np.float32], batch_size: int, rate: float
) -> float:
    """One pass over positions [E, STATE] in their order, a step for each `batch_size`; changes `fit`.

    Returns the mean squared error of the values as they were when each position's turn came.
    """
    gradient = np.zeros_like(fit.weights)
    views = fit.layers, _layers_on(gradient, fit.width)
    descent = Descent(rate, *views, fit.weights, gradient, fit.first, fit.second)
    total, fit.steps = _fit(states, targets, batch_size, form, descent, fit.steps)
    return float(total) / len(states)


@jit
def _fit(
    states: np.ndarray, targets: np.ndarray, batch_size: int, form: Form, descent: Descent, steps: int
) -> tuple[float, int]:
    x = np.empty(len(descent.layers.w1), dtype=np.float32)
    total = 0.0
    for start in range(0, len(states), batch_size):
        end = min(start + batch_size, len(states))
        for r in range(start, end):
            fill_position(states[r], form.inputs, form.encoding, x)
            total += _add_gradient(x, targets[r], 2 / (end - start), descent.layers, descent.gradients)
        steps += 1
        _step(descent, steps)
    return total, steps


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
def _step(d: Descent, steps: int) -> None:
    """Move the weights against their gradient, which is set back to 0; `steps` counts this one."""
    size = np.float32(d.rate / (1 - BETA_1**steps))
    correction = np.float32(1 / math.sqrt(1 - BETA_2**steps))
    for j in range(len(d.weights)):
        g = d.gradient[j]
        d.first[j] = np.float32(BETA_1) * d.first[j] + np.float32(1 - BETA_1) * g
        d.second[j] = np.float32(BETA_2) * d.second[j] + np.float32(1 - BETA_2) * g * g
        d.weights[j] -= size * d.first[j] / (np.sqrt(d.second[j]) * correction + np.float32(EPSILON))
        d.gradient[j] = 0
