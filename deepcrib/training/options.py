"""Options of a training run that all learners share: plain dataclasses, the schema of `conf/train.yaml`.

Defaults are those of Bélanger et al. 2019 (sections 3.2 and 4.1) unless their help says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from deepcrib.errors import OptionError
from deepcrib.options import at_least, between, each, option, optional, seed_value


@dataclass
class LearnerOptions:
    """Group `learner`: what learns, and how. Each learner's options are a class of its own, in its folder."""

    name: str = option("replay", "what learns")


Numbers = TypeVar("Numbers", bound=tuple[Any, ...])
_NUMBERS = (float, int, bool)


def as_numbers(kind: type[Numbers], options: LearnerOptions, **own: Any) -> Numbers:
    """A named tuple for compiled code: each of its fields is the option of that name, or one of `own`."""
    kinds = get_type_hints(kind)
    values = {name: own[name] if name in own else getattr(options, name) for name in kinds}
    return kind(**{name: kinds[name](value) if kinds[name] in _NUMBERS else value for name, value in values.items()})


def unread_options(options: Any, names: tuple[str, ...], reader: str, group: str = "learner") -> Iterator[str]:
    """A line for each option that other choices leave unread and that is not the default, naming `reader`."""
    defaults = type(options)()
    for name in names:
        value, default = getattr(options, name), getattr(defaults, name)
        if value != default:
            yield f"{group}.{name}={value}: read with {reader} alone, expected its default {default} here"


def refuse_unread(options: LearnerOptions, names: tuple[str, ...], reader: str) -> None:
    """Raise OptionError for the first of `unread_options`."""
    for line in unread_options(options, names, reader):
        raise OptionError(line)


@dataclass
class EvaluationOptions:
    """Matches during and after training, with disjoint seeds (see `seed`)."""

    opponents: list[Any] = option(["deterministic"], "agents to play matches against", spec=True)
    every: int = option(
        10, "iterations, or checkpoints of learners without them, between monitoring matches; 0: none", at_least(0)
    )
    at: list[int] | None = option(
        None,
        "iterations (or numbers of checkpoints) with matches, in place of `every` if not 0; 0: before the first",
        optional(each(at_least(0), ascending=True)),
    )
    games: int = option(1000, "games per monitoring match", at_least(1))
    final_games: int = option(5000, "games per final match", at_least(1))
    epsilon: float = option(0.0, "epsilon of the evaluated agent", between(0, 1))
    exploring: bool = option(False, "also play the final matches with the exploration that training ended with")
    hands: int = option(0, "hands for the play-only metric of table 3 (hands won on play points); 0: none", at_least(0))
    seed: int | None = option(
        None, "seed of monitoring matches; that of the final matches is derived from it", optional(seed_value)
    )

    @property
    def monitored(self) -> bool:
        """Whether there are matches between iterations at all."""
        return self.every > 0

    def due(self, iteration: int) -> bool:
        """Whether there are matches after that iteration; 0, before the first, is requested by `at` alone."""
        if self.every and self.at:
            return iteration in self.at
        return self.every > 0 < iteration and iteration % self.every == 0
