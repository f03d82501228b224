"""Proximal policy gradients: what a policy learns from decisions and their advantages, whatever the game.

Schulman, Wolski, Dhariwal, Radford, Klimov 2017, "Proximal policy optimization algorithms": the clipped objective of
equation 7, with a bonus for entropy (equation 9) and a penalty for the divergence from the last policy. Rudolph et al.
2025, "Reevaluating policy gradient methods for imperfect-information games": in two-player zero-sum games it takes much
entropy, 0.05 to 0.1 of advantages in standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

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


@dataclass(frozen=True)
class Proximity:
    """How far a policy may move in an iteration.

    clip: of the ratio of chances, beyond which an advantage pulls no further. entropy, divergence: what a nat of the
    policy's entropy, and of its divergence from the magnet, is worth in standard deviations of the advantages. passes:
    over the decisions.
    """

    clip: float
    entropy: float
    divergence: float
    passes: int


class ProximalPolicy(FollowedPolicy):
    """A policy, the values of actions where everybody plays by it, and `slow`, a copy that follows it slowly.

    The baseline of an advantage is the mean of the values by the policy. The magnet is the policy before the iteration,
    so that each is a step of mirror descent (Sokota et al. 2023), or with `averaged` the slow copy.
    """

    def __init__(self, policy: LearnedPolicy, values: LearnedNetwork, following: float, averaged: bool) -> None:
        """following: as in `FollowedPolicy`."""
        super().__init__(policy, values, following)
        self.averaged = averaged

    def learn(self, samples: Batch, rates: PassRates, how: Proximity, seed: int) -> dict[str, float]:
        """Passes over decisions of the present policy and their returns, which the values learn in one."""
        states, actions, rows = samples.states, samples.actions.astype(np.int64), np.arange(len(samples))
        logits = all_action_values(self.policy, states)
        chances, values = softmax(logits), all_action_values(self.values, states)
        expected = (chances * np.where(chances > 0, values, 0)).sum(axis=1)
        advantages = samples.targets - expected
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        magnet = softmax(self.slow_policy().all_values(states, np.isfinite(logits))) if self.averaged else chances
        fixed = [torch.as_tensor(a, device=self.policy.device) for a in (actions, advantages, chances[rows, actions])]
        magnets = torch.as_tensor(magnet, device=self.policy.device)

        def loss(rows: Tensor, logs: Tensor) -> Tensor:
            chosen, advantage, before = (column[rows] for column in fixed)
            ratio = logs.gather(1, chosen[:, None])[:, 0].exp() / before
            gained = torch.minimum(ratio * advantage, ratio.clamp(1 - how.clip, 1 + how.clip) * advantage).sum()
            now, there = logs.exp() * (magnets[rows] > 0), magnets[rows].clamp_min(1e-12).log()
            return -gained + (now * ((how.entropy + how.divergence) * logs - how.divergence * there)).sum()

        streams = [np.random.default_rng((seed, stream)) for stream in range(2)]
        found = self.policy.descend(states, loss, rates.policy_lr, rates.batch_size, how.passes, streams[0])
        passed = self.values.train_pass(samples, rates.value_lr, rates.batch_size, 1.0, streams[1])
        self.follow()
        return {"loss/policy": found, "loss/values": passed.loss, "policy/entropy": mean_entropy(chances)}
