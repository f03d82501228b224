"""A learner from outside the package: proximal policy gradients over single hands of cribbage, and over small games.

    deepcrib train learner=benchmarks.equilibrium.ppo:PpoLearner state=afterstate play_network=mlp

Schulman, Wolski, Dhariwal, Radford, Klimov 2017, "Proximal policy optimization algorithms": the clipped objective of
equation 7, with a bonus for entropy (equation 9) and a penalty for the divergence from a magnet. Rudolph et al. 2025,
"Reevaluating policy gradient methods for imperfect-information games": in two-player zero-sum games it takes much
entropy, 0.05 to 0.1 of advantages in standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from deepcrib.agents.q_network import QFunction
from deepcrib.game.mixed import softmax
from deepcrib.learners.policies.learner import PolicyLearner
from deepcrib.learners.policies.learning import (
    FollowedPolicy,
    LearnedPolicy,
    PassRates,
    all_action_values,
    mean_entropy,
)
from deepcrib.learners.policies.options import PolicyOptions
from deepcrib.learners.replay.batch import Batch, PlayTargets, play_samples
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions, StateOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks import PlayNetworkConfig
from deepcrib.options import at_least, between, fraction, one_of, option, positive
from deepcrib.training.learner import Metrics, Setting


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


@dataclass
class PpoOptions(PolicyOptions):
    """The slow copy of the policy is the agent."""

    name: str = option(f"{__name__}:PpoLearner", "what learns")
    clip: float = option(0.1, "an advantage pulls no further where a card's chance has changed by this share", positive)
    entropy: float = option(
        0.1, "worth of a nat of entropy at the beginning, standard deviations of the advantages", between(0, 1e3)
    )
    final_entropy: float = option(0.05, "the same at the end; linear in between", between(0, 1e3))
    divergence: float = option(
        0.1, "worth of a nat of divergence from the magnet, standard deviations", between(0, 1e3)
    )
    magnet: str = option("average", "policy that it is held to", one_of("average", "last"))
    trace_decay: float = option(
        0.95, "lambda of the generalised advantages, over one's own plays of a hand", between(0, 1)
    )
    passes: int = option(2, "passes over the decisions of an iteration", at_least(1))
    policy_lr: float = option(3e-4, "learning rate of the policy; linear down to 0", positive)
    value_lr: float = option(1e-3, "learning rate of the values", positive)
    following: float = option(
        0.02, "rate of the moving average of the policy's weights, an iteration (Polyak)", fraction
    )

    def entropy_at(self, iteration: int) -> float:
        """Worth of a nat of entropy in an iteration, counted from 0."""
        return self.entropy + (self.final_entropy - self.entropy) * iteration / self.iterations


class PpoLearner(PolicyLearner):
    """Three networks: the policy, the values of actions, and the copy of the policy that is the agent."""

    core: ProximalPolicy
    options: PpoOptions

    def __init__(
        self, options: PpoOptions, setting: Setting, *, state: StateOptions, play_network: PlayNetworkConfig
    ) -> None:
        """As `PolicyLearner`."""
        super().__init__(options, setting, state=state, play_network=play_network)

    def make_core(self) -> ProximalPolicy:
        """Untrained networks."""
        networks = self.network(LearnedPolicy, 0), self.network(LearnedNetwork, 1)
        return ProximalPolicy(*networks, self.options.following, self.options.magnet == "average")

    def policy(self) -> QFunction:
        """That of the copy that follows slowly."""
        return self.core.slow_policy()

    def learn(self, hands: Trajectories, seed: int) -> tuple[Metrics, int]:
        """Passes over the hands' decisions, whose returns go on from the values of one's own next plays."""
        options, entropy = self.options, self.options.entropy_at(self.steps_done)
        how = AlgorithmOptions("sarsa", trace_decay=options.trace_decay)
        returns = PlayTargets(how, RewardOptions("margin"), forced=False)
        samples = play_samples(hands, returns, self.core.values.q_function(), 0.0)
        rates = PassRates(options.policy_lr * self.left(), options.value_lr, options.batch_size)
        near = Proximity(options.clip, entropy, options.divergence, options.passes)
        metrics = self.core.learn(samples, rates, near, seed)
        metrics |= {"schedule/entropy": entropy, "schedule/policy_lr": rates.policy_lr}
        return metrics, (1 + options.passes) * len(samples)
