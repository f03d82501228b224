"""Work shared among threads in pieces that do not depend on how many threads there are.

PyTorch's own threads split single operations, which gains little on small networks, collapses when another process
needs the cores, and changes results in their last bits. Here each piece is computed whole by one thread (PyTorch and
Numba release the interpreter's lock), so the same pieces give the same results on any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import TypeVar

Result = TypeVar("Result")

_pool: ThreadPoolExecutor | None = None
_thread = local()


def use_workers(count: int) -> None:
    """From now on run pieces on so many threads; 1 runs them one after the other, here."""
    global _pool
    if _pool is not None:
        _pool.shutdown()
    _pool = ThreadPoolExecutor(count, "deepcrib", initializer=_mark_worker) if count > 1 else None


def run_pieces(pieces: Sequence[Callable[[], Result]]) -> list[Result]:
    """Results of all pieces, in order. A piece must not call this function itself."""
    if _pool is None or len(pieces) < 2:
        return [piece() for piece in pieces]
    return list(_pool.map(lambda piece: piece(), pieces))


def is_worker() -> bool:
    """Whether this thread is one of several that work side by side.

    It must then not start a parallel kernel: not every threading layer of Numba takes two of them at once.
    """
    return getattr(_thread, "is_worker", False)


def _mark_worker() -> None:
    _thread.is_worker = True
