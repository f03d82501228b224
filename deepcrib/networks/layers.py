"""Layers that several networks are made of."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


def dense_layers(width: int, hidden: list[int], outputs: int, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Fully connected layers of `width` inputs, an activation after each hidden one, and linear outputs."""
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [nn.Linear(width, size), activation()]
        width = size
    return nn.Sequential(*layers, nn.Linear(width, outputs))


class MLP(nn.Module):
    """Fully connected layers with an activation between them and one linear output."""

    def __init__(self, width: int, hidden: list[int], activation: type[nn.Module] = nn.ReLU) -> None:
        """`width` inputs and hidden layers of the given sizes."""
        super().__init__()
        self.layers = dense_layers(width, hidden, 1, activation)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [...] of inputs [..., width]."""
        return self.layers(inputs).squeeze(-1)


class Convolutions(nn.Module):
    """Convolutions with several kernels over one small grid of cells, as a single matrix product.

    The taps of every kernel are spread over the cells of the grid (a banded matrix): the same numbers as
    torch's convolutions, several times faster on grids of a few dozen cells. A kernel stands on the last rows
    of the grid and moves along the columns. `weight` is [channels, taps of all kernels], `bias` [channels, kernels].
    """

    placement: Tensor
    kernel_of: Tensor

    def __init__(self, rows: int, columns: int, kernels: list[tuple[int, int]], channels: int) -> None:
        """kernels: (height, width) of each; every kernel has `channels` output channels."""
        super().__init__()
        placements = [_placement(rows, columns, height, width) for height, width in kernels]
        num_taps = sum(len(placement) for placement in placements)
        num_positions = [placement.shape[2] for placement in placements]
        self.weight = nn.Parameter(torch.empty(channels, num_taps))
        self.bias = nn.Parameter(torch.empty(channels, len(kernels)))
        # 0/1 [taps, cells, positions of all kernels] and [kernels, positions]: what lies where.
        spread = torch.zeros(num_taps, rows * columns, sum(num_positions))
        kernel_of = torch.zeros(len(kernels), sum(num_positions))
        tap = position = 0
        for index, placement in enumerate(placements):
            taps = slice(tap, tap := tap + len(placement))
            positions = slice(position, position := position + num_positions[index])
            spread[taps, :, positions] = placement
            kernel_of[index, positions] = 1.0
            bound = 1.0 / math.sqrt(len(placement))  # as torch initialises its convolutions
            nn.init.uniform_(self.weight.data[:, taps], -bound, bound)
            nn.init.uniform_(self.bias.data[:, index], -bound, bound)
        self.register_buffer("placement", spread, persistent=False)
        self.register_buffer("kernel_of", kernel_of, persistent=False)
        self.num_features = channels * sum(num_positions)

    def forward(self, cells: Tensor) -> Tensor:
        """Features [B, num_features], by channel, kernel and position, of grids [B, rows * columns]."""
        num_taps, num_cells, num_positions = self.placement.shape
        spread = self.weight @ self.placement.view(num_taps, -1)
        matrix = spread.view(-1, num_cells, num_positions).transpose(1, 2).reshape(-1, num_cells)
        return functional.linear(cells, matrix, (self.bias @ self.kernel_of).flatten())


class SummedConvolutions(nn.Module):
    """Square convolutions without bias over the last rows of a grid, each summed over its positions.

    `weight` is [channels, taps of all kernels], a kernel's taps by row and column.
    """

    def __init__(self, rows: int, columns: int, sides: tuple[int, ...], channels: int) -> None:
        """sides: of the kernels, at most `rows`; a kernel stands at every position that lies within the columns."""
        super().__init__()
        self.taps = [side * side for side in sides]
        self.weight = nn.Parameter(torch.empty(channels, sum(self.taps)))
        # Positions of each kernel where a tap lies on a cell: [taps of all kernels, cells of each kernel].
        reached = [_placement(rows, columns, side, side).sum(dim=2) for side in sides]
        self.register_buffer("reached", torch.block_diag(*reached), persistent=False)
        self.num_features = channels * len(sides)

    reached: Tensor

    def forward(self, cells: Tensor) -> Tensor:
        """Features [B, num_features], by kernel and channel, of grids [B, rows * columns]."""
        kernels = (self.weight @ self.reached).view(len(self.weight), len(self.taps), -1)
        return functional.linear(cells, kernels.transpose(0, 1).flatten(0, 1))


def _placement(rows: int, columns: int, height: int, width: int) -> Tensor:
    """0/1 [taps, cells, positions]: whether a tap of the kernel lies on a cell when it is at a position."""
    cells = torch.eye(rows * columns).view(-1, 1, rows, columns)
    return functional.unfold(cells[:, :, rows - height :], (height, width)).transpose(0, 1)
