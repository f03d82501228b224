"""A job under Hydra: options composed, checked and turned into plain objects; the run folder; the outcome."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError  # type: ignore[import-untyped]

from deepcrib import kernels
from deepcrib.analysis.sweeps import DONE, read_run, win_rates
from deepcrib.errors import FailureError, MissingExtraError, OptionError, RunError, UserError
from deepcrib.files import runs
from deepcrib.files.trust import require_no_way_out, trusting
from deepcrib.jobs import JOBS, Job, Run
from deepcrib.jobs.hydra import resume, sweep_runs, sweeps
from deepcrib.jobs.hydra.help import print_job
from deepcrib.jobs.hydra.schema import check_overrides, parse, problem_line, quoted, register_schema
from deepcrib.jobs.shared.console import LOG, error_line, say, short_path, show_line

WRONG_CALL, FAILED = 2, 1  # exit codes
TRACEBACK = "DEEPCRIB_TRACEBACK"  # set to 1, this environment variable shows where a wrong call was refused
LAUNCHERS = ("hydra_joblib_launcher", "hydra_ray_launcher", "hydra_submitit_launcher")
COMPILING = "compiling, once for this version: some seconds ..."


def _run_folder(job: str, study: str | None = None) -> str:
    """`${run_folder:train}` in conf/hydra/default.yaml: a new folder, or that of a search's study of this name."""
    return str(runs.outputs_folder() / "search" / study if study else runs.new_folder(job))


# on import, so that workers of a launcher, which import this module to find their task, know it too
OmegaConf.register_new_resolver("run_folder", _run_folder, use_cache=True, replace=True)

# conf/hydra/launcher/ has files named as the launchers' own schemas, so as to be held against them; Hydra may come to
# do without, and says so in four lines
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/\w+' is validated against ConfigStore schema")

os.environ["HYDRA_FULL_ERROR"] = "1"  # `hydra.main` raises its errors: `report` prints them
if hasattr(ArgumentParser, "_check_help"):  # of Python 3.14: refuses a help of Hydra 1.3, which is no text until shown
    ArgumentParser._check_help = lambda parser, action: None


def launch(job: Job, overrides: Sequence[str], flags: Namespace) -> int:
    """Run a job, or a sweep of it, and return the exit code.

    flags: `multirun`, `config_dir` and `cfg`.
    """
    sweeps.SweepStart.begun = None
    code, death, failure = 0, None, None
    try:
        failure = _call_hydra(job, overrides, flags).failure
    except KeyboardInterrupt:
        if sweep := sweeps.SweepStart.begun:
            sweeps.finish(sweep, job.name, interrupted=True)
        raise
    except Exception as error:  # every error ends the command, with its exit code
        sweep, death = sweeps.SweepStart.begun, sweep_runs.death_line(error)
        code = FAILED if sweep and death else report(error)
        if sweep is None or not (death or sweep.has_news()):
            return code
    if sweep := sweeps.SweepStart.begun:
        return max(code, sweeps.finish(sweep, job.name, death))
    return report(failure) if failure else 0


def explain(job: Job, overrides: Sequence[str], flags: Namespace) -> int:
    """Print a job's options with the values that the overrides, those of a group too, give them."""
    try:
        check_overrides(parse(overrides), _folders(flags))
        print_job(job, overrides, flags.config_dir)
    except Exception as error:
        return report(error)
    return 0


def run_job(job: Job, overrides: Sequence[str]) -> Path:
    """Run a job once in this process; returns its folder. Raises what the job raises, and UserError for overrides."""
    try:
        task = _call_hydra(job, overrides, Namespace(multirun=False, config_dir=None, cfg=None))
    except (HydraException, OmegaConfBaseException) as error:
        raise OptionError(problem_line(error) or str(error)) from error
    if task.failure:
        raise task.failure
    assert task.folder is not None
    return task.folder


def _call_hydra(job: Job, overrides: Sequence[str], flags: Namespace) -> Task:
    """Compose and run. What is raised here is about the call: Hydra's, a launcher's or a sweeper's."""
    named = {"--config-dir": flags.config_dir, "--cfg": flags.cfg}
    hydras = [word for name, value in named.items() if value for word in (name, value)]
    command = [f"deepcrib {job.name}", *hydras, *(["--multirun"] if flags.multirun else [])]
    argv = sys.argv
    try:
        task, words = _prepare(job, overrides, flags)
        task.command = [*command, *overrides]
        sys.argv = [*command, *words]
        hydra.main(version_base="1.3", config_path=str(runs.conf_folder()), config_name=job.name)(task)()
    except (HydraException, OmegaConfBaseException, UserError, BrokenPipeError):
        raise
    except OSError as error:
        raise RunError(f"cannot write {error.filename or 'the run folder'}: {error.strerror}") from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise OptionError(_unreadable(error, flags.config_dir)) from error
    finally:
        sys.argv = argv
        if sweeps.SweepStart.heart:
            sweeps.SweepStart.heart.set()
    return task


