"""Run folders read back into one table: a row a run, with its options as columns by dotted name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deepcrib.analysis.curves import read_events
from deepcrib.analysis.report.run_files import (
    check_matches,
    check_pretrained,
    read_environment,
    read_json,
    read_options,
)
from deepcrib.analysis.sweeps import run_folders
from deepcrib.errors import OptionError, RunError
from deepcrib.files.runs import CONFIG, ENVIRONMENT, ERROR, SUMMARY, natural, starts
from deepcrib.files.trust import require_no_way_out
from deepcrib.learners.registry import LEARNERS
from deepcrib.training.progress import PROGRESS_FILE, SECONDS, Curve, read_progress

STUDY_FILES = ("trials.json", "trials.csv")
"""One of them lies in the folder of a search, whose trials are the run folders in it."""
FINISHED, FAILED, UNFINISHED = "finished", "failed", "unfinished"
TRAIN, PRETRAIN = "train", "pretrain"
PRETRAINING = "pretraining"
"""The folder in which a training run of an earlier version has the events of its pretraining."""
NETWORK, ALGORITHM, OTHERWISE = "play_network.name", "algorithm.name", "otherwise"
SETUP = [NETWORK, ALGORITHM, OTHERWISE]
"""Columns that tell setups apart; the last one: the other options in which those of one pair differ, as text."""
OWN = ("folder", "name", "job", "state", "error", "study", "commands", "overrides", "environment", "summary", "spent")
"""Columns of `load_runs` that are no options."""
_OURS = {"learner.name", "pretraining.epochs"}  # one of them is an option of every run of these jobs
SEEDS = ("seed", "resume", "evaluation.seed")
_LONGEST = 50
"""Characters of options by which a setup is named; with more it has a number, and its options stand in a table."""


def load_runs(places: Sequence[str]) -> pd.DataFrame:
    """Every run in or below folders, which may be named by patterns such as `outputs/train/2026-11-*`.

    Columns: folder; name, its path below what was searched; job; state; error, of a failed run, in one line; study, the
    folder of the search that it is a trial of; commands, that started and resumed it, and overrides, a word each;
    environment; summary, None unless it has finished; spent, seconds with matches (of a killed run, of training); and
    every option, nan where a run has none of that name. Runs of `deepcrib report`, other programs' files and hidden
    folders are passed over. Raises OptionError for a place that is no folder, RunError where there are no runs, a run
    is of another job than train and pretrain, or a file cannot be read.
    """
    read_metrics.cache_clear()  # a run may have learned more since the last report of this process
    roots = [root for place in places for root in _folders(place)]
    folders = {path.resolve(): root.resolve() for root in roots for path in run_folders(root)}
    rows = [row for folder in sorted(folders, key=natural) for row in _row(folder, folders[folder])]
    if not rows:
        named = places[0] if len(places) == 1 else f"[{','.join(places)}]"
        raise RunError(f"runs={named}: no runs there: expected folders that hold {CONFIG}, or hold such folders")
    return pd.DataFrame(rows, dtype=object)


def _folders(place: str) -> list[Path]:
    found = [Path(path) for path in sorted(glob(place))] if has_magic(place) else [Path(place)]
    folders = [path for path in found if path.is_dir()]
    if not folders:
        raise OptionError(f"runs={place}: expected a folder of runs, a list of them, or a pattern that fits some")
    return folders


def _row(folder: Path, root: Path) -> Iterator[dict[str, Any]]:
    require_no_way_out(folder)
    options = read_options(folder / CONFIG)
    environment, error = (read_environment(folder / name) for name in (ENVIRONMENT, ERROR))
    summary = read_json(folder / SUMMARY)
    job = _job(options, environment or {})
    if job == "report" or (not environment and options and not _OURS & options.keys()):
        return
    if job not in (TRAIN, PRETRAIN):
        raise RunError(f"{folder} holds a run of deepcrib {job}: expected runs of train and pretrain alone")
    if (learner := options.get("learner.name", "replay")) != "replay":
        unread = LEARNERS["replay"].groups
        options = {name: value for name, value in options.items() if name.partition(".")[0] not in unread}
        options |= {NETWORK: learner, ALGORITHM: ""}
    if summary is not None and job == PRETRAIN:
        check_pretrained(folder / SUMMARY, summary)
    elif summary is not None:
        check_matches(folder / SUMMARY, summary, options.get("evaluation.opponents") or [])
    unfinished = UNFINISHED if error is None else FAILED
    name = os.path.relpath(folder, root)
    told = environment or error or {}
    yield {
        "folder": folder,
        "name": root.name if name == "." else name,
        "job": job,
        "state": unfinished if summary is None else FINISHED,
        "error": _error_line(error) if summary is None and error else "",
        "study": folder.parent if any((folder.parent / file).is_file() for file in STUDY_FILES) else None,
        "commands": tuple(tuple(start["command"]) for start in starts(environment or {}) if start.get("command")),
        "overrides": tuple(told.get("overrides") or ()),
        "environment": environment or {},
        "summary": summary,
        "spent": _seconds(folder, environment or {}),
        **options,
    }


def _job(options: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """By the command; by the options, where it is not recorded; `train` where a run ended before it wrote either."""
    words = str((environment.get("command") or [""])[0]).split()
    if len(words) == 2 and words[0] == "deepcrib":
        return words[1]
    return PRETRAIN if "pretraining.epochs" in options and "learner.name" not in options else TRAIN


def _error_line(error: Mapping[str, Any]) -> str:
    text = error.get("error") or error.get("message") or json.dumps(error)
    return " ".join(str(text).split())


def _seconds(folder: Path, environment: Mapping[str, Any]) -> float:
    if "seconds" in environment and not environment.get("earlier"):
        return float(environment["seconds"])
    return _trained_seconds(folder)


def _trained_seconds(folder: Path) -> float:
    metrics = read_metrics(folder)
    return float(metrics[SECONDS][1][-1] if SECONDS in metrics else iteration_seconds(metrics).sum())


# --- metrics ------------------------------------------------------------------------------------------------


@cache
def read_metrics(folder: Path) -> Mapping[str, Curve]:
    """A run's metrics by tag; an earlier version's run has them as events alone. Raises RunError."""
    return (read_progress if (folder / PROGRESS_FILE).exists() else read_events)(folder)


def pretraining_events(folder: Path) -> Path:
    """The folder with the events of a training run's pretraining."""
    return inner if (inner := folder / PRETRAINING).is_dir() else folder


