"""Magnetic mirror descent with networks: what it learns from, and how, whatever the game.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown, Kroer 2023, "A unified approach to reinforcement learning,
quantal response equilibria, and two-player zero-sum games": each step maximises <q, p> - tau KL(p, magnet) - KL(p,
present policy) / eta over the policies p of a state (equation 8, negative entropy as mirror map).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents.q_network import QFunction
from deepcrib.game.mixed import softmax
from deepcrib.learners.policies.learning import (
    LearnedPolicy,
    PassRates,
    PolicyAndValues,
    all_action_values,
    mean_entropy,
)
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.update import LearnedNetwork

Logits = NDArray[np.floating]


def proximal_logits(logits: Logits, values: Logits, eta: float, tau: float, magnet: Logits | float = 0.0) -> Logits:
    """[E, A] after a step from logits [E, A] by action values [E, A], both -inf where an action is not legal.

    (logits + eta q + eta tau magnet) / (1 + eta tau), where a uniform magnet's logits are 0. From even chances, q = (0,
    2 log 3) and eta = tau = 1 make chances 1/4 and 3/4. The fixed point is q / tau + magnet.
    """
    return (logits + eta * values + eta * tau * magnet) / (1 + eta * tau)


class MirrorDescent(PolicyAndValues):
    """A policy, the values of actions where everybody plays by it, and `slow`, a copy that follows it slowly.

    With a uniform magnet the policy comes to a quantal response equilibrium of temperature tau, but for the noise of
    values learned from samples. It is averaged in the weights of `slow`, with `averaged` the magnet.
    """

    def __init__(
        self, policy: LearnedPolicy, values: LearnedNetwork, eta: float, following: float, averaged: bool = False
    ) -> None:
        """eta: size of a step, nats a point. following: share of its distance from the policy by which `slow` moves."""
        super().__init__(policy, values)
        self.eta, self.following, self.averaged = eta, following, averaged
        self.slow = copy.deepcopy(policy.network)

    def learn(self, samples: Batch, rates: PassRates, tau: float, seed: int) -> dict[str, float]:
        """A pass of either network over decisions of the present policy and their returns.

        The policy imitates the proximal step in their states, by the values before the pass; these learn the returns.
        tau: the temperature, points that a nat of the KL is worth.
        """
        logits, values = (all_action_values(network, samples.states) for network in (self.policy, self.values))
        magnet = self.slow_policy().all_values(samples.states, np.isfinite(logits)) if self.averaged else 0.0
        targets = softmax(proximal_logits(logits, values, self.eta, tau, magnet))
        generators = [np.random.default_rng((seed, stream)) for stream in range(2)]
        policy_loss, value_loss = self.passes((samples.states, targets), samples, rates, generators)
        with torch.no_grad():
            for mean, weight in zip(self.slow.parameters(), self.policy.network.parameters(), strict=True):
                mean.lerp_(weight, self.following)
        return {
            "loss/policy": policy_loss - mean_entropy(targets),
            "loss/values": value_loss,
            "policy/entropy": mean_entropy(softmax(logits)),
        }

    def slow_policy(self) -> QFunction:
        """Logits of `slow`."""
        return QFunction(self.policy.encoder, self.slow, self.policy.device)

    def state(self) -> dict[str, Any]:
        """All networks."""
        return {**super().state(), "slow": self.slow.state_dict()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        super().load(state)
        self.slow.load_state_dict(state["slow"])
