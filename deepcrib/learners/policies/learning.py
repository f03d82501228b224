"""A network that is a policy: its outputs are logits, whose softmax over the legal actions are their chances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from deepcrib.agents.base import require_finite
from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.extras import in_order
from deepcrib.learners.replay.update import LearnedNetwork, SampleInputs
from deepcrib.networks.fast import adam_step


class LearnedPolicy(LearnedNetwork):
    """A policy with its encoder and Adam; learned from distributions over the actions of states."""

    def imitate(
        self,
        states: NDArray[np.int8],
        targets: NDArray[np.floating],
        lr: float,
        batch_size: int,
        generator: np.random.Generator,
    ) -> float:
        """One pass of minimising the cross-entropy to targets [E, A] in states [E, K]; returns its mean in nats.

        Raises DivergenceError where the learning rate is too high.
        """
        inputs = SampleInputs(self.encoder, states, np.zeros(len(states), dtype=np.int8), True, self.device)
        legal = torch.as_tensor(self.encoder.legal(states), device=self.device)
        wanted = torch.as_tensor(targets, dtype=torch.float32, device=self.device)

        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.network.train()
        sums: list[Tensor] = []
        for rows, _ in in_order(generator.permutation(len(states)), batch_size):
            number = torch.as_tensor(rows, device=self.device)
            allowed = legal[number]
            outputs = self.network(inputs.batch(rows).inputs)
            logits = outputs.new_full(allowed.shape, -math.inf).masked_scatter(allowed, outputs)
            cross_entropy = -(wanted[number][allowed] * functional.log_softmax(logits, dim=1)[allowed]).sum()
            (cross_entropy / len(rows)).backward()
            adam_step(self.optimizer)
            sums.append(cross_entropy.detach())
        mean = float(torch.stack(sums).sum()) / len(states)
        require_finite(mean, lr)
        return mean


@dataclass(frozen=True)
class PassRates:
    """Learning rates of a pass over decisions, and the decisions in a minibatch."""

    policy_lr: float
    value_lr: float
    batch_size: int


class PolicyAndValues:
    """A policy and the values of actions, which learn side by side, whatever the game."""

    parts: ClassVar[tuple[str, ...]] = ("policy", "values")
    """Attributes that are saved."""

    def __init__(self, policy: LearnedPolicy, values: LearnedNetwork) -> None:
        self.policy, self.values = policy, values

    def passes(
        self,
        imitated: tuple[NDArray[np.int8], NDArray[np.floating]],
        valued: Batch,
        rates: PassRates,
        generators: Sequence[np.random.Generator],
    ) -> tuple[float, float]:
        """A pass of either network; returns the losses of policy and values.

        imitated: states [E, K] and the distributions over actions [E, A] that the policy imitates there. valued: what
        the values learn. generators: of either pass.
        """
        of_policy, of_values = generators
        pieces: list[Any] = [
            partial(self.policy.imitate, *imitated, rates.policy_lr, rates.batch_size, of_policy),
            partial(self.values.train_pass, valued, rates.value_lr, rates.batch_size, 1.0, of_values),
        ]
        policy_loss, passed = run_pieces(pieces)
        return policy_loss, passed.loss

    def state(self) -> dict[str, Any]:
        """Networks, and what else is remembered."""
        return {name: getattr(self, name).state() for name in self.parts}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state. Raises ValueError for one of other capacities."""
        for name in self.parts:
            getattr(self, name).load(state[name])


def all_action_values(network: LearnedNetwork, states: NDArray[np.int8]) -> NDArray[np.float32]:
    """[E, A] values (of a policy, logits) of the actions of states [E, K], -inf where an action is not legal."""
    return network.q_function().all_values(states, network.encoder.legal(states))


def mean_entropy(chances: NDArray[np.float64]) -> float:
    """In nats, of chances [E, A]."""
    return float(-(chances * np.log(np.where(chances > 0, chances, 1))).sum(axis=1).mean())
