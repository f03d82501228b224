"""One Q-network being learned: its optimiser and the pass over samples of (state, action, target)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from deepcrib.agents import DivergenceError, QFunction
from deepcrib.encoders import DiscardEncoder, PlayEncoder
from deepcrib.networks import QNetwork


@dataclass(frozen=True)
class Samples:
    """E compact states [E, K], actions [E] and targets [E] (points)."""

    states: NDArray[np.int8]
    actions: NDArray[np.int8]
    targets: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class PassStatistics:
    """Means over one training pass; loss in points squared, values in points."""

    loss: float
    value_mean: float
    value_std: float
    target_mean: float
    target_std: float
    samples: int


class LearnedNetwork:
    """A Q-network with its encoder and Adam; the same seed gives the same weights."""

    def __init__(self, encoder: DiscardEncoder | PlayEncoder, network: QNetwork, device: torch.device) -> None:
        self.encoder = encoder
        self.network = network.to(device)
        self.device = device
        self.optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def q_function(self) -> QFunction:
        """The values of the network as it now is; it changes as the network learns."""
        return QFunction(self.encoder, self.network, self.device)

    def train_pass(
        self, samples: Samples, lr: float, batch_size: int, passes: float, generator: np.random.Generator
    ) -> PassStatistics:
        """Minimise the squared error on random minibatches without replacement, `passes` times over the samples."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        columns = self._columns(samples)
        targets = torch.as_tensor(samples.targets, device=self.device)
        self.network.train()
        sums = torch.zeros(3, dtype=torch.float64, device=self.device)
        order = _order(len(samples), passes, generator)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            values = self.network(self.encoder.expand(columns[rows], self.device))
            loss = functional.mse_loss(values, targets[rows])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            found = values.detach()
            sums += torch.stack([loss.detach() * len(rows), found.sum(), found.square().sum()])
        mean_loss, mean, square = (sums / len(order)).tolist()
        if not math.isfinite(mean_loss):
            raise DivergenceError(f"learning diverged: the loss is {mean_loss} at learning rate {lr:g}; lower it")
        return PassStatistics(
            loss=mean_loss,
            value_mean=mean,
            value_std=max(square - mean**2, 0.0) ** 0.5,
            target_mean=float(samples.targets.mean()),
            target_std=float(samples.targets.std()),
            samples=len(order),
        )

    def _columns(self, samples: Samples) -> Any:
        """Index columns of all samples: an array on the CPU, else a tensor that crosses to the device once."""
        columns = self.encoder.indices(samples.states, samples.actions)
        return columns if self.device.type == "cpu" else torch.as_tensor(columns, device=self.device)

    def state(self) -> dict[str, Any]:
        """Weights and optimiser."""
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])


def _order(num_samples: int, passes: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Sample numbers of `passes` shuffled sweeps, the last one in part if it is not whole."""
    total = max(1, round(num_samples * passes))
    sweeps = [generator.permutation(num_samples) for _ in range(-(-total // num_samples))]
    return np.concatenate(sweeps)[:total]
