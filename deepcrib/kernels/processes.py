"""Independent pieces of work shared among processes by joblib: those of this machine (`loky`), or of a Ray cluster.

What a piece comes to follows from its arguments alone, whoever works it out. So what a process has not finished when it
dies is given to others.
"""

from __future__ import annotations

import ctypes
import logging
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from socket import gethostname
from typing import Any, TypeVar

from deepcrib.errors import UserError
from deepcrib.kernels.workers import grant_threads, num_workers, run_pieces

Result = TypeVar("Result")
Piece = tuple[Any, ...]

BACKENDS = ("loky", "ray")
_DEATHS = 3
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl
_MODULES = ("joblib", "ray", "submitit", "concurrent")


class WorkerError(UserError):
    """Processes that cannot be had, cannot be given their work, or die of it."""


@dataclass(frozen=True)
class Workers:
    """So many processes, by one of BACKENDS; a single one is that which asks, without joblib."""

    count: int = 1
    backend: str = "loky"

    def run(
        self, work: Callable[..., Result], pieces: Sequence[Piece], done: Callable[[int, Result], None] | None = None
    ) -> list[Result]:
        """`work(*piece)` of all pieces, in their order.

        The threads that this process has are divided among the workers. Each unpickles `work` once, which may keep what
        it finds out. done: called here with the number of each piece that is done, and its result. Raises WorkerError,
        or what a piece raises.
        """
        results: dict[int, Result] = {}
        deaths, threads = 0, max(1, num_workers() // self.count)
        with _cluster(self.count, threads) if self.on_ray else nullcontext():
            while len(results) < len(pieces):
                left = {number: piece for number, piece in enumerate(pieces) if number not in results}
                try:
                    for number, result in _results(self, work, left, threads, deaths > 0):
                        results[number] = result
                        if done is not None:
                            done(number, result)
                except Exception as error:
                    deaths = deaths + 1 if len(results) + len(left) == len(pieces) else 1
                    self._survive(error, deaths)
        return [results[number] for number in range(len(pieces))]

    @property
    def on_ray(self) -> bool:
        """Whether they are processes of a Ray cluster."""
        return self.count > 1 and self.backend == "ray"

    def _survive(self, error: Exception, deaths: int) -> None:
        """Raise an error that is not the death of a process, or one death too many since the last result."""
        death = death_line(error)
        if death is None:
            raise error
        if deaths == _DEATHS:
            raise WorkerError(f"workers={self.count}: they died {deaths} times without a result ({death})") from error


ALONE = Workers()


def death_line(error: BaseException) -> str | None:
    """What joblib or a launcher says of the death of its processes, in one line; None for other errors."""
    if type(error).__module__.partition(".")[0] not in _MODULES:
        return None
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def end_with_parent() -> None:
    """Let this process be killed when the one that started it ends (on Linux)."""
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def prepare_ray() -> None:
    """Settings of Ray's, where the environment leaves them open."""
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray leaves a token in the home folder
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default, without a warning


# --- the process that shares the work out -----------------------------------------------------------------------


def _results(
    workers: Workers, work: Callable[..., Result], pieces: Mapping[int, Piece], threads: int, some_died: bool
) -> Iterator[tuple[int, Result]]:
    """(number, result) of pieces as they are done. What is left to one process, for want of others, this one does."""
    count = min(workers.count, len(pieces), _room(threads) if workers.on_ray else workers.count)
    if count < 2:
        yield from ((number, work(*piece)) for number, piece in pieces.items())
        return
    from joblib import Parallel, delayed, parallel_config

    path = tuple(map(os.path.abspath, sys.path))
    settings: dict[str, Any] = {"inner_max_num_threads": threads, "initializer": _settle, "initargs": (threads, path)}
    if workers.on_ray:  # it may take a minute until it knows that a machine has died, and would wait for its cores
        cores = {"num_cpus": 0, "scheduling_strategy": "SPREAD"} if some_died else {"num_cpus": threads}
        settings = {"ray_remote_args": cores}
    call = partial(delayed(_do), _packed(work), threads, path)
    with parallel_config(workers.backend, n_jobs=count, **settings) as config, warnings.catch_warnings():
        if workers.on_ray:  # whose pool can, but the class says what it has inherited
            config["backend"].supports_return_generator = True
        warnings.simplefilter("ignore")  # of results that nobody waits for when this is interrupted
        tasks = (call(number, _packed(piece)) for number, piece in pieces.items())
        with closing(Parallel(return_as="generator_unordered")(tasks)) as found:
            yield from found


def _packed(what: Any) -> bytes:
    """Pickled here, so that its modules are not looked for before `_settle`."""
    from joblib.externals import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(what)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        expected = "expected one that can be pickled, or workers=1"
        raise WorkerError(f"an agent cannot be sent to other processes ({error}): {expected}") from error
    return content


@contextmanager
def _cluster(workers: int, threads: int) -> Iterator[None]:
    """A Ray cluster: that of RAY_ADDRESS, else the one that this machine is part of, else one that is started here."""
    prepare_ray()
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    ours = not ray.is_initialized()
    try:
        if ours:
            ray.init(log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise WorkerError(f"backend=ray: no cluster can be reached ({str(error).splitlines()[0]})") from error
    try:
        if (room := _room(threads)) < workers:
            each = f" for {threads} threads each" if threads > 1 else ""
            raise WorkerError(f"workers={workers}: expected at most {room}, the cores of the Ray cluster{each}")
        yield
    finally:
        if ours:
            ray.shutdown()


def _room(threads: int) -> int:
    """Workers that the Ray cluster has cores for."""
    import ray

    return int(ray.cluster_resources().get("CPU", 0)) // threads


# --- the processes that do it -----------------------------------------------------------------------------------


def _do(work: bytes, threads: int, path: tuple[str, ...], number: int, piece: bytes) -> tuple[int, Any]:
    _settle(threads, path)
    call = partial(_unpacked(work), *pickle.loads(piece))
    return number, run_pieces([call])[0]


@lru_cache(maxsize=1)
def _settle(threads: int, path: tuple[str, ...]) -> None:
    """Make this process one that works for another: its threads, where it finds modules, and how it ends."""
    grant_threads(threads)
    sys.path.extend(folder for folder in path if folder not in sys.path)
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C goes to all that a terminal started; the first of them ends us
    if sys.platform == "linux":
        end_with_parent()


@lru_cache(maxsize=1)
def _unpacked(work: bytes) -> Callable[..., Any]:
    """As it was packed; kept, with all that it finds out, as long as the same is asked for."""
    try:
        found: Callable[..., Any] = pickle.loads(work)
    except ImportError as error:
        raise WorkerError(f"a worker on {gethostname()} cannot import an agent ({error})") from error
    return found
