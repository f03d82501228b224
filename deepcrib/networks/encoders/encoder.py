"""Encoders: compact states and actions -> index columns -> network input.

An encoded state is stored as a few int16 columns: each holds the index of a channel that gets 1 added to it
(-1: none), and the last columns hold the values of the scalar channels. That is an eighth or less of the
size of the float rows, and is what crosses to a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from numba.core.dispatcher import Dispatcher

from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.networks.encoders.discard import DISCARD_ENCODERS
from deepcrib.networks.encoders.play import PLAY_ENCODERS
from deepcrib.networks.encoders.spec import Block, lay_out
from deepcrib.networks.encoders.states import legal_discards, legal_plays
from deepcrib.networks.fast import PIECE, distinct_rows
from deepcrib.plugins import Registry


def make_play_encoder(name: str, dealer: bool = False, scores: bool = False) -> Encoder:
    """The encoder of plays of a table of PLAY_ENCODERS, with the channels of these options."""
    return Encoder(PLAY_ENCODERS, legal_plays, name, dealer, scores)


def make_discard_encoder(name: str, dealer: bool = True, scores: bool = False) -> Encoder:
    """The encoder of discards of a table of DISCARD_ENCODERS, with the channels of these options."""
    return Encoder(DISCARD_ENCODERS, legal_discards, name, dealer, scores)


class Encoder:
    """Turns compact states int8 [M, K] and actions int8 [M] into network input; see `spec` for the channels.

    Each block of its table has index columns of its own, at first -1. Its `fill` writes the channels that get a 1,
    counted from `start`, or a scalar's value. A compiled one, (state, action, start, row), is given one state and the
    block's columns; a plain function, (states, actions, start, columns), many states at once.

    legal: (states) -> bool [M, A], the actions that may be chosen.
    """

    def __init__(
        self,
        tables: Registry[tuple[Block, ...]],
        legal: Callable[[np.ndarray], np.ndarray],
        name: str,
        dealer: bool,
        scores: bool,
    ) -> None:
        """Raises OptionError for a name that no table has."""
        self.name, self.legal = name, legal
        self.spec = lay_out(name, tables.find(name), dealer, scores)
        self.width, self.scales = self.spec.width, self.spec.scales
        self.columns = 0
        self._fills: list[tuple[Callable[..., None], int, slice]] = []
        for block in self.spec.blocks:
            assert block.fill is not None
            end = self.columns + block.columns
            self._fills.append((_over_rows(block.fill), block.start, slice(self.columns, end)))
            self.columns = end

    def indices(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """int16 [M, columns] of states with one action each."""
        columns = np.full((len(states), self.columns), -1, dtype=np.int16)
        run_rows(self._fill, len(states), states, actions, columns, piece=PIECE)
        return columns

    def distinct(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distinct rows of `indices`, int16 [U, columns], and for each of M pairs the number of its own."""
        columns = self.indices(states, actions)
        first, again = distinct_rows(columns, self.columns - len(self.scales), self.width)
        return columns[first], again

    def expand(self, indices: np.ndarray | torch.Tensor, device: torch.device | str = "cpu") -> torch.Tensor:
        """float32 [M, width] of index columns."""
        device = torch.device(device)
        if device.type != "cpu" or isinstance(indices, torch.Tensor):
            return _expand_torch(torch.as_tensor(indices).to(device), self.width, self.scales)
        rows = torch.empty((len(indices), self.width), dtype=torch.float32)
        run_rows(_expand_rows, len(indices), indices, self.scales, rows.numpy(), piece=PIECE)
        return rows

    def encode(self, states: np.ndarray, actions: np.ndarray, device: torch.device | str = "cpu") -> torch.Tensor:
        """float32 [M, width] of states with one action each."""
        return self.expand(self.indices(states, actions), device)

    def _fill(self, part: Part, states: np.ndarray, actions: np.ndarray, columns: np.ndarray) -> None:
        for fill, start, own in self._fills:
            fill(part, states, actions, start, own.start, own.stop, columns)


@cache
def _over_rows(fill: Callable[..., None]) -> Callable[..., None]:
    """A block's fill for a part of the rows, and for the columns from `first` to `end` of all."""
    if not isinstance(fill, Dispatcher):

        def fill_part(
            part: Part, states: np.ndarray, actions: np.ndarray, start: int, first: int, end: int, columns: np.ndarray
        ) -> None:
            rows = slice(*part)
            fill(states[rows], actions[rows], start, columns[rows, first:end])

        return fill_part

    def fill_rows(
        part: Part, states: np.ndarray, actions: np.ndarray, start: int, first: int, end: int, columns: np.ndarray
    ) -> None:
        for i in range(*part):
            fill(states[i], actions[i], start, columns[i, first:end])

    own: Any = fill.py_func
    # The cache of compiled code keeps versions of a function by its name.
    fill_rows.__module__, fill_rows.__qualname__ = own.__module__, f"{own.__qualname__}_rows"
    return jit(fill_rows)


def _expand_torch(indices: torch.Tensor, width: int, scales: np.ndarray) -> torch.Tensor:
    num_scalars = len(scales)
    hot = indices[:, : indices.shape[1] - num_scalars].long()
    ones = (hot >= 0).to(torch.float32)
    rows = torch.zeros((len(indices), width), dtype=torch.float32, device=indices.device)
    rows.scatter_add_(1, hot.clamp(min=0), ones)
    if num_scalars:
        factors = torch.as_tensor(scales, device=indices.device)
        rows[:, width - num_scalars :] = indices[:, -num_scalars:] * factors
    return rows


@jit
def _expand_rows(part: Part, indices: np.ndarray, scales: np.ndarray, rows: np.ndarray) -> None:
    num_hot = indices.shape[1] - len(scales)
    offset = rows.shape[1] - indices.shape[1]
    for i in range(*part):
        rows[i, :] = 0.0
        for column in range(num_hot):
            channel = indices[i, column]
            if channel >= 0:
                rows[i, channel] += 1.0
        for column in range(num_hot, indices.shape[1]):
            rows[i, offset + column] = indices[i, column] * scales[column - num_hot]
