"""The sweeper: options are checked, then Orion is asked for trials, which Hydra's launcher runs."""

from __future__ import annotations

import contextlib
import copy
import math
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from hydra_plugins.deepcrib_orion._options import OrionSweeperConf

if TYPE_CHECKING:
    from hydra_plugins.deepcrib_orion._space import Parameter
    from hydra_plugins.deepcrib_orion._study import Plan, Study

POLL = 1.0  # seconds between two questions to the database while others' trials run
FRUITLESS = 3  # questions in a row, nothing running anywhere, after which an algorithm has no more to suggest
FIGURES_EVERY = 300.0  # seconds


class OrionSweeper(Sweeper):
    """One worker of a study. Others may be started with the same command, on any machine that sees the database."""

    config: DictConfig
    task_function: Any
    hydra_context: HydraContext
    launcher: Launcher

    def __init__(self, **options: Any) -> None:
        self.options = OrionSweeperConf(**{name: _plain(value) for name, value in options.items()})

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Hydra's part; the folder is the study's unless `hydra.sweep.dir` names one."""
        from deepcrib.files import runs
        from deepcrib.jobs.hydra import sweeps
        from deepcrib.jobs.hydra.schema import quoted

        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config
        _check_options(self.options)
        sweeps.SweepStart.begun = None  # a study keeps its own account
        words = config.hydra.overrides.hydra
        if not any(word.split("=")[0].lstrip("+") == "hydra.sweep.dir" for word in words):
            folder = str(runs.outputs_folder() / "search" / str(self.options.name))
            _remove_unused(Path(str(config.hydra.sweep.dir)))
            with read_write(config), open_dict(config):
                config.hydra.sweep.dir = folder
                words.append(f"hydra.sweep.dir={quoted(folder)}")
        self.folder = Path(str(config.hydra.sweep.dir)).absolute()
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Run trials until the study has all of its own."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                from deepcrib.errors import RunError
                from hydra_plugins.deepcrib_orion import _report, _storage, _study
            except ImportError as error:
                raise _missing(error) from error
        parameters, fixed = self._searched(arguments)
        self.task_function.varying = [item.key for item in parameters]  # what the lines about a run name
        plan = self._plan(parameters, fixed)
        study = _study.Study(plan, _say)
        _report.begin(self.folder, plan)
        with _study.failures_told(plan.database):
            try:
                self._work(study, fixed)
            except BaseException:
                with contextlib.suppress(*_storage.DATABASE_ERRORS, RunError):  # what ended the work is told
                    self._account(study)
                raise
            self._account(study)

    def _account(self, study: Study) -> None:
        """Save and show what there is. Raises RunError, after the table, when it cannot be saved."""
        from hydra_plugins.deepcrib_orion import _report

        notes: list[str] = []
        try:
            _report.write_tables(self.folder, study)
            notes += _report.write_figures(self.folder, study)
        finally:
            self._show(study, notes)
            study.close()

    def _work(self, study: Study, fixed: Sequence[str]) -> None:
        from hydra_plugins.deepcrib_orion import _report

        drawn, fruitless = time.monotonic(), 0
        while not study.is_over():
            trials: list[Any] = []
            while len(trials) < self.options.n_workers and (trial := study.ask()) is not None:
                trials.append(trial)
            if not trials:
                fruitless = fruitless + 1 if study.is_idle() else 0
                if fruitless == FRUITLESS:
                    _say(f"hydra.sweeper.algorithm={self.options.algorithm} has no further trial to suggest")
                    return
                time.sleep(POLL)
                continue
            fruitless = 0
            self._run(study, trials, fixed)
            _report.write_tables(self.folder, study)
            if time.monotonic() - drawn > FIGURES_EVERY:
                _report.write_figures(self.folder, study)
                drawn = time.monotonic()

    def _run(self, study: Study, trials: Sequence[Any], fixed: Sequence[str]) -> None:
        """Run some trials and tell Orion of each; whatever interrupts gives back those it was not told of."""
        from hydra_plugins.deepcrib_orion._study import subdir

        untold = list(trials)
        try:
            jobs = [[*fixed, *study.overrides(trial), f"hydra.sweep.subdir={subdir(trial)}"] for trial in trials]
            numbers = [trial.id for trial in study.trials()]
            for trial, run in zip(trials, self.launcher.launch(jobs, numbers.index(trials[0].id)), strict=True):
                self._tell(study, trial, run)
                untold.remove(trial)
        except BaseException:
            for trial in untold:
                study.give_back(trial)
            raise

    def _tell(self, study: Study, trial: Any, run: JobReturn) -> None:
        from deepcrib.errors import RunError
        from deepcrib.jobs.hydra.sweep_runs import is_held
        from hydra_plugins.deepcrib_orion._outcomes import measured
        from hydra_plugins.deepcrib_orion._study import subdir

        result = run._return_value
        if run.status != JobStatus.COMPLETED or not isinstance(result, Mapping):
            if is_held(self.folder / subdir(trial)):  # by a process that outlived its worker
                _say(f"trial {trial.id} waits for the end of that process")
                while is_held(self.folder / subdir(trial)):
                    time.sleep(POLL)
                study.give_back(trial)
            elif (reason := self._reason(result)).startswith("cannot write"):  # no fault of the trial's values
                raise RunError(reason)
            else:
                study.fail(trial, reason)
            return
        value, standard_error = measured(result, self.options.objective)
        if math.isfinite(value):
            study.complete(trial, value, standard_error)
        else:
            study.fail(trial, f"{self.options.objective} is {value}")

    def _reason(self, result: Any) -> str:
        from deepcrib.jobs.hydra.schema import problem_line

        if not isinstance(result, BaseException):
            return "the run ended without a summary"
        return problem_line(result, self._schema()) or f"{type(result).__name__}: {result}"

    def _searched(self, words: Sequence[str]) -> tuple[list[Parameter], list[str]]:
        """The parameters and the fixed overrides, held against the job's options."""
        from deepcrib.files.runs import flat
        from deepcrib.jobs.hydra.schema import check_keys, is_group, leaf_type, parse
        from deepcrib.jobs.hydra.variants import present_classes
        from hydra_plugins.deepcrib_orion import _space

        schema, params = self._schema(), dict(flat(self.options.params))
        folders = [Path(item.path) for item in self.config.hydra.runtime.config_sources if item.schema == "file"]
        keys = _space.searched_keys(words, params)
        check_keys(parse([f"{key}=null" for key in keys if not is_group(key, folders)]), schema, folders)
        present = present_classes(self.config, schema)
        kinds = {key: leaf_type(schema, key, present) for key in keys if not is_group(key, folders)}
        parameters, fixed = _space.split_overrides(words, params, kinds)
        first = {item.key: f"{item.key}={item.extremes[0]}" for item in parameters}
        self._check([*fixed, *first.values()])
        for item in parameters:
            for value in item.extremes[1:]:
                self._check([*fixed, *(first | {item.key: f"{item.key}={value}"}).values()])
        return parameters, fixed

    def _check(self, words: list[str]) -> None:
        """Compose the job with these overrides and refuse what it would refuse."""
        from deepcrib.jobs.hydra.schema import check_no_extras, parse
        from deepcrib.jobs.hydra.values import check_values
        from deepcrib.jobs.hydra.variants import check_variants

        composed = copy.deepcopy(self.hydra_context.config_loader.load_sweep_config(self.config, words))
        with read_write(composed), open_dict(composed):
            del composed["hydra"]
        check_no_extras(composed, self._schema())
        options = OmegaConf.to_object(composed)
        check_variants(options, parse(words))
        check_values(options)

    def _plan(self, parameters: Sequence[Parameter], fixed: Sequence[str]) -> Plan:
        from hydra_plugins.deepcrib_orion._study import Plan, Record

        options = self.options
        record = Record(
            job=str(self.config.hydra.job.name),
            space={item.key: item.prior for item in parameters},
            algorithm=options.algorithm,
            settings={"seed": options.seed, **options.settings},
            objective=options.objective,
            direction=options.direction,
            fixed=sorted(word for word in fixed if word.split("=")[0] not in ("device", "threads")),
        )
        database = options.database or str(self.folder / "orion.pkl")
        if "://" not in database:
            database = str(Path(database).expanduser().absolute())
        return Plan(
            str(options.name),
            database,
            record,
            list(parameters),
            options.max_trials,
            options.max_broken,
            options.heartbeat,
        )

    def _show(self, study: Study, notes: Sequence[str]) -> None:
        from deepcrib.jobs.shared.console import console
        from hydra_plugins.deepcrib_orion._trials import states_text, trials_table

        rows, options = study.rows(self.folder), self.options
        maximize = options.direction == "maximize"
        title = f"study {options.name}: {states_text(rows)}"
        known = any(row.objective is not None for row in rows)
        console().print(trials_table(rows, options.objective, maximize, title) if known else title)
        for note in (*notes, f"study folder: {self.folder}"):
            console().print(note, markup=False, soft_wrap=True)

    def _schema(self) -> type:
        from deepcrib.jobs import JOBS
        from deepcrib.jobs.hydra.schema import register_schema

        return register_schema(JOBS[str(self.config.hydra.job.name)])


def _check_options(options: OrionSweeperConf) -> None:
    """Refuse the first option of the sweeper that is out of its range."""
    from deepcrib.errors import OptionError
    from deepcrib.options import problems

    if options.name is None:
        raise OptionError("option hydra.sweeper.name is missing: expected a name, by which a study is gone on with")
    if not re.fullmatch(r"[\w.+-]+", options.name) or options.name.startswith("."):
        raise OptionError(f"hydra.sweeper.name={options.name}: expected letters, digits, and . _ + - between them")
    for problem in problems(options, "hydra.sweeper."):
        raise OptionError(problem)


def _remove_unused(folder: Path) -> None:
    """Remove the folder that a sweep without a name of its own was given, and that of its day, if they are empty."""
    with contextlib.suppress(OSError):
        folder.rmdir()
        folder.parent.rmdir()


def _missing(error: ImportError) -> Exception:
    """In one line, where an extra is not installed."""
    from deepcrib.errors import OptionError

    return OptionError(
        f"hydra/sweeper=orion needs Orion, which cannot be imported ({error}): pip install 'deepcrib[orion]'"
    )


def _say(text: str) -> None:
    from deepcrib.jobs.shared.console import error_line

    error_line(text)


def _plain(value: Any) -> Any:
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
