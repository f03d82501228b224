"""A search: options are checked, then Orion is asked for trials, which Hydra's launcher runs."""

from __future__ import annotations

import contextlib
import copy
import math
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.types import HydraContext
from omegaconf import DictConfig, open_dict, read_write
from rich.table import Table

from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError, RunError
from deepcrib.files import runs, write_atomic, writing
from deepcrib.files.trust import trusting
from deepcrib.intervals import Z
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra import sweep_runs, sweeps
from deepcrib.jobs.hydra.checks import checked_options
from deepcrib.jobs.hydra.schema import is_group, option_type, parse, register_schema
from deepcrib.jobs.shared.console import console, error_line
from deepcrib.options import problems
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf
from hydra_plugins.deepcrib_orion._space import Parameter, split_overrides
from hydra_plugins.deepcrib_orion._study import Study, Trial, shown, takes_seed

POLL = 1.0  # seconds between two questions to the study while others' trials run
FRUITLESS = 3  # questions in a row, nothing running anywhere, after which an algorithm has no more to suggest
SHOWN_TRIALS = 10
HEAD = ["number", "id", "state"]
TAIL = ["objective", "standard_error", "seconds", "worker", "folder", "error"]
"""Columns of the table of trials before and after those of the options that are searched."""
_BOUNDS = (("{}_low", "{}_high"), ("ci_low", "ci_high"))


class Search:
    """One worker's part in a study."""

    def __init__(self, options: OrionSweeperConf, context: HydraContext, task: Any, config: DictConfig) -> None:
        """Check the options; the folder is the study's unless `hydra.sweep.dir` names one."""
        _check_options(options)
        self.options, self.config, self.task, self._loader = options, config, task, context.config_loader
        sweeps.SweepStart.begun = None  # a study keeps a record of its own
        self.folder = Path(str(config.hydra.sweep.dir)).absolute()
        register_schema(JOBS[str(config.hydra.job.name)])
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=task, config=config
        )

    def run(self, arguments: list[str]) -> None:
        """Run trials until the study has all of its own; save and show the trials, whatever ends it."""
        with trusting("trust" in self.config and self.config.trust):
            parameters, fixed = self._searched(arguments)
            self.task.varying = [item.key for item in parameters]  # what the lines about a run name
            study = self._study(parameters, fixed)
            with closing(study):
                try:
                    self._work(study, fixed)
                except BaseException:
                    with contextlib.suppress(RunError):  # what ended the work is reported
                        self._finish(study)
                    raise
                self._finish(study)

    def _searched(self, words: Sequence[str]) -> tuple[list[Parameter], list[str]]:
        """The parameters and the fixed overrides, held against the job's options."""
        params = dict(runs.flat(self.options.params))
        folders = [Path(item.path) for item in self.config.hydra.runtime.config_sources if item.schema == "file"]
        keys = [*params, *(item.key_or_group for item in parse(words) if item.is_sweep_override())]
        options = [key for key in keys if not is_group(key, folders)]
        parameters, fixed = split_overrides(words, params, {key: option_type(self.config, key) for key in options})
        first = {item.key: item.extremes[0] for item in parameters}
        self._check([*fixed, *first.values()])
        for item in parameters:
            for value in item.extremes[1:]:
                self._check([*fixed, *(first | {item.key: value}).values()])
        return parameters, fixed

    def _check(self, words: Sequence[str]) -> None:
        """Compose the job with these overrides and refuse what it would refuse."""
        composed = copy.deepcopy(self._loader.load_sweep_config(self.config, list(words)))
        with read_write(composed), open_dict(composed):
            del composed["hydra"]
        checked_options(composed, parse(words))

    def _study(self, parameters: Sequence[Parameter], fixed: Sequence[str]) -> Study:
        """Open the study, in a folder that is there."""
        options = self.options
        record = {
            "job": str(self.config.hydra.job.name),
            "space": {item.key: item.prior for item in parameters},
            "algorithm": options.algorithm,
            "settings": ({"seed": options.seed} if takes_seed(options.algorithm) else {}) | options.settings,
            "objective": options.objective,
            "direction": options.direction,
            "fixed": sorted(word for word in fixed if word.split("=")[0] not in ("device", "threads", "trust")),
        }
        path = Path(options.database or self.folder / "study.json").expanduser().absolute()
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        return Study(options, path, parameters, record, error_line)

    def _work(self, study: Study, fixed: Sequence[str]) -> None:
        fruitless = 0
        while not study.is_over():
            trials: list[Trial] = []
            while len(trials) < self.options.n_workers and (trial := study.ask()) is not None:
                trials.append(trial)
            if trials:
                fruitless = 0
                self._launch(study, trials, fixed)
                self._write_table(self._table(study))
                continue
            fruitless = fruitless + 1 if study.is_idle() else 0
            if fruitless == FRUITLESS:
                error_line(f"hydra.sweeper.algorithm={self.options.algorithm} has no further trial to suggest")
                return
            time.sleep(POLL)

    def _launch(self, study: Study, trials: Sequence[Trial], fixed: Sequence[str]) -> None:
        """Run some trials and note each result; whatever interrupts gives back those without one."""
        waiting = list(trials)
        try:
            jobs = [[*fixed, *study.overrides(trial), f"hydra.sweep.subdir={trial.id}"] for trial in trials]
            numbers = [trial.id for trial in study.trials()]
            for trial, job in zip(trials, self.launcher.launch(jobs, numbers.index(trials[0].id)), strict=True):
                self._finish_trial(study, trial, job)
                waiting.remove(trial)
        except BaseException:
            with contextlib.suppress(RunError):  # the file cannot be written: the next worker recovers them
                for trial in waiting:
                    study.give_back(trial)
            raise

    def _finish_trial(self, study: Study, trial: Trial, job: JobReturn) -> None:
        result, folder = job.return_value, self.folder / trial.id
        if result is not None:
            value, standard_error = measured(result, self.options.objective)
            if math.isfinite(value):
                study.complete(trial, value, standard_error)
            else:
                study.fail(trial, f"{self.options.objective} is {value}")
        elif sweep_runs.is_held(folder):  # by a process that outlived its worker
            error_line(f"trial {trial.id} waits for the end of that process")
            while sweep_runs.is_held(folder):
                time.sleep(POLL)
            study.give_back(trial)
        elif (reason := sweep_runs.failure_of(folder)).startswith("cannot write"):  # no fault of the trial's values
            raise RunError(reason)
        else:
            study.fail(trial, reason)

    def _table(self, study: Study) -> pd.DataFrame:
        """A row a trial: columns HEAD, the options, TAIL."""
        rows = [
            {
                **{"number": number, "id": trial.id, "state": trial.state, **trial.values},
                **{"objective": trial.objective, "standard_error": trial.standard_error},
                "seconds": trial.end - trial.start if trial.start and trial.end else None,
                **{"worker": shown(trial.worker), "folder": str(self.folder / trial.id), "error": trial.error or None},
            }
            for number, trial in enumerate(study.trials())
        ]
        return pd.DataFrame(rows, columns=[*HEAD, *sorted(study.parameters), *TAIL])

    def _write_table(self, trials: pd.DataFrame) -> None:
        """`trials.csv`: all trials by the time at which they were suggested."""
        write_atomic(self.folder / "trials.csv", trials.to_csv(index=False, lineterminator="\n"))

    def _finish(self, study: Study) -> None:
        """Save and show what there is. Raises RunError, after the table, when it cannot be saved."""
        trials, options = self._table(study), self.options
        try:
            self._write_table(trials)
        finally:
            title = f"study {options.name}: {states_text(trials)}"
            maximize, known = options.direction == "maximize", bool(trials["objective"].notna().any())
            console().print(trials_table(trials, options.objective, maximize, title) if known else title)
            console().print(f"study folder: {self.folder}", markup=False, soft_wrap=True)


