"""The network's inputs for a minibatch of samples, from index columns that are made once a pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.networks.encoders import Encoder

Numbers = NDArray[np.int64]


class Batch(NamedTuple):
    """inputs float32 [R, width]; where all actions of the B states stand side by side, groups [R] and chosen [B].

    groups are the states' numbers 0 .. B - 1, chosen the rows of the actions that were taken; else both are None.
    """

    inputs: Tensor
    groups: Tensor | None
    chosen: Tensor | None


class SampleInputs:
    """Inputs of E samples, one row each, or with `grouped` one for every legal action of its state.

    Columns are an array on the CPU, else a tensor that crosses to the device once.
    """

    def __init__(
        self,
        encoder: Encoder,
        states: NDArray[np.int8],
        actions: NDArray[np.int8],
        grouped: bool,
        device: torch.device,
    ) -> None:
        """Compact states int8 [E, K] and the actions int8 [E] taken there."""
        self._encoder = encoder
        self._device = device
        self._grouped = grouped
        if grouped:
            legal = encoder.legal(states)
            samples, candidates = np.nonzero(legal)
            self._sizes = legal.sum(axis=1)
            self._starts = np.cumsum(self._sizes) - self._sizes
            before = np.arange(legal.shape[1]) < actions[:, None]
            self._chosen = (legal & before).sum(axis=1)  # of the candidates of its own state
            states, actions = states[samples], candidates.astype(np.int8)
        columns = encoder.indices(states, actions)
        self._columns: Any = columns if device.type == "cpu" else torch.as_tensor(columns, device=device)

    def batch(self, rows: Numbers) -> Batch:
        """What the network is given for samples of numbers `rows` [B]."""
        if not self._grouped:
            return Batch(self._encoder.expand(self._columns[rows], self._device), None, None)
        sizes = self._sizes[rows]
        firsts = np.cumsum(sizes) - sizes
        groups = np.repeat(np.arange(len(rows)), sizes)
        members = np.arange(len(groups)) - firsts[groups] + self._starts[rows][groups]
        inputs = self._encoder.expand(self._columns[members], self._device)
        chosen = firsts + self._chosen[rows]
        return Batch(inputs, torch.as_tensor(groups, device=self._device), torch.as_tensor(chosen, device=self._device))
