"""A job under Hydra: options composed, checked and turned into plain objects; the run folder; the outcome."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import hydra
from hydra._internal.hydra import Hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from deepcrib import kernels
from deepcrib.analysis.sweeps import DONE, win_rates
from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.files import runs
from deepcrib.jobs import JOBS, Job, Run
from deepcrib.jobs.hydra import sweep_runs, sweeps
from deepcrib.jobs.hydra.options_together import check_heard
from deepcrib.jobs.hydra.resume import Resume, plan_resume, split_resume
from deepcrib.jobs.hydra.schema import check_keys, check_no_extras, parse, problem_line, quoted, register_schema
from deepcrib.jobs.hydra.values import check_values
from deepcrib.jobs.hydra.variants import check_variants
from deepcrib.jobs.shared.console import console, error_line, short_path

WRONG_CALL, FAILED = 2, 1  # exit codes
TRACEBACK = "DEEPCRIB_TRACEBACK"
"""Set to 1, this environment variable shows where a wrong call was refused."""
COMPILING = "compiling, once for this version: some seconds ..."
_FULL_ERROR = "HYDRA_FULL_ERROR"

# `${run_folder:train}` in conf/hydra/default.yaml; registered on import, so that workers of a launcher,
# which import this module to find their task, know it too
OmegaConf.register_new_resolver("run_folder", lambda job: str(runs.new_folder(job)), use_cache=True, replace=True)

# conf/hydra/launcher/ has files named as the launchers' own schemas, so as to be held against them; Hydra may come to
# do without, and says so in four lines
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/\w+' is validated against ConfigStore schema")

_WORDED_ERRORS = (UserError, HydraException, OmegaConfBaseException)


@dataclass
class Call:
    """The words behind `deepcrib <job>`, sorted."""

    overrides: list[str]
    multirun: bool = False
    config_dir: str | None = None
    flags: Sequence[str] = ()  # passed on to Hydra, such as --cfg job


def launch(job: Job, call: Call) -> int:
    """Run a job, or a sweep of it, and return the exit code."""
    schema = register_schema(job)
    sweeps.SweepStart.begun = None
    code, death = 0, None
    try:
        task, words = _prepare(job, call, schema)
        with _hydra_call(job, words), _composed_once(words):
            _call_hydra(job, task)
    except KeyboardInterrupt:
        if sweep := sweeps.SweepStart.begun:
            sweeps.finish(sweep, job.name, interrupted=True)
        raise
    except Exception as error:  # every error ends the command, with its exit code
        sweep, death = sweeps.SweepStart.begun, sweeps.worker_death(error)
        code = FAILED if sweep and death else report(error, schema)
        if sweep is None or not (death or sweep.has_news()):
            return code
    if sweep := sweeps.SweepStart.begun:
        return max(code, sweeps.finish(sweep, job.name, death))
    return report(task.failure, schema) if task.failure else 0


def _call_hydra(job: Job, task: Task) -> None:
    """Compose and run. What is raised here without a report is Hydra's own, and about the call."""
    main = hydra.main(version_base="1.3", config_path=str(runs.conf_folder()), config_name=job.name)
    try:
        main(task)()
    except RuntimeError as error:
        if "slurm cluster" in str(error):
            raise OptionError(
                "hydra/launcher=submitit_slurm: expected a machine with Slurm (srun is not there)"
            ) from error
        raise
    except (OSError, ValueError) as error:
        if hasattr(error, "reported") or isinstance(error, _WORDED_ERRORS):
            raise
        if isinstance(error, OSError):
            raise RunError(f"cannot write {error.filename or 'the run folder'}: {error.strerror}") from error
        raise OptionError(str(error)) from error


def report(error: Exception, schema: type, label: str = "") -> int:
    """Say what went wrong, in one line where the caller can mend it, and return the exit code."""
    line = problem_line(error, schema)
    if getattr(error, "reported", False):
        return FAILED if line is None else WRONG_CALL
    error.reported = True  # type: ignore[attr-defined]
    if line is None or os.environ.get(TRACEBACK) == "1":
        traceback.print_exception(error)
    error_line(f"{label}{line or f'{type(error).__name__}: {error} (a defect; see above)'}")
    return FAILED if line is None else WRONG_CALL


