"""Least squares for the small network of Partida 2022, compiled: forward, backward and the optimiser's step.

At 24 units a layer and one position a step, which is how the paper fits, PyTorch takes a hundred times as long, nearly
all of it for calling its operations. The tests hold every step to PyTorch's gradients and optimisers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels import jit
from deepcrib.learners.partida.agent import Form, Layers, hidden_layer
from deepcrib.learners.partida.inputs import fill_inputs

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015), as in PyTorch
ADAM, SGD = 0, 1
OPTIMIZERS = {"adam": ADAM, "sgd": SGD}


@dataclass
class Fit:
    """A network under training: its layers, Adam's running means of gradients and of their squares, and its steps."""

    layers: Layers
    first: Layers
    second: Layers
    steps: int = 0


def new_fit(layers: Layers) -> Fit:
    """Before the first step."""
    first, second = (Layers(*map(np.zeros_like, layers)) for _ in range(2))
    return Fit(layers, first, second)


def fit_positions(
    fit: Fit,
    form: Form,
    states: NDArray[np.int8],
    targets: NDArray[np.float32],
    batch_size: int,
    rate: float,
    optimizer: str,
) -> float:
    """One pass over positions [E, STATE] in their order, a step for each `batch_size`; changes `fit`.

    Returns the mean squared error of the values as they were when each position's turn came.
    """
    code = OPTIMIZERS[optimizer]
    gradient = Layers(*map(np.zeros_like, fit.layers))
    total, fit.steps = _fit(
        states, targets, batch_size, rate, code, fit.steps, form, fit.layers, gradient, fit.first, fit.second
    )
    return float(total) / len(states)


@jit
def _fit(
    states: np.ndarray,
    targets: np.ndarray,
    batch_size: int,
    rate: float,
    optimizer: int,
    steps: int,
    form: Form,
    layers: Layers,
    gradient: Layers,
    first: Layers,
    second: Layers,
) -> tuple[float, int]:
    x = np.empty(len(layers.w1), dtype=np.float32)
    total = 0.0
    for start in range(0, len(states), batch_size):
        end = min(start + batch_size, len(states))
        for r in range(start, end):
            fill_inputs(states[r], form.inputs, form.encoding, x)
            total += _add_gradient(x, targets[r], 2 / (end - start), layers, gradient)
        steps += 1
        _step(layers.w1.ravel(), gradient.w1.ravel(), first.w1.ravel(), second.w1.ravel(), rate, optimizer, steps)
        _step(layers.w2.ravel(), gradient.w2.ravel(), first.w2.ravel(), second.w2.ravel(), rate, optimizer, steps)
        _step(layers.w3.ravel(), gradient.w3.ravel(), first.w3.ravel(), second.w3.ravel(), rate, optimizer, steps)
        _step(layers.b1, gradient.b1, first.b1, second.b1, rate, optimizer, steps)
        _step(layers.b2, gradient.b2, first.b2, second.b2, rate, optimizer, steps)
        _step(layers.b3, gradient.b3, first.b3, second.b3, rate, optimizer, steps)
        _step(layers.w4, gradient.w4, first.w4, second.w4, rate, optimizer, steps)
        _step(layers.b4, gradient.b4, first.b4, second.b4, rate, optimizer, steps)
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
def _step(
    weights: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    rate: float,
    optimizer: int,
    steps: int,
) -> None:
    """Move weights [n] against their gradient, which is set back to 0; `steps` counts this one."""
    if optimizer == SGD:
        for j in range(len(weights)):
            weights[j] -= np.float32(rate) * gradient[j]
            gradient[j] = 0
        return
    size = np.float32(rate / (1 - BETA_1**steps))
    correction = np.float32(1 / math.sqrt(1 - BETA_2**steps))
    for j in range(len(weights)):
        g = gradient[j]
        first[j] = np.float32(BETA_1) * first[j] + np.float32(1 - BETA_1) * g
        second[j] = np.float32(BETA_2) * second[j] + np.float32(1 - BETA_2) * g * g
        weights[j] -= size * first[j] / (np.sqrt(second[j]) * correction + np.float32(EPSILON))
        gradient[j] = 0
