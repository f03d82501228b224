"""What an evening at the table needs: games to start, hints, how cards are written and how fast it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from deepcrib.agents import Agent
from deepcrib.app.session import Session
from deepcrib.app.words import play_parts, show_parts
from deepcrib.game.rules import is_legal_play

_T = TypeVar("_T")


class Worker:
    """Does one thing after another in a thread of its own: a daemon, so that an application that ends need not wait."""

    def __init__(self) -> None:
        self.busy = 0  # how many things are being done, or wait for it
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        run = partial(copy_context().run, self._run)  # so that files are trusted here, too, or not
        Thread(target=run, name="deepcrib-worker", daemon=True).start()

    async def do(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """What the function returns, or raises."""
        future: Future[_T] = Future()
        self._work.put((future, partial(function, *arguments)))
        self.busy += 1
        try:
            return await asyncio.wrap_future(future)
        finally:
            self.busy -= 1

    def _run(self) -> None:
        while True:
            future, function = self._work.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except Exception as error:
                    future.set_exception(error)


@dataclass
class Setup:
    """What `PlayApp` is given, and what happens to it.

    start: makes the n-th game (from 0); called in a thread. hints: agents by name whose values hints show. pace:
    seconds that a choice can be taken back, and between an opponent's cards; 0: everything at once. counts: whether the
    person counts its own hands and cribs.
    """

    start: Callable[[int], Session]
    hints: Mapping[str, Agent] = field(default_factory=dict)
    suits: str = "symbols"
    pace: float = 1.5
    counts: bool = False
    games: list[Session] = field(default_factory=list)  # the games that have been started, in order
    failure: Exception | None = None  # what ended the evening, if anything did: an agent that failed, say
    interrupted: bool = False  # whether Ctrl-C or a signal ended it
    worker: Worker = field(default_factory=Worker)

    @property
    def heading(self) -> str:
        """How the games have gone, once one is over."""
        games = [session for session in self.games if session.over]
        won = sum(int(session.game["winner"]) == session.person for session in games)
        return f"games won {won}, lost {len(games) - won}" if games else ""

    async def or_end(self, work: Awaitable[None], end: Callable[[], None]) -> None:
        """Do it; an error ends the evening, and the job says what it was."""
        try:
            await work
        except Exception as error:
            self.failure = error
            end()


def prepare_words() -> None:
    """Compile and load what the screen itself calls: it would stand still while the worker compiles something else."""
    play_parts([0, 4, 8], 0, is_last=False)
    show_parts((0, 4, 8, 12), 16, is_crib=False)
    is_legal_play(0, 0)
