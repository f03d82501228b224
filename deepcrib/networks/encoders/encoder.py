"""What the encoders of discards and of plays share: compact states and actions -> index columns -> network input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import torch

from deepcrib.kernels.workers import run_rows
from deepcrib.networks.encoders.expansion import expand
from deepcrib.networks.encoders.spec import Spec


class Encoder(ABC):
    """States are compact int8 [M, C], actions int8 [M].

    Args:
        spec: the channels.
        blocks: names of the blocks that the kernel writes to, in its order; it is told where each begins.
        kind: which of its encoders the kernel is to be.
        columns: index columns without those of the spec's scalar channels.
        encode_rows: the kernel, (part, kind, starts, states, actions, columns), which writes columns int16 [M, ...].
    """

    def __init__(
        self, spec: Spec, blocks: Sequence[str], kind: int, columns: int, encode_rows: Callable[..., None]
    ) -> None:
        self.name, self.dealer, self.scores = spec.name, spec.dealer, spec.scores
        self.spec = spec
        self.width = spec.width
        self._scales = spec.scales
        self.columns = columns + len(self._scales)
        self._kind, self._encode_rows = kind, encode_rows
        self._starts = np.array([spec.start(block) for block in blocks], dtype=np.int64)

    @abstractmethod
    def legal(self, states: np.ndarray) -> np.ndarray:
        """bool [M, A] of compact states: the actions that may be chosen."""

    def indices(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """int16 [M, columns] of states with one action each."""
        columns = np.empty((len(states), self.columns), dtype=np.int16)
        run_rows(self._encode_rows, len(states), self._kind, self._starts, states, actions, columns, piece=4096)
        return columns

    def expand(self, indices: np.ndarray | torch.Tensor, device: torch.device | str = "cpu") -> torch.Tensor:
        """float32 [M, width] of index columns."""
        return expand(indices, self.width, self._scales, device)

    def encode(self, states: np.ndarray, actions: np.ndarray, device: torch.device | str = "cpu") -> torch.Tensor:
        """float32 [M, width] of states with one action each."""
        return self.expand(self.indices(states, actions), device)
