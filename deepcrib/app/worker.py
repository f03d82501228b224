"""A thread that works while the screen goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from threading import Condition, Thread
from typing import Any, TypeVar

_T = TypeVar("_T")


class Worker:
    """Does one thing after another in a thread of its own; what somebody waits for comes before what can wait.

    One thread, since Numba compiles one function at a time anyway, and in this order what is waited for waits for no
    more than the step that has begun. It is a daemon: whoever quits does not wait for it.
    """

    def __init__(self) -> None:
        self.busy = 0
        """How many things are being done, or wait for it, that somebody waits for."""
        self.preparing = False
        """Whether anything is left of what can wait."""
        self._work: deque[Callable[[], None]] = deque()
        self._later: deque[Callable[[], None]] = deque()
        self._news = Condition()
        Thread(target=self._run, name="deepcrib-worker", daemon=True).start()

    async def do(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """What the function returns, or raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()

        def settle(result: Any, error: BaseException | None) -> None:
            self.busy -= 1
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

        self.busy += 1
        with self._news:
            self._work.append(work)
            self._news.notify()
        return await future

    def prepare(self, steps: Iterable[Callable[[], object]], done: Callable[[], None]) -> None:
        """Do these when there is nothing else to do, and call `done`, in the thread, after the last.

        A step that fails is left: what needs it will fail in its own time, and say so.
        """

        def suppressed(step: Callable[[], object]) -> None:
            with contextlib.suppress(Exception):
                step()

        def end() -> None:
            self.preparing = False
            done()

        with self._news:
            self.preparing = True
            self._later.extend([*(lambda step=step: suppressed(step) for step in steps), end])
            self._news.notify()

    def rest(self) -> None:
        """Leave what can wait."""
        with self._news:
            self._later.clear()

    def _run(self) -> None:
        while True:
            with self._news:
                while not self._work and not self._later:
                    self._news.wait()
                work = (self._work or self._later).popleft()
            work()
