"""The algorithms: what each takes a player's next decision to be worth.

To add one: its functions and a line in ALGORITHMS here, and a YAML in `conf/algorithm/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deepcrib.agents.q_network import epsilon_greedy
from deepcrib.learners.replay.targets.returns import (
    Actions,
    Float,
    Values,
    double_q_value,
    expected_sarsa_value,
    q_learning_value,
    sarsa_value,
)


@dataclass(frozen=True)
class Bootstrap:
    """How the next decision is valued; q_tp1 [E, A] are the frozen network's values, -inf where not legal.

    value: (q_tp1, chooser_tp1, a_tp1, epsilon) -> [E], where chooser_tp1 [E, A] are those of the network that chooses
    (of double Q-learning another one, else q_tp1) and a_tp1 [E] the actions taken.
    policy: (chooser_tp1, a_tp1, epsilon) -> [E, A], how likely each next action is: with the head `categorical` the
    next distribution is a mixture by it.
    taken_alone: whether only the value of the action taken matters, so that the others are not computed.
    greedy: whether lambda-returns end where the action taken is not a best one (Watkins's Q(lambda)).
    """

    value: Callable[[Float, Float, Actions, float], Values]
    policy: Callable[[Float, Actions, float], Float]
    taken_alone: bool = False
    greedy: bool = False


def _taken(chooser_tp1: Float, a_tp1: Actions, epsilon: float) -> Float:
    """The action taken."""
    return np.eye(chooser_tp1.shape[1], dtype=np.float32)[a_tp1]


def _exploring(chooser_tp1: Float, a_tp1: Actions, epsilon: float) -> Float:
    """The epsilon-greedy policy."""
    return epsilon_greedy(chooser_tp1, epsilon).astype(np.float32)


def _best(chooser_tp1: Float, a_tp1: Actions, epsilon: float) -> Float:
    """The best action."""
    return epsilon_greedy(chooser_tp1, 0.0).astype(np.float32)


def _q_learning(q_tp1: Float, chooser_tp1: Float, a_tp1: Actions, epsilon: float) -> Values:
    return q_learning_value(q_tp1) if chooser_tp1 is q_tp1 else double_q_value(q_tp1, chooser_tp1)


ALGORITHMS: dict[str, Bootstrap | None] = {
    "monte_carlo": None,
    "sarsa": Bootstrap(lambda q, chooser, a, epsilon: sarsa_value(q, a), _taken, taken_alone=True),
    "expected_sarsa": Bootstrap(lambda q, chooser, a, epsilon: expected_sarsa_value(q, epsilon), _exploring),
    "q_learning": Bootstrap(_q_learning, _best, greedy=True),
}
"""By the name in the group `algorithm`; None: targets are returns, and no next decision is valued."""
