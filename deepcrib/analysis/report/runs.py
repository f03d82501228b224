"""Run folders read back into one table: a row a run, with its options as columns by dotted name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import pandas as pd

from deepcrib.analysis.report.run_files import COUNT, START, check, check_match, read_mapping, read_yaml
from deepcrib.analysis.sweeps import run_folders, short_names
from deepcrib.errors import OptionError, RunError
from deepcrib.files.runs import CONFIG, ENVIRONMENT, ERROR, SUMMARY, flat, natural, starts
from deepcrib.files.trust import require_no_way_out
from deepcrib.learners.registry import LEARNERS
from deepcrib.training.progress import PROGRESS_FILE, SECONDS, Curve, read_progress

FINISHED, FAILED, UNFINISHED = "finished", "failed", "unfinished"
NETWORK, ALGORITHM, SETUP = "play_network.name", "algorithm.name", "setup"
OWN = ("folder", "name", "state", "error", "study", "commands", "overrides", "environment", "summary", "spent")
"""Columns of `load_runs` that are no options."""
SEEDS = ("seed", "resume", "evaluation.seed")


def load_runs(places: Sequence[str]) -> pd.DataFrame:
    """Every run in or below folders, which may be named by patterns such as `outputs/train/2026-11-*`.

    Columns: folder; name, its path below what was searched; state; error, of a failed run, in one line; study, the
    folder of the search that it is a trial of; commands, that started and resumed it, and overrides, a word each;
    environment; summary, None unless it has finished; spent, seconds with matches (of a killed run, of training); and
    every option, nan where a run has none of that name. Runs of other jobs than train, other programs' files and hidden
    folders are passed over. Raises OptionError for a place that is no folder, RunError where there are no runs or a
    file cannot be read.
    """
    read_metrics.cache_clear()  # a run may have learned more since the last report of this process
    roots = [root for place in places for root in _folders(place)]
    folders = {path.resolve(): root.resolve() for root in roots for path in run_folders(root)}
    rows = [row for folder in sorted(folders, key=natural) if (row := _row(folder, folders[folder]))]
    if not rows:
        named = places[0] if len(places) == 1 else f"[{','.join(places)}]"
        raise RunError(
            f"runs={named}: no runs of deepcrib train there: expected folders that hold {CONFIG}, or hold such folders"
        )
    return pd.DataFrame(rows, dtype=object)


def _folders(place: str) -> list[Path]:
    paths = [Path(path) for path in sorted(glob(place))] if has_magic(place) else [Path(place)]
    folders = [path for path in paths if path.is_dir()]
    if not folders:
        raise OptionError(f"runs={place}: expected a folder of runs, a list of them, or a pattern that fits some")
    return folders


def _row(folder: Path, root: Path) -> dict[str, Any] | None:
    """None for a folder that is passed over."""
    require_no_way_out(folder)
    options = dict(flat(read_yaml(folder / CONFIG)))
    environment, error = (_read_starts(folder / name) for name in (ENVIRONMENT, ERROR))
    summary = read_mapping(folder / SUMMARY)
    job = str((environment.get("command") or ["deepcrib train"])[0]).removeprefix("deepcrib ")
    if job != "train" or (not environment and options and "learner.name" not in options):
        return None
    check(folder / CONFIG, options, {"evaluation.games": COUNT})
    for name, match in (summary or {}).items():
        if isinstance(match, dict) and "win_rate" in match:
            check_match(folder / SUMMARY, match, f"{name}.")
    return {
        "folder": folder,
        "name": root.name if folder == root else os.path.relpath(folder, root),
        "state": FINISHED if summary is not None else FAILED if error else UNFINISHED,
        "error": "" if summary is not None or not error else str(error.get("error") or json.dumps(error)),
        "study": folder.parent if (folder.parent / "trials.csv").is_file() else None,
        "commands": tuple(tuple(start["command"]) for start in starts(environment) if start.get("command")),
        "overrides": tuple((environment or error).get("overrides") or ()),
        "environment": environment,
        "summary": summary,
        "spent": float(environment["seconds"]) if "seconds" in environment else trained_seconds(folder),
        **_read_options(options),
    }


def _read_starts(path: Path) -> dict[str, Any]:
    """What `environment.json`, or `error.json`, says of the run's starts; empty where there is no such file."""
    content = read_mapping(path) or {}
    check(path, content, START)
    for start in starts(content):
        check(path, start, START)
    return content


