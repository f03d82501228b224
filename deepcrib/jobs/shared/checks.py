"""What an option's value must be beyond its type: checks that name in a few words what they expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Any

Check = Callable[[Any], str | None]
"""Returns what was expected when the value is not it, else None."""


def one_of(choices: Collection[Any]) -> Check:
    """One of a few words or numbers."""
    return lambda value: None if value in choices else f"expected one of {', '.join(map(str, choices))}"


def between(low: float, high: float) -> Check:
    """A number from `low` to `high`, both allowed."""
    return lambda value: None if low <= value <= high else f"expected {low:g} to {high:g}"


def at_least(low: int) -> Check:
    """A number not below `low`."""
    return lambda value: None if low <= value < math.inf else f"expected {low} or more"


def positive(value: float) -> str | None:
    """A finite number above 0."""
    return None if 0 < value < math.inf else "expected a number above 0"


def share(value: float) -> str | None:
    """Above 0, up to 1."""
    return None if 0 < value <= 1 else "expected more than 0, at most 1"


def optional(check: Check) -> Check:
    """None, or what `check` accepts."""
    return lambda value: None if value is None else check(value)


def if_number(check: Check) -> Check:
    """What `check` accepts where the job takes a number; whatever else it takes, paths say, the job checks itself."""
    return lambda value: check(value) if isinstance(value, int | float) else None


def each(check: Check, least: int = 0) -> Check:
    """A list of `least` or more values that `check` accepts."""

    def check_list(values: list[Any]) -> str | None:
        if len(values) < least:
            return f"expected {least} or more values"
        return next((problem for problem in map(check, values) if problem), None)

    return check_list


def distinct(check: Check) -> Check:
    """A list that `check` accepts, without anything twice."""
    return lambda values: check(values) or (None if len(set(values)) == len(values) else "expected nothing twice")


def ascending(check: Check) -> Check:
    """A list that `check` accepts, each value above the one before it."""

    def check_order(values: list[Any]) -> str | None:
        rises = all(low < high for low, high in pairwise(values))
        return check(values) or (None if rises else "expected ascending values")

    return check_order


def anything(value: Any) -> None:
    """Whatever it is."""
    return None


def seed_value(value: int) -> str | None:
    """What NumPy and PyTorch both take as a seed."""
    return None if 0 <= value < 2**63 else "expected a whole number from 0 to 2^63 - 1"


def torch_device(value: str) -> str | None:
    """A device that PyTorch can use here."""
    if value == "cpu":
        return None
    import torch  # seconds, which those who name no other device do not wait

    try:
        device = torch.device(value)
    except RuntimeError:
        return "expected a PyTorch device such as cpu, cuda or cuda:1"
    if device.type == "cpu":
        return None
    if device.type != "cuda":
        return "expected cpu or cuda"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return None if (device.index or 0) < count else f"expected a device of this machine ({count} GPUs)"
