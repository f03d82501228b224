"""A problem whose values can be counted: four decisions with two actions each, of which 14 numbers are the values.

The first decision is between two branches: taking 3 points at once leads to the poor one. Points of branch b at
decision k for action a stand in POINTS[k][b][a].
"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks.encoders.states import OWN_RANKS, PLAY_COLUMNS, STARTER_RANK

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
