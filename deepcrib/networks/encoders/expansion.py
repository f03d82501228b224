"""Index columns -> network input.

An encoded state is stored as a few int16 columns: each holds the index of a channel that gets 1 added to it
(-1: none), and the last columns hold the values of the scalar channels. That is an eighth or less of the
size of the float rows, and is what crosses to a GPU.
"""

from __future__ import annotations

import numpy as np
import torch

from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


def expand(
    indices: np.ndarray | torch.Tensor,
    width: int,
    scales: np.ndarray,
    device: torch.device | str = "cpu",
) -> torch.Tensor:
    """Summed one-hot rows, float32 [M, width], of int16 index columns [M, C].

    The last S = len(scales) columns are values of the last S channels, to be multiplied by `scales`.
    """
    device = torch.device(device)
    if device.type != "cpu" or isinstance(indices, torch.Tensor):
        return _expand_torch(torch.as_tensor(indices).to(device), width, scales)
    rows = torch.empty((len(indices), width), dtype=torch.float32)
    run_rows(_expand_rows, len(indices), indices, scales, rows.numpy(), piece=4096)
    return rows


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