def _unreadable(error: Exception, folder: str | None) -> str:
    """About an override, or a file of the user's, that cannot be read."""
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem_mark.name}, line {error.problem_mark.line + 1}: {error.problem}"
    if isinstance(error, RecursionError):
        return f"{f'a file of --config-dir {folder}' if folder else 'an option'} is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"a file of --config-dir {folder}: expected UTF-8 ({error})"
    return " ".join(str(error).split())


def _prepare(job: Job, overrides: Sequence[str], flags: Namespace) -> tuple[Task, list[str]]:
    """The task and Hydra's overrides; wrong calls that Hydra would word worse, or allow, end here."""
    schema, folders = register_schema(job), _folders(flags)
    path, words = resume.split_resume(overrides) if job.resumable else (None, list(overrides))
    parsed = parse(words)
    for override in parsed:
        if override.key_or_group == "hydra/launcher" and not override.is_sweep_override():
            _require_launcher(str(override.value()))
    if path is None:
        check_overrides(parsed, folders)
        return Task(job.name, varying=[item.key_or_group for item in parsed if item.is_sweep_override()]), words
    if flags.multirun:
        raise OptionError(f"resume={path}: one run at a time can be resumed, without -m")
    if flags.cfg:
        raise OptionError(f"resume={path}: a resumed run's options are in {path}/{runs.CONFIG}, without --cfg")
    config = resume.resumed_config(path, words, schema, folders)
    return Task(job.name, config, words), [f"hydra.run.dir={quoted(config.resume)}"]


def _require_launcher(name: str) -> None:
    """Refuse a launcher that is not installed, or Slurm's where there is none."""
    plugin = f"hydra_{name.partition('_')[0]}_launcher"
    if plugin in LAUNCHERS and not find_spec(f"hydra_plugins.{plugin}"):
        raise MissingExtraError(f"hydra/launcher={name}", plugin.replace("_", "-"), "launchers")
    if name == "submitit_slurm" and shutil.which("srun") is None:
        raise OptionError(f"hydra/launcher={name}: expected a machine with Slurm (srun is not there)")


def _folders(flags: Namespace) -> list[Path]:
    if flags.config_dir and not Path(flags.config_dir).is_dir():
        raise OptionError(f"--config-dir {flags.config_dir}: expected a folder")
    return [runs.conf_folder(), *([Path(flags.config_dir)] if flags.config_dir else [])]


def report(error: Exception, label: str = "") -> int:
    """Print what went wrong, in one line for user errors, and return the exit code.

    Raises BrokenPipeError, with which the command ends.
    """
    if isinstance(error, BrokenPipeError):
        raise error
    line = problem_line(error)
    if line is None or os.environ.get(TRACEBACK) == "1":
        traceback.print_exception(error)
    error_line(f"{label}{line or f'{type(error).__name__}: {error} (a defect; see above)'}")
    return FAILED if line is None or isinstance(error, FailureError) else WRONG_CALL


@dataclass
class Task:
    """What Hydra calls for every run. Picklable: a launcher may call it in another process or machine.

    resumed: the options of the run that is resumed, and words, the overrides of this call. varying: the options that a
    sweep gives several values. command: as the run folder records it. folder, failure: of a single run; the failure is
    kept for `launch` rather than raised, where Hydra would add lines of its own.
    """

    job: str
    resumed: DictConfig | None = None
    words: Sequence[str] = ()
    varying: Sequence[str] = ()
    command: Sequence[str] = ()
    folder: Path | None = None
    failure: Exception | None = None

    def __call__(self, composed: DictConfig) -> dict[str, Any] | None:
        """Run the job and return its summary, which a sweeper may learn from; None where it failed."""
        config = self.resumed or composed
        sys.argv = list(self.command)
        with trusting("trust" in config and config.trust):
            return self._run(composed)

    def _run(self, composed: DictConfig) -> dict[str, Any] | None:
        settings, job = HydraConfig.get(), JOBS[self.job]
        path = Path(settings.runtime.output_dir)
        if settings.mode == RunMode.MULTIRUN:
            words = list(settings.overrides.task)
            varied = [word for word in words if word.partition("=")[0].lstrip("+") in self.varying]
            label = f"run {settings.job.num} ({', '.join(varied or words)}): "
            return _sweep_run(job, composed, runs.RunFolder(path, job.resumable, words, varied), label)
        self.folder, folder = path, runs.RunFolder(path, job.resumable)
        try:
            with sweep_runs.held(path) if job.resumable else nullcontext():
                if self.resumed is None:
                    written: Any = OmegaConf.to_container(settings.overrides.task, resolve=False)
                    return execute(job, composed, folder, written, begun=False)
                return execute(job, self.resumed, folder, self.words, begun=True, saved=path / runs.CONFIG)
        except Exception as error:
            folder.remove_if_empty()
            self.failure = error
        return None


