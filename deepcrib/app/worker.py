"""A thread that works while the screen goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

_T = TypeVar("_T")


class Worker:
    """Does one thing after another in a thread of its own.

    One thread, since compiled code that runs in parallel must not be entered from two (Numba's fallback threading layer
    ends the process). It is a daemon: whoever quits does not wait for it.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._waiting = 0
        Thread(target=self._run, name="deepcrib-worker", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether anything is being worked at, so that what is asked for now has to wait."""
        return self._waiting > 0

    async def do(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """What the function returns, or raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()

        def settle(result: Any, error: BaseException | None) -> None:
            self._waiting -= 1
            if future.done():  # nobody waits any more
                return
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        def work() -> None:
            result, error = None, None
            try:
                result = function(*arguments)
            except Exception as raised:
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(settle, result, error)

        self._waiting += 1
        self._work.put(work)
        return await future

    def _run(self) -> None:
        while True:
            self._work.get()()
