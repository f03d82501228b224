"""A search's trials as tables and text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from rich.table import Table

from deepcrib.analysis.tables import plain_table
from deepcrib.files import csv_records
from deepcrib.intervals import Z

SHOWN_TRIALS = 10


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

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return asdict(self)


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
    options = sorted({key for row in rows for key in row.values})
    plain = [item.name for item in fields(TrialRow) if item.name != "values"]
    records = [{**row.values, **{name: getattr(row, name) for name in plain}} for row in rows]
    return csv_records([*plain[:3], *options, *plain[3:]], records)


def trials_table(rows: Sequence[TrialRow], objective: str, maximize: bool, title: str) -> Table:
    """The best trials with the objective's 95% interval and their values."""
    best = best_first(rows, maximize)[:SHOWN_TRIALS]
    options = sorted({key for row in best for key in row.values})
    lines = [
        [row.id[:12], _with_interval(row), *(_value(row.values.get(key)) for key in options), _seconds(row.seconds)]
        for row in best
    ]
    return plain_table(
        title, ["trial", f"{objective}\n[95%]", *(key.replace(".", "\n.") for key in options), "s"], lines
    )


def _with_interval(row: TrialRow) -> str:
    assert row.objective is not None
    if row.standard_error is None:
        return f"{row.objective:.4g}"
    half = Z * row.standard_error
    return f"{row.objective:.4f} [{row.objective - half:.4f}, {row.objective + half:.4f}]"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.0f}"
