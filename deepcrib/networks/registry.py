"""Networks by the name of their config."""

from __future__ import annotations

from deepcrib.networks.base import DiscardNetworkConfig, PlayNetworkConfig, QNetwork
from deepcrib.networks.bodies.belanger2019 import PublishedCNNLSTM, PublishedDiscardCNN, PublishedFeedForward
from deepcrib.networks.bodies.feed_forward import FeedForward
from deepcrib.networks.encoders import Spec
from deepcrib.plugins import Registry, subclass_of

DISCARD_NETWORKS: Registry[type[QNetwork]] = Registry(
    "discard network", {"mlp": FeedForward, "belanger2019": PublishedDiscardCNN}, subclass_of(QNetwork)
)
PLAY_NETWORKS: Registry[type[QNetwork]] = Registry(
    "play network",
    {"mlp": FeedForward, "belanger2019_cnn_lstm": PublishedCNNLSTM, "belanger2019_mlp": PublishedFeedForward},
    subclass_of(QNetwork),
)


def make_discard_network(config: DiscardNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a discard encoder's spec describes."""
    return DISCARD_NETWORKS.find(config.name)(config, spec)


def make_play_network(config: PlayNetworkConfig, spec: Spec) -> QNetwork:
    """Network of a config for the input that a play encoder's spec describes."""
    return PLAY_NETWORKS.find(config.name)(config, spec)
