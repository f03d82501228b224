"""A person's own file of parts, as text: one of every kind that `module:name` may name, and a learner."""

PARTS = """
import numpy as np
import torch

from deepcrib.kernels import jit
from deepcrib.learners.replay.targets import Bootstrap
from deepcrib.networks import QNetwork, ValueHead
from deepcrib.networks.encoders import DISCARD_ENCODERS, PLAY_ENCODERS, Block
from deepcrib.networks.encoders.spec import FLAG

CALLED = []

def pairs_alone(points, seats):
    CALLED.append("reward")
    return np.where(points >= 2, points, 0).astype(np.float32)

def hand_alone(hands):
    CALLED.append("discard reward")
    return hands.hand_points.astype(np.float32)

def _value(q_tp1, q_selector_tp1, a_tp1, epsilon):
    CALLED.append("algorithm")
    return q_tp1.max(axis=1) / 2

HALF_GREEDY = Bootstrap(_value, lambda q_selector_tp1, a_tp1, epsilon: np.eye(4, dtype=np.float32)[a_tp1])

class Residual(QNetwork):
    def __init__(self, config, spec):
        super().__init__(config, spec)
        self.layer = torch.nn.Linear(spec.width, spec.width)
        self.head = self.make_head(spec.width)

    def features(self, inputs):
        return inputs + torch.relu(self.layer(inputs))

class HalfHead(ValueHead):
    def forward(self, features, groups=None):
        return super().forward(features) / 2

@jit
def _own_turn(state, action, start, row):
    row[0] = start

PLAYS = (*PLAY_ENCODERS["basic"], Block("own_turn", FLAG, ("turn",), "always", _own_turn))
DISCARDS = (*DISCARD_ENCODERS["basic"], Block("thrower", FLAG, ("thrower",), "always", _own_turn))
NUMBER = 3
"""

LEARNER = """
from dataclasses import dataclass

import numpy as np

from deepcrib.agents import make_agent
from deepcrib.files.weights import write_weights
from deepcrib.learners.replay.options import RewardOptions
from deepcrib.options import at_least, option
from deepcrib.training.learner import Learner
from deepcrib.training.options import LearnerOptions

@dataclass
class CountingOptions(LearnerOptions):
    steps: int = option(2, "to count", at_least(1))

class CountingAgent:
    name, num_players = "counting", frozenset({2})

    @classmethod
    def from_weights(cls, saved):
        return cls()

    def discard(self, observation):
        return make_agent("greedy").discard(observation)

    def play(self, observation):
        return make_agent("greedy").play(observation)

class Counting(Learner):
    unit, checkpoint_every = "steps", 1

    def __init__(self, options: CountingOptions, setting, *, reward: RewardOptions):
        super().__init__(setting)
        self.num_steps, self.reward = options.steps, reward.play

    def step(self):
        self.steps_done += 1
        self.tick(self.steps_done)
        return {}

    def agent(self):
        return CountingAgent()

    def save(self, path):
        count = np.array([self.steps_done])
        write_weights(path, "own_learner:CountingAgent", {"count": count}, {"reward": self.reward})

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass

class Unexplained(Counting):
    def __init__(self, options, setting):
        raise AssertionError
"""
