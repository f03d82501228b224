"""A network that is a policy: its outputs are logits, whose softmax over the legal actions are their chances."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from deepcrib.agents import DivergenceError
from deepcrib.agents.q_network import QFunction
from deepcrib.game.mixed import softmax
from deepcrib.learners.replay.extras import Ordered, sweeps
from deepcrib.learners.replay.update import LearnedNetwork, SampleInputs
from deepcrib.networks import QNetwork
from deepcrib.networks.fast import adam_step


class LearnedPolicy(LearnedNetwork):
    """A policy with its encoder and Adam; learned from distributions over the actions of states."""

    def logits(self, states: NDArray[np.int8], network: QNetwork | None = None) -> NDArray[np.float32]:
        """[E, A] of compact states [E, K], -inf where an action is not legal; of the present network by default."""
        function = QFunction(self.encoder, network or self.network, self.device)
        return function.all_values(states, self.encoder.legal(states))

    def probabilities(self, states: NDArray[np.int8]) -> NDArray[np.float64]:
        """[E, A] chances of the actions of states [E, K]."""
        return softmax(self.logits(states))

    def imitate(
        self,
        states: NDArray[np.int8],
        targets: NDArray[np.floating],
        lr: float,
        batch_size: int,
        generator: np.random.Generator,
    ) -> float:
        """One pass of minimising the cross-entropy to targets [E, A] in states [E, K]; returns its mean in nats."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        inputs = SampleInputs(self.encoder, states, np.zeros(len(states), dtype=np.int8), True, self.device)
        legal = torch.as_tensor(self.encoder.legal(states), device=self.device)
        wanted = torch.as_tensor(targets, dtype=torch.float32, device=self.device)
        noted = []
        self.network.train()
        for rows, _ in Ordered(sweeps(len(states), 1.0, generator), batch_size):
            number = torch.as_tensor(rows, device=self.device)
            allowed = legal[number]
            outputs = self.network(inputs.batch(rows).inputs)
            logits = outputs.new_full(allowed.shape, -math.inf).masked_scatter(allowed, outputs)
            chances = functional.log_softmax(logits, dim=1)[allowed]
            loss = -(wanted[number][allowed] * chances).sum() / len(rows)
            loss.backward()
            adam_step(self.optimizer)
            noted.append(loss.detach() * len(rows))
        mean = float(torch.stack(noted).sum()) / len(states)
        if not math.isfinite(mean):
            raise DivergenceError(f"learning diverged: the loss is {mean} at learning rate {lr:g}; lower it")
        return mean


def mean_entropy(chances: NDArray[np.float64]) -> float:
    """In nats, of chances [E, A]."""
    return float(-(chances * np.log(np.where(chances > 0, chances, 1))).sum(axis=1).mean())
