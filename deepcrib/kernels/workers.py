"""Work shared among threads in pieces whose results do not depend on how many threads there are.

Each piece is computed whole by one thread: PyTorch and compiled functions release the interpreter's lock. Threads of
PyTorch's or Numba's own would split single operations, which gains little on small ones, changes results in their last
bits, and collapses when another process needs the cores, since such threads spin while they wait for each other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock, local
from typing import Any, TypeVar

Result = TypeVar("Result")

_PIECE = 16384
"""Rows that are worth a thread where a row takes about a tenth of a microsecond: fewer cost more to hand over."""
_PIECES_A_THREAD = 4  # so many, since rows may differ in work: a thread that is done early takes another

_lock = Lock()
_granted: int | None = None
_chosen: int | None = None
_pool: ThreadPoolExecutor | None = None
_thread = local()


def available_threads() -> int:
    """Threads that this process may use.

    As many as it has been granted, else as the environment allows Numba or OpenMP, else the cores that it may run on.
    """
    if _granted is not None:
        return _granted
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit():
            return max(1, int(os.environ[name]))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def num_workers() -> int:
    """Threads that pieces run on: as many as are available until `use_workers` has chosen a number."""
    return available_threads() if _chosen is None else _chosen


def grant_threads(count: int) -> None:
    """From now on so many threads are available: what a launcher has given a run."""
    global _granted
    _granted = count
    use_workers(None)


def use_workers(count: int | None) -> None:
    """From now on run pieces on so many threads; 1 runs them one after the other, here. None: those available."""
    global _chosen, _pool
    with _lock:
        if _pool is not None:
            _pool.shutdown()
        _chosen, _pool = count, None


def run_pieces(pieces: Sequence[Callable[[], Result]]) -> list[Result]:
    """Results of all pieces, in order. A piece that calls this itself has its own pieces run one after the other."""
    if len(pieces) < 2 or _is_alone():
        with _one_torch_thread():
            return [piece() for piece in pieces]
    return list(_workers().map(_run, pieces))


def run_rows(kernel: Callable[..., None], count: int, *arguments: Any, piece: int = _PIECE) -> None:
    """Call `kernel(part, *arguments)` for parts (first, end) of so many rows, side by side where that pays.

    The kernel is compiled, and writes to its own rows alone. piece: rows that are worth a thread.
    """
    parts = _num_parts(count, piece)
    if parts < 2:
        kernel((0, count), *arguments)
        return
    ends = [count * number // parts for number in range(parts + 1)]
    run_pieces([partial(kernel, part, *arguments) for part in zip(ends[:-1], ends[1:], strict=True)])


def _num_parts(count: int, piece: int) -> int:
    """Parts in which rows are shared; of few rows one, without looking for threads, since most calls are of few."""
    parts = count // piece
    return 1 if parts < 2 or _is_alone() else min(parts, _PIECES_A_THREAD * num_workers())


def _is_alone() -> bool:
    """Whether there is no other thread to share with: here is one of them already, or there is but one."""
    return is_worker() or num_workers() < 2


def is_worker() -> bool:
    """Whether this thread is one of several that work side by side."""
    return getattr(_thread, "is_worker", False)


def _workers() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(
                num_workers(), "deepcrib", initializer=lambda: setattr(_thread, "is_worker", True)
            )
        return _pool


def _run(piece: Callable[[], Result]) -> Result:
    with _one_torch_thread():
        return piece()


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """Where PyTorch is in use, let this thread compute its operations alone."""
    torch: Any = sys.modules.get("torch")
    # A module that another thread is importing has not got the function yet.
    before = torch.get_num_threads() if hasattr(torch, "get_num_threads") else 1
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _forget_pool() -> None:
    """Threads do not outlive a fork: the child makes its own."""
    global _pool, _lock
    _pool, _lock = None, Lock()
    _thread.is_worker = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
