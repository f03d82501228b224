"""The three networks of Bélanger et al. 2019 as their authors ran them (atremblay/agent-cribbage, commit c022dc5).

Layers, activations and initial weights are those of its classes Conv, ConvLstm and DeeperFF; sizes come from the
config, which `conf/discard_network/belanger2019.yaml` and its like in `conf/play_network/` fill with the published
ones. Where the paper's text differs (kernels, sizes, ReLU in the play network), the code was followed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcrib.errors import OptionError
from deepcrib.networks.base import DiscardNetworkConfig, NetworkConfig, PlayNetworkConfig, QNetwork, require_blocks
from deepcrib.networks.bodies.feed_forward import FeedForward
from deepcrib.networks.bodies.series import packed_windows, shared_windows
from deepcrib.networks.encoders import Spec
from deepcrib.networks.fast import PackedLSTM
from deepcrib.networks.heads.q_heads import ValueHead
from deepcrib.networks.layers import Convolutions, SummedConvolutions

RANK_KERNELS = (2, 3, 4)
"""Lengths of the deal network's convolutions over ranks."""
_SUIT_CHANNELS = 5
"""Of its 1 x 1 convolution over the four suits."""
SERIES_KERNELS = (2, 3, 4)
"""Sides of the play network's square convolutions over the series."""
LSTM_LAYERS = 2


class PublishedDiscardCNN(QNetwork):
    """Conv, the deal network of every setup: 561,824 parameters with 15 channels and hidden layers 529 and 529.

    Summed ranks of the kept four go through three convolutions with ReLU and through two linear layers with tanh
    between them, summed suits through a convolution of one cell; all of these, and the dealer flag, through the head.
    Without `suit_convolution` no suits are read at all (figure 5a).
    """

    def __init__(self, config: DiscardNetworkConfig, spec: Spec) -> None:
        """Read the blocks `kept_ranks`, `kept_suits` and what else there is (of state basic: the dealer flag)."""
        super().__init__(config, spec)
        _refuse_heads("discard_network", config)
        require_blocks(spec, ("kept_ranks", "kept_suits"), "the discard network belanger2019", "basic or full")
        self.kept_ranks, self.kept_suits = spec["kept_ranks"].slice, spec["kept_suits"].slice
        ranks, suits = spec["kept_ranks"].size, spec["kept_suits"].size
        apart = ["kept_ranks", "kept_suits"] + ([] if config.suit_convolution else ["thrown_suits"])
        others = [block for block in spec.blocks if block.name not in apart]
        self.others = [block.slice for block in others]
        kernels = [(1, length) for length in RANK_KERNELS]
        self.over_ranks = Convolutions(1, ranks, kernels, config.channels)
        width = self.over_ranks.num_features + ranks + sum(block.size for block in others)
        self.over_suits = None
        if config.suit_convolution:
            self.over_suits = Convolutions(1, suits, [(1, 1)], _SUIT_CHANNELS)
            width += self.over_suits.num_features
        self.ranks = nn.Sequential(nn.Linear(ranks, ranks), nn.Tanh(), nn.Linear(ranks, ranks))
        self.head = ValueHead(width, config.hidden)
        self.apply(_xavier_weights)  # its 1-d convolutions keep torch's initial weights

    def features(self, inputs: Tensor) -> Tensor:
        """Features [B, F] of inputs [B, width]."""
        ranks = inputs[:, self.kept_ranks]
        parts = [functional.relu(self.over_ranks(ranks)), self.ranks(ranks)]
        if self.over_suits is not None:
            parts.append(self.over_suits(inputs[:, self.kept_suits]))
        return torch.cat(parts + [inputs[:, part] for part in self.others], dim=1)


class PublishedCNNLSTM(QNetwork):
    """ConvLstm: 184,152 parameters with 15 channels, an LSTM of 104 units and hidden layers 143 and 52.

    Convolutions over each card of the series and the cards before it (zeros above the first) are summed over the
    ranks, without an activation; with the card itself they go through two layers of an LSTM, whose last output passes
    the head together with the hand and the cards played before.
    """

    def __init__(self, config: PlayNetworkConfig, spec: Spec) -> None:
        """Read the blocks `series` and `hand` and whatever else the spec has."""
        super().__init__(config, spec)
        _refuse_heads("play_network", config)
        blocks = ("series", "hand", "seat_0_played")
        require_blocks(spec, blocks, "the play network belanger2019_cnn_lstm", "belanger2019_cnn_lstm")
        self.series = spec["series"].slice
        self.num_rows, self.num_ranks = spec["series"].shape
        others = [block for block in spec.blocks if block.name != "series"]
        self.others = [block.slice for block in others]
        self.window = max(SERIES_KERNELS)
        self.over_series = SummedConvolutions(self.window, self.num_ranks, SERIES_KERNELS, config.channels)
        self.lstm = PackedLSTM(self.over_series.num_features + self.num_ranks, config.lstm_hidden, LSTM_LAYERS)
        self.num_features = config.lstm_hidden + sum(block.size for block in others)
        self.head = ValueHead(self.num_features, config.hidden, activation=nn.LeakyReLU)
        self.apply(_xavier_weights)
        _xavier_kernels(self.over_series)

    def features(self, inputs: Tensor) -> Tensor:
        """Features [B, F] of inputs [B, width]."""
        if len(inputs) == 0:
            return inputs.new_zeros(0, self.num_features)
        cards = inputs[:, self.series].view(-1, self.num_rows, self.num_ranks)
        if torch.is_grad_enabled() or cards.device.type != "cpu":
            packed = packed_windows(cards, self.window)
            last = self.lstm(packed._replace(data=self._rows(packed.data)))
        else:
            windows, steps = shared_windows(cards, self.window)
            last = self.lstm.values(self._rows(windows), steps)
        return torch.cat([last] + [inputs[:, part] for part in self.others], dim=1)

    def _rows(self, windows: Tensor) -> Tensor:
        """What the LSTM reads, [M, F], of windows [M, window * ranks]."""
        return torch.cat([self.over_series(windows), windows[:, -self.num_ranks :]], dim=1)


class PublishedFeedForward(FeedForward):
    """DeeperFF: 28,801 parameters with hidden layers 128, 64 and 32; Xavier weights and zero biases."""

    def __init__(self, config: PlayNetworkConfig, spec: Spec) -> None:
        """Layers of sizes `config.hidden`."""
        super().__init__(config, spec)
        _refuse_heads("play_network", config)
        self.apply(_xavier_weights)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)


def _refuse_heads(group: str, config: NetworkConfig) -> None:
    """Raise OptionError for another head than the authors'."""
    if config.head != "value":
        raise OptionError(f"{group}.head={config.head}: {config.name} has the head of its authors, expected value")


def _xavier_weights(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)


def _xavier_kernels(convolutions: SummedConvolutions) -> None:
    """Xavier's uniform weights for each kernel, of one input channel: its fans are its taps, 1 and C times."""
    for weight, taps in zip(convolutions.weight.data.split(convolutions.taps, dim=1), convolutions.taps, strict=True):
        bound = (6 / (taps + taps * len(weight))) ** 0.5
        nn.init.uniform_(weight, -bound, bound)
