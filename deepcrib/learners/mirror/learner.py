"""`learner=mirror`: magnetic mirror descent over single hands of cribbage."""

from __future__ import annotations

from deepcrib.agents.q_network import QFunction
from deepcrib.learners.mirror.descent import MirrorDescent, Rates
from deepcrib.learners.mirror.options import MirrorOptions
from deepcrib.learners.policies.learner import PolicyLearner
from deepcrib.learners.policies.learning import LearnedPolicy
from deepcrib.learners.replay.experience import PlayTargets, play_samples
from deepcrib.learners.replay.learning import LearnedNetwork
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions, StateOptions
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks import PlayNetworkConfig
from deepcrib.training.learner import Metrics, Setting

RETURNS = PlayTargets(AlgorithmOptions("monte_carlo"), RewardOptions("margin"), forced=False)


class MirrorLearner(PolicyLearner):
    """Two networks: the policy, and the values of actions."""

    def __init__(
        self, options: MirrorOptions, setting: Setting, *, state: StateOptions, play_network: PlayNetworkConfig
    ) -> None:
        """As any PolicyLearner."""
        super().__init__(options, setting, state=state, play_network=play_network)
        self.options = options
        self.core: MirrorDescent = MirrorDescent(self.network(LearnedPolicy, 0), self.network(LearnedNetwork, 1))

    def policy(self) -> QFunction:
        """The present one."""
        return self.core.policy.q_function()

    def play_hands(self, first: int, seed: int) -> Trajectories:
        """The policy against itself."""
        return self_play(self.agent(), first, self.options.hands, seed, unit="hands", dealing=self.setting.dealing)

    def learn(self, hands: Trajectories, seed: int) -> tuple[Metrics, int]:
        """A pass of both networks over the hands' decisions."""
        options, left, tau = self.options, self.left(), self.options.temperature_at(self.steps_done)
        rates = Rates(options.eta, tau, options.policy_lr * left, options.value_lr * left, options.batch_size)
        if options.magnet_every and self.steps_done and self.steps_done % options.magnet_every == 0:
            self.core.move_magnet()
        samples = play_samples(hands, RETURNS, self.core.values.q_function(), 0.0)
        metrics = self.core.learn(samples, rates, seed)
        return metrics | {"schedule/temperature": tau, "schedule/policy_lr": rates.policy_lr}, 2 * len(samples)
