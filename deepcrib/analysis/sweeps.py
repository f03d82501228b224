"""Runs found in a folder, and what a sweep came to: a table, `sweep.json` and `sweep.csv`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deepcrib.analysis.tables import percent, plain_table
from deepcrib.errors import RunError
from deepcrib.files import csv_text, runs, write_atomic
from deepcrib.intervals import over_seeds

SWEEP_JSON, SWEEP_CSV = "sweep.json", "sweep.csv"
SEEDS = ("seed", "evaluation.seed")
_WIN_RATE = ("win_rate", "ci_low", "ci_high")
DONE, FAILED, UNFINISHED, ABSENT = "done", "failed", "unfinished", "not started"


@dataclass(frozen=True)
class SweptRun:
    """A run as its folder shows it.

    state: DONE (its summary can be read), FAILED (it says why), UNFINISHED (neither) or ABSENT (nothing is there);
    at the end of a sweep what the call did with it.
    overrides: `name=value` words of the sweep that it belongs to; none for a run by itself.
    begun: whether its options are saved there. seconds: of all its starts; None when not known.
    """

    folder: Path
    state: str
    overrides: tuple[str, ...] = ()
    begun: bool = False
    error: str = ""
    exit_code: int = 0
    seconds: float | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)

    def options(self) -> dict[str, str]:
        """Values by option, as the overrides have them."""
        return values_of(self.overrides)


def values_of(overrides: Iterable[str]) -> dict[str, str]:
    """Values by option of `name=value` words."""
    return {name: value for name, _, value in (word.lstrip("+").partition("=") for word in overrides)}


def read_run(folder: Path) -> SweptRun:
    """What a folder says about its run."""
    environment, error = (runs.read_json(folder / name) for name in (runs.ENVIRONMENT, runs.ERROR))
    begun, summary = (folder / runs.CONFIG).is_file(), runs.read_json(folder / runs.SUMMARY)
    state = DONE if summary else FAILED if error else UNFINISHED if begun else ABSENT
    told = next((words for words in (environment.get("overrides"), error.get("overrides")) if words), ())
    overrides = tuple(map(str, told)) if isinstance(told, list) else ()
    if state == DONE:
        seconds = environment["seconds"] if runs.is_number(environment.get("seconds")) else None
        return SweptRun(folder, state, overrides, begun, seconds=seconds, summary=summary)
    return SweptRun(folder, state, overrides, begun, *(failure(error) if state == FAILED else ()))


def failure(error: Mapping[str, Any]) -> tuple[str, int]:
    """(line, exit code) of what a file says about a failed run; 1 where it names no code of a failure."""
    code = error.get("exit_code")
    return str(error.get("error", "")), code if isinstance(code, int) and code > 0 else 1


def run_folders(folder: Path) -> set[Path]:
    """The folders of runs: a folder and those below it; hidden ones are left out."""
    found = {path.parent for name in (runs.CONFIG, runs.ERROR) for path in folder.rglob(name)}
    return {path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)}


def runs_below(folder: Path) -> list[SweptRun]:
    """All runs in a folder and below it, by overrides and name."""
    return sorted(
        map(read_run, run_folders(folder)), key=lambda run: (runs.natural(" ".join(run.overrides)), run.folder)
    )


def write_sweep(folder: Path, job: str, rows: Sequence[SweptRun]) -> None:
    """Write `sweep.json` and `sweep.csv`, a row a run, each whole or not at all. Raises RunError."""
    if (folder / SWEEP_CSV).exists() and "runs" not in runs.read_json(folder / SWEEP_JSON):
        raise RunError(
            f"{folder / SWEEP_CSV} is of no sweep, as there is no {SWEEP_JSON}: the table of the runs is not "
            "written there; move the file away, or name another folder with hydra.sweep.dir=FOLDER"
        )
    entries: list[dict[str, Any]] = []
    for run in rows:
        place = run.folder.relative_to(folder).as_posix()
        entries.append(asdict(run) | {"folder": place, "overrides": run.options(), "error": run.error or None})
    time = datetime.now().astimezone().isoformat(timespec="seconds")
    runs.write_json(folder / SWEEP_JSON, {"job": job, "time": time, "runs": entries})
    write_atomic(folder / SWEEP_CSV, _csv(entries))


def _csv(entries: Sequence[Mapping[str, Any]]) -> str:
    """A line a run: folder, state, error, seconds; a column an override; a column a metric, `summary.` before it."""
    lines = [
        {name: entry[name] for name in ("folder", "state", "error", "seconds")}
        | entry["overrides"]
        | {
            name: json.dumps(value) if isinstance(value, list | dict) else value
            for name, value in runs.flat(entry["summary"], "summary.")
        }
        for entry in entries
    ]
    names = list(dict.fromkeys(name for line in lines for name in line))
    names.sort(key=lambda name: name.startswith("summary."))  # stable: the options of all runs come before metrics
    return csv_text([names, *([line.get(name, "") for name in names] for line in lines)])


def sweep_table(title: str, rows: Sequence[SweptRun], width: int) -> Table:
    """A row a run: the options in which the runs differ, state, win rate, seconds.

    width: characters that there are. Where a column for each option does not fit, one column holds them all.
    """
    overrides = [run.options() for run in rows]
    names = runs.differing(overrides)
    heads = short_names(names, names)
    seconds = ["" if run.seconds is None else f"{run.seconds:,.0f}" for run in rows]
    results = [("state", [run.state for run in rows]), _win_rate_column(rows), ("s", seconds)]
    options = [(head, [found.get(name, "") for found in overrides]) for head, name in zip(heads, names, strict=True)]
    broken = [
        (head if len(head) <= max(map(len, cells)) else re.sub(r"(?<=[._])", "\n", head), cells)
        for head, cells in options
    ]  # heads on several lines where they are wider than what is below them
    table = _table(title, [*broken, *results])
    if Console(width=1000).measure(table).maximum <= width:
        return table
    lines = ["\n".join(_words(found, names, heads)) for found in overrides]
    return _table(title, [("run", lines), *results], show_lines=True)


def means_over_seeds(rows: Iterable[SweptRun]) -> list[SweptRun]:
    """A row for several done runs that differ in seeds alone: mean, Student's t interval; its state is their number."""
    groups: dict[tuple[str, ...], list[SweptRun]] = {}
    for run in rows:
        if run.summary:
            fixed = (word for word in run.overrides if not values_of([word]).keys() & set(SEEDS))
            groups.setdefault(tuple(sorted(fixed)), []).append(run)
    found = []
    for words, group in groups.items():
        matches: list[Mapping[str, Any]] = [_matches(run.summary) for run in group]
        summary: dict[str, Any] = {}
        for name in sorted(set.intersection(*map(set, matches)), key=list(matches[0]).index) if len(group) > 1 else ():
            games = min(int(match[name].get("games") or 0) for match in matches)
            summary[name] = over_seeds([match[name]["win_rate"] for match in matches], games).named("win_rate", "ci")
        if summary:
            summary |= summary.pop("", {})
            seconds = sum(run.seconds or 0.0 for run in group) / len(group)
            found.append(SweptRun(group[0].folder, f"{len(group)} seeds", words, seconds=seconds, summary=summary))
    return found


