"""Magnetic mirror descent with networks: what it learns from, and how, whatever the game.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown, Kroer 2023, "A unified approach to reinforcement learning,
quantal response equilibria, and two-player zero-sum games": each step maximises <q, p> - tau KL(p, magnet) - KL(p,
present policy) / eta over the policies p of a state (equation 8, negative entropy as mirror map).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.mixed import softmax
from deepcrib.learners.policies.learning import (
    FollowedPolicy,
    LearnedPolicy,
    PassRates,
    all_action_values,
    mean_entropy,
)
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.update import LearnedNetwork

Logits = NDArray[np.floating]


def proximal_logits(logits: Logits, values: Logits, eta: float, tau: float, magnet: Logits | float = 0.0) -> Logits:
    """[E, A] after a step from logits [E, A] by action values [E, A], both -inf where an action is not legal.

    (logits + eta q + eta tau magnet) / (1 + eta tau), where the magnet's logits [E, A] are 0 of a uniform one. From
    even chances, q = (0, 2 log 3) and eta = tau = 1 make chances 1/4 and 3/4. The fixed point is q / tau + magnet.
    """
    return (logits + eta * values + eta * tau * magnet) / (1 + eta * tau)


class MirrorDescent(FollowedPolicy):
    """A policy, the values of actions where everybody plays by it, and `slow`, a copy that follows it slowly.

    With a uniform magnet the policy comes to a quantal response equilibrium of temperature tau, but for the noise of
    values that are learned from samples. That noise is averaged in the weights of `slow`; with `averaged` these are the
    magnet, too.
    """

    def __init__(
        self, policy: LearnedPolicy, values: LearnedNetwork, eta: float, following: float, averaged: bool = False
    ) -> None:
        """eta: size of a step, nats a point. following: as in `FollowedPolicy`."""
        super().__init__(policy, values, following)
        self.eta, self.averaged = eta, averaged

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
        self.follow()
        return {
            "loss/policy": policy_loss - mean_entropy(targets),
            "loss/values": value_loss,
            "policy/entropy": mean_entropy(softmax(logits)),
        }