def _check_options(options: OrionSweeperConf) -> None:
    """Refuse the first option of the sweeper that is out of its range."""
    if options.name is None:
        raise OptionError("option hydra.sweeper.name is missing: expected a name, which resumes the study of that name")
    if not re.fullmatch(r"[\w.+-]+", options.name) or options.name.startswith("."):
        raise OptionError(f"hydra.sweeper.name={options.name}: expected letters, digits, and . _ + - between them")
    for problem in problems(options, "hydra.sweeper."):
        raise OptionError(problem)


def measured(summary: Mapping[str, Any], objective: str) -> tuple[float, float | None]:
    """The number at a dotted path of a summary, and its standard error where the summary has its 95% interval.

    The interval stands beside the number: `points_per_hand_low` and `_high`, or `ci_low` and `ci_high` of a win rate.
    """
    numbers = ((name, value) for name, value in runs.flat(summary) if isinstance(value, int | float))
    found = {name: float(value) for name, value in numbers if not isinstance(value, bool)}
    if objective not in found:
        raise OptionError(f"hydra.sweeper.objective={objective}: expected one of {', '.join(sorted(found))}")
    parent, dot, name = objective.rpartition(".")
    for low, high in _BOUNDS[: 2 if name == "win_rate" else 1]:
        bounds = [found.get(f"{parent}{dot}{bound.format(name)}", math.nan) for bound in (low, high)]
        if all(map(math.isfinite, bounds)):
            return found[objective], (bounds[1] - bounds[0]) / (2 * Z)
    return found[objective], None


def states_text(trials: pd.DataFrame) -> str:
    """How many trials are in which state: `18 completed, 2 broken`."""
    counts = trials["state"].value_counts()
    return ", ".join(f"{count} {state}" for state, count in counts.items()) or "no trials"


def best_first(trials: pd.DataFrame, maximize: bool) -> pd.DataFrame:
    """The completed trials, the best one first; of equal ones the earlier."""
    completed = trials[trials["state"] == "completed"]
    return completed.sort_values("objective", ascending=not maximize, kind="stable")


def trials_table(trials: pd.DataFrame, objective: str, maximize: bool, title: str) -> Table:
    """The best trials with the objective's 95% interval and their values."""
    best = best_first(trials, maximize)[:SHOWN_TRIALS]
    options = [name for name in best.columns if name not in (*HEAD, *TAIL)]
    heads = ["trial", f"{objective}\n[95%]", *(key.replace(".", "\n.") for key in options), "s"]
    lines = [
        [row["id"], _with_interval(row), *(_text(row[key]) for key in options), f"{row['seconds']:.0f}"]
        for _, row in best.iterrows()
    ]
    return plain_table(title, heads, lines)


def _with_interval(row: Any) -> str:
    value, error = row["objective"], row["standard_error"]
    if pd.isna(error):
        return f"{value:.4g}"
    return f"{value:.4f} [{value - Z * error:.4f}, {value + Z * error:.4f}]"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
