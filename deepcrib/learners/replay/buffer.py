"""The replay buffer: whole hands, newest last, as int8: positions, actions, the points of every card.

A mask by seat tells the learner's decisions from those of an agent that it met. Rewards, next decisions and targets
follow from these when they are needed, so that the buffer stays small and any reward and encoder can read it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from deepcrib.matches.trajectories import PLAYS, Trajectories


class ReplayBuffer:
    """Keeps the hands of the newest P epochs, or the newest so many play experiences (whole hands).

    Hands stay whole because an experience refers to the next decision of its own hand.
    """

    def __init__(self, epochs: int, experiences: int | None = None) -> None:
        self.epochs = epochs
        self.max_hands = None if experiences is None else max(1, experiences // PLAYS)
        self.newest = 0
        """Hands of the epoch added last that are in the buffer, behind all others."""
        self._parts: list[Trajectories] = []

    def add(self, hands: Trajectories) -> None:
        """Add an epoch and drop the oldest that no longer fit."""
        self.newest = len(hands) if self.max_hands is None else min(len(hands), self.max_hands)
        self._parts.append(hands)
        if self.max_hands is None:
            self._parts = self._parts[-self.epochs :]
        else:
            kept = Trajectories.concatenate(self._parts)
            self._parts = [kept.take(slice(max(0, len(kept) - self.max_hands), None))]

    def hands(self) -> Trajectories:
        """All hands in the buffer."""
        return Trajectories.concatenate(self._parts)

    def state(self) -> list[dict[str, np.ndarray]]:
        """What `load` needs to make this buffer again."""
        return [{f.name: getattr(part, f.name) for f in fields(part)} for part in self._parts]

    def load(self, state: list[dict[str, Any]]) -> None:
        """Take over the hands of a saved state (tensors or arrays). Raises ValueError for what are no hands."""
        self._parts = [Trajectories(**{name: np.asarray(value) for name, value in part.items()}) for part in state]
        for part in self._parts:
            part.require_possible()
