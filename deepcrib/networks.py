"""Q-networks: encoded input float32 [B, width] -> values float32 [B], in the units of the reward (points).

A network is told by an encoder's spec where each block of its input stands; it knows no cards and no devices. The
network over strategies has no encoder: its input is made of statistics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from deepcrib.encoders import Spec
from deepcrib.errors import OptionError

DISCARD_NETWORKS = ("cnn", "mlp")
PLAY_NETWORKS = ("cnn_lstm", "mlp")
RANK_KERNELS = (4, 5, 6)
"""Lengths of the discard CNN's convolutions over ranks: 1 x 4 and longer (section 3.6.3)."""
SERIES_KERNELS = (2, 3, 4)
"""Sides of the play CNN's square convolutions over the card matrix (section 3.7.3)."""
RANK_SUMS = 128
"""Units of the discard CNN's fully connected layer over ranks."""
SCORE_INPUTS = 3
"""Of the strategies' network: own score, opponent's score, whether one deals."""


@dataclass
class DiscardNetworkConfig:
    """Group `discard_network`. channels and suit_convolution are of the `cnn` (figure 4) alone."""

    name: str = "cnn"
    hidden: list[int] = field(default_factory=lambda: [256, 128])
    channels: int = 8  # of each convolution
    suit_convolution: bool = True  # false: figure 5a, a network that cannot see flushes


@dataclass
class PlayNetworkConfig:
    """Group `play_network`. channels and lstm_hidden are of the `cnn_lstm` (figure 8) alone."""

    name: str = "cnn_lstm"
    hidden: list[int] = field(default_factory=lambda: [256, 256])
    channels: int = 4  # of each convolution
    lstm_hidden: int = 64


