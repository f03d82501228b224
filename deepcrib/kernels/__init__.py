"""The one way a scalar rule or a loop over a range of rows is compiled: `@jit`.

Compiled code is cached on disk (see `kernels.cache`), so only the first run after a change of the sources pays for
compiling. What a kernel reads as a global (a table, say) is frozen into the cached code.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

import numba
from numba.core import event
from numba.core.types import int64, uint64
from numba.core.types.misc import unliteral
from numba.core.types.scalars import Integer

from deepcrib.kernels.cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])

Part = tuple[int, int]
"""A range of rows: the first, and that behind the last. A kernel over rows takes it first: `for r in range(*part)`."""
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Nobody calls a kernel from C, and without that entry a tenth less is compiled."""


@overload
def jit(function: Function) -> Function: ...


@overload
def jit(*, inlined: bool = False, borrowed: bool = False) -> Callable[[Function], Function]: ...


def jit(function: Function | None = None, *, inlined: bool = False, borrowed: bool = False) -> Any:
    """Compile a function with Numba: cached on disk, without the GIL, division by zero as in NumPy.

    inlined: into its callers, for a function that does little and to which several arrays are passed for every card.
    borrowed: without counting references to arrays, for a function of a hot loop that makes and returns none.

    A function over rows takes a `Part` of them; `kernels.workers.run_rows` shares parts among threads.
    """
    if function is None:
        return partial(jit, inlined=inlined, borrowed=borrowed)
    compiled: Any = numba.njit(**_OPTIONS, forceinline=inlined, _nrt=not borrowed)(function)
    compiled._cache = KernelCache(compiled)
    compiled.get_call_template = partial(_settle, compiled.get_call_template)
    return compiled


def _settle(call: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Types of a call from compiled code: whole numbers become int64, so that no function is compiled for each kind.

    Numba would make a version for every constant that is passed, and for int8 beside int64.
    """
    return call(tuple(map(_settled, arguments)), {name: _settled(kind) for name, kind in named.items()})


def _settled(kind: Any) -> Any:
    kind = unliteral(kind)
    return int64 if isinstance(kind, Integer) and kind not in (int64, uint64) else kind


# --- what is known of compiling --------------------------------------------------------------------------------------


class _Clock(event.Listener):
    """Seconds spent compiling in this process, and who is to be told before the first of them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.callbacks: list[Callable[[], None]] = []
        self._depth, self._start = 0, 0.0

    def on_start(self, event: event.Event) -> None:
        """A function begins to be compiled, perhaps within another; Numba compiles in one thread at a time."""
        if self._depth == 0:
            self._start = time.perf_counter()
            while self.callbacks:
                self.callbacks.pop()()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """It has been compiled, or could not be."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._start


_clock = _Clock()
event.register("numba:compile", _clock)


def on_compile(callback: Callable[[], None]) -> None:
    """Call this once, before this process next compiles a function (and does not just load it)."""
    _clock.callbacks.append(callback)


def seconds_running() -> float:
    """Seconds on a clock that stands still while this process compiles: what speeds are measured by."""
    return time.perf_counter() - _clock.seconds
