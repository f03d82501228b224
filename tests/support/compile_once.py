"""One compilation of each kernel among the processes of a test run.

The workers of pytest-xdist begin with the same kernels at the same time. Without more each compiles them all,
because Numba looks for a kernel on disk before it compiles and never while; here the second waits for the first
and loads what it saved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: every worker compiles for itself
    fcntl = None  # type: ignore[assignment]

_held: set[Path] = set()
"""Locks of this process, which it takes once however deep it compiles."""


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process is within `alone` of the same file; the file is made and stays."""
    if fcntl is None or path in _held:
        yield
        return
    with open(path, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _held.add(path)
        try:
            yield
        finally:
            _held.remove(path)
            fcntl.flock(file, fcntl.LOCK_UN)  # a process forked meanwhile would keep it


def compile_once() -> None:
    """Let the processes that call this compile or load each cached function one at a time.

    A process locks the function that it compiles and then those that it calls. No cached function calls itself,
    directly or not, so two processes never wait for each other. Locks lie beside the compiled code.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher
    from numba.core.sigutils import normalize_signature

    compile_ = Dispatcher.compile

    def locked(dispatcher: Any, signature: Any) -> Any:
        folder, name = dispatcher._cache.cache_path, dispatcher.py_func.__qualname__
        known = tuple(normalize_signature(signature)[0]) in dispatcher.overloads
        if known or folder is None or not Path(folder).is_dir():
            return compile_(dispatcher, signature)
        path = Path(folder) / f"{name}.lock"
        with global_compiler_lock, alone(path):  # in this order, as other threads of this process may compile too
            return compile_(dispatcher, signature)

    Dispatcher.compile = locked
