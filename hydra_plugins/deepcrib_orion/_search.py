"""A search: options are checked, then Orion is asked for trials, which Hydra's launcher runs."""

from __future__ import annotations

import contextlib
import copy
import math
import re
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.types import HydraContext
from omegaconf import DictConfig, open_dict, read_write

from deepcrib.errors import OptionError, RunError
from deepcrib.files import runs, write_atomic, writing
from deepcrib.files.trust import trusting
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra import sweep_runs, sweeps
from deepcrib.jobs.hydra.checks import checked_options
from deepcrib.jobs.hydra.schema import is_group, option_type, parse, register_schema
from deepcrib.jobs.shared.console import console, error_line
from deepcrib.options import problems
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf
from hydra_plugins.deepcrib_orion._space import Parameter, split_overrides
from hydra_plugins.deepcrib_orion._storage import DATABASE_ERRORS
from hydra_plugins.deepcrib_orion._study import Study, subdir, takes_seed
from hydra_plugins.deepcrib_orion._trials import measured, states_text, trials_table

POLL = 1.0  # seconds between two questions to the database while others' trials run
FRUITLESS = 3  # questions in a row, nothing running anywhere, after which an algorithm has no more to suggest


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
            with closing(study.storage), study.failures_in_one_line():
                self._describe(study)
                try:
                    self._work(study, fixed)
                except BaseException:
                    with contextlib.suppress(*DATABASE_ERRORS, RunError):  # what ended the work is reported
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
        database = Path(options.database or self.folder / "orion.pkl").expanduser().absolute()
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        return Study(options, database, parameters, record, error_line)

    def _describe(self, study: Study) -> None:
        """Write beside the first start of a study what is searched."""
        if not (path := self.folder / "study.json").exists():
            content = {"name": self.options.name, **study.record, "environment": runs.environment()}
            runs.write_json(path, content)

    def _work(self, study: Study, fixed: Sequence[str]) -> None:
        fruitless = 0
        while not study.is_over():
            trials: list[Any] = []
            while len(trials) < self.options.n_workers and (trial := study.ask()) is not None:
                trials.append(trial)
            if trials:
                fruitless = 0
                self._launch(study, trials, fixed)
                self._write_table(study.table(self.folder))
                continue
            fruitless = fruitless + 1 if study.is_idle() else 0
            if fruitless == FRUITLESS:
                error_line(f"hydra.sweeper.algorithm={self.options.algorithm} has no further trial to suggest")
                return
            time.sleep(POLL)

    def _launch(self, study: Study, trials: Sequence[Any], fixed: Sequence[str]) -> None:
        """Run some trials and give Orion each result; whatever interrupts gives back those without one."""
        waiting = list(trials)
        try:
            jobs = [[*fixed, *study.overrides(trial), f"hydra.sweep.subdir={subdir(trial)}"] for trial in trials]
            numbers = [trial.id for trial in study.trials()]
            for trial, job in zip(trials, self.launcher.launch(jobs, numbers.index(trials[0].id)), strict=True):
                self._finish_trial(study, trial, job)
                waiting.remove(trial)
        except DATABASE_ERRORS:  # nothing can be given back; the next worker recovers it
            raise
        except BaseException:
            for trial in waiting:
                study.give_back(trial)
            raise

    def _finish_trial(self, study: Study, trial: Any, job: JobReturn) -> None:
        result, folder = job.return_value, self.folder / subdir(trial)
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

    def _write_table(self, trials: pd.DataFrame) -> None:
        """`trials.csv`: all trials by the time at which they were suggested."""
        write_atomic(self.folder / "trials.csv", trials.to_csv(index=False, lineterminator="\n"))

    def _finish(self, study: Study) -> None:
        """Save and show what there is. Raises RunError, after the table, when it cannot be saved."""
        trials, options = study.table(self.folder), self.options
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