def _read_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those that the learner reads; another learner than `replay` stands in place of the play network."""
    if (learner := options.get("learner.name", "replay")) == "replay":
        return options
    unread = LEARNERS["replay"].groups
    read = {name: value for name, value in options.items() if name.partition(".")[0] not in unread}
    return read | {NETWORK: learner, ALGORITHM: ""}


def trained_seconds(folder: Path) -> float:
    """Seconds of a run's training, matches on the way included."""
    metrics = read_metrics(folder)
    return float(metrics[SECONDS][1][-1]) if SECONDS in metrics else 0.0


@cache
def read_metrics(folder: Path) -> Mapping[str, Curve]:
    """A run's metrics by tag; none where it has reported none. Raises RunError."""
    return read_progress(folder) if (folder / PROGRESS_FILE).exists() else {}


def final_match(run: pd.Series, opponent: str) -> Mapping[str, Any]:
    """A run's final games against an opponent by that name; empty where there were none."""
    match = (run.summary or {}).get(opponent)
    return match if isinstance(match, Mapping) and "win_rate" in match else {}


# --- setups -------------------------------------------------------------------------------------------------


def repeated(runs: pd.DataFrame) -> pd.Series:
    """[runs] whether a later one has the same options and seed: it is no sample of its own."""
    told = runs.drop(columns=[*OWN, "resume"], errors="ignore").map(repr)
    started = runs.environment.map(lambda environment: str(environment.get("time", "")))
    return told.loc[started.sort_values(kind="stable").index].duplicated(keep="last").reindex(runs.index)


def with_setups(runs: pd.DataFrame) -> pd.DataFrame:
    """Finished training runs but those of searches, sorted, with the column SETUP: the name of each one's setup.

    Runs of a setup have the same options but for seeds. It is named by network, algorithm and the other options in
    which setups of these two differ, without what all setups have in common.
    """
    trained = runs[(runs.state == FINISHED) & runs.study.isna()].copy()
    parts = trained.reindex(columns=[NETWORK, ALGORITHM]).astype(object).fillna("").astype(str).assign(others="")
    for _, names in parts.groupby([NETWORK, ALGORITHM]):
        parts.loc[names.index, "others"] = _other_options(trained.loc[names.index], trained.columns)
    kept = [name for name in parts if parts[name].nunique() > 1] or [NETWORK, ALGORITHM]
    trained[NETWORK] = parts[NETWORK]
    trained[SETUP] = [", ".join(filter(None, row)) for row in parts[kept].to_numpy()]
    first = {setup: index for index, setup in reversed([*trained[SETUP].items()])}

    def place(index: Any) -> tuple[Any, ...]:
        part = parts.loc[index]
        return part[NETWORK], part[ALGORITHM], first[trained[SETUP][index]], natural(str(trained.seed[index]))

    return trained.loc[sorted(trained.index, key=place)]


def _other_options(runs: pd.DataFrame, every: Sequence[str]) -> list[str]:
    """For each run `name=value` of so many differing options as tell the setups apart, and `...` where more differ.

    A name's last part stands for it where no other option ends so.
    """
    names = [name for name in runs if name not in (*OWN, *SEEDS) and runs[name].map(repr).nunique() > 1]
    rows = runs[names].fillna("missing").astype(str)
    chosen = _telling(rows)
    heads, more = short_names(chosen, every), ["..."] * (len(chosen) < len(names))
    words = ([f"{head}={value}" for head, value in zip(heads, row, strict=True)] for row in rows[chosen].to_numpy())
    return [", ".join([*found, *more]) for found in words]


def _telling(rows: pd.DataFrame) -> list[str]:
    """A few columns that tell rows apart as all do, found one by one; those of learning before those of matches."""

    def parts(names: Sequence[str]) -> int:
        return len({tuple(row) for row in rows[list(names)].to_numpy()})

    chosen: list[str] = []
    while (known := parts(chosen)) < parts(rows.columns):
        gains = {name: parts([*chosen, name]) - known for name in rows.columns}
        chosen.append(max(gains, key=lambda name: (gains[name] > 0, not name.startswith("evaluation."), gains[name])))
    return chosen
