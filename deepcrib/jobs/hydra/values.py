"""Options that jobs share, and how every option of a job is held against its check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from deepcrib.errors import OptionError
from deepcrib.jobs.hydra.options_together import check_together
from deepcrib.jobs.shared.checks import Check, at_least, if_number, optional, seed_value, torch_device
from deepcrib.jobs.shared.rules import RULES_CHECKS, RulesOptions

COMMON_CHECKS: dict[str, Check] = {
    "seed": optional(seed_value),
    "threads": at_least(0),
    "games": if_number(at_least(1)),
    "matches": at_least(1),
    "device": torch_device,
}
"""Of the options at the top of every job's config."""


def check_values(config: Any) -> None:
    """Refuse the first option of a job's config, nested ones included, whose value is out of its range."""
    for path, value, check in _checked_fields(config, "", COMMON_CHECKS):
        problem = check(value)
        if problem:
            raise OptionError(f"{path}={value}: {problem}")
    check_together(config)


def _checked_fields(node: Any, prefix: str, checks: dict[str, Check]) -> Iterator[tuple[str, Any, Check]]:
    for item in fields(node):
        value = getattr(node, item.name)
        if item.name in checks:
            yield prefix + item.name, value, checks[item.name]
        if is_dataclass(value):
            yield from _checked_fields(value, f"{prefix}{item.name}.", _checks_of(type(value)))


def _checks_of(kind: type) -> dict[str, Check]:
    if kind is RulesOptions:
        return RULES_CHECKS
    from deepcrib.jobs.hydra.options import CHECKS  # with PyTorch, which a job without learners does not wait for

    return CHECKS.get(kind, {})
