"""What an evening at the table needs: games to start, hints, how cards are written and how fast it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from subprocess import Popen

from deepcrib import kernels
from deepcrib.agents import Agent
from deepcrib.app.preparing import preparations, start_helper
from deepcrib.app.session import Session
from deepcrib.app.worker import Worker

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
