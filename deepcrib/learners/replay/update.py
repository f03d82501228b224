"""One Q-network being learned: its optimiser and the pass over samples of (state, action, target)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents.q_network import QFunction
from deepcrib.game.randomness import MINIBATCHES, derive
from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.extras import UNIFORM, Prioritised, Sampling, combined, in_order, sampling_of, sweeps
from deepcrib.learners.replay.monitoring import PassStatistics
from deepcrib.learners.replay.options import ReplayOptions, StateOptions
from deepcrib.networks import QNetwork, make_discard_network, make_play_network
from deepcrib.networks.checkpoints import load_optimizer
from deepcrib.networks.encoders import Encoder, make_discard_encoder, make_play_encoder
from deepcrib.networks.fast import adam_step


def untrained(part: str, state: StateOptions, config: Any) -> tuple[Encoder, QNetwork]:
    """The encoder and the network of a part, `discard` or `play`, with the next weights of torch's generator."""
    if part == "discard":
        encoder = make_discard_encoder(state.discard, scores=state.scores)
        return encoder, make_discard_network(config, encoder.spec)
    encoder = make_play_encoder(state.play, dealer=state.dealer, scores=state.scores)
    return encoder, make_play_network(config, encoder.spec)


class LearnedNetwork:
    """A Q-network with its encoder and Adam; the same seed gives the same weights."""

    def __init__(self, encoder: Encoder, network: QNetwork, device: torch.device) -> None:
        self.encoder = encoder
        self.network = network.to(device)
        self.device = device
        self.optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def q_function(self) -> QFunction:
        """The values of the network as it now is; it changes as the network learns."""
        return QFunction(self.encoder, self.network, self.device)

    def train_pass(
        self,
        samples: Batch,
        lr: float,
        batch_size: int,
        passes: float,
        generator: np.random.Generator,
        sampling: Sampling = UNIFORM,
    ) -> PassStatistics:
        """Minimise the loss on random minibatches, `passes` times over the samples; without replacement if uniform.

        Raises DivergenceError where the learning rate is too high.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        network, device = self.network, self.device
        inputs = SampleInputs(self.encoder, samples.states, samples.actions, network.head.grouped, device)
        targets = torch.as_tensor(samples.targets, device=device)
        expected = network.expected(targets).cpu().numpy()
        batches: Any
        if sampling.prioritised:
            errors = np.abs(self.q_function().values(samples.states, samples.actions) - expected)
            batches = Prioritised(errors, batch_size, passes, generator, sampling)
        elif sampling.combined:
            batches = in_order(combined(len(samples), samples.newest, passes, generator), batch_size)
        else:
            batches = in_order(sweeps(len(samples), passes, generator), batch_size)
        network.train()
        batch_stats: list[tuple[Tensor, Tensor, NDArray[np.float32] | None]] = []
        for rows, weights in batches:
            targets_b = targets.index_select(0, torch.as_tensor(rows, device=device))
            batch = inputs.batch(rows)
            values, losses = network.losses(batch.inputs, targets_b, batch.groups, batch.chosen)
            (losses if weights is None else torch.as_tensor(weights, device=device) * losses).mean().backward()
            adam_step(self.optimizer)
            if sampling.prioritised:
                batches.learned(rows, values.detach(), network.expected(targets_b))
            batch_stats.append((losses.detach(), values.detach(), weights))
        return PassStatistics.of(batch_stats, expected, lr)

    def state(self) -> dict[str, Any]:
        """Weights and optimiser."""
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.network.load_state_dict(state["network"])
        load_optimizer(self.optimizer, state["optimizer"])


def learn_side_by_side(
    networks: Mapping[str, LearnedNetwork],
    batches: Mapping[str, Batch],
    lrs: Mapping[str, float],
    options: ReplayOptions,
    iteration: int,
    seed: int,
    then: Callable[[], None],
) -> dict[str, PassStatistics]:
    """A pass of each network over its batch; they share nothing. `then` is called when the discards are learned."""

    def learn(stream: int, part: str) -> PassStatistics:
        generator = np.random.default_rng((derive(seed, MINIBATCHES, iteration), stream))
        sampling, batch_size = sampling_of(options, iteration), options.batch_size
        passed = networks[part].train_pass(batches[part], lrs[part], batch_size, options.passes, generator, sampling)
        if part == "discard":
            then()
        return passed

    passes = [partial(learn, stream, part) for stream, part in enumerate(networks)]
    return dict(zip(networks, run_pieces(passes), strict=True))


# --- inputs of minibatches --------------------------------------------------------------------------------------------


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
        self._encoder, self._device, self._actions, self._legal = encoder, device, actions.astype(np.int64), None
        if grouped:
            self._legal = encoder.legal(states)
            rows, candidates = np.nonzero(self._legal)
            of_legal = encoder.indices(states[rows], candidates.astype(np.int8))
            columns = np.zeros((*self._legal.shape, *of_legal.shape[1:]), dtype=of_legal.dtype)
            columns[self._legal] = of_legal
        else:
            columns = encoder.indices(states, actions)
        self._columns: Any = columns if device.type == "cpu" else torch.as_tensor(columns, device=device)

    def batch(self, rows: NDArray[np.int64]) -> Minibatch:
        """What the network is given for samples of numbers `rows` [B]."""
        if self._legal is None:
            return Minibatch(self._encoder.expand(self._columns[rows], self._device), None, None)
        legal = self._legal[rows]
        groups = np.nonzero(legal)[0]
        number = np.cumsum(legal).reshape(legal.shape) - 1  # of each candidate in the minibatch
        chosen = number[np.arange(len(rows)), self._actions[rows]]
        inputs = self._encoder.expand(self._columns[rows][legal], self._device)
        return Minibatch(inputs, *(torch.as_tensor(array, device=self._device) for array in (groups, chosen)))
