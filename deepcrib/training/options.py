"""What a training run can be told: plain dataclasses, the schema of `conf/train.yaml` and its groups.

They stand apart from the code they configure because the loop, pretraining and the jobs share them.
Defaults are those of Bélanger et al. 2019 (sections 3.2 and 4.1) unless their help says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deepcrib.errors import OptionError
from deepcrib.options import at_least, between, each, option, optional, seed_value


@dataclass
class LearnerOptions:
    """Group `learner`: what learns, and how. Each learner's options are a class of their own below."""

    name: str = "replay"


def refuse_unread(options: LearnerOptions, names: tuple[str, ...], reader: str) -> None:
    """Raise OptionError for options that other choices leave unread and that are not the defaults, naming `reader`."""
    defaults = type(options)()
    for name in names:
        value, default = getattr(options, name), getattr(defaults, name)
        if value != default:
            raise OptionError(f"learner.{name}={value}: read with {reader} alone, expected its default {default} here")


@dataclass
class EvaluationOptions:
    """Matches during and after training. Seeds of the two never meet (see `seed`)."""

    opponents: list[Any] = option(["deterministic"], "agent specs")
    every: int = option(
        10, "iterations (of other learners than replay: checkpoints) between monitoring matches; 0: none", at_least(0)
    )
    at: list[int] | None = option(
        None,
        "in place of `every`, if that is not 0: iterations (or checkpoints) with matches; 0: before the first",
        optional(each(at_least(0), ascending=True)),
    )
    games: int = option(1000, "games of a monitoring match", at_least(1))
    final_games: int = option(5000, "games of each final match", at_least(1))
    epsilon: float = option(0.0, "of the evaluated agent", between(0, 1))
    exploring: bool = option(False, "final matches also of the agent with the epsilon that its training ended with")
    hands: int = option(0, "hands of the play-only metric of table 3 (hands won on play points); 0: none", at_least(0))
    seed: int | None = option(
        None, "monitoring uses it, the final matches another one derived from it", optional(seed_value)
    )

    @property
    def monitored(self) -> bool:
        """Whether there are matches between iterations at all."""
        return self.every > 0

    def due(self, iteration: int) -> bool:
        """Whether there are matches after that iteration; 0 is before the first, and is met by `at` alone."""
        if self.every and self.at:
            return iteration in self.at
        return self.every > 0 < iteration and iteration % self.every == 0
