"""A job under Hydra: options composed, checked and turned into plain objects; the run folder; the outcome."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hydra import compose, version
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib import kernels
from deepcrib.analysis.sweeps import DONE, win_rates
from deepcrib.errors import FailureError, MissingExtraError, OptionError, RunError, UserError
from deepcrib.files import runs
from deepcrib.files.trust import require_no_way_out, trusting
from deepcrib.jobs import JOBS, Job, Run
from deepcrib.jobs.hydra import sweep_runs, sweeps
from deepcrib.jobs.hydra.checks import checked_options
from deepcrib.jobs.hydra.help import print_job
from deepcrib.jobs.hydra.resume import config_text, resumed_config, saved_config, split_resume
from deepcrib.jobs.hydra.schema import check_keys, parse, problem_line, quoted, register_schema
from deepcrib.jobs.hydra.yaml_files import yaml_problem
from deepcrib.jobs.shared.console import LOG, console, error_line, say, short_path
from deepcrib.kernels.processes import death_line

WRONG_CALL, FAILED = 2, 1  # exit codes
TRACEBACK = "DEEPCRIB_TRACEBACK"
"""Set to 1, this environment variable shows where a wrong call was refused."""
LAUNCHERS = ("hydra_joblib_launcher", "hydra_ray_launcher", "hydra_submitit_launcher")
COMPILING = "compiling, once for this version: some seconds ..."

# `${run_folder:train}` in conf/hydra/default.yaml; registered on import, so that workers of a launcher,
# which import this module to find their task, know it too
OmegaConf.register_new_resolver("run_folder", lambda job: str(runs.new_folder(job)), use_cache=True, replace=True)

# conf/hydra/launcher/ has files named as the launchers' own schemas, so as to be held against them; Hydra may come to
# do without, and says so in four lines
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/\w+' is validated against ConfigStore schema")


def launch(job: Job, overrides: Sequence[str], flags: Namespace) -> int:
    """Run a job, or a sweep of it, and return the exit code.

    flags: `multirun`, `config_dir`, and for `--cfg` `cfg`, `package` and `resolve`.
    """
    schema = register_schema(job)
    sweeps.SweepStart.begun = None
    code, death = 0, None
    try:
        task, words = _prepare(job, overrides, flags, schema)
        _call_hydra(job, words, flags, task)
    except KeyboardInterrupt:
        if sweep := sweeps.SweepStart.begun:
            sweeps.finish(sweep, job.name, interrupted=True)
        raise
    except Exception as error:  # every error ends the command, with its exit code
        sweep, death = sweeps.SweepStart.begun, death_line(error)
        code = FAILED if sweep and death else report(error, schema)
        if sweep is None or not (death or sweep.has_news()):
            return code
    if sweep := sweeps.SweepStart.begun:
        return max(code, sweeps.finish(sweep, job.name, death))
    return report(task.failure, schema) if task.failure else 0


def explain(job: Job, overrides: Sequence[str], flags: Namespace) -> int:
    """Print a job's options with the values that the overrides, those of a group too, give them."""
    schema = register_schema(job)
    try:
        check_keys(parse(overrides), schema, _folders(flags))
        with composing(job, flags):
            print_job(job, compose(job.name, overrides=list(overrides)), overrides)
    except Exception as error:
        return report(error, schema)
    return 0


def run_job(job: Job, overrides: Sequence[str]) -> Path:
    """Run a job once in this process; returns its folder. Raises what the job raises, and UserError for overrides."""
    schema, flags = register_schema(job), Namespace(multirun=False, config_dir=None, cfg=None)
    task, words = _prepare(job, overrides, flags, schema)
    try:
        _call_hydra(job, words, flags, task)
    except (HydraException, OmegaConfBaseException) as error:
        raise OptionError(problem_line(error, schema) or str(error)) from error
    if task.failure:
        raise task.failure
    assert task.folder is not None
    return task.folder


