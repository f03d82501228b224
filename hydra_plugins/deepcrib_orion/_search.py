"""A search: options are checked, then Orion is asked for trials, which Hydra's launcher runs."""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.types import HydraContext
from omegaconf import DictConfig, open_dict, read_write
from rich.table import Table

from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError, RunError
from deepcrib.files import csv_text, runs, write_atomic
from deepcrib.files.trust import trusting
from deepcrib.intervals import Z
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra import sweep_runs, sweeps
from deepcrib.jobs.hydra.resume import checked_options
from deepcrib.jobs.hydra.schema import is_group, option_type, parse, register_schema
from deepcrib.jobs.shared.console import console, error_line, show_line
from deepcrib.options import problems
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf
from hydra_plugins.deepcrib_orion._space import Parameter, split_overrides
from hydra_plugins.deepcrib_orion._study import FINISHED, Study, Trial, takes_seed

POLL = 1.0  # seconds between two questions to the study while others' trials run
FRUITLESS = 3  # questions in a row, nothing running anywhere, after which an algorithm has no more to suggest
SHOWN_TRIALS = 10


class Search:
    """One worker's part in a study."""

    def __init__(self, options: OrionSweeperConf, context: HydraContext, task: Any, config: DictConfig) -> None:
        """Check the options; the folder is the study's unless `hydra.sweep.dir` names one."""
        for problem in problems(options, "hydra.sweeper."):
            raise OptionError(problem)
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
        """Open the study, and make its folder."""
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
        return Study(options, self.folder / "study.json", parameters, record, error_line)

    def _work(self, study: Study, fixed: Sequence[str]) -> None:
        fruitless = 0
        while not study.is_over():
            trials: list[Trial] = []
            while len(trials) < self.options.n_workers and (trial := study.ask()) is not None:
                trials.append(trial)
            if trials:
                fruitless = 0
                self._launch(study, trials, fixed)
                self._write_table(study)
                continue
            fruitless = fruitless + 1 if all(trial.state in FINISHED for trial in study.trials()) else 0
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
                    study.release(trial, "interrupted")
            raise

    def _finish_trial(self, study: Study, trial: Trial, job: JobReturn) -> None:
        result, folder = job.return_value, self.folder / trial.id
        if result is not None:
            value, standard_error = measured(result, self.options.objective)
            if math.isfinite(value):
                study.release(trial, "completed", objective=value, standard_error=standard_error)
            else:
                study.release(trial, "broken", error=f"{self.options.objective} is {value}")
        elif sweep_runs.is_held(folder):  # by a process that outlived its worker
            error_line(f"trial {trial.id} waits for the end of that process")
            while sweep_runs.is_held(folder):
                time.sleep(POLL)
            study.release(trial, "interrupted")
        elif (reason := sweep_runs.failure_of(folder)).startswith("cannot write"):  # no fault of the trial's values
            raise RunError(reason)
        else:
            study.release(trial, "broken", error=reason)

    def _write_table(self, study: Study) -> None:
        """`trials.csv`: all trials by the time at which they were suggested."""
        trials, options = study.trials(), sorted(study.parameters)
        tail = ["objective", "standard_error", "seconds", "worker", "folder", "error"]
        rows: list[list[Any]] = [
            [number, trial.id, trial.state, *(trial.values[key] for key in options), trial.objective]
            + [trial.standard_error, trial.seconds(), trial.process(), self.folder / trial.id, trial.error]
            for number, trial in enumerate(trials)
        ]
        write_atomic(self.folder / "trials.csv", csv_text([["number", "id", "state", *options, *tail], *rows]))

    def _finish(self, study: Study) -> None:
        """Save and show what there is. Raises RunError, after the table, when it cannot be saved."""
        try:
            self._write_table(study)
        finally:
            trials, options = study.trials(), self.options
            counts = Counter(trial.state for trial in trials)
            states = ", ".join(f"{count} {state}" for state, count in counts.most_common()) or "no trials"
            title, best = f"study {options.name}: {states}", best_first(trials, options.direction == "maximize")
            console().print(trials_table(best[:SHOWN_TRIALS], options.objective, title) if best else title)
            show_line(f"study folder: {self.folder}")


def measured(summary: Mapping[str, Any], objective: str) -> tuple[float, float | None]:
    """The number at a dotted path of a summary, and its standard error where the summary has its 95% interval.

    The interval stands beside the number: `points_per_hand_low` and `_high`, or `ci_low` and `ci_high` of a win rate.
    """
    numbers = ((name, value) for name, value in runs.flat(summary) if isinstance(value, int | float))
    found = {name: float(value) for name, value in numbers if not isinstance(value, bool)}
    if objective not in found:
        raise OptionError(f"hydra.sweeper.objective={objective}: expected one of {', '.join(sorted(found))}")
    stem = f"{objective.removesuffix('win_rate')}ci" if objective.split(".")[-1] == "win_rate" else objective
    low, high = (found.get(f"{stem}_{end}", math.nan) for end in ("low", "high"))
    return found[objective], (high - low) / (2 * Z) if math.isfinite(high - low) else None


def best_first(trials: Sequence[Trial], maximize: bool) -> list[Trial]:
    """The completed trials, the best one first; of equal ones the earlier."""
    completed = [trial for trial in trials if trial.objective is not None]
    return sorted(completed, key=lambda trial: trial.objective or 0.0, reverse=maximize)


def trials_table(trials: Sequence[Trial], objective: str, title: str) -> Table:
    """Completed trials with the objective's 95% interval and their values."""
    options = sorted(trials[0].values)
    heads = ["trial", f"{objective}\n[95%]", *(key.replace(".", "\n.") for key in options), "s"]
    lines = [
        [trial.id, _with_interval(trial), *(_text(trial.values[key]) for key in options), f"{trial.seconds() or 0:.0f}"]
        for trial in trials
    ]
    return plain_table(title, heads, lines)


def _with_interval(trial: Trial) -> str:
    value, error = trial.objective or 0.0, trial.standard_error
    return _text(value) if error is None else f"{value:.4f} [{value - Z * error:.4f}, {value + Z * error:.4f}]"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
