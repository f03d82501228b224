"""A pass of gradient descent over minibatches, the same for every learner whose loss is a mean over samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents.base import require_finite
from deepcrib.networks.fast import adam_step

Rows = NDArray[np.int64]


def descend(
    optimizer: torch.optim.Adam, lr: float, minibatches: list[Rows], losses_of: Callable[[Rows], Tensor]
) -> list[float]:
    """A step down the sum of the losses [K] of each minibatch, each a mean over its samples; returns their means.

    Raises DivergenceError where one is no number.
    """
    for group in optimizer.param_groups:
        group["lr"] = lr
    sums: list[Tensor] = []
    for rows in minibatches:
        losses = losses_of(rows)
        losses.sum().backward()
        adam_step(optimizer)
        sums.append(losses.detach() * len(rows))
    means = (torch.stack(sums).sum(dim=0) / sum(map(len, minibatches))).cpu().numpy()
    require_finite(means, lr)
    return [float(mean) for mean in means]


def shuffled(samples: int, batch_size: int, generator: np.random.Generator) -> list[Rows]:
    """The numbers of so many samples in a random order, cut into minibatches of which the last may be smaller."""
    order = generator.permutation(samples)
    return [order[start : start + batch_size] for start in range(0, samples, batch_size)]
