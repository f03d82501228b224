"""Q-networks of both decisions: a body that makes features of the encoded input, and a head that reads values."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from deepcrib.encoders import Spec
from deepcrib.errors import OptionError
from deepcrib.networks.heads import CategoricalHead, Head, make_head
from deepcrib.networks.layers import Convolutions

DISCARD_NETWORKS = ("cnn", "mlp")
PLAY_NETWORKS = ("cnn_lstm", "mlp")
RANK_KERNELS = (4, 5, 6)
"""Lengths of the discard CNN's convolutions over ranks: 1 x 4 and longer (section 3.6.3)."""
SERIES_KERNELS = (2, 3, 4)
"""Sides of the play CNN's square convolutions over the card matrix (section 3.7.3)."""
RANK_SUMS = 128
"""Units of the discard CNN's fully connected layer over ranks."""


@dataclass
class DiscardNetworkConfig:
    """Group `discard_network`. channels and suit_convolution are of the `cnn` (figure 4) alone.

    The atoms are of the head `categorical`; by default they hold every return of a hand, of either sign.
    """

    name: str = "cnn"
    hidden: list[int] = field(default_factory=lambda: [256, 128])
    channels: int = 8  # of each convolution
    suit_convolution: bool = True  # false: figure 5a, a network that cannot see flushes
    head: str = "value"  # or `dueling` (Wang et al. 2016), `categorical` (Bellemare et al. 2017)
    noisy: bool = False  # head with learned noise that explores (Fortunato et al. 2018): set learner.epsilon=0 with it
    atoms_low: int = -80  # lowest return, points
    atoms_high: int = 80


@dataclass
class PlayNetworkConfig:
    """Group `play_network`. channels and lstm_hidden are of the `cnn_lstm` (figure 8) alone.

    The atoms are of the head `categorical`; by default they hold the returns of a play with every reward.
    """

    name: str = "cnn_lstm"
    hidden: list[int] = field(default_factory=lambda: [256, 256])
    channels: int = 4  # of each convolution
    lstm_hidden: int = 64
    head: str = "value"  # or `dueling` (Wang et al. 2016), `categorical` (Bellemare et al. 2017)
    noisy: bool = False  # head with learned noise that explores (Fortunato et al. 2018): set learner.epsilon=0 with it
    atoms_low: int = -30  # lowest return, points
    atoms_high: int = 30


class QNetwork(nn.Module):
    """A network that knows the input it reads (`spec`) and how it was built (`config`).

    Where its head is `grouped`, the rows of all legal actions of a state must come together, with `groups` [B], the
    number of each row's state (see `DuelingHead`). Other heads need no groups and do not look at them.
    """

    head: Head

    def __init__(self, config: DiscardNetworkConfig | PlayNetworkConfig, spec: Spec) -> None:
        """Keep both."""
        super().__init__()
        self.config = config
        self.spec = spec

    def features(self, inputs: Tensor) -> Tensor:
        """What the head reads, [B, F], of inputs [B, width]."""
        raise NotImplementedError

    def readout(self) -> Head:
        """The head, whatever its name is in the weights."""
        return self.head

    def outputs(self, inputs: Tensor, groups: Tensor | None = None) -> Tensor:
        """What the head learns, [B] or [B, K], of inputs [B, width]."""
        return self.readout()(self.features(inputs), groups)

    def forward(self, inputs: Tensor, groups: Tensor | None = None) -> Tensor:
        """Values [B] of inputs [B, width]."""
        return self.readout().values(self.outputs(inputs, groups))

    def losses(
        self, inputs: Tensor, targets: Tensor, groups: Tensor | None = None, chosen: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Values [B], and what is minimised, [B], of inputs [B, width] against targets [B] (or [B, K], distributions).

        With groups [R], the inputs are those of all legal actions of B states, R rows, of which `chosen` [B] count.
        """
        outputs = self.outputs(inputs, groups)
        if chosen is not None:
            outputs = outputs[chosen]
        head = self.readout()
        return head.values(outputs), head.losses(outputs, targets)

    def expected(self, targets: Tensor) -> Tensor:
        """Expected returns [B] of targets: of returns [B], themselves, or of distributions [B, K]."""
        head = self.readout()
        return head.expected(targets) if isinstance(head, CategoricalHead) and targets.dim() == 2 else targets

    def make_head(self, width: int) -> Head:
        """The head that the config names, for features [B, width]."""
        config = self.config
        return make_head(config.head, width, config.hidden, config.noisy, (config.atoms_low, config.atoms_high))


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
        self.layers = self.make_head(spec.width)

    def readout(self) -> Head:
        """All of the network."""
        return self.layers

    def features(self, inputs: Tensor) -> Tensor:
        """The inputs [B, width] themselves."""
        return inputs


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
        self.head = self.make_head(num_features + sum(map(_size, others)))

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
        _require_blocks(spec, ("series", "hand"), "the play network cnn_lstm", "basic or full")
        self.series, self.hand = spec["series"].slice, spec["hand"].slice
        self.num_rows, self.num_ranks = spec["series"].shape
        self.others = [b.slice for b in spec.blocks if b.name not in ("series", "hand")]
        self.window = max(SERIES_KERNELS)
        kernels = [(side, side) for side in SERIES_KERNELS]
        self.over_series = Convolutions(self.window, self.num_ranks, kernels, config.channels, padded=True)
        self.lstm = nn.LSTM(self.over_series.num_features + self.num_ranks, config.lstm_hidden)
        self.num_features = config.lstm_hidden + self.num_ranks + sum(map(_size, self.others))
        self.head = self.make_head(self.num_features)

    def features(self, inputs: Tensor) -> Tensor:
        """Features [B, F] of inputs [B, width]."""
        if len(inputs) == 0:
            return inputs.new_zeros(0, self.num_features)
        windows = self._packed_windows(inputs[:, self.series].view(-1, self.num_rows, self.num_ranks))
        features = functional.relu(self.over_series(windows.data))
        rows = torch.cat([features, windows.data[:, -self.num_ranks :]], dim=1)
        _, (last_hidden, _) = self.lstm(windows._replace(data=rows))
        in_hand = inputs[:, self.hand].view(len(inputs), -1, self.num_ranks).sum(dim=1)
        others = [inputs[:, part] for part in self.others]
        return torch.cat([last_hidden[0], in_hand, *others], dim=1)

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
