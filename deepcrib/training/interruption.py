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
def held_interrupts(stop: Callable[[], None]) -> Iterator[None]:
    """Hold back the first SIGINT or SIGTERM: it calls `stop`, and is dealt with when the block ends.

    The second one is dealt with at once. A signal that would end the process without Python's doing is let through, and
    so are all outside the main thread, where Python does not allow handlers.
    """
    held: list[tuple[Callable[..., Any], int, Any]] = []
    handlers: dict[int, Callable[..., Any]] = {}

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def hold(number: int, frame: Any) -> None:
        restore()
        held.append((handlers[number], number, frame))
        print(NOTICE, file=sys.stderr, flush=True)
        stop()

    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        handlers |= {number: handler for number, handler in found.items() if callable(handler)}
        for number in handlers:
            signal.signal(number, hold)
    try:
        yield
    finally:
        if not held:
            restore()
    for handler, number, frame in held:
        handler(number, frame)
