"""Networks by the name of their config."""

from __future__ import annotations

from deepcrib.networks.base import DiscardNetworkConfig, PlayNetworkConfig, QNetwork
from deepcrib.networks.bodies.belanger2019 import PublishedCNNLSTM, PublishedDiscardCNN, PublishedFeedForward
from deepcrib.networks.bodies.q_networks import DiscardCNN, FeedForward, PlayCNNLSTM
from deepcrib.networks.encoders import Spec

_DISCARD: dict[str, type[QNetwork]] = {"cnn": DiscardCNN, "mlp": FeedForward, "belanger2019": PublishedDiscardCNN}
_PLAY: dict[str, type[QNetwork]] = {
    "cnn_lstm": PlayCNNLSTM,
    "mlp": FeedForward,
    "belanger2019_cnn_lstm": PublishedCNNLSTM,
    "belanger2019_mlp": PublishedFeedForward,
}
DISCARD_NETWORKS = tuple(_DISCARD)
PLAY_NETWORKS = tuple(_PLAY)


def make_discard_network(config: DiscardNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a discard encoder's spec describes."""
    if config.name not in _DISCARD:
        raise ValueError(f"unknown discard network {config.name!r} (expected one of {', '.join(DISCARD_NETWORKS)})")
    return _DISCARD[config.name](config, spec)


def make_play_network(config: PlayNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a play encoder's spec describes."""
    if config.name not in _PLAY:
        raise ValueError(f"unknown play network {config.name!r} (expected one of {', '.join(PLAY_NETWORKS)})")
    return _PLAY[config.name](config, spec)
