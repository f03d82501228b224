"""Run folders read back: which runs lie below some folders, what each was told, and what came of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.analysis.curves import read_events
from deepcrib.analysis.report import paper2019
from deepcrib.analysis.report.run_files import (
    check_matches,
    check_pretrained,
    read_environment,
    read_json,
    read_options,
)
from deepcrib.errors import OptionError, RunError
from deepcrib.files.runs import CONFIG, ENVIRONMENT, ERROR, SUMMARY, differing, natural
from deepcrib.training.progress import PROGRESS_FILE, SECONDS, Curve, read_progress

STUDY_FILES = ("trials.json", "trials.csv")
"""One of them lies in the folder of a search, whose trials are the run folders in it."""
FINISHED, FAILED, UNFINISHED = "finished", "failed", "unfinished"
TRAIN, PRETRAIN = "train", "pretrain"
PRETRAINING = "pretraining"
"""The folder of a training run with the events of its pretraining."""
_OURS = {"learner.name", "pretraining.epochs"}  # one of them is an option of every run of these jobs
PLAYING, LEARNING = "speed/playing_seconds", "speed/learning_seconds"
_NOT_GROUPED = ("seed", "resume", "evaluation.seed")
_PAIR = ("algorithm.name", "play_network.name")


@dataclass(frozen=True)
class FoundRun:
    """A run folder as it lies there.

    name: its path below what was searched. options: by dotted name; empty where the run ended before it wrote them.
    summary: None unless it has finished. error: of a failed run, in one line. study: the folder of the search that it
    is a trial of.
    """

    folder: Path
    name: str
    job: str
    options: Mapping[str, Any]
    environment: Mapping[str, Any]
    summary: Mapping[str, Any] | None
    state: str
    error: str = ""
    study: Path | None = None

    @property
    def seed(self) -> Any:
        """The option; None where there is none."""
        return self.options.get("seed")

    @property
    def command(self) -> Sequence[str]:
        """The command that started it, a word each; that of the first start, where it was resumed."""
        earlier = self.environment.get("earlier") or [self.environment]
        return tuple(map(str, earlier[0].get("command", ())))

    @property
    def overrides(self) -> Sequence[str]:
        """What its sweep told it, as `name=value` words; of a run by itself, and one of an older sweep, nothing."""
        return tuple(map(str, self.environment.get("overrides") or ()))

    def match(self, opponent: str) -> Mapping[str, Any]:
        """Figures of its final games against an opponent by that name; empty where there were none."""
        found = (self.summary or {}).get(opponent)
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def scalars(self) -> Mapping[str, Curve]:
        """Its metrics by tag, those of its pretraining included; a run of an earlier version has them as events alone.

        Raises RunError.
        """
        inner = self.folder / PRETRAINING
        read = read_progress if (self.folder / PROGRESS_FILE).exists() else read_events
        return (read_events(inner) if inner.is_dir() else {}) | read(self.folder)

    @cached_property
    def iteration_seconds(self) -> NDArray[np.float64]:
        """[T] seconds of self-play and learning of each replay iteration; matches are not in it."""
        if PLAYING not in self.scalars or LEARNING not in self.scalars:
            return np.empty(0)
        return self.scalars[PLAYING][1] + self.scalars[LEARNING][1]

    @cached_property
    def seconds(self) -> float:
        """From its start to its end, matches included; of a run that was resumed, or has not ended, of training."""
        if "seconds" in self.environment and not self.environment.get("earlier"):
            return float(self.environment["seconds"])
        if SECONDS in self.scalars:
            return float(self.scalars[SECONDS][1][-1])
        return float(self.iteration_seconds.sum())


@dataclass(frozen=True)
class Group:
    """Finished training runs with the same options but for the seed.

    extra: those options in which it differs from other groups of its algorithm and architecture.
    """

    runs: Sequence[FoundRun]
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, Any]:
        """Those of its first run."""
        return self.runs[0].options

    @property
    def algorithm(self) -> str:
        """The option `algorithm`."""
        return str(self.options.get("algorithm.name"))

    @property
    def architecture(self) -> str:
        """That of the option `play_network`, as the paper has it."""
        return paper2019.architecture_of(self.options)


# --- finding ------------------------------------------------------------------------------------------------


def find_runs(places: Sequence[str]) -> list[FoundRun]:
    """Every run in or below folders, which may be named by patterns such as `outputs/train/2026-11-*`.

    Runs of `deepcrib report`, other programs' files and hidden folders are passed over. Raises OptionError for a place
    that is no folder, RunError where there are no runs, a run is of another job than train and pretrain, or a file
    cannot be read.
    """
    roots = [root for place in places for root in _folders(place)]
    folders = {path.resolve(): root for root in roots for path in _run_folders(root)}
    runs = [run for folder in sorted(folders, key=natural) for run in _read_run(folder, folders[folder])]
    if not runs:
        raise RunError(
            f"runs={_text(places)}: no runs there: expected folders that hold {CONFIG}, or hold such folders"
        )
    return runs


def _text(places: Sequence[str]) -> str:
    return places[0] if len(places) == 1 else f"[{','.join(places)}]"


def _folders(place: str) -> list[Path]:
    found = [Path(path) for path in sorted(glob(place))] if has_magic(place) else [Path(place)]
    folders = [path for path in found if path.is_dir()]
    if not folders:
        raise OptionError(f"runs={place}: expected a folder of runs, a list of them, or a pattern that fits some")
    return folders


def _run_folders(root: Path) -> Iterator[Path]:
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        if CONFIG in files or ERROR in files:
            yield Path(folder)


def _read_run(folder: Path, root: Path) -> Iterator[FoundRun]:
    options = read_options(folder / CONFIG)
    environment, error = (read_environment(folder / name) for name in (ENVIRONMENT, ERROR))
    summary = read_json(folder / SUMMARY)
    environment = environment or ({} if error is None else {key: error[key] for key in ("overrides",) if key in error})
    job = _job(options, environment)
    if job == "report" or (not environment and options and not _OURS & options.keys()):
        return
    name = os.path.relpath(folder, root.resolve())
    if job not in (TRAIN, PRETRAIN):
        raise RunError(f"{folder} holds a run of deepcrib {job}: expected runs of train and pretrain alone")
    learner = options.get("learner.name", "replay")
    if learner != "replay":
        raise RunError(f"{folder} holds a run of learner={learner}: expected runs of learner=replay alone")
    if summary is not None and job == PRETRAIN:
        check_pretrained(folder / SUMMARY, summary)
    elif summary is not None:
        check_matches(folder / SUMMARY, summary, options.get("evaluation.opponents") or [])
    unfinished, line = (UNFINISHED, "") if error is None else (FAILED, _error_line(error))
    state, line = (unfinished, line) if summary is None else (FINISHED, "")
    yield FoundRun(
        folder,
        root.resolve().name if name == "." else name,
        job,
        options,
        environment,
        summary,
        state,
        line,
        folder.parent if any((folder.parent / file).is_file() for file in STUDY_FILES) else None,
    )


def _job(options: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """By the command; by the options, where it is not recorded; `train` where a run ended before it wrote either."""
    command = environment.get("command") or [""]
    words = str(command[0]).split()
    if len(words) == 2 and words[0] == "deepcrib":
        return words[1]
    return PRETRAIN if "pretraining.epochs" in options and "learner.name" not in options else TRAIN


def _error_line(error: Mapping[str, Any]) -> str:
    text = error.get("error") or error.get("message") or json.dumps(error)
    return " ".join(str(text).split())


# --- grouping -----------------------------------------------------------------------------------------------


def without_repeats(runs: Sequence[FoundRun]) -> tuple[list[FoundRun], list[FoundRun]]:
    """Runs, and those left out because a later one has the same options and seed: they are no sample of their own."""
    latest: dict[Any, FoundRun] = {}
    for run in runs:
        key = (run.job, _key(run.options, ("resume",)))
        if key not in latest or str(run.environment.get("time", "")) >= str(latest[key].environment.get("time", "")):
            latest[key] = run
    kept = {id(run) for run in latest.values()}
    return [run for run in runs if id(run) in kept], [run for run in runs if id(run) not in kept]


def group_runs(runs: Sequence[FoundRun]) -> list[Group]:
    """Runs with the same options but for the seed, in the order in which they come."""
    by_options: dict[Any, list[FoundRun]] = {}
    for run in runs:
        by_options.setdefault(_key(run.options, _NOT_GROUPED), []).append(run)
    groups = [Group(sorted(found, key=lambda run: (str(type(run.seed)), run.seed))) for found in by_options.values()]
    return [Group(group.runs, _extra(group, groups)) for group in groups]


def _extra(group: Group, groups: Sequence[Group]) -> dict[str, Any]:
    alike = [other.options for other in groups if all(other.options.get(n) == group.options.get(n) for n in _PAIR)]
    return {name: group.options.get(name, "missing") for name in differing(alike) if name not in _NOT_GROUPED}


def _key(options: Mapping[str, Any], leave_out: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(value)) for name, value in options.items() if name not in leave_out))
