"""`learner=ppo`: proximal policy gradients over single hands of cribbage."""

from __future__ import annotations

from deepcrib.agents.q_network import QFunction
from deepcrib.learners.policies.learner import PolicyLearner
from deepcrib.learners.policies.learning import LearnedPolicy, PassRates
from deepcrib.learners.ppo.options import PpoOptions
from deepcrib.learners.ppo.proximal import ProximalPolicy, Proximity
from deepcrib.learners.replay.batch import PlayTargets, play_samples
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories
from deepcrib.training.learner import Metrics

CHARTS = {
    "Learning": {"losses": "loss/.*", "entropy of the policy (nats)": "policy/entropy"},
    "Throughput": {"hands a second": "speed/hands_per_second"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class PpoLearner(PolicyLearner):
    """Three networks: the policy, the values of actions, and the copy of the policy that is the agent."""

    core: ProximalPolicy
    options: PpoOptions

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
