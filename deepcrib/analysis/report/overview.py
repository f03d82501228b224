"""What the runs of a report are: their options, machines and time, and those that came to nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from deepcrib.analysis.report import paper2019
from deepcrib.analysis.report.page import NONE, Page, Section, table
from deepcrib.analysis.report.run_folders import FAILED, FINISHED, UNFINISHED, FoundRun
from deepcrib.files.runs import differing, natural

FEW_VALUES, MOST_VALUES = 3, 8
"""Values of an option that are listed even if each run has its own, and at all; of more, as in a search, the range."""
_COLUMNS = ("seed", "algorithm.name", "play_network.name")


def overview_section(
    runs: Sequence[FoundRun], repeats: Sequence[FoundRun], page: Page, notes: Sequence[str] = ()
) -> Section:
    """How many runs in which state, on what, for how long; options that differ; failed and unfinished runs."""
    states = Counter(run.state for run in runs)
    counted = ", ".join(f"{states[state]} {state}" for state in (FINISHED, FAILED, UNFINISHED) if states[state])
    known = [run for run in runs if run.options]
    parts = [f"Runs: {counted}. {_when(known)}", "\n".join(f"- {line}" for line in (*_origins(known), *notes))]
    if repeats:
        names = ", ".join(run.name for run in repeats)
        parts.append(f"Left out, since a later run has the same options and seed: {names}.")
    rows = [(name, *_spread(name, known)) for name in differing([run.options for run in known])]
    if rows:
        parts += ["Options that differ between the runs:", table(("option", "values", "runs of each"), rows)]
    lost = [run for run in runs if run.state != FINISHED]
    if lost:
        parts += ["Runs that came to nothing, and count nowhere below:", _lost(lost, page)]
    data = {
        "states": dict(states),
        "left_out": [str(run.folder) for run in repeats],
        "lost": [{"folder": str(run.folder), "state": run.state, "error": run.error} for run in lost],
    }
    return Section("The runs", [part for part in parts if part], data)


def _when(runs: Sequence[FoundRun]) -> str:
    starts = [datetime.fromisoformat(str(run.environment["time"])) for run in runs if run.environment.get("time")]
    total = sum(run.seconds for run in runs)
    if not starts:
        return f"{total:,.0f} seconds of runs in all."
    return f"Started {min(starts):%Y-%m-%d %H:%M} to {max(starts):%Y-%m-%d %H:%M}; {total:,.0f} seconds of runs in all."


def _origins(runs: Sequence[FoundRun]) -> list[str]:
    """Commit, versions and machine, each once."""
    lines: dict[str, None] = {}
    for run in runs:
        found = run.environment
        changed = found.get("changed_files")
        edited = f" with {changed} changed files" if changed else ""
        lines[f"commit {str(found.get('commit') or 'not known')[:12]}{edited}"] = None
    for run in runs:
        versions = run.environment.get("versions", {})
        chosen = [f"{name} {versions[name]}" for name in ("deepcrib", "python", "torch", "numba") if name in versions]
        lines[", ".join(chosen)] = None
    for run in runs:
        lines[_machine(run.environment.get("machine", {}))] = None
    return [line for line in lines if line]


def _machine(machine: Mapping[str, Any]) -> str:
    gpus = "".join(f", {name}" for name in machine.get("gpus") or ())
    if "processor" not in machine:
        return ""
    return f"{machine['processor']}, {machine.get('cores')} cores, {machine.get('memory_gb')} GB{gpus}"


def _spread(name: str, runs: Sequence[FoundRun]) -> tuple[str, str]:
    """An option's values, and how many runs have each; of a number that is another one nearly everywhere, its range."""
    counts = Counter(str(run.options.get(name, "missing")) for run in runs)
    numbers = sorted({value for run in runs if isinstance(value := run.options.get(name), int | float)})
    if len(counts) > MOST_VALUES or len(counts) == len(runs) > FEW_VALUES:
        values = f"{numbers[0]:.4g} to {numbers[-1]:.4g}" if len(numbers) == len(counts) else NONE
        return values, f"{len(counts)} values"
    in_order = list(map(str, numbers)) if len(numbers) == len(counts) else sorted(counts, key=natural)
    return ", ".join(in_order), ", ".join(str(counts[text]) for text in in_order)


def _lost(runs: Sequence[FoundRun], page: Page) -> str:
    rows = [
        (
            run.name,
            run.state,
            *(str(run.options.get(name, NONE)) for name in _COLUMNS),
            run.error or NONE,
            page.command([run]),
        )
        for run in runs
    ]
    names = [name.partition(".")[0] for name in _COLUMNS]
    return table(("run", "state", *names, "error", "command"), rows)


def paper_line() -> str:
    """Where the paper's values come from."""
    return (
        "Paper: Bélanger, Tremblay, Vachon and Viviano, Mastering Cribbage using Deep Reinforcement Learning, 2019; "
        f"{paper2019.ITERATIONS} iterations, one run each, {paper2019.GAMES:,} games an evaluation."
    )
