"""A thread that works while the screen goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from itertools import count
from queue import PriorityQueue
from threading import Thread
from typing import Any, TypeVar

_T = TypeVar("_T")
_NOW, _LATER = 0, 1


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
        self._work: PriorityQueue[tuple[int, int, Callable[[], object]]] = PriorityQueue()
        self._number = count()
        Thread(target=self._run, name="deepcrib-worker", daemon=True).start()

    async def do(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """What the function returns, or raises."""
        future: Future[_T] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*arguments))
                except Exception as error:
                    future.set_exception(error)

        self.busy += 1
        self._put(_NOW, work)
        try:
            return await asyncio.wrap_future(future)
        finally:
            self.busy -= 1

    def prepare(self, steps: Iterable[Callable[[], object]]) -> None:
        """Do these when there is nothing else to do. A step that fails is left: what needs it will fail, and say so."""

        def prepare(step: Callable[[], object]) -> None:
            if self.preparing:
                step()

        self.preparing = True
        for step in (*steps, self.rest):
            self._put(_LATER, partial(prepare, step))

    def rest(self) -> None:
        """Leave what can wait."""
        self.preparing = False

    def _put(self, when: int, work: Callable[[], object]) -> None:
        self._work.put((when, next(self._number), work))

    def _run(self) -> None:
        while True:
            _, _, work = self._work.get()
            with contextlib.suppress(Exception):
                work()
