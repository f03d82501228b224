"""A run of a sweep: the name of its folder, what is there already, its lock, and a process of its own.

A sweep may be started again over its folder, on this machine or another one that shares it.
"""

from __future__ import annotations

import ctypes
import hashlib
import multiprocessing
import os
import platform
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from deepcrib.analysis.sweeps import read_run, values_of
from deepcrib.errors import RunError
from deepcrib.files import runs, writing
from deepcrib.files.runs import LOCK, REFUSED
from deepcrib.jobs.hydra.resume import RefusedError
from deepcrib.jobs.shared.console import error_line
from deepcrib.kernels.workers import grant_threads

LOCK_PATIENCE = 3.0  # seconds: a process that has just been killed may hold it for a moment
_LONGEST_NAME = 120  # characters; file systems take 255 bytes
_INTERRUPTED, DIED = 130, 1  # exit codes
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl
_LAUNCHERS = ("joblib", "ray", "submitit", "concurrent")
"""Modules whose errors say that processes of a launcher have died."""
CAN_FORK = sys.platform == "linux"  # whether a run can have a process that is a copy of this one


class RunningElsewhereError(RunError):
    """Another process is at work on a run."""


# --- names of runs ---


def run_name(overrides: Sequence[str], varied: Sequence[str] = (), sweep: Path | str = "") -> str:
    """The name of a run's folder in its sweep's: `algorithm-sarsa+seed-1`.

    A run that has begun there keeps its folder, so that it is found again when a sweep is extended. A new one is named
    by its overrides of the options that vary; by all of them where another run has that name, or nothing varies.
    """
    words = sorted(overrides)
    name = _name([word for word in words if values_of([word]).keys() & set(varied)] or words)
    if (told := _told(Path(sweep, name))) == words:
        return name
    others = Path(sweep).iterdir() if sweep and Path(sweep).is_dir() else ()
    return next((place.name for place in others if _told(place) == words), _name(words) if told else name)


def _told(folder: Path) -> list[str]:
    """The overrides of the run in a folder."""
    return sorted(read_run(folder).overrides)


def _name(words: Sequence[str]) -> str:
    """Words as a name that can be typed as part of an option's value (Hydra takes no `=` or `,` there).

    A long one is shortened, `learner.games` to `games`, then cut, and a hash at its end makes up for what is lost.
    """
    name = plain = "+".join(word.replace("=", "-", 1) for word in words)
    if len(name) > _LONGEST_NAME:
        name = "+".join(f"{key.rpartition('.')[2]}-{value}" for key, _, value in (w.partition("=") for w in words))
    name = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII).lstrip(".") or "run"
    if name == plain:
        return name
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:8]
    return f"{name[: _LONGEST_NAME - 9]}_{digest}"


# `${run_name:${hydra.overrides.task}}` in conf/hydra/default.yaml, and as `sweeps.SweepStart` has it
OmegaConf.register_new_resolver("run_name", run_name, replace=True)


# --- a run within a sweep ---


def is_sequential() -> bool:
    """Whether runs follow one another in this process."""
    return kind(HydraConfig.get().launcher) == "BasicLauncher"


def kind(node: Any) -> str:
    """The name of a launcher's or a sweeper's class."""
    return str(OmegaConf.select(node, "_target_")).rpartition(".")[2]


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep a run for this process, while it lives. Raises RunningElsewhereError when another one has it.

    The system gives the lock back when a process dies, in whatever way.
    """
    runs.RunFolder(folder).create()
    path = folder / LOCK
    lock = FileLock(path, timeout=LOCK_PATIENCE)
    try:
        lock.acquire()
    except Timeout:
        owner = ""
        with suppress(OSError):  # released just now
            owner = path.read_text(encoding="utf-8").strip()
        raise RunningElsewhereError(f"{folder}: {owner or 'another process'} is at work on it") from None
    except OSError as error:  # a link, say, which is not followed
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        with writing(path), open(path, "r+", encoding="utf-8") as file:
            file.write(f"process {os.getpid()} of {platform.node()}\n")
            file.truncate()
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def is_held(folder: Path) -> bool:
    """Whether some process is at work on a run."""
    return is_locked(folder / LOCK)


def is_locked(path: Path) -> bool:
    """Whether some process holds a lock's file."""
    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True


def failure_of(folder: Path) -> str:
    """Why a run of a sweep ended without a summary."""
    reported = runs.read_json(folder / REFUSED) or runs.read_json(folder / runs.ERROR)
    return str(reported.get("error") or f"cannot write {folder}, where no reason stands")


def record_failure(folder: runs.RunFolder, error: Exception, line: str, code: int) -> None:
    """Say in a run's folder why it failed; where what is there stays as it is, only that it was refused."""
    with suppress(RunError, OSError):  # the folder may be what failed
        if isinstance(error, RefusedError) or (folder.path / runs.SUMMARY).exists():
            runs.write_json(folder.path / REFUSED, {"error": line, "exit_code": code})
        elif not isinstance(error, RunningElsewhereError):
            folder.fail(line, code)


# --- a process for each of several runs at a time ---


def in_own_process(work: Callable[[], int], folder: runs.RunFolder, label: str) -> int:
    """The exit code of `work`, called in a copy of this process.

    If the copy is killed (out of memory, say), the worker survives, and its launcher continues with the other runs.
    If the worker is killed, so is the copy.
    """
    child = multiprocessing.get_context("fork").Process(target=_work_and_exit, args=(work,))
    child.start()
    try:
        child.join()
    except BaseException:  # Ctrl-C, or the launcher ends this worker
        child.kill()
        raise
    code = child.exitcode or 0
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code < 0:
        line = f"its process was killed by {signal.Signals(-code).name}"
        folder.fail(line, DIED)
        error_line(label + line)
        return DIED
    return code


def end_with_parent() -> None:
    """Let this process be killed when the one that started it ends (on Linux)."""
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def death_line(error: BaseException) -> str | None:
    """What a launcher says of the death of its processes, in one line; None for other errors."""
    if type(error).__module__.partition(".")[0] not in _LAUNCHERS:
        return None
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def prepare_ray() -> None:
    """Settings of Ray's, where the environment leaves them open."""
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray leaves a token in the home folder
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default, without a warning


def _work_and_exit(work: Callable[[], int]) -> None:
    end_with_parent()
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)  # by which Slurm warns the worker of its end, and it answers
    try:
        sys.exit(work())
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def use_granted_threads() -> None:
    """As many threads as cores were asked for, one by default; joblib shares the cores out by itself."""
    launcher = HydraConfig.get().launcher
    asked = {"RayLauncher": "ray.remote.num_cpus", "LocalLauncher": "cpus_per_task", "SlurmLauncher": "cpus_per_task"}
    if key := asked.get(kind(launcher)):
        grant_threads(max(1, int(OmegaConf.select(launcher, key) or 1)))
