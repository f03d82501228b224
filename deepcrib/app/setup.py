"""What an evening at the table needs: games to start, hints, how cards are written and how fast it goes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from queue import PriorityQueue
from subprocess import Popen
from threading import Thread
from typing import Any, TypeVar

from deepcrib import kernels
from deepcrib.agents import Agent
from deepcrib.app.preparing import preparations, start_helper
from deepcrib.app.session import Session

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
        run = partial(copy_context().run, self._run)  # so that files are trusted here, too, or not
        Thread(target=run, name="deepcrib-worker", daemon=True).start()

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


COMPILING = "preparing hints: compiling, once for this version"


@dataclass
class Setup:
    """What `PlayApp` is given, and what happens to it.

    start: makes the n-th game (from 0); called in a thread. hints: agents by name whose values hints show. pace:
    seconds that a choice can be taken back, and between an opponent's cards; 0: everything at once.
    """

    start: Callable[[int], Session]
    hints: Mapping[str, Agent] = field(default_factory=dict)
    suits: str = "symbols"
    pace: float = 1.5
    games: list[Session] = field(default_factory=list)
    """The games that have been started, in order."""
    failure: Exception | None = None
    """What ended the evening, if anything did: an agent that failed, say."""
    interrupted: bool = False
    """Whether Ctrl-C or a signal ended it."""
    worker: Worker = field(default_factory=Worker)
    _compiling: bool = False
    _prepared: bool = False
    _helper: Popen[bytes] | None = None

    @property
    def heading(self) -> str:
        """How the games have gone, once there are several, and what is still being prepared."""
        games = [session for session in self.games if session.over]
        won = sum(int(session.game["winner"]) == session.person for session in games)
        note = COMPILING if self._compiling and self.worker.preparing else ""
        return "   ".join(filter(None, (f"games won {won}, lost {len(games) - won}" if games else "", note)))

    def prepare(self, session: Session) -> None:
        """Behind the board, compile and load what hints and the opponent need; the first time only."""
        agents: list[Agent] = [agent for agent in session.agents if agent is not None]
        if not self._prepared and len(agents) == 1:
            self._prepared = True
            self.worker.prepare(preparations(agents[0], self.hints))

    def watch_compiling(self) -> None:
        """Let a second process help, and the heading say so, once something is to be compiled."""

        def begin() -> None:
            self._compiling, self._helper = True, start_helper()

        kernels.on_compile(begin)

    def end(self) -> None:
        """Nothing is prepared any more for nobody."""
        self.worker.rest()
        if self._helper is not None:
            with self._helper:
                self._helper.kill()