def _sweep_run(job: Job, composed: DictConfig, folder: runs.RunFolder, label: str) -> dict[str, Any] | None:
    """One run of a sweep, whose errors are reported at once, written into its folder, and let the other runs follow."""
    work = partial(_run_or_report, job, composed, folder, label)
    if sweep_runs.CAN_FORK and not sweep_runs.is_sequential():
        if sweep_runs.kind(HydraConfig.get().launcher) == "JoblibLauncher":
            sweep_runs.end_with_parent()  # the worker, which would keep waiting for work when the sweep is killed
        code = sweep_runs.in_own_process(work, folder, label)
    else:
        code = work()
    return runs.read_json(folder.path / runs.SUMMARY) if code == 0 else None


def _run_or_report(job: Job, composed: DictConfig, folder: runs.RunFolder, label: str) -> int:
    """Run what is not done yet; returns the exit code."""
    schema = register_schema(job)
    try:
        sweep_runs.use_granted_threads()
        with sweep_runs.held(folder.path):
            before = read_run(folder.path)
            if before.begun:
                resume.require_same_options(folder.path, composed, schema)
            (folder.path / runs.REFUSED).unlink(missing_ok=True)
            if before.state == DONE:
                show_line(f"{label}is done, skipped")
                return 0
            resuming = before.begun and job.resumable
            how_far = f", {sweep.progress()}" if (sweep := sweeps.SweepStart.begun) and sweep.planned else ""
            show_line(f"{label}{'goes on' if resuming else 'begins'}{how_far}")
            if resuming:
                composed.resume = str(folder.path)
                if not composed.trust:
                    require_no_way_out(folder.path)
            execute(job, composed, folder, folder.overrides, before.begun)
            if not sweep_runs.is_sequential():
                show_line(label + ", ".join(["done", *win_rates(runs.read_json(folder.path / runs.SUMMARY))]))
            return 0
    except Exception as error:
        code = report(error, label)
        line = problem_line(error) or f"{type(error).__name__}: {error}"
        sweep_runs.record_failure(folder, error, line, code)
        return code


def execute(
    job: Job, config: DictConfig, folder: runs.RunFolder, words: Sequence[str], begun: bool, saved: Path | None = None
) -> dict[str, Any]:
    """Check the options, run the job, save and print what came out; returns its summary.

    words: the overrides of this call. begun: whether the folder holds an unfinished run with the same options, or one
    to be resumed. saved: the file that all options but those of this call come from; None: all are this call's.
    """
    options = resume.checked_options(config, parse(words), saved)
    if begun and folder.finished and not job.repeats and resume.is_same(folder.path, config, register_schema(job)):
        show_line(f"the run in {short_path(folder.path)} is finished; with more steps, as an option, it goes on")
        return runs.read_json(folder.path / runs.SUMMARY)
    start = partial(folder.resume if begun else folder.start, resume.config_text(config))
    alone, terminal = sweep_runs.is_sequential(), sys.stdout.isatty()
    run = Run(folder, start, begun and job.resumable, alone and terminal, alone and not terminal)
    if alone:
        _announce_compiling()
    try:
        outcome = job.module().run(options, run)
    except BaseException as error:
        if folder.begun:
            LOG.info(" ".join([f"{type(error).__name__}:", *map(str, error.args)]))
            with suppress(RunError):  # which is not what went wrong
                folder.stop()
        raise
    folder.finish(outcome.summary)
    if alone:
        for said in (*outcome.tables, *run.notes, f"run folder: {short_path(folder.path)}"):
            say(said)
    return dict(outcome.summary)


@cache
def _announce_compiling() -> None:
    """Say it on the terminal before this process first compiles anything, as nothing else is seen for seconds."""
    if sys.stderr.isatty():
        kernels.on_compile(lambda: print(COMPILING, file=sys.stderr, flush=True))
