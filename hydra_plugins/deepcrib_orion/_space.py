"""What is searched: Hydra's sweep syntax read into Orion's priors, and Orion's values written back as overrides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.types import ChoiceSweep, IntervalSweep, Override, RangeSweep

from deepcrib.errors import OptionError
from deepcrib.files.runs import is_number
from deepcrib.jobs.hydra.schema import parse, parts_of

SYNTAX = "choice(a,b), range(start,stop), interval(low,high), tag(log,interval(...)) or tag(fidelity,interval(...))"


@dataclass(frozen=True)
class Parameter:
    """One option, or group, that is searched.

    key: as in an override, `learner.play_lr`.
    kind: `real`, `log`, `fidelity` or `choice`.
    bounds: lowest and highest value, both included, of all kinds but `choice`; whole: whether only whole numbers count.
    choices: of `choice`: numbers, or anything else as the text of an override (`null`, `[64,64]`, `sarsa`).
    """

    key: str
    kind: str
    bounds: tuple[float, float] = (0.0, 0.0)
    choices: tuple[Any, ...] = ()
    whole: bool = False

    @property
    def name(self) -> str:
        """Its name in Orion, which takes a dot apart."""
        return self.key.replace(".", "/")

    @property
    def prior(self) -> str:
        """Its values as a prior of Orion's."""
        low, high = (_number_text(bound, self.whole) for bound in self.bounds)
        if self.kind == "choice":
            return f"choices({list(self.choices)!r})"
        if self.kind == "fidelity":
            return f"fidelity({low}, {high})"
        discrete = ", discrete=True" if self.whole else ""
        return f"{'loguniform' if self.kind == 'log' else 'uniform'}({low}, {high}{discrete})"

    @property
    def extremes(self) -> list[str]:
        """Overrides with values that, if an option takes them, it takes all: both bounds, or every choice."""
        return [self.override(value) for value in (self.choices or self.bounds)]

    def holds(self, value: Any) -> bool:
        """Whether a value is one that can have been searched: a choice, or a number, whose range its option knows."""
        return value in self.choices if self.kind == "choice" else is_number(value)

    def override(self, value: Any) -> str:
        """`key=value` for a value of Orion's."""
        text = value if isinstance(value, str) else _number_text(value, self.whole or isinstance(value, int))
        return f"{self.key}={text}"


def _number_text(value: Any, whole: bool) -> str:
    """A number that Hydra and Orion both read."""
    return str(int(value)) if whole else repr(float(value))


def split_overrides(
    words: Sequence[str], params: Mapping[str, Any], kinds: Mapping[str, Any]
) -> tuple[list[Parameter], list[str]]:
    """What is searched, by key, and the overrides that are the same for every trial, as they were written.

    params: `hydra.sweeper.params`; a word on the command line beats them, whether it searches or fixes its option.
    kinds: the type of each option, by key; options of whole numbers are searched over whole numbers.
    """
    searched: dict[str, Parameter] = {}
    for override in parse([f"{key}={text}" for key, text in params.items()]):
        searched[override.key_or_group] = parameter(override, kinds)
    fixed = []
    for override in parse(words):
        searched.pop(override.key_or_group, None)
        if override.is_sweep_override():
            searched[override.key_or_group] = parameter(override, kinds)
        else:
            fixed.append(str(override.input_line))
    if not searched:
        raise OptionError(f"nothing to search: expected name={SYNTAX}, or hydra.sweeper.params with such values")
    return [searched[key] for key in sorted(searched)], fixed


def parameter(override: Override, kinds: Mapping[str, Any]) -> Parameter:
    """What an override with several values searches. Raises OptionError for any other."""
    key, word = override.key_or_group, str(override.input_line)
    sweep = override.value() if override.is_sweep_override() else None
    if isinstance(sweep, IntervalSweep):
        return _interval(word, key, sweep, kinds.get(key, Any))
    if not isinstance(sweep, RangeSweep | ChoiceSweep):
        raise OptionError(f"{word}: expected {SYNTAX}")
    if isinstance(sweep, RangeSweep):
        values = list(sweep.range())
    else:  # numbers as they are, anything else as its text
        values = [value if is_number(value) else Override._get_value_element_as_str(value) for value in sweep.list]
    if len(set(values)) != len(values) or not values:
        raise OptionError(f"{word}: expected different values")
    return Parameter(key, "choice", choices=tuple(values))


def _interval(word: str, key: str, sweep: IntervalSweep, kind: Any) -> Parameter:
    assert sweep.start is not None and sweep.end is not None
    low, high = float(sweep.start), float(sweep.end)
    scale = next((tag for tag in ("fidelity", "log") if tag in sweep.tags), "real")
    of_whole = int in parts_of(kind) and float not in parts_of(kind)  # or null besides
    whole = scale == "fidelity" or of_whole or (isinstance(sweep.start, int) and isinstance(sweep.end, int))
    checks = (
        (math.isfinite(low) and math.isfinite(high) and low < high, "expected a lower bound below the upper one"),
        (scale != "log" or low > 0, "a logarithmic scale begins above 0"),
        (scale != "fidelity" or low >= 1, "expected a lowest fidelity of 1 or more"),
        (not whole or (low.is_integer() and high.is_integer()), "expected whole numbers as bounds"),
    )
    for holds, problem in checks:
        if not holds:
            raise OptionError(f"{word}: {problem}")
    return Parameter(key, scale, (low, high), whole=whole)
