"""A job under Hydra: options composed, checked and turned into plain objects; the run folder; the outcome."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from deepcrib import runs
from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.jobs import JOBS, Job, Run
from deepcrib.jobs.console import console, error_line
from deepcrib.jobs.options import check_values
from deepcrib.jobs.resume import Resume, plan_resume, split_resume
from deepcrib.jobs.schema import check_keys, check_no_extras, parse, problem_line, register_schema
from deepcrib.jobs.variants import check_variants

WRONG_CALL, FAILED = 2, 1  # exit codes
TRACEBACK = "DEEPCRIB_TRACEBACK"
"""Set to 1, this environment variable shows where a wrong call was refused."""
_FULL_ERROR = "HYDRA_FULL_ERROR"

# `${run_folder:train}` in conf/hydra/default.yaml; registered on import, so that workers of a launcher,
# which import this module to find their task, know it too
OmegaConf.register_new_resolver("run_folder", lambda job: str(runs.new_folder(job)), use_cache=True, replace=True)


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
    try:
        task, words = _prepare(job, call, schema)
        with _hydra_call(job, words):
            _call_hydra(job, task)
    except Exception as error:  # every error ends the command, with its exit code
        return report(error, schema)
    codes = [report(error, schema, label) for label, error in task.failures]
    return max(codes, default=0)


def _call_hydra(job: Job, task: Task) -> None:
    """Compose and run. What is raised here without a report is Hydra's own, and about the call."""
    main = hydra.main(version_base="1.3", config_path=str(runs.conf_folder()), config_name=job.name)
    try:
        main(task)()
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

    failures: errors with what they concern, kept for `launch` rather than raised, where Hydra would add lines
    of its own and nothing but our return code depends on them.
    """

    job: str
    resume: Resume | None = None
    failures: list[tuple[str, Exception]] = field(default_factory=list)

    def __call__(self, composed: DictConfig) -> dict[str, Any] | None:
        """Run the job and return its summary, which a sweeper may learn from; None where it failed.

        In a sweep, report an error at once and let the other runs follow.
        """
        settings = HydraConfig.get()
        folder = runs.RunFolder(Path(settings.runtime.output_dir), JOBS[self.job].resumable)
        try:
            return execute(JOBS[self.job], composed, folder, self.resume)
        except Exception as error:
            folder.remove_if_empty()
            if settings.mode != RunMode.MULTIRUN:
                self.failures.append(("", error))
                return None
            label = f"run {settings.job.num} ({settings.job.override_dirname}): "
            report(error, register_schema(JOBS[self.job]), label)
            self.failures.append((label, error))
            if not _is_plain_sweep():
                raise  # for a sweeper that learns from results, or a launcher with processes of its own
        return None


def execute(job: Job, composed: DictConfig, folder: runs.RunFolder, resume: Resume | None) -> dict[str, Any]:
    """Check the options, run the job, save and print what came out; returns its summary."""
    module = job.module()
    schema = register_schema(job)
    config = resume.config if resume else composed
    check_no_extras(config, schema)
    options = OmegaConf.to_object(config)
    check_variants(options, parse(resume.words if resume else HydraConfig.get().overrides.task))
    check_values(options)
    text = _config_text(config)
    start = (lambda: folder.resume(text)) if resume else (lambda: folder.start(text))
    show_progress = sys.stdout.isatty() and _is_sequential()
    run = Run(folder, start, resuming=resume is not None, show_progress=show_progress)
    outcome = module.run(options, run)
    folder.finish(outcome.summary)
    for table in outcome.tables:
        console().print(table)
    for note in (*run.notes, f"run folder: {_shown(folder.path)}"):
        console().print(note, markup=False)
    if outcome.fault:
        raise RunError(outcome.fault)
    return dict(outcome.summary)


def _prepare(job: Job, call: Call, schema: type) -> tuple[Task, list[str]]:
    """The task and the words for Hydra; wrong calls that Hydra would word worse, or allow, end here."""
    folders = [runs.conf_folder(), *([Path(call.config_dir)] if call.config_dir else [])]
    path, overrides = split_resume(call.overrides) if job.resumable else (None, call.overrides)
    check_keys(parse(overrides), schema, folders)
    flags = [*call.flags, *(["--config-dir", call.config_dir] if call.config_dir else [])]
    if path is None:
        return Task(job.name), [*flags, *(["--multirun"] if call.multirun else []), *overrides]
    if call.multirun:
        raise OptionError(f"resume={path}: one run at a time can be resumed, without -m")
    resume = plan_resume(path, overrides, schema, folders)
    if call.flags:
        raise OptionError(f"resume={path}: a resumed run's options are in {resume.folder / runs.CONFIG}, without --cfg")
    return Task(job.name, resume), [*flags, f"hydra.run.dir={_quoted(str(resume.folder))}"]


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


def _is_sequential() -> bool:
    """Whether runs follow one another in this process."""
    return str(HydraConfig.get().launcher.get("_target_", "")).endswith(".BasicLauncher")


def _is_plain_sweep() -> bool:
    return _is_sequential() and str(HydraConfig.get().sweeper.get("_target_", "")).endswith(".BasicSweeper")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _shown(path: Path) -> str:
    """A path as short as it can be typed from here."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
