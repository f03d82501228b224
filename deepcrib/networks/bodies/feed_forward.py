"""The feed-forward network."""

from __future__ import annotations

import numpy as np
from torch import Tensor, nn

from deepcrib.networks.base import NetworkConfig, QNetwork
from deepcrib.networks.encoders import Spec
from deepcrib.networks.fast import linear_of_columns
from deepcrib.networks.heads.q_heads import Head, ValueHead


class FeedForward(QNetwork):
    """ReLU layers over the whole input."""

    def __init__(self, config: NetworkConfig, spec: Spec) -> None:
        """Layers of sizes `config.hidden`."""
        super().__init__(config, spec)
        self.layers = self.make_head(spec.width)

    @property
    def head(self) -> Head:  # type: ignore[override]
        """All of the network, by another name in its weights."""
        return self.layers

    def features(self, inputs: Tensor) -> Tensor:
        """The inputs [B, width] themselves."""
        return inputs

    def reads_columns(self) -> bool:
        """Whether `values_of_columns` can be asked for: not of every head, nor of a class that changes what it does."""
        own = type(self).features is FeedForward.features and type(self).forward is QNetwork.forward
        return own and type(self.layers) is ValueHead

    def values_of_columns(self, columns: np.ndarray, scales: np.ndarray) -> Tensor:
        """Values [B] of index columns int16 [B, C] on a CPU, without gradients (see `linear_of_columns`)."""
        first, *others = self.layers.get_submodule("layers").children()
        assert isinstance(first, nn.Linear)
        rows = linear_of_columns(first, columns, scales)
        for layer in others:
            rows = layer(rows)
        return rows.squeeze(-1)
