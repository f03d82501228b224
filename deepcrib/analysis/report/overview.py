"""What the runs of a report are: their options, machines and time, and those that came to nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from deepcrib.analysis.report.page import Page, Section, Table
from deepcrib.analysis.report.result import labels
from deepcrib.analysis.report.runs import (
    ALGORITHM,
    FAILED,
    FINISHED,
    NETWORK,
    OTHERWISE,
    OWN,
    SEEDS,
    UNFINISHED,
    differing_options,
)
from deepcrib.analysis.tables import NONE
from deepcrib.files.runs import is_number, natural, starts

FEW_VALUES, MOST_VALUES = 3, 8
"""Values of an option that are listed even if each run has its own, and at all; of more, as in a search, the range."""


def overview_section(runs: pd.DataFrame, repeats: pd.DataFrame, page: Page) -> Section:
    """How many runs in which state, on what, for how long; options that differ; failed and unfinished runs."""
    states = runs.state.value_counts()
    counted = ", ".join(f"{states[state]} {state}" for state in (FINISHED, FAILED, UNFINISHED) if state in states)
    known = runs[runs.environment.map(bool)]
    parts: list[str | Table] = [f"Runs: {counted}. {_when(known)}", "\n".join(f"- {line}" for line in _origins(known))]
    if len(repeats):
        parts += [
            "Left out, since a later run has the same options and seed:",
            Table([{"run": n} for n in repeats.name]),
        ]
    if rows := [_spread(name, known[name]) for name in _differing(known)]:
        parts += ["Options that differ between the runs:", Table(rows)]
    if len(lost := runs[runs.state != FINISHED]):
        rows = [_lost(run, page.command(lost.loc[[index]])) for index, run in lost.iterrows()]
        parts += ["Runs that came to nothing, and count nowhere below:", Table(rows)]
    return Section("The runs", parts)


def options_sections(setups: Sequence[pd.DataFrame]) -> list[Section]:
    """Every option of each setup by its full name: those that differ, a column a setup, and what all have in common."""
    if not setups:
        return []
    firsts = pd.concat([setup.iloc[:1] for setup in setups])
    names, differing = labels(setups), [name for name in _differing(firsts) if name not in (*SEEDS, OTHERWISE)]
    told = [name for name in firsts.columns if name not in (*OWN, *SEEDS, OTHERWISE, *differing_options(firsts))]
    common = [name for name in told if firsts[name].iloc[0] != ""]
    parts: list[str | Table] = []
    if differing and len(setups) <= MOST_VALUES:
        rows = [{"option": name} | dict(zip(names, map(_cell, firsts[name]), strict=True)) for name in differing]
        parts += ["That differ between the setups:", Table(rows)]
    rows = [{"option": name, "value": _cell(firsts[name].iloc[0])} for name in common]
    return [Section("Options", [*parts, "The same in all setups:", Table(rows)])]


def _cell(value: Any) -> str:
    return NONE if value != value else str(value)


def _differing(runs: pd.DataFrame) -> list[str]:
    """Of runs of several learners without what stands for a network and an algorithm where there are none."""
    names = differing_options(runs)
    return [name for name in names if "learner.name" not in names or name not in (NETWORK, ALGORITHM)]


def _when(runs: pd.DataFrame) -> str:
    starts = [datetime.fromisoformat(found["time"]) for found in runs.environment if found.get("time")]
    span = f"Started {min(starts):%Y-%m-%d %H:%M} to {max(starts):%Y-%m-%d %H:%M}; " if starts else ""
    return f"{span}{runs.spent.sum():,.0f} seconds of runs in all."


def _origins(runs: pd.DataFrame) -> list[str]:
    """Commit, versions and machine, each once."""
    every = [start for found in runs.environment for start in starts(found)]
    lines = dict.fromkeys(describe(start) for describe in (_commit, _versions, _machine) for start in every)
    return [line for line in lines if line]


def _commit(environment: Mapping[str, Any]) -> str:
    changed = environment.get("changed_files")
    edited = f" with {changed} changed files" if changed else ""
    return f"commit {str(environment.get('commit') or 'not known')[:12]}{edited}"


def _versions(environment: Mapping[str, Any]) -> str:
    versions = environment.get("versions", {})
    return ", ".join(
        f"{name} {versions[name]}" for name in ("deepcrib", "python", "torch", "numba") if name in versions
    )


def _machine(environment: Mapping[str, Any]) -> str:
    machine = environment.get("machine", {})
    gpus = "".join(f", {name}" for name in machine.get("gpus") or ())
    if "processor" not in machine:
        return ""
    return f"{machine['processor']}, {machine.get('cores')} cores, {machine.get('memory_gb')} GB{gpus}"


def _spread(name: str, values: pd.Series) -> dict[str, str]:
    """An option's values, and how many runs have each; of a number that is another one nearly everywhere, its range."""
    counts = values.map(lambda value: "missing" if value != value else str(value)).value_counts()
    numbers = values[values.map(is_number)]
    if len(counts) > MOST_VALUES or len(counts) == len(values) > FEW_VALUES:
        text = f"{min(numbers):.4g} to {max(numbers):.4g}" if len(numbers) == len(values) else NONE
        return {"option": name, "values": text, "runs of each": f"{len(counts)} values"}
    ordered = map(str, sorted(set(numbers))) if len(numbers) == len(values) else sorted(counts.index, key=natural)
    counts = counts[list(ordered)]
    return {"option": name, "values": ", ".join(counts.index), "runs of each": ", ".join(map(str, counts))}


def _lost(run: pd.Series, command: str) -> dict[str, Any]:
    options = {"seed": "seed", "algorithm": ALGORITHM, "play network": NETWORK}
    told = {column: run.get(name) for column, name in options.items()}
    return {"run": run["name"], "state": run.state, **told, "error": run.error, "command": command}
