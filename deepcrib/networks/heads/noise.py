"""Linear layers with learned noise, which explore in place of epsilon (Fortunato et al. 2018, "Noisy networks")."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

INITIAL_NOISE = 0.5
"""sigma_0 of section 3.2: every sigma begins as it over the root of the number of inputs."""


class NoisyLinear(nn.Linear):
    """y = (weight + weight_sigma * f(out) f(in)') x + bias + bias_sigma * f(out), with f(e) = sign(e) sqrt|e|.

    That is the paper's factorised Gaussian noise (equations 10 and 11): one number for each input and one for each
    output. `weight` and `bias` are the means, and begin as the paper has them, uniform within 1 / sqrt(inputs), which
    is also what nn.Linear does. Without noise, as after `clear`, the layer is linear with the means.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        """A layer without noise until some is drawn."""
        super().__init__(in_features, out_features)
        sigma = INITIAL_NOISE / math.sqrt(in_features)
        self.weight_sigma = nn.Parameter(torch.full((out_features, in_features), sigma))
        self.bias_sigma = nn.Parameter(torch.full((out_features,), sigma))
        self._noise: tuple[Tensor, Tensor] | None = None

    def draw(self, generator: np.random.Generator) -> None:
        """Take new noise; it stays until the next draw, or `clear`."""
        sides = generator.standard_normal(self.in_features), generator.standard_normal(self.out_features)
        scaled = [np.sign(side) * np.sqrt(np.abs(side)) for side in sides]
        inputs, outputs = (torch.as_tensor(side, dtype=torch.float32, device=self.weight.device) for side in scaled)
        self._noise = inputs, outputs

    def clear(self) -> None:
        """Be without noise."""
        self._noise = None

    def forward(self, input: Tensor) -> Tensor:
        """[..., out_features] of inputs [..., in_features]."""
        if self._noise is None:
            return functional.linear(input, self.weight, self.bias)
        inputs, outputs = (side.to(self.weight.dtype) for side in self._noise)
        weight = self.weight + self.weight_sigma * outputs[:, None] * inputs
        return functional.linear(input, weight, self.bias + self.bias_sigma * outputs)


def draw_noise(network: nn.Module, generator: np.random.Generator) -> None:
    """New noise for every noisy layer of a network; a network without such layers takes no number."""
    for layer in network.modules():
        if isinstance(layer, NoisyLinear):
            layer.draw(generator)


def clear_noise(network: nn.Module) -> None:
    """Every noisy layer of a network without noise."""
    for layer in network.modules():
        if isinstance(layer, NoisyLinear):
            layer.clear()