def _prepare(job: Job, overrides: Sequence[str], flags: Namespace, schema: type) -> tuple[Task, list[str]]:
    """The task and Hydra's overrides; wrong calls that Hydra would word worse, or allow, end here."""
    folders = _folders(flags)
    path, words = split_resume(overrides) if job.resumable else (None, list(overrides))
    _need_launchers(parse(words))
    check_keys(parse(words), schema, folders)
    if path is None:
        varying = [override.key_or_group for override in parse(words) if override.is_sweep_override()]
        return Task(job.name, varying=varying), words
    if flags.multirun:
        raise OptionError(f"resume={path}: one run at a time can be resumed, without -m")
    config = resumed_config(path, words, schema, folders)
    if flags.cfg:
        raise OptionError(f"resume={path}: a resumed run's options are in {path}/{runs.CONFIG}, without --cfg")
    return Task(job.name, config, words, told=[f"resume={path}", *words]), [f"hydra.run.dir={quoted(config.resume)}"]


def _need_launchers(overrides: Sequence[Override]) -> None:
    """Raise MissingExtraError for a launcher that is not installed: Hydra would not know its name, or its class."""
    for override in overrides:
        plugin = f"hydra_{str(override.value()).partition('_')[0]}_launcher"
        if (
            override.key_or_group == "hydra/launcher"
            and plugin in LAUNCHERS
            and not find_spec(f"hydra_plugins.{plugin}")
        ):
            raise MissingExtraError(override.input_line or "", plugin.replace("_", "-"), "launchers")


def _folders(flags: Namespace) -> list[Path]:
    return [runs.conf_folder(), *([Path(flags.config_dir)] if flags.config_dir else [])]


def _call_hydra(job: Job, words: Sequence[str], flags: Namespace, task: Task) -> None:
    """Compose and run. What is raised here is Hydra's own, or a sweeper's, and about the call."""
    try:
        with composing(job, flags) as hydra, _command(job, task.told or words, flags):
            if flags.cfg:
                hydra.show_cfg(job.name, list(words), flags.cfg, flags.package, flags.resolve)
                return
            may_set_mode = flags.config_dir or any("mode" in w and w.lstrip("+").startswith("hydra") for w in words)
            mode = hydra.get_mode(job.name, list(words)) if may_set_mode else None
            many = flags.multirun or mode == RunMode.MULTIRUN
            run = hydra.multirun if many else hydra.run
            run(job.name, task, [*words, f"hydra.mode={(RunMode.MULTIRUN if many else RunMode.RUN).name}"])
    except RuntimeError as error:
        if isinstance(error, RecursionError) and (problem := yaml_problem(error, flags.config_dir)):
            raise OptionError(problem) from error
        if "slurm cluster" in str(error):
            raise OptionError(
                "hydra/launcher=submitit_slurm: expected a machine with Slurm (srun is not there)"
            ) from error
        raise
    except (OSError, ValueError, YAMLError) as error:
        if isinstance(error, UserError | HydraException | OmegaConfBaseException | BrokenPipeError):
            raise
        if not isinstance(error, OSError) and (problem := yaml_problem(error, flags.config_dir)):
            raise OptionError(problem) from error
        if isinstance(error, YAMLError):
            raise
        if isinstance(error, OSError):
            raise RunError(f"cannot write {error.filename or 'the run folder'}: {error.strerror}") from error
        raise OptionError(str(error)) from error


@contextmanager
def composing(job: Job, flags: Namespace) -> Iterator[Hydra]:
    """Hydra over `conf/`, and over the folder of `--config-dir` before it."""
    version.setbase("1.3")
    search_path = create_config_search_path(str(runs.conf_folder()))
    if flags.config_dir:
        folder = Path(flags.config_dir).absolute()
        if not folder.is_dir():
            raise OptionError(f"--config-dir {folder}: expected a folder")
        search_path.prepend("command-line", f"file://{folder}", SearchPathQuery(provider="schema"))
    try:
        yield Hydra.create_main_hydra2(job.name, search_path)
    finally:
        GlobalHydra.instance().clear()


@contextmanager
def _command(job: Job, words: Sequence[str], flags: Namespace) -> Iterator[None]:
    """`sys.argv` as the run folder records it."""
    folder = ["--config-dir", flags.config_dir] if flags.config_dir else []
    many = ["--multirun"] if flags.multirun else []
    argv, sys.argv = sys.argv, [f"deepcrib {job.name}", *folder, *many, *words]
    try:
        yield
    finally:
        sys.argv = argv


