"""What is searched: Hydra's sweep syntax read into Orion's priors, and Orion's values written back as overrides."""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.types import ChoiceSweep, IntervalSweep, Override, RangeSweep

from deepcrib.errors import OptionError
from deepcrib.files.runs import is_number
from deepcrib.jobs.hydra.schema import parse

SYNTAX = "choice(a,b), interval(low,high), tag(log,interval(low,high)), range(start,stop) or fidelity(low,high,base)"
_FIDELITY = re.compile(r"fidelity\(\s*(?:low\s*=)?([^,]+),\s*(?:high\s*=)?([^,]+?)(?:,\s*(?:base\s*=)?([^,]+?))?\s*\)")
FIDELITY_BASE = 2


@dataclass(frozen=True)
class Parameter:
    """One option, or group, that is searched.

    key: as in an override, `learner.play_lr`.
    kind: `real`, `log`, `whole`, `fidelity` or `choice`.
    bounds: lowest and highest value, both included, of all kinds but `choice`.
    choices: of `choice`: numbers, or anything else as the text of an override (`null`, `[64,64]`, `sarsa`).
    """

    key: str
    kind: str
    bounds: tuple[float, float] = (0.0, 0.0)
    choices: tuple[Any, ...] = ()
    base: int = FIDELITY_BASE
    whole: bool = False

    @property
    def name(self) -> str:
        """Its name in Orion, which takes a dot apart (and MongoDB refuses one)."""
        return self.key.replace(".", "/")

    @property
    def prior(self) -> str:
        """Its values as a prior of Orion's."""
        low, high = (number_text(bound, self.whole) for bound in self.bounds)
        if self.kind == "choice":
            return f"choices({list(self.choices)!r})"
        if self.kind == "fidelity":
            return f"fidelity({low}, {high}, {self.base})"
        discrete = ", discrete=True" if self.whole else ""
        return f"{'loguniform' if self.kind == 'log' else 'uniform'}({low}, {high}{discrete})"

    @property
    def extremes(self) -> list[str]:
        """Overrides with values that, if an option takes them, it takes all: both bounds, or every choice."""
        return [self.override(value) for value in (self.choices or self.bounds)]

    def holds(self, value: Any) -> bool:
        """Whether a value is one that can have been searched: a choice, or a number, whose range its option knows."""
        if self.kind == "choice":
            return isinstance(value, str | int | float) and value in self.choices
        return is_number(value)

    def override(self, value: Any) -> str:
        """`key=value` for a value of Orion's."""
        text = value if isinstance(value, str) else number_text(value, self.whole or isinstance(value, int))
        return f"{self.key}={text}"


def number_text(value: Any, whole: bool = False) -> str:
    """A number that Hydra and Orion both read."""
    return str(int(value)) if whole else repr(float(value))


def split_overrides(
    words: Sequence[str], params: Mapping[str, Any], kinds: Mapping[str, Any]
) -> tuple[list[Parameter], list[str]]:
    """What is searched, by key, and the overrides that are the same for every trial, as they were written.

    params: `hydra.sweeper.params`; a word on the command line beats them, whether it searches or fixes its option.
    kinds: the type of each option, by key; options of whole numbers are searched over whole numbers.
    """
    searched = {key: parameter(str(key), str(text), kinds) for key, text in params.items()}
    fixed = []
    for override in parse(words):
        key, word = override.key_or_group, str(override.input_line)
        searched.pop(key, None)
        if override.is_sweep_override():
            searched[key] = _read_sweep(override, kinds.get(key, Any))
        else:
            fixed.append(word)
    if not searched:
        raise OptionError(f"nothing to search: expected name={SYNTAX}, or hydra.sweeper.params with such values")
    return [searched[key] for key in sorted(searched)], fixed


def parameter(key: str, text: str, kinds: Mapping[str, Any]) -> Parameter:
    """An entry of `hydra.sweeper.params`: Hydra's sweep syntax, or `fidelity(low, high, base)`."""
    if found := _FIDELITY.fullmatch(text.strip()):
        try:
            low, high, base = float(found[1]), float(found[2]), int(found[3] or FIDELITY_BASE)
        except ValueError as error:
            raise OptionError(f"{key}={text}: expected fidelity(low, high, base), numbers") from error
        return _bounded(f"{key}={text}", key, "fidelity", (low, high), kinds.get(key, Any), base)
    (override,) = parse([f"{key}={text}"])
    if not override.is_sweep_override():
        raise OptionError(f"hydra.sweeper.params {key}={text}: expected {SYNTAX}")
    return _read_sweep(override, kinds.get(key, Any))


def _read_sweep(override: Override, kind: Any) -> Parameter:
    key, word, sweep = override.key_or_group, str(override.input_line), override.value()
    if isinstance(sweep, IntervalSweep):
        assert sweep.start is not None and sweep.end is not None
        whole = isinstance(sweep.start, int) and isinstance(sweep.end, int)
        scale = next((tag for tag in ("fidelity", "log") if tag in sweep.tags), "real")
        return _bounded(word, key, scale, (sweep.start, sweep.end), int if whole else kind)
    if isinstance(sweep, RangeSweep):
        return _chosen(word, key, list(sweep.range()))
    if isinstance(sweep, ChoiceSweep):
        return _chosen(word, key, [_label(value) for value in sweep.list])
    raise OptionError(f"{word}: expected {SYNTAX}")


def _bounded(word: str, key: str, scale: str, bounds: tuple[float, float], kind: Any, base: int = 2) -> Parameter:
    low, high = map(float, bounds)
    whole = scale == "fidelity" or _is_whole(kind)
    checks = (
        (math.isfinite(low) and math.isfinite(high) and low < high, "expected a lower bound below the upper one"),
        (scale != "log" or low > 0, "a logarithmic scale begins above 0"),
        (
            scale != "fidelity" or (low >= 1 and base >= 2),
            "expected a lowest fidelity of 1 or more, and a base of 2 or more",
        ),
        (not whole or (low.is_integer() and high.is_integer()), "expected whole numbers as bounds"),
    )
    for holds, problem in checks:
        if not holds:
            raise OptionError(f"{word}: {problem}")
    return Parameter(key, scale, (low, high), base=base, whole=whole)


def _chosen(word: str, key: str, values: list[Any]) -> Parameter:
    distinct = list(dict.fromkeys(values))
    if len(distinct) != len(values) or not values:
        raise OptionError(f"{word}: expected different values")
    return Parameter(key, "choice", choices=tuple(distinct))


def _label(value: Any) -> Any:
    """A choice: a number as it is, anything else as its text."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else Override._get_value_element_as_str(value)


def _is_whole(kind: Any) -> bool:
    """Whether an option holds whole numbers, or null besides."""
    parts = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    return int in parts and float not in parts
