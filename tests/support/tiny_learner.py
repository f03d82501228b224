"""A learner that learns a number, for tests of what is done with any learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from safetensors.numpy import load_file, save_file

from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.options import LearnerOptions


def next_value(value: int, step: int, seed: int) -> int:
    """What step number `step` makes of a value: no two steps can be left out or exchanged."""
    return (value * 31 + 7 * step + seed) % 1_000_003


def value_after(steps: int, seed: int = 1) -> int:
    """What is learned by so many steps."""
    value = seed
    for step in range(1, steps + 1):
        value = next_value(value, step, seed)
    return value


def value_in(path: Path) -> int:
    """What a file of weights holds."""
    return int(load_file(path)["value"][0])


@dataclass
class TinyOptions(LearnerOptions):
    """Its number of steps, and those between checkpoints."""

    games: int = 5
    checkpoint_every: int = 2


class TinyAgent(ScriptedAgent):
    """Plays as greedy does, and knows what was learned."""

    def __init__(self, value: int) -> None:
        super().__init__("greedy")
        self.value = value


class TinyLearner(Learner):
    """stride: games of a step, at most. stops_after: where an interrupt comes, within the step that follows."""

    unit = "games"
    stride: ClassVar[int] = 1_000
    stops_after: ClassVar[int | None] = None

    def __init__(self, options: Any, setting: Setting) -> None:
        super().__init__(setting)
        self.num_steps, self.checkpoint_every = options.games, options.checkpoint_every
        self.value, self.taken = setting.seed, 0

    def step(self) -> Metrics:
        last = min(self.next_checkpoint(), self.steps_done + self.stride)
        while self.steps_done < last:
            if self.steps_done == self.stops_after:
                raise KeyboardInterrupt
            self.steps_done += 1
            self.taken += 1
            self.value = next_value(self.value, self.steps_done, self.setting.seed)
            self.tick(self.steps_done)
        return {"value": float(self.value)}

    def agent(self) -> TinyAgent | None:
        return TinyAgent(self.value)

    def save(self, path: Path) -> None:
        save_file({"value": np.array([self.value])}, path)

    def state_dict(self) -> dict[str, Any]:
        return {"value": self.value}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.value = state["value"]

    def finish(self, folder: Path) -> dict[str, Any]:
        return {"learned": {"value": self.value}}
