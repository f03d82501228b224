"""Q-networks: encoded input float32 [B, width] -> values float32 [B], in the units of the reward (points).

A network reads slices of its input, which the encoder's spec names; it knows no cards and no devices. It has a
body that makes features of the input, and a head that reads values from them.
"""

from deepcrib.networks.base import DiscardNetworkConfig, PlayNetworkConfig, QNetwork
from deepcrib.networks.bodies.feed_forward import FeedForward
from deepcrib.networks.heads.q_heads import HEADS, CategoricalHead, DuelingHead, ValueHead, project, two_hot
from deepcrib.networks.layers import MLP, Convolutions
from deepcrib.networks.registry import DISCARD_NETWORKS, PLAY_NETWORKS, make_discard_network, make_play_network

__all__ = [
    "DISCARD_NETWORKS",
    "HEADS",
    "MLP",
    "PLAY_NETWORKS",
    "CategoricalHead",
    "Convolutions",
    "DiscardNetworkConfig",
    "DuelingHead",
    "FeedForward",
    "PlayNetworkConfig",
    "QNetwork",
    "ValueHead",
    "make_discard_network",
    "make_play_network",
    "project",
    "two_hot",
]
