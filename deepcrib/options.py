"""What an option is: a dataclass's field with its default, its help, and a check of what its type cannot express.

Checks name in a few words what they expected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field, fields, is_dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

from deepcrib.errors import did_you_mean

Check = Callable[[Any], str | None]
"""Returns what was expected when the value is not it, else None."""


def option(default: Any, help: str = "", check: Check | None = None, *, spec: bool = False) -> Any:
    """A field of a dataclass of options: its default (a list or dict is copied), help, what its type leaves open.

    spec: whether it names an agent or a file, or is a list of these, which not everybody may (`files.trust`).
    """
    metadata = {"check": check, "help": help, "spec": spec}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def problems(options: Any, prefix: str = "") -> Iterator[str]:
    """A line for each option, nested ones included, whose value its check refuses."""
    for item in fields(options):
        value, check = getattr(options, item.name), item.metadata.get("check")
        if problem := check and check(value):
            yield f"{prefix}{item.name}={value}: {problem}"
        if is_dataclass(value):
            yield from problems(value, f"{prefix}{item.name}.")


def one_of(*choices: Any) -> Check:
    """One of a few words, numbers, or true and false."""
    names = [str(choice).lower() if isinstance(choice, bool) else str(choice) for choice in choices]
    return lambda value: (
        None if value in choices else f"{did_you_mean(str(value), names)}expected one of {', '.join(names)}"
    )


def one_in(table: str) -> Check:
    """One of the names in a table, `module:NAME`, which is imported when there is a value to check."""
    return lambda value: one_of(*object_at(table))(value)


def named_in(table: str) -> Check:
    """One of the names of a `plugins.Registry`, `module:NAME`, or code of one's own, imported to check a value."""
    return lambda value: object_at(table).problem(value)


def object_at(place: str) -> Any:
    """What `module:name` is, without a check: for names that the package's own tables hold."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def between(low: float, high: float) -> Check:
    """A number from `low` to `high`, both allowed."""
    return lambda value: None if low <= value <= high else f"expected {low:g} to {high:g}"


def at_least(low: int) -> Check:
    """A number not below `low`."""
    return lambda value: None if low <= value < math.inf else f"expected {low} or more"


def positive(value: float) -> str | None:
    """A finite number above 0."""
    return None if 0 < value < math.inf else "expected a number above 0"


def fraction(value: float) -> str | None:
    """Above 0, up to 1."""
    return None if 0 < value <= 1 else "expected more than 0, at most 1"


def optional(check: Check) -> Check:
    """None, or what `check` accepts."""
    return lambda value: None if value is None else check(value)


def each(check: Check, least: int = 0, distinct: bool = False, ascending: bool = False) -> Check:
    """A list of `least` or more values that `check` accepts; with nothing twice, or each above the one before it."""

    def check_list(values: list[Any]) -> str | None:
        if len(values) < least:
            return f"expected {least} or more values"
        if problem := next(filter(None, map(check, values)), None):
            return problem
        if distinct and len(set(values)) != len(values):
            return "expected nothing twice"
        if ascending and any(low >= high for low, high in pairwise(values)):
            return "expected ascending values"
        return None

    return check_list


def anything(value: Any) -> None:
    """Whatever it is."""


def seed_value(value: int) -> str | None:
    """What NumPy and PyTorch both take as a seed."""
    return None if 0 <= value < 2**63 else "expected a whole number from 0 to 2^63 - 1"
