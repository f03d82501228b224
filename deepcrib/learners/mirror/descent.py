"""Magnetic mirror descent with networks: what it learns from, and how, whatever the game.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown, Kroer 2023, "A unified approach to reinforcement learning,
quantal response equilibria, and two-player zero-sum games": each step maximises <q, p> - tau KL(p, magnet) - KL(p,
present policy) / eta over the policies p of a state (equation 8, negative entropy as mirror map).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.game.mixed import softmax
from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.policies.learning import LearnedPolicy, mean_entropy
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.update import LearnedNetwork

Logits = NDArray[np.floating]


@dataclass(frozen=True)
class Rates:
    """Of a step. eta: its size, nats a point. tau: the temperature, points that a nat of the KL is worth.

    following: the share of its distance from the policy by which the slow copy moves.
    """

    eta: float
    tau: float
    policy_lr: float
    value_lr: float
    batch_size: int
    following: float


def proximal_logits(logits: Logits, values: Logits, eta: float, tau: float) -> Logits:
    """[E, A] after a step from logits [E, A] by action values [E, A], both -inf where an action is not legal.

    (logits + eta q + eta tau log magnet) / (1 + eta tau), where a uniform magnet adds the same to all of a state. From
    even chances, q = (0, 2 log 3) and eta = tau = 1 make chances 1/4 and 3/4. The fixed point is q / tau.
    """
    return (logits + eta * values) / (1 + eta * tau)


class MirrorDescent:
    """A policy, the values of actions where everybody plays by it, and `slow`, a copy that follows it slowly.

    The magnet is uniform, so that the policy comes to a quantal response equilibrium of temperature tau, but for the
    noise of values that are learned from samples. That noise is averaged in the weights of `slow`.
    """

    def __init__(self, policy: LearnedPolicy, values: LearnedNetwork) -> None:
        self.policy, self.values = policy, values
        self.slow = copy.deepcopy(policy.network)

    def learn(self, samples: Batch, rates: Rates, seed: int) -> dict[str, float]:
        """A pass of either network, side by side, over decisions of the present policy and their returns.

        The policy imitates the proximal step in their states, by the values before the pass; these learn the returns.
        """
        states, batch_size = samples.states, rates.batch_size
        for_policy, for_values = (np.random.default_rng((seed, stream)) for stream in range(2))
        logits = self.policy.logits(states)
        values = self.values.q_function().all_values(states, self.values.encoder.legal(states))
        targets = softmax(proximal_logits(logits, values, rates.eta, rates.tau))
        passes: list[Any] = [
            partial(self.policy.imitate, states, targets, rates.policy_lr, batch_size, for_policy),
            partial(self.values.train_pass, samples, rates.value_lr, batch_size, 1.0, for_values),
        ]
        policy_loss, passed = run_pieces(passes)
        with torch.no_grad():
            for mean, weight in zip(self.slow.parameters(), self.policy.network.parameters(), strict=True):
                mean.lerp_(weight, rates.following)
        return {
            "loss/policy": policy_loss - mean_entropy(targets),
            "loss/values": passed.loss,
            "policy/entropy": mean_entropy(softmax(logits)),
        }

    def state(self) -> dict[str, Any]:
        """All networks."""
        return {"policy": self.policy.state(), "values": self.values.state(), "slow": self.slow.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.policy.load(state["policy"])
        self.values.load(state["values"])
        self.slow.load_state_dict(state["slow"])