@dataclass
class Task:
    """What Hydra calls for every run. Picklable: a launcher may call it in another process or machine.

    varying: the options that a sweep gives several values. failure: that of a single run, kept for `launch` rather
    than raised, where Hydra would add lines of its own.
    """

    job: str
    resume: Resume | None = None
    varying: Sequence[str] = ()
    failure: Exception | None = None

    def __call__(self, composed: DictConfig) -> dict[str, Any] | None:
        """Run the job and return its summary, which a sweeper may learn from; None where it failed."""
        settings, job = HydraConfig.get(), JOBS[self.job]
        path = Path(settings.runtime.output_dir)
        if settings.mode == RunMode.MULTIRUN:
            folder = runs.RunFolder(path, job.resumable, tuple(settings.overrides.task))
            return _sweep_run(job, composed, folder, self._label(settings.job.num, folder.overrides))
        folder = runs.RunFolder(path, job.resumable)
        try:
            return execute(job, self.resume.config if self.resume else composed, folder, self.resume)
        except Exception as error:
            folder.remove_if_empty()
            self.failure = error
        return None

    def _label(self, number: int, overrides: Sequence[str]) -> str:
        """What the lines about a run of a sweep begin with."""
        telling = [word for word in overrides if word.partition("=")[0].lstrip("+") in self.varying]
        return f"run {number} ({', '.join(telling or overrides)}): "


def _sweep_run(job: Job, composed: DictConfig, folder: runs.RunFolder, label: str) -> dict[str, Any] | None:
    """One run of a sweep, whose errors are reported at once, written into its folder, and let the other runs follow."""
    work = partial(_run_or_report, job, composed, folder, label)
    apart = not sweep_runs.is_sequential() and sweep_runs.can_fork()
    if apart:
        sweep_runs.follow_launcher()
    code = sweep_runs.in_own_process(work, folder, label) if apart else work()
    if code == 0:
        return runs.read_json(folder.path / runs.SUMMARY)
    if not sweep_runs.learns():
        return None
    told = runs.read_json(folder.path / sweep_runs.REFUSED) or runs.read_json(folder.path / runs.ERROR)
    error = RunError(str(told.get("error") or f"cannot write {folder.path}, where no reason stands"))
    error.reported = True  # type: ignore[attr-defined]
    raise error


def _run_or_report(job: Job, composed: DictConfig, folder: runs.RunFolder, label: str) -> int:
    """Run what is not done yet; returns the exit code."""
    schema = register_schema(job)
    try:
        sweep_runs.use_granted_threads()
        with sweep_runs.held(folder.path):
            check_no_extras(composed, schema)
            found = sweep_runs.standing(folder.path, composed, schema)
            if found.state == DONE:
                _say(f"{label}is done, skipped")
                return 0
            goes_on = found.begun and job.resumable
            _say(f"{label}{'goes on' if goes_on else 'begins'}")
            resume = Resume(folder.path, composed, list(folder.overrides))
            if goes_on:
                composed.resume = str(folder.path)
            execute(job, composed, folder, resume if goes_on else None, again=found.begun)
            if not sweep_runs.is_sequential():
                _say(label + ", ".join(["done", *win_rates(runs.read_json(folder.path / runs.SUMMARY))]))
            return 0
    except Exception as error:
        code = report(error, schema, label)
        sweep_runs.record_failure(
            folder, error, problem_line(error, schema) or f"{type(error).__name__}: {error}", code
        )
        return code


def _say(text: str) -> None:
    console().print(text, markup=False, soft_wrap=True)