def iteration_seconds(metrics: Mapping[str, Curve]) -> NDArray[np.float64]:
    """[T] seconds of self-play and learning of each replay iteration, without matches."""
    parts = [metrics[tag][1] for tag in ("speed/playing_seconds", "speed/learning_seconds") if tag in metrics]
    return parts[0] + parts[1] if len(parts) == 2 else np.empty(0)


def training_hours(setup: pd.DataFrame) -> float:
    """Mean hours of training of a setup's runs, matches on the way included."""
    return float(np.mean([_trained_seconds(folder) for folder in setup.folder])) / 3600


def final_match(run: pd.Series, opponent: str) -> Mapping[str, Any]:
    """A run's final games against an opponent by that name; empty where there were none."""
    found = (run.summary or {}).get(opponent)
    return found if isinstance(found, Mapping) and "win_rate" in found else {}


# --- setups -------------------------------------------------------------------------------------------------


def differing_options(runs: pd.DataFrame) -> list[str]:
    """Options without the same value in all runs; a missing one is a value of its own."""
    return [name for name in runs.columns if name not in OWN and runs[name].map(repr).nunique() > 1]


def _key(runs: pd.DataFrame, leave_out: Sequence[str]) -> pd.Series:
    """What runs with the same options have in common."""
    options = sorted(name for name in runs.columns if name not in (*OWN, *leave_out))
    return runs[options].map(repr).agg("\n".join, axis=1) if options else pd.Series("", runs.index)


def repeated(runs: pd.DataFrame) -> pd.Series:
    """[runs] whether a later one has the same options and seed: it is no sample of its own."""
    started = runs.environment.map(lambda found: str(found.get("time", "")))
    key = (runs.job + "\n" + _key(runs, ("resume",)))[started.sort_values(kind="stable").index]
    return key.duplicated(keep="last").reindex(runs.index)


def setups(runs: pd.DataFrame) -> list[pd.DataFrame]:
    """Finished training runs but those of searches, a table for each setup: the same options but for the seed.

    They have the columns SETUP and are in the order of network and algorithm.
    """
    found = runs[(runs.state == FINISHED) & (runs.job == TRAIN) & runs.study.isna()].copy()
    if found.empty:
        return []
    found[OTHERWISE] = ""
    every = [name for name in found.columns if name not in OWN]
    for _, pair in found.groupby(SETUP[:2], dropna=False):
        names = [name for name in differing_options(pair.drop(columns=OTHERWISE)) if name not in SEEDS]
        for row in pair.index:
            words = [f"{_shortest(name, every)}={_short(pair.loc[row, name])}" for name in names]
            found.loc[row, OTHERWISE] = ", ".join(words)
    found[OTHERWISE] = found[OTHERWISE].replace(_numbered(found))
    found = found.assign(
        key=_key(found, (*SEEDS, OTHERWISE)), rank=found.seed.map(lambda seed: (str(type(seed)), seed))
    )
    groups = found.sort_values("rank", kind="stable").groupby([*SETUP, "key"], sort=False, dropna=False)
    order = sorted(groups, key=lambda group: (*map(str, group[0][:2]), min(group[1].index)))
    return [group.drop(columns=["key", "rank"]) for _, group in order]


def _shortest(name: str, names: Sequence[str]) -> str:
    """The last part of an option's name, the whole name where another option ends so too."""
    last = name.rpartition(".")[2]
    return name if sum(other.rpartition(".")[2] == last for other in names) > 1 else last


def _numbered(runs: pd.DataFrame) -> dict[str, str]:
    """Names for what is too long to name setups by: a number, and the experiment that their commands name."""
    long = [text for text in dict.fromkeys(runs[OTHERWISE]) if len(text) > _LONGEST]
    return {text: f"setup {place}{_experiment(runs[runs[OTHERWISE] == text])}" for place, text in enumerate(long, 1)}


def _experiment(runs: pd.DataFrame) -> str:
    words = (word for lists in (*runs.commands, runs.overrides) for words in lists for word in words)
    return next((f" ({word.partition('=')[2]})" for word in words if word.startswith("experiment=")), "")


def _short(value: Any) -> str:
    return "missing" if value != value else f"{value:.4g}" if isinstance(value, float) else str(value)
