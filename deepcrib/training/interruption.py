"""Ctrl-C while a learner learns: its step is finished and its state saved before the training ends."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NOTICE = "interrupted: the training state is saved after this step; interrupt again to stop at once"


@contextmanager
def deferred_interrupts(stop: Callable[[], None]) -> Iterator[None]:
    """Defer the first SIGINT or SIGTERM: it calls `stop`, and is handled when the block ends.

    A second one is handled at once. Signals without a Python handler are not deferred, nor are any outside the main
    thread, where Python allows no handlers.
    """
    deferred: list[tuple[Callable[..., Any], int, Any]] = []
    handlers: dict[int, Callable[..., Any]] = {}

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def defer(number: int, frame: Any) -> None:
        restore()
        deferred.append((handlers[number], number, frame))
        print(NOTICE, file=sys.stderr, flush=True)
        stop()

    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        handlers |= {number: handler for number, handler in found.items() if callable(handler)}
        for number in handlers:
            signal.signal(number, defer)
    try:
        yield
    finally:
        if not deferred:
            restore()
    for handler, number, frame in deferred:
        handler(number, frame)
