"""The Q-networks of our setups, after the figures of Bélanger et al. 2019 (`belanger2019`: those its authors ran)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcrib.kernels import jit
from deepcrib.networks.base import (
    DiscardNetworkConfig,
    NetworkConfig,
    PlayNetworkConfig,
    QNetwork,
    require_blocks,
    size_of,
)
from deepcrib.networks.bodies.series import packed_windows
from deepcrib.networks.encoders import Spec
from deepcrib.networks.heads.q_heads import Head, ValueHead
from deepcrib.networks.layers import Convolutions


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


RANK_KERNELS = (4, 5, 6)
"""Lengths of the discard CNN's convolutions over ranks: 1 x 4 and longer (section 3.6.3)."""
SERIES_KERNELS = (2, 3, 4)
"""Sides of the play CNN's square convolutions over the card matrix (section 3.7.3)."""
RANK_SUMS = 128
"""Units of the discard CNN's fully connected layer over ranks."""


class FeedForward(QNetwork):
    """ReLU layers over the whole input."""

    def __init__(self, config: NetworkConfig, spec: Spec) -> None:
        """Layers of sizes `config.hidden`."""
        super().__init__(config, spec)
        self.layers = self.make_head(spec.width)

    def readout(self) -> Head:
        """All of the network."""
        return self.layers

    def features(self, inputs: Tensor) -> Tensor:
        """The inputs [B, width] themselves."""
        return inputs

    def reads_columns(self) -> bool:
        """Whether `values_of_columns` can be asked for: not of every head."""
        return isinstance(self.layers, ValueHead) and not self.config.noisy

    def values_of_columns(self, columns: np.ndarray, scales: np.ndarray) -> Tensor:
        """Values [B] of index columns int16 [B, C] on a CPU, without gradients (see `linear_of_columns`)."""
        first, *others = self.layers.get_submodule("layers").children()
        assert isinstance(first, nn.Linear)
        rows = linear_of_columns(first, columns, scales)
        for layer in others:
            rows = layer(rows)
        return rows.squeeze(-1)


class DiscardCNN(QNetwork):
    """Figure 4 of Bélanger et al. 2019: convolutions and a fully connected layer over the kept cards.

    Convolutions over the summed ranks find pairs and runs, the one over the summed suits flushes, and the
    layer over the ranks sums to fifteen. Thrown ranks (of state `full`) go to that layer. All of it, with the
    role, the scores and the thrown suits, passes through ReLU layers. Without `suit_convolution` no suits are
    read at all (figure 5a).
    """

    def __init__(self, config: DiscardNetworkConfig, spec: Spec) -> None:
        """Read the blocks `kept_ranks` and `kept_suits` and whatever else the spec has."""
        super().__init__(config, spec)
        require_blocks(spec, ("kept_ranks", "kept_suits"), "the discard network cnn", "basic or full")
        self.kept_ranks = spec["kept_ranks"].slice
        self.kept_suits = spec["kept_suits"].slice
        all_ranks = [b.slice for b in spec.blocks if b.name.endswith("_ranks")]
        others = [b.slice for b in spec.blocks if not b.name.endswith(("_ranks", "_suits"))]
        if config.suit_convolution:
            others += [b.slice for b in spec.blocks if b.name == "thrown_suits"]
        self.all_ranks, self.others = all_ranks, others
        num_ranks = size_of(self.kept_ranks)
        kernels = [(1, length) for length in RANK_KERNELS]
        self.over_ranks = Convolutions(1, num_ranks, kernels, config.channels, padded=False)
        num_features = self.over_ranks.num_features + RANK_SUMS
        self.over_suits = None
        if config.suit_convolution:
            num_suits = size_of(self.kept_suits)
            self.over_suits = Convolutions(1, num_suits, [(1, num_suits)], config.channels, padded=False)
            num_features += self.over_suits.num_features
        self.sums = nn.Linear(sum(map(size_of, all_ranks)), RANK_SUMS)
        self.head = self.make_head(num_features + sum(map(size_of, others)))

    def features(self, inputs: Tensor) -> Tensor:
        """Features [B, F] of inputs [B, width]."""
        features = [self.over_ranks(inputs[:, self.kept_ranks]), self.sums(_columns(inputs, self.all_ranks))]
        if self.over_suits is not None:
            features.append(self.over_suits(inputs[:, self.kept_suits]))
        features = [functional.relu(torch.cat(features, dim=1))]
        return torch.cat(features + [inputs[:, part] for part in self.others], dim=1)


class PlayCNNLSTM(QNetwork):
    """Figure 8 of Bélanger et al. 2019: convolutions over the series, an LSTM, then hand and played cards.

    The series is a matrix with a card a row. Convolutions of sides 2, 3 and 4 give each row features of
    itself and the rows before it (zeros above the first); with the row itself they go through an LSTM. The
    hidden state after the last card, the ranks in hand (summed) and the spec's other blocks (cards played,
    discards, starter, role, scores) pass through ReLU layers.

    Series are short (mean below three of at most eight cards), so only rows that hold a card are computed:
    they are packed, each with the window of four rows that the convolutions see.
    """

    def __init__(self, config: PlayNetworkConfig, spec: Spec) -> None:
        """Read the blocks `series` and `hand` and whatever else the spec has."""
        super().__init__(config, spec)
        require_blocks(spec, ("series", "hand"), "the play network cnn_lstm", "basic or full")
        self.series, self.hand = spec["series"].slice, spec["hand"].slice
        self.num_rows, self.num_ranks = spec["series"].shape
        self.others = [b.slice for b in spec.blocks if b.name not in ("series", "hand")]
        self.window = max(SERIES_KERNELS)
        kernels = [(side, side) for side in SERIES_KERNELS]
        self.over_series = Convolutions(self.window, self.num_ranks, kernels, config.channels, padded=True)
        self.lstm = nn.LSTM(self.over_series.num_features + self.num_ranks, config.lstm_hidden)
        self.num_features = config.lstm_hidden + self.num_ranks + sum(map(size_of, self.others))
        self.head = self.make_head(self.num_features)

    def features(self, inputs: Tensor) -> Tensor:
        """Features [B, F] of inputs [B, width]."""
        if len(inputs) == 0:
            return inputs.new_zeros(0, self.num_features)
        windows = packed_windows(inputs[:, self.series].view(-1, self.num_rows, self.num_ranks), self.window)
        features = functional.relu(self.over_series(windows.data))
        rows = torch.cat([features, windows.data[:, -self.num_ranks :]], dim=1)
        _, (last_hidden, _) = self.lstm(windows._replace(data=rows))
        in_hand = inputs[:, self.hand].view(len(inputs), -1, self.num_ranks).sum(dim=1)
        others = [inputs[:, part] for part in self.others]
        return torch.cat([last_hidden[0], in_hand, *others], dim=1)


def _columns(inputs: Tensor, parts: list[slice]) -> Tensor:
    """Columns of several blocks side by side."""
    return inputs[:, parts[0]] if len(parts) == 1 else torch.cat([inputs[:, part] for part in parts], dim=1)
