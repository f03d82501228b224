"""A search's trials: what a run's summary measures, and tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas
from rich.table import Table

from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.files.runs import flat
from deepcrib.intervals import Z

SHOWN_TRIALS = 10
_BOUNDS = (("{}_low", "{}_high"), ("ci_low", "ci_high"))


def measured(summary: Mapping[str, Any], objective: str) -> tuple[float, float | None]:
    """The number at a dotted path of a summary, and its standard error where the summary has its 95% interval.

    The interval stands beside the number: `points_per_hand_low` and `_high`, or `ci_low` and `ci_high` of a win rate.
    """
    numbers = ((name, value) for name, value in flat(summary) if isinstance(value, int | float))
    found = {name: float(value) for name, value in numbers if not isinstance(value, bool)}
    if objective not in found:
        raise OptionError(f"hydra.sweeper.objective={objective}: expected one of {', '.join(sorted(found))}")
    parent, dot, name = objective.rpartition(".")
    for low, high in _BOUNDS[: 2 if name == "win_rate" else 1]:
        bounds = [found.get(f"{parent}{dot}{bound.format(name)}", math.nan) for bound in (low, high)]
        if all(map(math.isfinite, bounds)):
            return found[objective], (bounds[1] - bounds[0]) / (2 * Z)
    return found[objective], None


@dataclass(frozen=True)
class TrialRow:
    """One trial of a search.

    state: new, reserved (running), interrupted (given back), suspended, completed or broken.
    values: what was tried, by option. objective: in its own unit and direction; None before it is known.
    seconds: of the last start. error: why it is broken, else empty.
    """

    number: int
    id: str
    state: str
    values: dict[str, Any]
    objective: float | None
    standard_error: float | None
    seconds: float | None
    worker: str
    folder: str
    error: str


def best_first(rows: Sequence[TrialRow], maximize: bool) -> list[TrialRow]:
    """The completed trials, the best one first; of equal ones the earlier."""
    completed = [row for row in rows if row.state == "completed" and row.objective is not None]
    sign = -1.0 if maximize else 1.0
    return sorted(completed, key=lambda row: (sign * (row.objective or 0.0), row.number))


def states_text(rows: Sequence[TrialRow]) -> str:
    """How many trials are in which state: `18 completed, 2 broken`."""
    counts = Counter(row.state for row in rows)
    return ", ".join(f"{count} {state}" for state, count in counts.most_common()) or "no trials"


def trials_csv(rows: Sequence[TrialRow]) -> str:
    """One line a trial, one column an option; empty where there is no value."""
    lines = []
    for row in rows:
        plain = asdict(row)
        values = plain.pop("values")
        head = {name: plain.pop(name) for name in ("number", "id", "state")}
        lines.append(head | dict(sorted(values.items())) | plain)
    return str(pandas.DataFrame(lines).to_csv(index=False, lineterminator="\n"))


def trials_table(rows: Sequence[TrialRow], objective: str, maximize: bool, title: str) -> Table:
    """The best trials with the objective's 95% interval and their values."""
    best = best_first(rows, maximize)[:SHOWN_TRIALS]
    options = sorted({key for row in best for key in row.values})
    heads = ["trial", f"{objective}\n[95%]", *(key.replace(".", "\n.") for key in options), "s"]
    lines = [
        [
            row.id[:12],
            _with_interval(row),
            *(_value(row.values.get(key)) for key in options),
            "" if row.seconds is None else f"{row.seconds:.0f}",
        ]
        for row in best
    ]
    return plain_table(title, heads, lines)


def _with_interval(row: TrialRow) -> str:
    assert row.objective is not None
    if row.standard_error is None:
        return f"{row.objective:.4g}"
    half = Z * row.standard_error
    return f"{row.objective:.4f} [{row.objective - half:.4f}, {row.objective + half:.4f}]"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
