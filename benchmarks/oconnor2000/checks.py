"""O'Connor 2000's checks of its network: python -m benchmarks.oconnor2000.checks FUNCTION --seed 1 --to FILE.

The perceptron that `learner=td` trains learns a constant, x + y, or sin(6x)/4 + x/2 + 1/4, one random point of the unit
interval or square after another. FILE gets the mean square error by the number of points, at equal distances on [0, 1].
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deepcrib.files import write_atomic
from deepcrib.game.randomness import NETWORKS, SELF_PLAY, derive, uniform
from deepcrib.kernels import jit
from deepcrib.learners.td.perceptron import add_gradient, backward, forward, layer_sizes, new_weights

FUNCTIONS = {"constant": 2, "sum": 2, "sine": 1}
"""Inputs of each: the paper has two for the constant, too."""
CONSTANT = 0.5  # open in the paper
HIDDEN = 10  # the paper's
LR = 0.01  # of its discard game; open here
STEPS = (0, 10_000, 100_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000)
GRID = 101
"""Values of each input at which the error is measured."""


def main(words: Sequence[str] | None = None) -> None:
    """Learn one of FUNCTIONS, and write the errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("function", choices=FUNCTIONS)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--to", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(words)
    errors = learn(options.function, options.seed)
    write_atomic(options.to, json.dumps({"mse": errors}))


def learn(function: str, seed: int, steps: Sequence[int] = STEPS, lr: float = LR) -> dict[int, float]:
    """Mean square error after each number of points."""
    number, inputs = list(FUNCTIONS).index(function), FUNCTIONS[function]
    sizes = layer_sizes(inputs, [HIDDEN])
    weights, stream = new_weights(sizes, derive(seed, NETWORKS)), derive(seed, SELF_PLAY)
    places, errors, done = points(inputs), {}, 0
    for step in steps:
        _learn(number, stream, done, step, weights, sizes, lr)
        errors[step], done = float(_error(number, places, weights, sizes)), step
    return errors


def points(inputs: int) -> NDArray[np.float64]:
    """[GRID ** inputs, inputs] where the error is measured."""
    axes = np.meshgrid(*[np.linspace(0, 1, GRID)] * inputs)
    return np.stack(axes, axis=-1).reshape(-1, inputs)


@jit
def target(number: int, x: np.ndarray) -> float:
    """What one of FUNCTIONS is at x [inputs]."""
    if number == 0:
        return CONSTANT
    if number == 1:
        return x[0] + x[1]
    return np.sin(6 * x[0]) / 4 + x[0] / 2 + 0.25


@jit
def _learn(number: int, seed: int, first: int, last: int, weights: np.ndarray, sizes: np.ndarray, lr: float) -> None:
    """w += lr (target - output) grad output, at the points first..last - 1 of a stream."""
    inputs = sizes[0]
    index, x = np.arange(inputs), np.empty(inputs)
    units, slopes = np.empty(sizes[1]), np.empty(sizes[1])
    for step in range(first, last):
        for i in range(inputs):
            x[i] = uniform(seed, step * inputs + i)
        rate = lr * (target(number, x) - forward(weights, sizes, index, x, inputs, units))
        backward(weights, sizes, units, slopes)
        add_gradient(weights, sizes, index, x, inputs, units, slopes, rate)


@jit
def _error(number: int, places: np.ndarray, weights: np.ndarray, sizes: np.ndarray) -> float:
    total, inputs = 0.0, sizes[0]
    index, units = np.arange(inputs), np.empty(sizes[1])
    for row in range(len(places)):
        error = target(number, places[row]) - forward(weights, sizes, index, places[row], inputs, units)
        total += error * error
    return total / len(places)


if __name__ == "__main__":
    main()
