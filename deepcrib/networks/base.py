"""What every Q-network is: its config, and a body that makes features of the encoded input for a head to read."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from deepcrib.errors import OptionError
from deepcrib.networks.encoders import Spec
from deepcrib.networks.heads.q_heads import HEADS, CategoricalHead, Head
from deepcrib.options import at_least, between, each, named_in, option


@dataclass
class NetworkConfig:
    """What the configs of both networks have. The atoms are of the head `categorical`."""

    name: str
    hidden: list[int] = option([256, 256], "units of each dense layer", each(at_least(1)))
    channels: int = option(4, "channels of each convolution", at_least(1))
    head: str = option(
        "value",
        "or `dueling` (Wang et al. 2016), `categorical` (Bellemare et al. 2017), module:Class",
        named_in("deepcrib.networks.heads.q_heads:HEADS"),
    )
    atoms_low: int = option(-30, "`categorical`: lowest return, points", between(-1000, 1000))
    atoms_high: int = option(30, "head=categorical: highest return, points", between(-1000, 1000))


@dataclass
class DiscardNetworkConfig(NetworkConfig):
    """Group `discard_network`. channels and suit_convolution are of `belanger2019` alone.

    The atoms, of the head `categorical`, by default hold every return of a hand, of either sign.
    """

    name: str = option("mlp", "architecture, or module:Class", named_in("deepcrib.networks.registry:DISCARD_NETWORKS"))
    hidden: list[int] = option([256, 128], "units of each dense layer", each(at_least(1)))
    channels: int = option(8, "channels of each convolution", at_least(1))
    atoms_low: int = option(-80, "`categorical`: lowest return, points", between(-1000, 1000))
    atoms_high: int = option(80, "head=categorical: highest return, points", between(-1000, 1000))
    suit_convolution: bool = option(True, "false: figure 5a, a network blind to flushes")


@dataclass
class PlayNetworkConfig(NetworkConfig):
    """Group `play_network`. channels and lstm_hidden are of `belanger2019_cnn_lstm` alone.

    The atoms, of the head `categorical`, by default hold the returns of a play with every reward, but not with large
    bonuses besides.
    """

    name: str = option("mlp", "architecture, or module:Class", named_in("deepcrib.networks.registry:PLAY_NETWORKS"))
    lstm_hidden: int = option(64, "units of the LSTM", at_least(1))


class QNetwork(nn.Module):
    """A network that knows the input it reads (`spec`) and how it was built (`config`).

    Where its head is `grouped`, the rows of all legal actions of a state must come together, with `groups` [B], the
    number of each row's state (see `DuelingHead`). Other heads need no groups and do not look at them.
    """

    head: Head

    def __init__(self, config: NetworkConfig, spec: Spec) -> None:
        """Keep both."""
        super().__init__()
        self.config = config
        self.spec = spec

    def features(self, inputs: Tensor) -> Tensor:
        """What the head reads, [B, F], of inputs [B, width]."""
        raise NotImplementedError

    def outputs(self, inputs: Tensor, groups: Tensor | None = None) -> Tensor:
        """What the head learns, [B] or [B, K], of inputs [B, width]."""
        return self.head(self.features(inputs), groups)

    def forward(self, inputs: Tensor, groups: Tensor | None = None) -> Tensor:
        """Values [B] of inputs [B, width]."""
        return self.head.values(self.outputs(inputs, groups))

    def losses(
        self, inputs: Tensor, targets: Tensor, groups: Tensor | None = None, chosen: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Values [B], and what is minimised, [B], of inputs [B, width] against targets [B] (or [B, K], distributions).

        With groups [R], the inputs are those of all legal actions of B states, R rows, of which `chosen` [B] count.
        """
        outputs = self.outputs(inputs, groups)
        if chosen is not None:
            outputs = outputs[chosen]
        return self.head.values(outputs), self.head.losses(outputs, targets)

    def expected(self, targets: Tensor) -> Tensor:
        """Expected returns [B] of targets: of returns [B], themselves, or of distributions [B, K]."""
        head = self.head
        return head.expected(targets) if isinstance(head, CategoricalHead) and targets.dim() == 2 else targets

    def make_head(self, width: int) -> Head:
        """The head that the config names, for features [B, width]."""
        config, head = self.config, HEADS.find(self.config.head)
        if issubclass(head, CategoricalHead):
            return head(width, config.hidden, config.atoms_low, config.atoms_high)
        return head(width, config.hidden)


def require_blocks(spec: Spec, names: tuple[str, ...], network: str, states: str) -> None:
    """Raise OptionError where the input lacks a block that the network reads; states: those that have all of them."""
    missing = [name for name in names if name not in spec]
    if missing:
        raise OptionError(f"{network} needs the state {states}: {spec.name} has no block {missing[0]}")
