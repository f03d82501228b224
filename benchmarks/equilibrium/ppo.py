"""A learner from outside the package: proximal policy gradients over single hands of cribbage, and over small games.

    deepcrib train learner=benchmarks.equilibrium.ppo:PpoLearner state=afterstate play_network=mlp

Schulman, Wolski, Dhariwal, Radford, Klimov 2017, "Proximal policy optimization algorithms": the clipped objective of
equation 7, with a bonus for entropy (equation 9) and a penalty for the divergence from a magnet. Rudolph et al. 2025,
"Reevaluating policy gradient methods for imperfect-information games": in two-player zero-sum games it takes much
entropy, 0.05 to 0.1 of advantages in standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from deepcrib.agents.base import require_finite
from deepcrib.game.mixed import softmax
from deepcrib.learners.mirror.descent import MirrorDescent
from deepcrib.learners.mirror.learner import MirrorLearner
from deepcrib.learners.policies.learning import LearnedPolicy, PassRates, all_action_values, mean_entropy
from deepcrib.learners.policies.options import PolicyOptions
from deepcrib.learners.replay.batch import Batch, PlayTargets, play_samples
from deepcrib.learners.replay.extras import in_order
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions, StateOptions
from deepcrib.learners.replay.update import LearnedNetwork, SampleInputs
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks import PlayNetworkConfig
from deepcrib.networks.fast import adam_step
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


class ProximalNetwork(LearnedPolicy):
    """Learns by any loss of its log chances."""

    def descend(
        self,
        states: NDArray[np.int8],
        loss: Callable[[Tensor, Tensor], Tensor],
        rates: PassRates,
        passes: int,
        generator: np.random.Generator,
    ) -> float:
        """Passes over states [E, K] in minibatches; returns the mean loss of the last.

        loss: of rows [B] of the states and the log chances [B, A] there, 0 where an action is not legal, the sum over
        these states. Raises DivergenceError where the learning rate is too high.
        """
        inputs = SampleInputs(self.encoder, states, np.zeros(len(states), dtype=np.int8), True, self.device)
        legal = torch.as_tensor(self.encoder.legal(states), device=self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = rates.policy_lr
        self.network.train()
        for _ in range(passes):
            sums: list[Tensor] = []
            for rows, _ in in_order(generator.permutation(len(states)), rates.batch_size):
                number = torch.as_tensor(rows, device=self.device)
                allowed = legal[number]
                outputs = self.network(inputs.batch(rows).inputs)
                logits = outputs.new_full(allowed.shape, -math.inf).masked_scatter(allowed, outputs)
                found = loss(number, functional.log_softmax(logits, dim=1).masked_fill(~allowed, 0))
                (found / len(rows)).backward()
                adam_step(self.optimizer)
                sums.append(found.detach())
        mean = float(torch.stack(sums).sum()) / len(states)
        require_finite(mean, rates.policy_lr)
        return mean


class ProximalPolicy(MirrorDescent):
    """A policy, the values of actions where everybody plays by it, and `slow`, a copy that follows it slowly.

    The baseline of an advantage is the mean of the values by the policy. The magnet is the policy before the iteration,
    so that each is a step of mirror descent (Sokota et al. 2023), or with `averaged` the slow copy.
    """

    policy: ProximalNetwork

    def near(self, samples: Batch, rates: PassRates, how: Proximity, seed: int) -> dict[str, float]:
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
        found = self.policy.descend(states, loss, rates, how.passes, streams[0])
        passed = self.values.train_pass(samples, rates.value_lr, rates.batch_size, 1.0, streams[1])
        with torch.no_grad():
            for mean, weight in zip(self.slow.parameters(), self.policy.network.parameters(), strict=True):
                mean.lerp_(weight, self.following)
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


class PpoLearner(MirrorLearner):
    """Three networks: the policy, the values of actions, and the copy of the policy that is the agent."""

    core: ProximalPolicy
    options: Any

    def __init__(
        self, options: PpoOptions, setting: Setting, *, state: StateOptions, play_network: PlayNetworkConfig
    ) -> None:
        """As `MirrorLearner`."""
        super().__init__(options, setting, state=state, play_network=play_network)

    def make_core(self) -> ProximalPolicy:
        """Untrained networks."""
        networks = self.network(ProximalNetwork, 0), self.network(LearnedNetwork, 1)
        return ProximalPolicy(*networks, 0.0, self.options.following, self.options.magnet == "average")

    def learn(self, hands: Trajectories, seed: int) -> tuple[Metrics, int]:
        """Passes over the hands' decisions, whose returns go on from the values of one's own next plays."""
        options, entropy = self.options, self.options.entropy_at(self.steps_done)
        how = AlgorithmOptions("sarsa", trace_decay=options.trace_decay)
        returns = PlayTargets(how, RewardOptions("margin"), forced=False)
        samples = play_samples(hands, returns, self.core.values.q_function(), 0.0)
        rates = PassRates(options.policy_lr * self.left(), options.value_lr, options.batch_size)
        near = Proximity(options.clip, entropy, options.divergence, options.passes)
        metrics = self.core.near(samples, rates, near, seed)
        metrics |= {"schedule/entropy": entropy, "schedule/policy_lr": rates.policy_lr}
        return metrics, (1 + options.passes) * len(samples)
