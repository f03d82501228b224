"""Which samples each minibatch of a training pass holds, and how much each of them counts.

A pass iterates over `Minibatches`: sample numbers [B], with weights [B] of their losses or None (all count alike). It
tells them what the network said of each minibatch, since priorities follow from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Rows = NDArray[np.int64]
Float = NDArray[np.float32]


class Minibatches(Protocol):
    """The minibatches of one pass."""

    @property
    def total(self) -> int:
        """Samples of all minibatches together."""
        ...

    def __iter__(self) -> Iterator[tuple[Rows, Float | None]]:
        """Sample numbers [B] and weights [B] of each minibatch in turn."""
        ...

    def learned(self, rows: Rows, values: Tensor, targets: Tensor) -> None:
        """Take note of the values [B] that the network gave a minibatch before it learned from it, and its targets."""
        ...


@dataclass(frozen=True)
class Ordered:
    """Samples in a fixed order [T], cut into minibatches of `batch_size`, the last one perhaps smaller."""

    order: Rows
    batch_size: int

    @property
    def total(self) -> int:
        """Samples of all minibatches together."""
        return len(self.order)

    def __iter__(self) -> Iterator[tuple[Rows, Float | None]]:
        """Each minibatch in turn, without weights."""
        for start in range(0, len(self.order), self.batch_size):
            yield self.order[start : start + self.batch_size], None

    def learned(self, rows: Rows, values: Tensor, targets: Tensor) -> None:
        """Nothing depends on it."""


def sweeps(num_samples: int, passes: float, generator: np.random.Generator) -> Rows:
    """Sample numbers of `passes` shuffled sweeps, the last one in part if it is not whole."""
    total = max(1, round(num_samples * passes))
    parts = [generator.permutation(num_samples) for _ in range(-(-total // num_samples))]
    return np.concatenate(parts)[:total]
