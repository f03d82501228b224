"""`learner=nfsp`: neural fictitious self-play over single hands of cribbage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.game.rules import HAND_SIZE
from deepcrib.learners.nfsp.fictitious import FictitiousSelfPlay
from deepcrib.learners.nfsp.memory import Rows
from deepcrib.learners.nfsp.options import NfspOptions
from deepcrib.learners.policies.learner import PolicyLearner
from deepcrib.learners.policies.learning import LearnedPolicy, PassRates
from deepcrib.learners.replay.batch import learned_plays, skip_forced
from deepcrib.learners.replay.rewards import margin, next_own
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories, learning_games
from deepcrib.networks.encoders import legal_plays
from deepcrib.networks.encoders.states import PLAY_BOUNDS, Bounds
from deepcrib.training.learner import Metrics

CHARTS = {
    "Learning": {
        "losses": "loss/.*",
        "points a hand that the best response is ahead": "opponents/points_ahead_per_hand",
        "epsilon": "schedule/epsilon",
    },
    "Throughput": {"hands a second": "speed/hands_per_second"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class NfspLearner(PolicyLearner):
    """Two networks: the values of a best response, and the average policy."""

    core: FictitiousSelfPlay
    options: NfspOptions

    def make_core(self) -> FictitiousSelfPlay:
        """Untrained networks, and empty memories."""
        values, policy = self.network(LearnedNetwork, 0), self.network(LearnedPolicy, 1)
        return FictitiousSelfPlay(policy, values, self.options.recent, self.options.reservoir)

    def policy(self) -> QFunction:
        """The average policy."""
        return self.core.policy.q_function()

    def play_hands(self, first: int, seed: int) -> Trajectories:
        """Each player follows its best response in a share of its hands, the average policy in the others."""
        options = self.options
        best = QNetworkAgent(
            None, self.core.values.q_function(), options.epsilon * self.left(), discards_by=self.discards_by
        )
        by_best = np.random.default_rng((seed, first)).random((options.hands, 2)) < options.anticipatory
        seating = np.where(by_best, 0, 1)
        dealing = self.setting.dealing
        return learning_games([best, self.agent()], seating, first, seed, unit="hands", dealing=dealing)

    def learn(self, hands: Trajectories, seed: int) -> tuple[Metrics, int]:
        """A pass of both networks over decisions that are remembered."""
        options, left, (played, best) = self.options, self.left(), transitions_of(hands)
        rates = PassRates(options.average_lr * left, options.best_lr * left, options.batch_size)
        metrics = self.core.learn(played, best, rates, options.draws, seed)
        schedule = {"schedule/epsilon": options.epsilon * left, "schedule/average_lr": rates.policy_lr}
        return metrics | schedule, 2 * round(options.draws * len(best))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a saved state. Raises ValueError for one of other options, or of decisions that cannot be."""
        super().load_state_dict(state)
        self.core.recent.require_within(_BOUNDS)
        self.core.own.require_within({name: _BOUNDS[name] for name in ("states", "actions")})


_BOUNDS: dict[str, Bounds] = {
    "states": PLAY_BOUNDS,
    "next_states": PLAY_BOUNDS,
    "actions": (np.array(0, np.int8), np.array(HAND_SIZE - 1, np.int8)),
    "rewards": (np.array(-128, np.float32), np.array(128, np.float32)),
    "last": (np.array(False), np.array(True)),
}
"""Lowest and highest values of what is remembered of a decision."""


def transitions_of(hands: Trajectories) -> tuple[Rows, NDArray[np.bool_]]:
    """The plays of both seats that had a choice, as `FictitiousSelfPlay.learn` takes them.

    The reward of a card that has to be played is that of the decision before.
    """
    decisions = legal_plays(hands.play_states).sum(axis=2) > 1
    rewards, following = skip_forced(margin(hands.play_points, hands.play_seats), next_own(hands.play_seats), decisions)
    rows, plays = np.nonzero(decisions)
    later = following[rows, plays]
    played: Rows = {
        "states": hands.play_states[rows, plays],
        "actions": hands.play_actions[rows, plays],
        "rewards": rewards[rows, plays],
        "next_states": hands.play_states[rows, later],
        "last": later < 0,
    }
    return played, learned_plays(hands)[rows, plays]
