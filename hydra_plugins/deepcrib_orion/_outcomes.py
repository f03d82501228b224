"""What came of a trial's run: the objective and its standard error, read from the run's summary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deepcrib.errors import OptionError
from deepcrib.files.runs import flat
from deepcrib.intervals import Z

_BOUNDS = (("{}_low", "{}_high"), ("ci_low", "ci_high"))


def measured(summary: Mapping[str, Any], objective: str) -> tuple[float, float | None]:
    """The number at a dotted path of a summary, and its standard error where the summary has its 95% interval.

    The interval stands beside the number: `points_per_hand_low` and `_high`, or `ci_low` and `ci_high` of a win rate.
    """
    numbers = ((name, value) for name, value in flat(summary) if isinstance(value, int | float))
    found = {name: float(value) for name, value in numbers if not isinstance(value, bool)}
    if objective not in found:
        raise OptionError(f"hydra.sweeper.objective={objective}: expected one of {', '.join(sorted(found))}")
    return found[objective], _standard_error(found, objective)


def _standard_error(found: Mapping[str, float], objective: str) -> float | None:
    parent, _, name = objective.rpartition(".")
    prefix = f"{parent}." if parent else ""
    for low, high in _BOUNDS[: 2 if name == "win_rate" else 1]:
        bounds = [found.get(prefix + bound.format(name)) for bound in (low, high)]
        if None not in bounds:
            error = (bounds[1] - bounds[0]) / (2 * Z)  # type: ignore[operator]
            return error if math.isfinite(error) else None
    return None