def _table(title: str, columns: Sequence[tuple[str, Sequence[str]]], show_lines: bool = False) -> Table:
    """Of text; the last column holds numbers."""
    heads, cells = zip(*columns, strict=True)
    rows = [[*map(escape, row)] for row in zip(*cells, strict=True)]
    table = plain_table(title, [*map(escape, heads)], rows, prose=True)
    table.box, table.show_lines = box.HEAVY_HEAD if show_lines else box.SIMPLE_HEAD, show_lines
    table.columns[-1].justify = "right"
    return table


def _words(overrides: Mapping[str, str], names: Sequence[str], heads: Sequence[str]) -> list[str]:
    """`head=value` for each of the options that a run was told."""
    return [f"{head}={overrides[name]}" for name, head in zip(names, heads, strict=True) if name in overrides]


def short_names(names: Iterable[str], every: Iterable[str]) -> list[str]:
    """The last part of each option's name, or all of it where the name of another one of `every` ends so."""
    ends = Counter(name.rpartition(".")[2] for name in every)
    return [end if ends[end] == 1 else name for name in names for end in [name.rpartition(".")[2]]]


def _win_rate_column(rows: Sequence[SweptRun]) -> tuple[str, list[str]]:
    """Head and cells; the opponent's name stands in the head where it is the same one in all."""
    rates = [_rates(run.summary) for run in rows]
    opponents = {name for found in rates for name in found}
    if len(opponents) == 1:
        return f"win rate [95%]\n{opponents.pop()}".rstrip(), ["".join(found.values()) for found in rates]
    cells = ["\n".join(f"{rate} {name.removeprefix('against ')}" for name, rate in found.items()) for found in rates]
    return "win rate [95%] against", cells


def error_lines(rows: Sequence[SweptRun]) -> list[str]:
    """`seed=1: what went wrong`, for every failed run."""
    names = runs.differing([run.options() for run in rows])
    told = [(", ".join(_words(run.options(), names, names)), run.error) for run in rows]
    return [f"{words}: {error}" if words else error for words, error in told if error]


def win_rates(summary: Mapping[str, Any]) -> list[str]:
    """`45.0% [43.1, 46.9] against greedy` for every win rate in a summary, of the summary itself without a name."""
    return [f"{rate} {name}".rstrip() for name, rate in _rates(summary).items()]


def _rates(summary: Mapping[str, Any]) -> dict[str, str]:
    """Win rates as text by `against NAME`; by nothing where the summary itself is one."""
    found = _matches(summary).items()
    return {name and f"against {name}": percent(*(float(match[key]) for key in _WIN_RATE)) for name, match in found}


def _matches(summary: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Those of a summary that have a win rate, by opponent; by nothing where the summary itself is one."""
    return {
        name: match
        for name, match in {"": summary, **summary}.items()
        if isinstance(match, Mapping) and all(runs.is_number(match.get(key)) for key in _WIN_RATE)
    }
