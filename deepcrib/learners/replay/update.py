"""One Q-network being learned: its optimiser and the pass over samples of (state, action, target)."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents import DivergenceError, make_agent
from deepcrib.agents.q_network import CHUNK, QFunction, QNetworkAgent
from deepcrib.errors import OptionError
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.extras import UNIFORM, Sampling, minibatches
from deepcrib.networks import QNetwork, clear_noise, draw_noise
from deepcrib.networks.checkpoints import load_optimizer
from deepcrib.networks.encoders import Encoder
from deepcrib.networks.fast import adam_step


@dataclass(frozen=True)
class PassStatistics:
    """Means over one training pass; loss in points squared (`categorical`: nats), values in points."""

    loss: float
    value_mean: float
    value_std: float
    target_mean: float
    target_std: float
    samples: int


class LearnedNetwork:
    """A Q-network with its encoder and Adam; the same seed gives the same weights."""

    def __init__(self, encoder: Encoder, network: QNetwork, device: torch.device) -> None:
        self.encoder = encoder
        self.network = network.to(device)
        self.device = device
        self.optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def q_function(self, noise: int | None = None) -> QFunction:
        """The values of the network as it now is; it changes as the network learns.

        With a seed `noise`, a noisy network is one that has noise drawn from it, which nothing changes any more.
        """
        network = self.network
        if noise is not None and network.config.noisy:
            network = copy.deepcopy(network)
            draw_noise(network, np.random.default_rng(noise))
        return QFunction(self.encoder, network, self.device)

    def train_pass(
        self,
        samples: Batch,
        lr: float,
        batch_size: int,
        passes: float,
        generator: np.random.Generator,
        sampling: Sampling = UNIFORM,
    ) -> PassStatistics:
        """Minimise the loss on random minibatches, `passes` times over the samples; without replacement if uniform."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        grouped = self.network.readout().grouped
        inputs = SampleInputs(self.encoder, samples.states, samples.actions, grouped, self.device)
        targets = torch.as_tensor(samples.targets, device=self.device)
        errors = partial(self._errors, inputs, targets)
        batches = minibatches(len(samples), samples.newest, batch_size, passes, generator, sampling, errors)
        self.network.train()
        batch_stats: list[tuple[Tensor, ...]] = []
        for rows, weights in batches:
            targets_b = targets.index_select(0, torch.as_tensor(rows, device=self.device))
            batch = inputs.batch(rows)
            if self.network.config.noisy:
                draw_noise(self.network, generator)
            values, losses = self.network.losses(batch.inputs, targets_b, batch.groups, batch.chosen)
            counts = None if weights is None else torch.as_tensor(weights, device=self.device)
            (losses if counts is None else counts * losses).mean().backward()
            adam_step(self.optimizer)
            predictions = values.detach()
            batches.learned(rows, predictions, self.network.expected(targets_b))
            stats = (losses.detach(), predictions)
            batch_stats.append(stats if counts is None else (*stats, counts))
        clear_noise(self.network)
        mean_loss, mean, deviation = _means(batch_stats)
        if not math.isfinite(mean_loss):
            raise DivergenceError(f"learning diverged: the loss is {mean_loss} at learning rate {lr:g}; lower it")
        expected = self.network.expected(targets).cpu().numpy()
        return PassStatistics(
            loss=mean_loss,
            value_mean=mean,
            value_std=deviation,
            target_mean=float(expected.mean()),
            target_std=float(expected.std()),
            samples=batches.total,
        )

    def _errors(self, inputs: SampleInputs, targets: Tensor) -> NDArray[np.float32]:
        """[E] distances of the values from the targets, as the network now is."""
        values = []
        with torch.inference_mode():
            for rows in np.split(np.arange(len(targets)), range(CHUNK, len(targets), CHUNK)):
                batch = inputs.batch(rows)
                values.append(self.network.losses(batch.inputs, targets[rows], batch.groups, batch.chosen)[0])
            errors: NDArray[np.float32] = (torch.cat(values) - self.network.expected(targets)).abs().cpu().numpy()
        return errors

    def state(self) -> dict[str, Any]:
        """Weights and optimiser."""
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def begin_from(self, function: QFunction) -> None:
        """Take over a network's weights. Raises ValueError for one that is made otherwise or has other inputs."""
        found, wanted = _described(function.network), _described(self.network)
        if differ := [name for name in wanted if found.get(name) != wanted[name]]:
            other, expected = (", ".join(f"{name}={made.get(name)}" for name in differ) for made in (found, wanted))
            raise ValueError(f"{other} (expected {expected})")
        self.network.load_state_dict(function.network.state_dict())

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.network.load_state_dict(state["network"])
        load_optimizer(self.optimizer, state["optimizer"])