def report(error: Exception, schema: type, label: str = "") -> int:
    """Print what went wrong, in one line for user errors, and return the exit code.

    Raises BrokenPipeError, with which the command ends.
    """
    if isinstance(error, BrokenPipeError):
        raise error
    line = problem_line(error, schema)
    if line is None or os.environ.get(TRACEBACK) == "1":
        traceback.print_exception(error)
    error_line(f"{label}{line or f'{type(error).__name__}: {error} (a defect; see above)'}")
    return FAILED if line is None or isinstance(error, FailureError) else WRONG_CALL


@dataclass
class Task:
    """What Hydra calls for every run. Picklable: a launcher may call it in another process or machine.

    resumed: the options of the run that is resumed, and words, the overrides of this call. varying: the options that a
    sweep gives several values. told: the command that is recorded, where Hydra is told another. folder, failure: of a
    single run; the failure is kept for `launch` rather than raised, where Hydra would add lines of its own.
    """

    job: str
    resumed: DictConfig | None = None
    words: Sequence[str] = ()
    varying: Sequence[str] = ()
    told: Sequence[str] = ()
    folder: Path | None = None
    failure: Exception | None = None

    def __call__(self, composed: DictConfig) -> dict[str, Any] | None:
        """Run the job and return its summary, which a sweeper may learn from; None where it failed."""
        config = self.resumed or composed
        with trusting("trust" in config and config.trust):
            return self._run(composed)

    def _run(self, composed: DictConfig) -> dict[str, Any] | None:
        settings, job = HydraConfig.get(), JOBS[self.job]
        path = Path(settings.runtime.output_dir)
        if settings.mode == RunMode.MULTIRUN:
            words = list(settings.overrides.task)
            telling = [word for word in words if word.partition("=")[0].lstrip("+") in self.varying]
            label = f"run {settings.job.num} ({', '.join(telling or words)}): "
            return _sweep_run(job, composed, runs.RunFolder(path, job.resumable, words, telling), label)
        self.folder, folder = path, runs.RunFolder(path, job.resumable)
        try:
            with sweep_runs.held(path) if job.resumable else nullcontext():
                if self.resumed is None:
                    written: Any = OmegaConf.to_container(settings.overrides.task, resolve=False)
                    if job.alone and {word.partition("=")[0] for word in written} <= {"seed", "device", "threads"}:
                        _say(job.alone)
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
        sweep_runs.follow_launcher()
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
            found = sweep_runs.standing(folder.path, composed, schema)
            if found.state == DONE:
                _say(f"{label}is done, skipped")
                return 0
            resuming = found.begun and job.resumable
            _say(f"{label}{'goes on' if resuming else 'begins'}")
            if resuming:
                composed.resume = str(folder.path)
                if not composed.trust:
                    require_no_way_out(folder.path)
            execute(job, composed, folder, folder.overrides, found.begun)
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
    job: Job, config: DictConfig, folder: runs.RunFolder, words: Sequence[str], begun: bool, saved: Path | None = None
) -> dict[str, Any]:
    """Check the options, run the job, save and print what came out; returns its summary.

    words: the overrides of this call. begun: whether the folder holds an unfinished run with the same options, or one
    to be resumed. saved: the file that all options but those of this call come from; None: all are this call's.
    """
    schema = register_schema(job)
    options = checked_options(config, schema, parse(words), saved)
    text = config_text(config)
    is_done = begun and folder.finished and not job.repeats
    if is_done and text == config_text(saved_config(folder.path / runs.CONFIG, schema)):
        _say(f"the run in {short_path(folder.path)} is finished; with more steps, as an option, it goes on")
        return runs.read_json(folder.path / runs.SUMMARY)
    start = partial(folder.resume if begun else folder.start, text)
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
    if outcome.fault:
        raise RunError(outcome.fault)
    return dict(outcome.summary)


@cache
def _announce_compiling() -> None:
    """Say it on the terminal before this process first compiles anything, as nothing else is seen for seconds."""
    if sys.stderr.isatty():
        kernels.on_compile(lambda: print(COMPILING, file=sys.stderr, flush=True))
