"""Networks by the name of their config."""

from __future__ import annotations

from typing import Any

from deepcrib.networks.base import DiscardNetworkConfig, NetworkConfig, PlayNetworkConfig, QNetwork
from deepcrib.networks.bodies.belanger2019 import PublishedCNNLSTM, PublishedDiscardCNN, PublishedFeedForward
from deepcrib.networks.bodies.feed_forward import FeedForward
from deepcrib.networks.encoders import Spec

DISCARD_NETWORKS: dict[str, type[QNetwork]] = {"mlp": FeedForward, "belanger2019": PublishedDiscardCNN}
PLAY_NETWORKS: dict[str, type[QNetwork]] = {
    "mlp": FeedForward,
    "belanger2019_cnn_lstm": PublishedCNNLSTM,
    "belanger2019_mlp": PublishedFeedForward,
}


def make_discard_network(config: DiscardNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a discard encoder's spec describes."""
    return _make("discard", DISCARD_NETWORKS, config, spec)


def make_play_network(config: PlayNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a play encoder's spec describes."""
    return _make("play", PLAY_NETWORKS, config, spec)


def _make(part: str, table: dict[str, Any], config: NetworkConfig, spec: Spec) -> QNetwork:
    if config.name not in table:
        raise ValueError(f"unknown {part} network {config.name!r} (expected one of {', '.join(table)})")
    network: QNetwork = table[config.name](config, spec)
    return network
