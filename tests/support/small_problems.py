"""A problem whose values can be counted: four decisions with two actions each, of which 14 numbers are the values.

The first decision is between two branches: taking 3 points at once leads to the poor one. Points of branch b at
decision k for action a stand in POINTS[k][b][a].
"""

from __future__ import annotations

import copy
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from deepcrib.agents.q_network import QFunction
from deepcrib.learners.replay.extras import UNIFORM, Sampling
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks import FeedForward, PlayNetworkConfig
from deepcrib.networks.encoders import legal_plays
from deepcrib.networks.encoders.states import OWN_RANKS, PLAY_COLUMNS, STARTER_RANK
from tests.support.replaying import Backup, play_samples

POINTS = [[[3, 0], [3, 0]], [[0, 1], [2, 5]], [[1, 0], [4, 1]], [[0, 2], [0, 6]]]
STATES = [(0, 0)] + [(k, branch) for k in (1, 2, 3) for branch in (0, 1)]
"""Decision and branch; in the first decision there is none yet."""


def all_hands() -> Trajectories:
    """Every course of four decisions once for either seat; the seats take turns."""
    courses = list(product((0, 1), repeat=4))
    states = np.zeros((16, 8, PLAY_COLUMNS), dtype=np.int8)
    states[:, :, OWN_RANKS + 2 : OWN_RANKS + 4] = -1  # slots 0 and 1 may be played
    actions, points = np.zeros((2, 16, 8), dtype=np.int8)
    for hand, play in product(range(16), range(8)):
        course, k = courses[hand if play % 2 == 0 else 15 - hand], play // 2
        branch = course[0] if k else 0
        states[hand, play, STARTER_RANK] = STATES.index((k, branch))
        actions[hand, play], points[hand, play] = course[k], POINTS[k][branch][course[k]]
    seats = np.tile(np.array([0, 1], dtype=np.int8), (16, 4))
    unread = np.zeros(16, dtype=np.int8)
    discards = np.zeros((16, 2, 9), dtype=np.int8), np.zeros((16, 2), dtype=np.int8)
    learned = np.ones((len(states), 2), dtype=np.int8)
    return Trajectories(*discards, states, actions, seats, points, unread, unread, unread, unread, learned)


def counted(k: int, branch: int, action: int, random_steps: int) -> float:
    """The value of an action: points now, then `random_steps` more decisions by a fair coin, then the best ones."""
    points = POINTS[k][branch][action]
    if k == 3:
        return points
    after = [counted(k + 1, branch if k else action, a, max(0, random_steps - 1)) for a in (0, 1)]
    return points + (sum(after) / 2 if random_steps else max(after))


def exact(random_steps: int) -> list[float]:
    return [counted(k, branch, action, random_steps) for k, branch in STATES for action in (0, 1)]


class Lookup:
    """An encoder that makes a table of a linear network: one channel for each state and action."""

    spec = SimpleNamespace(width=2 * len(STATES))

    def indices(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return 2 * states[:, STARTER_RANK].astype(np.int64) + actions

    def expand(self, columns: np.ndarray, device: Any) -> torch.Tensor:
        return torch.eye(self.spec.width, device=device)[torch.as_tensor(columns)]

    def encode(self, states: np.ndarray, actions: np.ndarray, device: Any) -> torch.Tensor:
        return self.expand(self.indices(states, actions), device)

    def legal(self, states: np.ndarray) -> np.ndarray:
        return legal_plays(states)


def entries() -> tuple[np.ndarray, np.ndarray]:
    """A compact state for every entry of the table, [14, 24], and its action."""
    states = np.zeros((2 * len(STATES), PLAY_COLUMNS), dtype=np.int8)
    states[:, OWN_RANKS + 2 : OWN_RANKS + 4] = -1
    states[:, STARTER_RANK] = np.repeat(np.arange(len(STATES)), 2)
    return states, np.tile(np.array([0, 1], dtype=np.int8), len(STATES))


def learned_table(
    algorithm: str,
    *,
    head: str = "value",
    iterations: int = 40,
    target_every: int = 1,
    double: bool = False,
    sampling: Sampling = UNIFORM,
    passes: float = 5.0,
    **backup: Any,
) -> QFunction:
    """What a table learns from all hands; the last five of the 16 are the newest epoch. Epsilon is 1."""
    torch.manual_seed(1)
    encoder: Any = Lookup()
    config = PlayNetworkConfig("mlp", [], head=head, atoms_low=-2, atoms_high=17)
    learned = LearnedNetwork(encoder, FeedForward(config, encoder.spec), torch.device("cpu"))
    if head == "value":
        for parameter in learned.network.parameters():
            parameter.requires_grad_(parameter.dim() == 2)
            parameter.data.zero_()  # a table needs no bias
    hands, generator = all_hands(), np.random.default_rng(2)
    frozen = QFunction(encoder, copy.deepcopy(learned.network))
    batch_size = 128 if sampling == UNIFORM else 64  # 128: all samples
    for iteration in range(iterations):
        if iteration % target_every == 0:
            frozen.network.load_state_dict(learned.network.state_dict())
        chooser = learned.q_function() if double else None
        ahead = Backup(chooser=chooser, **backup)
        samples = play_samples(hands, algorithm, "offensive", frozen, 1.0, True, ahead, newest=5)
        learned.train_pass(samples, 0.3 * (1 - iteration / iterations), batch_size, passes, generator, sampling)
    return learned.q_function()