def execute(
    job: Job, config: DictConfig, folder: runs.RunFolder, resume: Resume | None, again: bool = False
) -> dict[str, Any]:
    """Check the options, run the job, save and print what came out; returns its summary.

    again: whether the folder holds an unfinished run with the same options.
    """
    module = job.module()
    schema = register_schema(job)
    check_no_extras(config, schema)
    options = OmegaConf.to_object(config)
    overrides = parse(resume.words if resume else HydraConfig.get().overrides.task)
    check_variants(options, overrides)
    check_values(options)
    check_heard(options, overrides)
    text = _config_text(config)
    start = (lambda: folder.resume(text)) if resume or again else (lambda: folder.start(text))
    alone, terminal = sweep_runs.is_sequential(), sys.stdout.isatty()
    run = Run(folder, start, resume is not None, show_progress=alone and terminal, show_lines=alone and not terminal)
    if alone:
        _announce_compiling()
    outcome = module.run(options, run)
    folder.finish(outcome.summary)
    if alone:
        for table in outcome.tables:
            console().print(table)
        for note in run.notes:
            console().print(note, markup=False)
        console().print(f"run folder: {short_path(folder.path)}", markup=False, soft_wrap=True)
    if outcome.fault:
        raise RunError(outcome.fault)
    return dict(outcome.summary)


@cache
def _announce_compiling() -> None:
    """Say it on the terminal before this process first compiles anything, as nothing else is seen for seconds."""
    if sys.stderr.isatty():
        kernels.on_compile(lambda: print(COMPILING, file=sys.stderr, flush=True))


def _prepare(job: Job, call: Call, schema: type) -> tuple[Task, list[str]]:
    """The task and the words for Hydra; wrong calls that Hydra would word worse, or allow, end here."""
    folders = [runs.conf_folder(), *([Path(call.config_dir)] if call.config_dir else [])]
    path, overrides = split_resume(call.overrides) if job.resumable else (None, call.overrides)
    check_keys(parse(overrides), schema, folders)
    flags = [*call.flags, *(["--config-dir", call.config_dir] if call.config_dir else [])]
    if path is None:
        varying = [override.key_or_group for override in parse(overrides) if override.is_sweep_override()]
        return Task(job.name, varying=varying), [*flags, *(["--multirun"] if call.multirun else []), *overrides]
    if call.multirun:
        raise OptionError(f"resume={path}: one run at a time can be resumed, without -m")
    resume = plan_resume(path, overrides, schema, folders)
    if call.flags:
        raise OptionError(f"resume={path}: a resumed run's options are in {resume.folder / runs.CONFIG}, without --cfg")
    return Task(job.name, resume), [*flags, f"hydra.run.dir={quoted(str(resume.folder))}"]


def _config_text(config: DictConfig) -> str:
    """`config.yaml`: every option resolved, and `resume` empty, so that it starts the same run anew."""
    plain = OmegaConf.to_container(config, resolve=True)
    assert isinstance(plain, dict)
    if "resume" in plain:
        plain["resume"] = None
    return OmegaConf.to_yaml(OmegaConf.create(plain))


@contextmanager
def _hydra_call(job: Job, words: Sequence[str]) -> Iterator[None]:
    """`sys.argv` as Hydra reads it, and its errors raised rather than printed with an exit."""
    argv, full_error = sys.argv, os.environ.get(_FULL_ERROR)
    sys.argv = [f"deepcrib {job.name}", *words]
    os.environ[_FULL_ERROR] = "1"
    try:
        yield
    finally:
        sys.argv = argv
        if full_error is None:
            del os.environ[_FULL_ERROR]
        else:
            os.environ[_FULL_ERROR] = full_error


@contextmanager
def _composed_once(words: Sequence[str]) -> Iterator[None]:
    """Spare Hydra composing all options a first time, only to read `hydra.mode`, unless something may have set it."""
    get_mode = Hydra.get_mode
    may_be_set = any(
        word == "--config-dir" or (word.lstrip("+").startswith("hydra") and "mode" in word) for word in words
    )
    if not may_be_set:
        Hydra.get_mode = lambda *_, **__: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        Hydra.get_mode = get_mode  # type: ignore[method-assign]
