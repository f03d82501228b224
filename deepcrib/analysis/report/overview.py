"""The runs of a report: their options, machines and time, and those that came to nothing."""

from __future__ import annotations

from typing import Any

import pandas as pd

from deepcrib.analysis.report.page import Page, table
from deepcrib.analysis.report.runs import ALGORITHM, FAILED, FINISHED, NETWORK, OWN, SEEDS, SETUP, UNFINISHED
from deepcrib.analysis.tables import NONE
from deepcrib.files.runs import starts

MOST_VALUES = 8
"""Values of an option, and setups with a column each, that are listed."""


def overview_section(runs: pd.DataFrame, repeats: pd.DataFrame, page: Page) -> list[str]:
    """How many runs in which state, on what, for how long; failed and unfinished runs."""
    states = runs.state.value_counts()
    counted = ", ".join(f"{states[state]} {state}" for state in (FINISHED, FAILED, UNFINISHED) if state in states)
    known = runs[runs.environment.map(bool)]
    parts = [f"Runs: {counted}. {_when(known)}", "\n".join(f"- {line}" for line in _origins(known))]
    if len(repeats):
        parts.append(f"Left out, since a later run has the same options and seed: {', '.join(repeats.name)}.")
    if len(lost := runs[runs.state != FINISHED]):
        rows = [_lost(run, page) for _, run in lost.iterrows()]
        parts += ["Runs that came to nothing, and count nowhere above:", table(rows)]
    return parts


def options_section(trained: pd.DataFrame) -> list[str]:
    """Every option of each setup by its full name: those that differ, a column a setup, and what all have in common."""
    if trained.empty:
        return []
    firsts = trained.drop_duplicates(SETUP).set_index(SETUP).drop(columns=[*OWN, *SEEDS], errors="ignore").T
    texts = firsts.map(lambda value: NONE if value is None or value != value else str(value))
    differing = texts.nunique(axis=1) > 1
    parts = []
    if differing.any() and texts.shape[1] <= MOST_VALUES:
        rows = [{"option": name} | row.to_dict() for name, row in texts[differing].iterrows()]
        parts = ["That differ between the setups:", table(rows)]
    rows = [{"option": name, "value": value} for name, value in texts[~differing].iloc[:, 0].items()]
    return [*parts, "The same in all setups:", table(rows)]


def _when(runs: pd.DataFrame) -> str:
    times = sorted(str(environment["time"])[:16] for environment in runs.environment if environment.get("time"))
    span = f"Started {times[0]} to {times[-1]}; " if times else ""
    return f"{span}{runs.spent.sum():,.0f} seconds of runs in all."


def _origins(runs: pd.DataFrame) -> list[str]:
    """Commit, versions and machine, each once."""
    every = [start for environment in runs.environment for start in starts(environment)]
    return list(
        dict.fromkeys(line for describe in (_commit, _versions, _machine) for line in map(describe, every) if line)
    )


def _commit(start: dict[str, Any]) -> str:
    edited = f" with {start['changed_files']} changed files" if start.get("changed_files") else ""
    return f"commit {str(start.get('commit') or 'not known')[:12]}{edited}"


def _versions(start: dict[str, Any]) -> str:
    versions = start.get("versions", {})
    return ", ".join(
        f"{name} {versions[name]}" for name in ("deepcrib", "python", "torch", "numba") if name in versions
    )


def _machine(start: dict[str, Any]) -> str:
    machine = start.get("machine", {})
    if "processor" not in machine:
        return ""
    gpus = machine["gpus"] if isinstance(machine.get("gpus"), list) else []
    memory = f"{machine.get('memory_gb')} GB"
    return ", ".join([str(machine["processor"]), f"{machine.get('cores')} cores", memory, *map(str, gpus)])


def _lost(run: pd.Series, page: Page) -> dict[str, Any]:
    options = {"seed": run.get("seed"), "algorithm": run.get(ALGORITHM), "play network": run.get(NETWORK)}
    return {
        "run": run["name"],
        "state": run.state,
        **options,
        "error": run.error,
        "command": page.command([run.commands]),
    }