def begin_with(spec: Any, networks: Mapping[str, LearnedNetwork | None], device: str) -> None:
    """Let networks take over the weights of an agent's, given by its spec; a resumed run then loads its own.

    Raises OptionError where they cannot, and what `make_agent` does.
    """
    given, agent = f"learner.initial={spec}", make_agent(spec, device)
    if not isinstance(agent, QNetworkAgent):
        raise OptionError(f"{given}: expected networks that learner=replay has trained")
    functions = {"play": agent.play_q, "discard": agent.discard_q}
    for part, network in networks.items():
        if network is None:
            continue
        function = functions[part]
        if function is None:
            raise OptionError(f"{given}: it has no {part} network; expected one, or learner.discard_agent")
        try:
            network.begin_from(function)
        except ValueError as error:
            raise OptionError(f"{given}: its {part} network has {error}") from error


def _described(network: QNetwork) -> dict[str, Any]:
    """What a network is made of, and its inputs."""
    spec = network.spec
    return asdict(network.config) | {"state": spec.name, "dealer": spec.dealer, "scores": spec.scores}


def _means(batch_stats: list[tuple[Tensor, ...]]) -> tuple[float, float, float]:
    """Means of the losses [B] and of the values [B] of all minibatches, by their weights [B] if any; values' spread."""
    losses, values, *weights = (torch.cat(parts).double().cpu().numpy() for parts in zip(*batch_stats, strict=True))
    counts = weights[0] if weights else None
    mean = np.average(values, weights=counts)
    variance = np.average((values - mean) ** 2, weights=counts)
    return float(np.average(losses, weights=counts)), float(mean), float(variance**0.5)


# --- inputs of minibatches --------------------------------------------------------------------------------------------


Numbers = NDArray[np.int64]


class Minibatch(NamedTuple):
    """inputs float32 [R, width]; where all actions of the B states stand side by side, groups [R] and chosen [B].

    groups are the states' numbers 0 .. B - 1, chosen the rows of the actions that were taken; else both are None.
    """

    inputs: Tensor
    groups: Tensor | None
    chosen: Tensor | None


class SampleInputs:
    """Inputs of E samples, one row each, or with `grouped` one for every legal action of its state.

    Columns are an array on the CPU, else a tensor that crosses to the device once.
    """

    def __init__(
        self, encoder: Encoder, states: NDArray[np.int8], actions: NDArray[np.int8], grouped: bool, device: torch.device
    ) -> None:
        """Compact states int8 [E, K] and the actions int8 [E] taken there."""
        self._encoder = encoder
        self._device = device
        self._grouped = grouped
        if grouped:
            legal = encoder.legal(states)
            samples, candidates = np.nonzero(legal)
            self._sizes = legal.sum(axis=1)
            self._starts = np.cumsum(self._sizes) - self._sizes
            before = np.arange(legal.shape[1]) < actions[:, None]
            self._chosen = (legal & before).sum(axis=1)  # of the candidates of its own state
            states, actions = states[samples], candidates.astype(np.int8)
        columns = encoder.indices(states, actions)
        self._columns: Any = columns if device.type == "cpu" else torch.as_tensor(columns, device=device)

    def batch(self, rows: Numbers) -> Minibatch:
        """What the network is given for samples of numbers `rows` [B]."""
        if not self._grouped:
            return Minibatch(self._encoder.expand(self._columns[rows], self._device), None, None)
        sizes = self._sizes[rows]
        firsts = np.cumsum(sizes) - sizes
        groups = np.repeat(np.arange(len(rows)), sizes)
        members = np.arange(len(groups)) - firsts[groups] + self._starts[rows][groups]
        inputs = self._encoder.expand(self._columns[members], self._device)
        chosen = firsts + self._chosen[rows]
        return Minibatch(
            inputs, torch.as_tensor(groups, device=self._device), torch.as_tensor(chosen, device=self._device)
        )