class QNetwork(nn.Module):
    """A network that knows the input it reads (`spec`) and how it was built (`config`)."""

    def __init__(self, config: DiscardNetworkConfig | PlayNetworkConfig, spec: Spec) -> None:
        """Keep both."""
        super().__init__()
        self.config = config
        self.spec = spec

    def losses(self, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Values [B] of inputs [B, width], and what is minimised, [B]: their squared errors from targets [B]."""
        values: Tensor = self(inputs)
        return values, functional.mse_loss(values, targets, reduction="none")


def make_discard_network(config: DiscardNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a discard encoder's spec describes."""
    if config.name == "cnn":
        return DiscardCNN(config, spec)
    if config.name == "mlp":
        return FeedForward(config, spec)
    expected = ", ".join(DISCARD_NETWORKS)
    raise ValueError(f"unknown discard network {config.name!r} (expected one of {expected})")


def make_play_network(config: PlayNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a play encoder's spec describes."""
    if config.name == "cnn_lstm":
        return PlayCNNLSTM(config, spec)
    if config.name == "mlp":
        return FeedForward(config, spec)
    expected = ", ".join(PLAY_NETWORKS)
    raise ValueError(f"unknown play network {config.name!r} (expected one of {expected})")


class FeedForward(QNetwork):
    """ReLU layers over the whole input."""

    def __init__(self, config: DiscardNetworkConfig | PlayNetworkConfig, spec: Spec) -> None:
        """Layers of sizes `config.hidden`."""
        super().__init__(config, spec)
        self.layers = MLP(spec.width, config.hidden)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [B] of inputs [B, width]."""
        return self.layers(inputs)


class MLP(nn.Module):
    """Fully connected layers with ReLU and one linear output."""

    def __init__(self, width: int, hidden: list[int]) -> None:
        """`width` inputs and hidden layers of the given sizes."""
        super().__init__()
        layers: list[nn.Module] = []
        for size in hidden:
            layers += [nn.Linear(width, size), nn.ReLU()]
            width = size
        self.layers = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [...] of inputs [..., width]."""
        return self.layers(inputs).squeeze(-1)


class StrategyNetwork(nn.Module):
    """A small network over the strategies' opinions of a discard and the score (proposed by Lang 2018, section 5.2).

    The value of a discard is that of the score, from one MLP, plus what the discard adds to it, from another that sees
    both; the same weights judge every discard. Without hidden layers it is linear.
    """

    def __init__(self, strategies: int, hidden: list[int]) -> None:
        """Both MLPs have hidden layers of the given sizes."""
        super().__init__()
        self.strategies, self.hidden = strategies, list(hidden)
        self.score = MLP(SCORE_INPUTS, hidden)
        self.gain = MLP(strategies + SCORE_INPUTS, hidden)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [N, A] of A discards of a hand; inputs [N, A, strategies + 3], whose last three are the hand's."""
        scores = inputs[:, 0, self.strategies :]
        return self.score(scores).unsqueeze(1) + self.gain(inputs)


class Convolutions(nn.Module):
    """Convolutions with several kernels over one small grid of cells, as a single matrix product.

    The taps of every kernel are spread over the cells of the grid (a banded matrix): the same numbers as
    torch's convolutions, several times faster on grids of a few dozen cells. A kernel stands on the last rows
    of the grid and moves along the columns; `padded` adds zeros beside the grid so that there are as many
    positions as columns. `weight` is [channels, taps of all kernels], `bias` [channels, kernels].
    """

    placement: Tensor
    kernel_of: Tensor

    def __init__(self, rows: int, columns: int, kernels: list[tuple[int, int]], channels: int, padded: bool) -> None:
        """kernels: (height, width) of each; every kernel has `channels` output channels."""
        super().__init__()
        placements = [_placement(rows, columns, height, width, padded) for height, width in kernels]
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


def _placement(rows: int, columns: int, height: int, width: int, padded: bool) -> Tensor:
    """0/1 [taps, cells, positions]: whether a tap of the kernel lies on a cell when it is at a position."""
    left = (width - 1) // 2 if padded else 0
    num_positions = columns if padded else columns - width + 1
    placement = torch.zeros(height, width, rows, columns, num_positions)
    for i in range(height):
        for j in range(width):
            for position in range(num_positions):
                column = position + j - left
                if 0 <= column < columns:
                    placement[i, j, rows - height + i, column, position] = 1.0
    return placement.view(height * width, rows * columns, num_positions)


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
        _require_blocks(spec, ("kept_ranks", "kept_suits"), "the discard network cnn", "basic or full")
        self.kept_ranks = spec["kept_ranks"].slice
        self.kept_suits = spec["kept_suits"].slice
        all_ranks = [b.slice for b in spec.blocks if b.name.endswith("_ranks")]
        others = [b.slice for b in spec.blocks if not b.name.endswith(("_ranks", "_suits"))]
        if config.suit_convolution:
            others += [b.slice for b in spec.blocks if b.name == "thrown_suits"]
        self.all_ranks, self.others = all_ranks, others
        num_ranks = _size(self.kept_ranks)
        kernels = [(1, length) for length in RANK_KERNELS]
        self.over_ranks = Convolutions(1, num_ranks, kernels, config.channels, padded=False)
        num_features = self.over_ranks.num_features + RANK_SUMS
        self.over_suits = None
        if config.suit_convolution:
            num_suits = _size(self.kept_suits)
            self.over_suits = Convolutions(1, num_suits, [(1, num_suits)], config.channels, padded=False)
            num_features += self.over_suits.num_features
        self.sums = nn.Linear(sum(map(_size, all_ranks)), RANK_SUMS)
        self.head = MLP(num_features + sum(map(_size, others)), config.hidden)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [B] of inputs [B, width]."""
        features = [self.over_ranks(inputs[:, self.kept_ranks]), self.sums(_columns(inputs, self.all_ranks))]
        if self.over_suits is not None:
            features.append(self.over_suits(inputs[:, self.kept_suits]))
        features = [functional.relu(torch.cat(features, dim=1))]
        return self.head(torch.cat(features + [inputs[:, part] for part in self.others], dim=1))


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
        _require_blocks(spec, ("series", "hand"), "the play network cnn_lstm", "basic or full")
        self.series, self.hand = spec["series"].slice, spec["hand"].slice
        self.num_rows, self.num_ranks = spec["series"].shape
        self.others = [b.slice for b in spec.blocks if b.name not in ("series", "hand")]
        self.window = max(SERIES_KERNELS)
        kernels = [(side, side) for side in SERIES_KERNELS]
        self.over_series = Convolutions(self.window, self.num_ranks, kernels, config.channels, padded=True)
        self.lstm = nn.LSTM(self.over_series.num_features + self.num_ranks, config.lstm_hidden)
        self.head = MLP(config.lstm_hidden + self.num_ranks + sum(map(_size, self.others)), config.hidden)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [B] of inputs [B, width]."""
        if len(inputs) == 0:
            return inputs.new_zeros(0)
        windows = self._packed_windows(inputs[:, self.series].view(-1, self.num_rows, self.num_ranks))
        features = functional.relu(self.over_series(windows.data))
        rows = torch.cat([features, windows.data[:, -self.num_ranks :]], dim=1)
        _, (last_hidden, _) = self.lstm(windows._replace(data=rows))
        in_hand = inputs[:, self.hand].view(len(inputs), -1, self.num_ranks).sum(dim=1)
        others = [inputs[:, part] for part in self.others]
        return self.head(torch.cat([last_hidden[0], in_hand, *others], dim=1))

    def _packed_windows(self, cards: Tensor) -> PackedSequence:
        """Pack, for every card of the series [B, rows, ranks], itself and the three rows before it."""
        lengths = (cards.sum(dim=2) > 0).sum(dim=1).clamp(min=1).cpu()
        longest = int(lengths.max())
        padded = functional.pad(cards[:, :longest], (0, 0, self.window - 1, 0))
        windows = padded.unfold(1, self.window, 1).transpose(2, 3).flatten(2)
        return pack_padded_sequence(windows, lengths, batch_first=True, enforce_sorted=False)


def _require_blocks(spec: Spec, names: tuple[str, ...], network: str, states: str) -> None:
    missing = [name for name in names if name not in spec]
    if missing:
        raise OptionError(f"{network} needs the state {states}: {spec.name} has no block {missing[0]}")


def _size(part: slice) -> int:
    return part.stop - part.start


def _columns(inputs: Tensor, parts: list[slice]) -> Tensor:
    """Columns of several blocks side by side."""
    return inputs[:, parts[0]] if len(parts) == 1 else torch.cat([inputs[:, part] for part in parts], dim=1)
