"""A network's first layer of index columns (see `networks.encoders.encoder`), without the rows that they stand for.

A row of several hundred channels has a few dozen that are not zero, so most of a product with it multiplies zeros.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from deepcrib.kernels import jit


def linear_of_columns(layer: nn.Linear, columns: np.ndarray, scales: np.ndarray) -> Tensor:
    """float32 [M, outputs] of int16 columns [M, C], of which the last S = len(scales) are scalars to be multiplied.

    Terms are added in the order of the channels and the bias at last, as the matrix product does that
    `layer(encoder.expand(columns))` is: the same numbers, as a rule to the last bit.
    """
    weight, bias = layer.weight.detach().t().contiguous(), layer.bias.detach()
    outputs = torch.zeros(len(columns), layer.out_features)
    _fill(columns, scales, weight.numpy(), bias.numpy(), outputs.numpy())
    return outputs


@jit
def _fill(columns: np.ndarray, scales: np.ndarray, weight: np.ndarray, bias: np.ndarray, outputs: np.ndarray) -> None:
    """Add to outputs, which are zero."""
    num_hot, num_outputs = columns.shape[1] - len(scales), weight.shape[1]
    channels = np.empty(num_hot + 4, dtype=np.int64)
    for r in range(len(columns)):
        count = _sort(columns[r], num_hot, channels)
        channels[count:] = len(weight)
        first = 0
        while first < count:
            a, b, c, d = channels[first], channels[first + 1], channels[first + 2], channels[first + 3]
            if a < b < c < d < channels[min(first + 4, count + 3)]:  # together they read and write the outputs less
                for k in range(num_outputs):
                    outputs[r, k] = outputs[r, k] + weight[a, k] + weight[b, k] + weight[c, k] + weight[d, k]
                first += 4
                continue
            same = 1
            while channels[first + same] == a:
                same += 1
            _add(outputs, r, weight, a, same)
            first += same
        for k in range(len(scales)):
            value = np.float32(columns[r, num_hot + k] * scales[k])
            _add(outputs, r, weight, len(weight) - len(scales) + k, float(value))
        for k in range(num_outputs):
            outputs[r, k] += bias[k]


@jit
def _sort(columns: np.ndarray, num_hot: int, channels: np.ndarray) -> int:
    """Put the channels of a row in order, of which -1 is none; returns how many there are."""
    count = 0
    for column in range(num_hot):
        channel = columns[column]
        if channel >= 0:
            place = count
            while place > 0 and channels[place - 1] > channel:
                channels[place] = channels[place - 1]
                place -= 1
            channels[place] = channel
            count += 1
    return count


@jit
def _add(outputs: np.ndarray, r: int, weight: np.ndarray, channel: int, times: float) -> None:
    """Add so many times the weights of a channel, rounding once (in float64, where that takes a product)."""
    if times == 1:
        for k in range(weight.shape[1]):
            outputs[r, k] += weight[channel, k]
    else:
        for k in range(weight.shape[1]):
            outputs[r, k] = np.float64(times) * weight[channel, k] + outputs[r, k]
