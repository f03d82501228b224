"""What an evening at the table needs: games to start, hints, how cards are written and how fast it goes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from deepcrib import kernels
from deepcrib.agents import Agent
from deepcrib.app.hints import discard_hint, exact_player, play_hint
from deepcrib.app.session import Session
from deepcrib.app.words import play_parts, show_parts
from deepcrib.game.engine import Games, Turns
from deepcrib.game.rules import is_legal_play
from deepcrib.records.replay import ROW

_T = TypeVar("_T")


class Worker:
    """Does one thing after another in a thread of its own, and between them, one by one, what can wait.

    One thread, since Numba compiles one function at a time anyway. It is a daemon: an application that ends does not
    wait for it.
    """

    def __init__(self) -> None:
        self.busy = 0
        """How many things are being done, or wait for it, that somebody waits for."""
        self.preparing = False
        """Whether anything is left of what can wait."""
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        run = partial(copy_context().run, self._run)  # so that files are trusted here, too, or not
        Thread(target=run, name="deepcrib-worker", daemon=True).start()

    async def do(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """What the function returns, or raises."""
        self.busy += 1
        try:
            return await self._done(partial(function, *arguments))
        finally:
            self.busy -= 1

    async def prepare(self, steps: Iterable[Callable[[], object]]) -> None:
        """Do these: the next one stands in the queue only when the one before is done, behind what was asked for.

        A step that fails is left: what needs it will fail, and say so.
        """
        self.preparing = True
        for step in steps:
            with contextlib.suppress(Exception):
                await self._done(step)
        self.preparing = False

    async def _done(self, function: Callable[[], _T]) -> _T:
        future: Future[_T] = Future()
        self._work.put((future, function))
        return await asyncio.wrap_future(future)

    def _run(self) -> None:
        while True:
            future, function = self._work.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except Exception as error:
                    future.set_exception(error)


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

    @property
    def heading(self) -> str:
        """How the games have gone, once there are several, and what is still being prepared."""
        games = [session for session in self.games if session.over]
        won = sum(int(session.game["winner"]) == session.person for session in games)
        note = COMPILING if self._compiling and self.worker.preparing else ""
        return "   ".join(filter(None, (f"games won {won}, lost {len(games) - won}" if games else "", note)))

    async def prepare(self, session: Session) -> None:
        """Behind the board, compile and load what hints and the opponent need; the first time only."""
        agents = [agent for agent in session.agents if agent is not None]
        if not self._prepared and len(agents) == 1:
            self._prepared = True
            kernels.on_compile(partial(setattr, self, "_compiling", True))
            await self.worker.prepare(preparations(agents[0], self.hints))


def prepare_words() -> None:
    """Compile and load what the screen itself calls: it would stand still while the worker compiles something else."""
    play_parts([0, 4, 8], 0, is_last=False)
    show_parts((0, 4, 8, 12), 16, is_crib=False)
    is_legal_play(0, 0)


def preparations(opponent: Agent, hints: Mapping[str, Agent]) -> list[Callable[[], object]]:
    """What compiles and loads the code of hints and of an opponent of two-player games, in the order of their need.

    The figures that a first hint shows, the opponent's discard, what hints say of it, then the same of the play.
    """
    return [
        lambda: discard_hint(_sample().discard_observation(ROW), {}),
        lambda: opponent.discard(_sample().discard_observation(ROW)),
        lambda: discard_hint(_sample().discard_observation(ROW), hints),
        lambda: opponent.play(_sample(0, 0).play_observation(ROW)),
        lambda: play_hint(_sample(0, 0).play_observation(ROW), hints),
        lambda: exact_player().play_values(_sample(0, 0).play_observation(ROW)),
    ]


def _sample(*discards: int) -> Turns:
    """Some hand after the first discards."""
    turns = Turns(Games([0], 0, first_dealer=[0]), hands=1)
    turns.settle()
    for action in discards:
        turns.choose(ROW, [action])
        turns.settle()
    return turns
