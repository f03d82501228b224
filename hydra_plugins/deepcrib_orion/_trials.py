"""A search's trials: what a run's summary measures, and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas
from rich.table import Table

from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.files.runs import flat
from deepcrib.intervals import Z

SHOWN_TRIALS = 10
HEAD = ["number", "id", "state"]
TAIL = ["objective", "standard_error", "seconds", "worker", "folder", "error"]
"""Columns of the table of trials before and after those of the options that are searched."""
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


def states_text(trials: pandas.DataFrame) -> str:
    """How many trials are in which state: `18 completed, 2 broken`."""
    counts = trials["state"].value_counts()
    return ", ".join(f"{count} {state}" for state, count in counts.items()) or "no trials"


def best_first(trials: pandas.DataFrame, maximize: bool) -> pandas.DataFrame:
    """The completed trials, the best one first; of equal ones the earlier."""
    completed = trials[trials["state"] == "completed"]
    return completed.sort_values("objective", ascending=not maximize, kind="stable")


def trials_table(trials: pandas.DataFrame, objective: str, maximize: bool, title: str) -> Table:
    """The best trials with the objective's 95% interval and their values."""
    best = best_first(trials, maximize)[:SHOWN_TRIALS]
    options = [name for name in best.columns if name not in (*HEAD, *TAIL)]
    heads = ["trial", f"{objective}\n[95%]", *(key.replace(".", "\n.") for key in options), "s"]
    lines = [
        [row["id"][:12], _with_interval(row), *(_text(row[key]) for key in options), f"{row['seconds']:.0f}"]
        for _, row in best.iterrows()
    ]
    return plain_table(title, heads, lines)


def _with_interval(row: Any) -> str:
    value, error = row["objective"], row["standard_error"]
    if pandas.isna(error):
        return f"{value:.4g}"
    return f"{value:.4f} [{value - Z * error:.4f}, {value + Z * error:.4f}]"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
