"""`learner=mirror`: magnetic mirror descent over single hands of cribbage."""

from __future__ import annotations

from deepcrib.agents.policy_network import PolicyNetworkAgent
from deepcrib.agents.q_network import QFunction
from deepcrib.learners.mirror.descent import MirrorDescent
from deepcrib.learners.mirror.options import MirrorOptions
from deepcrib.learners.policies.learner import PolicyLearner
from deepcrib.learners.policies.learning import LearnedPolicy, PassRates
from deepcrib.learners.replay.batch import PlayTargets, play_samples
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.training.learner import Metrics

CHARTS = {
    "Learning": {
        "losses": "loss/.*",
        "entropy of the policy (nats)": "policy/entropy",
        "temperature (points)": "schedule/temperature",
    },
    "Throughput": {"hands a second": "speed/hands_per_second"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""
RETURNS = PlayTargets(AlgorithmOptions("monte_carlo"), RewardOptions("margin"), forced=False)
"""Of a play with a choice: own points less the opponent's to the end of the play."""


class MirrorLearner(PolicyLearner):
    """Three networks: the policy, the values of actions, and the copy of the policy that is the agent."""

    core: MirrorDescent
    options: MirrorOptions

    def make_core(self) -> MirrorDescent:
        """Untrained networks."""
        networks = self.network(LearnedPolicy, 0), self.network(LearnedNetwork, 1)
        return MirrorDescent(*networks, self.options.eta, self.options.following, self.options.magnet == "average")

    def policy(self) -> QFunction:
        """That of the copy that follows slowly."""
        return self.core.slow_policy()

    def play_hands(self, first: int, seed: int) -> Trajectories:
        """The present policy against itself."""
        present = PolicyNetworkAgent(self.core.policy.q_function(), self.discards_by)
        return self_play(present, first, self.options.hands, seed, unit="hands", dealing=self.setting.dealing)

    def learn(self, hands: Trajectories, seed: int) -> tuple[Metrics, int]:
        """A pass of both networks over the hands' decisions."""
        options, tau = self.options, self.options.temperature_at(self.steps_done)
        rates = PassRates(options.policy_lr * self.left(), options.value_lr, options.batch_size)
        samples = play_samples(hands, RETURNS, self.core.values.q_function(), 0.0)
        metrics = self.core.learn(samples, rates, tau, seed)
        return metrics | {"schedule/temperature": tau, "schedule/policy_lr": rates.policy_lr}, 2 * len(samples)
