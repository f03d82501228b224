"""One Q-network being learned: its optimiser and the pass over samples of (state, action, target)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents import DivergenceError, QFunction
from deepcrib.agents.q_network import CHUNK
from deepcrib.encoders import DiscardEncoder, PlayEncoder
from deepcrib.networks import QNetwork
from deepcrib.training.sampling import UNIFORM, Sampling, minibatches


@dataclass(frozen=True)
class Samples:
    """E compact states [E, K], actions [E] and targets [E] (points); the last `newest` are of the newest epoch."""

    states: NDArray[np.int8]
    actions: NDArray[np.int8]
    targets: NDArray[np.float32]
    newest: int = 0

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
        self,
        samples: Samples,
        lr: float,
        batch_size: int,
        passes: float,
        generator: np.random.Generator,
        sampling: Sampling = UNIFORM,
    ) -> PassStatistics:
        """Minimise the error on random minibatches, `passes` times over the samples; without replacement if uniform."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        columns = self._columns(samples)
        targets = torch.as_tensor(samples.targets, device=self.device)
        errors = partial(self._errors, columns, targets)
        batches = minibatches(samples, batch_size, passes, generator, sampling, errors)
        self.network.train()
        sums = torch.zeros(4, dtype=torch.float64, device=self.device)
        for rows, weights in batches:
            aims = targets[rows]
            values, losses = self.network.losses(self.encoder.expand(columns[rows], self.device), aims)
            counts = None if weights is None else torch.as_tensor(weights, device=self.device)
            loss = (losses if counts is None else counts * losses).mean()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            found = values.detach()
            batches.learned(rows, found, aims)
            sums += _sums(loss.detach(), found, counts)
        mean_loss, mean, square = (sums[:3] / sums[3]).tolist()
        if not math.isfinite(mean_loss):
            raise DivergenceError(f"learning diverged: the loss is {mean_loss} at learning rate {lr:g}; lower it")
        return PassStatistics(
            loss=mean_loss,
            value_mean=mean,
            value_std=max(square - mean**2, 0.0) ** 0.5,
            target_mean=float(samples.targets.mean()),
            target_std=float(samples.targets.std()),
            samples=batches.total,
        )

    def _errors(self, columns: Any, targets: Tensor) -> NDArray[np.float32]:
        """[E] distances of the values from the targets, as the network now is."""
        values = []
        with torch.inference_mode():
            for start in range(0, len(targets), CHUNK):
                values.append(self.network(self.encoder.expand(columns[start : start + CHUNK], self.device)))
            errors: NDArray[np.float32] = (torch.cat(values) - targets).abs().cpu().numpy()
        return errors

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


def _sums(loss: Tensor, values: Tensor, weights: Tensor | None) -> Tensor:
    """[4] of a minibatch: losses, values [B], their squares, each times its weight; and the weights' own sum."""
    size = torch.full_like(loss, len(values))
    if weights is None:
        return torch.stack([loss * len(values), values.sum(), values.square().sum(), size])
    return torch.stack([loss * size, (weights * values).sum(), (weights * values.square()).sum(), weights.sum()])
