"""What a learner is: a method that learns in steps. `fit` does the rest, in the same way for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch

from deepcrib.agents import Agent
from deepcrib.training.options import EvaluationOptions

Metrics = dict[str, float]  # values by TensorBoard tag


class Writer(Protocol):
    """What a training writes its curves to: a TensorBoard SummaryWriter, or what has these methods of it."""

    def add_scalar(self, tag: str, value: float, step: int, /) -> Any: ...  # noqa: D102

    def add_histogram(self, tag: str, values: Any, step: int, /, bins: Any) -> Any: ...  # noqa: D102

    def add_figure(self, tag: str, figure: Any, step: int, /) -> Any: ...  # noqa: D102

    def flush(self) -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class Setting:
    """What every learner is given beside its options.

    dealing: of the games that are played, `acc` or `random_dealer`. device: of PyTorch. figure: (predicted, true,
    title=...) -> a matplotlib figure or None, which learners that predict something show in TensorBoard.
    """

    seed: int = 1
    evaluation: EvaluationOptions = field(default_factory=EvaluationOptions)
    dealing: str = "acc"
    device: str = "cpu"
    figure: Callable[..., Any] | None = None

    def metadata(self, learner: str, **own: Any) -> dict[str, Any]:
        """What weights say of the training that they come from: these entries, and what all learners have."""
        return {"learner": learner, "seed": self.seed, "rules": self.dealing, **own}

    @property
    def evaluation_seed(self) -> int:
        """The seed that matches, and other measurements, derive theirs from."""
        return self.seed if self.evaluation.seed is None else self.evaluation.seed


class Learner(ABC):
    """A learning method. The same options and seed give the same weights, interrupted between two steps or not.

    A learner defines `unit`, `step`, `agent` and `saved`, and sets `num_steps` and `checkpoint_every` when it is made;
    where attributes are not all that it saves `save`, `state_dict`, `load_state_dict`; where it has more to say
    `first_metrics`, `show`, `finish`. All else is for `fit`, and to be used in a step.
    """

    unit: str
    """What steps are counted in: iterations, games, hands."""
    saved: ClassVar[tuple[str, ...]] = ()
    """Attributes that further steps depend on: arrays, numbers, and mappings, which a state must share."""

    num_steps: int
    """Steps of the whole training."""
    checkpoint_every: int
    """Steps between two checkpoints."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.stages: Sequence[Learner] = ()
        """What is learned before the first step, one after another, by this learner's networks; they have no agents."""
        self.steps_done = 0
        self.seconds = 0.0  # of the training so far, matches included
        self.metrics: Metrics = {}  # those of the last step
        self.summary: dict[str, Any] = {}  # what `finish` has returned
        self.tick: Callable[[int], None] = lambda steps: None
        """A callback with the steps done, called within long steps too."""
        self.stopping = False  # whether the training is interrupted, as of the last `tick`: the step then ends there

    @abstractmethod
    def step(self) -> Metrics:
        """Learn, and count it in `steps_done`; a step ends at the next checkpoint at the latest. Returns metrics.

        Raises DivergenceError when values are no longer finite.
        """

    @abstractmethod
    def agent(self) -> Agent | None:
        """The agent with the current weights, which further steps may change; None if the learner has no agent."""

    def save(self, path: Path) -> None:
        """Write the agent's weights. Raises RunError."""
        agent: Any = self.agent()
        agent.save(path)

    def state_dict(self) -> dict[str, Any]:
        """All that further steps depend on, `steps_done` apart: nested plain values, arrays and tensors."""
        return {name: getattr(self, name) for name in self.saved}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a saved state; arrays come as tensors. Raises ValueError if it was saved with other options."""
        for name in self.saved:
            own, value = getattr(self, name), state[name]
            if isinstance(own, Mapping) and value != own:
                differ = [key for key in own | value if value.get(key) != own.get(key)]
                expected, found = ({key: values.get(key) for key in differ} for values in (own, value))
                raise ValueError(f"it is of {found}, expected {expected}")
            setattr(self, name, value.numpy() if isinstance(value, torch.Tensor) else value)

    def first_metrics(self) -> Metrics:
        """What is measured before the first step."""
        return {}

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write what a finished training leaves in its run folder beside weights; entries for `summary.json`."""
        return {}

    def show(self, writer: Writer, step: int) -> None:  # noqa: B027 - most learners have nothing more to show
        """Write histograms and pictures of a step, where matches are due and at the end."""

    def next_checkpoint(self) -> int:
        """The step at which the next checkpoint is due."""
        return min(self.num_steps, (self.steps_done // self.checkpoint_every + 1) * self.checkpoint_every)

    def learns_until(self, last: int) -> bool:
        """Whether a step that takes many goes on: up to `last`, and until the training is interrupted."""
        return self.steps_done < last and not self.stopping

    def pieces(self, size: int = 10_000) -> Iterator[tuple[int, int]]:
        """(first, last) steps up to the next checkpoint, so many at a time; who asks for the next has done them."""
        checkpoint = self.next_checkpoint()
        while self.learns_until(checkpoint):
            last = min(self.steps_done + size, checkpoint)
            yield self.steps_done, last
            self.steps_done = last
            self.tick(last)

    def is_due(self, every: int) -> bool:
        """Whether what happens every so many steps is due now; after the last step everything is."""
        return self.steps_done % every == 0 or self.steps_done >= self.num_steps

    @property
    def evaluated_every(self) -> int:
        """Steps between two numbers that `evaluation.every` and `evaluation.at` count: iterations, or checkpoints."""
        return 1 if self.unit == "iterations" else self.checkpoint_every

    @property
    def checkpoint_number(self) -> int:
        """The number that they count after these steps; only the last checkpoint comes early."""
        return -(-self.steps_done // self.evaluated_every)

    def description(self) -> str:
        """Progress in words: `500 iterations, 100,000 hands`."""
        hands = getattr(self, "hands", None)  # of a learner that counts them beside its steps
        return f"{self.steps_done:,} {self.unit}" + (f", {hands:,} hands" if isinstance(hands, int) else "")
