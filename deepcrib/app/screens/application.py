"""The application in the terminal: preparing, games one after another, results and reviews."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from functools import partial
from subprocess import Popen
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Static

from deepcrib import kernels
from deepcrib.agents import Agent
from deepcrib.app.compiling import start_helper
from deepcrib.app.hints import exact_player
from deepcrib.app.screens.dialogs import MIN_HEIGHT, MIN_WIDTH, TOO_SMALL, Dialog, result_dialog, review_dialog
from deepcrib.app.screens.game import GameScreen
from deepcrib.app.screens.host import Host
from deepcrib.app.screens.reports import result_text, review_text
from deepcrib.app.session import Session
from deepcrib.app.setup import Setup, preparations, prepare_words
from deepcrib.evaluation.review import review
from deepcrib.search.best_response import BestResponseAgent

REVIEWING = "Looking at every choice again; the first time this may take some minutes ..."
PREPARING = "Preparing the table; the first time its code is compiled, once for this version: some seconds ..."
COMPILING = "preparing hints: compiling, once for this version"


class _LeftError(Exception):
    """The person does not wait for the review any more."""


class PlayApp(Host):
    """Games of a person against agents; `setup` holds what happened when it has ended."""

    CSS = """
    .whole { width: 100%; height: 100%; }
    .notice { display: none; width: 100%; height: 100%; }
    .-narrow .notice, .-low .notice { display: block; }
    .-narrow .whole, .-low .whole { display: none; }
    #preparing { margin: 1 2; }
    """
    TITLE = "deepcrib"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [
        (0, "-narrow"),
        (MIN_WIDTH, "-normal"),
        (2 * MIN_WIDTH - 40, "-wide"),
    ]
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [
        (0, "-low"),
        (MIN_HEIGHT, "-high"),
        (MIN_HEIGHT + 8, "-tall"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "interrupt", show=False, priority=True),
    ]

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._compiling = self._prepared = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._helper: Popen[bytes] | None = None
        kernels.on_compile(self._note_compiling)

    @property
    def heading(self) -> str:
        """How the games have gone, once there are several, and what is still being prepared."""
        note = COMPILING if self._compiling and self.worker.preparing else ""
        return "   ".join(filter(None, (self._won_and_lost(), note)))

    def _won_and_lost(self) -> str:
        games = [session for session in self.setup.games if session.over]
        if not games:
            return ""
        won = sum(int(session.game["winner"]) == session.person for session in games)
        return f"games won {won}, lost {len(games) - won}"

    def compose(self) -> ComposeResult:
        """What is seen until the first game begins."""
        yield Container(Static(PREPARING, id="preparing"), classes="whole")
        yield Static(TOO_SMALL, classes="notice")

    def on_mount(self) -> None:
        """Signals end the application as Ctrl-C does; every event is on the disk by then."""
        loop = self._loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            with contextlib.suppress(NotImplementedError, RuntimeError, AttributeError, ValueError):
                loop.add_signal_handler(getattr(signal, name), self.action_interrupt)
        self.run_worker(self._begin())

    async def _begin(self) -> None:
        """The next game, its agents ready to play."""
        try:
            session = await self.worker.do(self.setup.start, len(self.setup.games))
            self.setup.games.append(session)
            await self.worker.do(prepare_words)
        except Exception as error:
            self.fail(error)
            return
        await self.push_screen(GameScreen(session))

    def prepare(self, session: Session) -> None:
        """Behind the board, compile and load what hints and the opponent need; the first time only."""
        agents: list[Agent] = [agent for agent in session.agents if agent is not None]
        if self._prepared or len(agents) != 1:
            return
        self._prepared = True
        self.worker.prepare(preparations(agents[0], self.setup.hints, self.exact), self._tell_news)

    def exact(self) -> BestResponseAgent:
        """The exact values of plays; for the worker's thread."""
        return exact_player()

    def _note_compiling(self) -> None:
        """Called in the thread that is about to compile."""
        self._compiling = True
        self._helper = start_helper()
        self._tell_news()

    def _tell_news(self) -> None:
        """Let the screen show its heading anew; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._show_heading)

    def _show_heading(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, GameScreen):
                screen.show_title()

    def on_unmount(self) -> None:
        """Nothing is prepared any more for nobody."""
        self.worker.rest()
        if self._helper is not None:
            with self._helper:
                self._helper.kill()

    def action_interrupt(self) -> None:
        """Ctrl-C and signals: leave at once."""
        self.setup.interrupted = True
        self.exit()

    # --- after a game ---------------------------------------------------------------------------------------

    def game_over(self, session: Session) -> None:
        """The result, and what next."""

        def then(answer: str | None) -> None:
            if answer == "review":
                self._review(session)
            elif answer == "new":
                self.pop_screen()
                self.run_worker(self._begin())
            else:
                self.exit()

        self.push_screen(result_dialog(result_text(session)), then)

    def _review(self, session: Session) -> None:
        """Price the person's choices in the thread, showing how far that is."""
        dialog = review_dialog(REVIEWING)
        self.push_screen(dialog, lambda _: self.game_over(session))
        self.run_worker(self._fill_review(session, dialog))

    async def _fill_review(self, session: Session, dialog: Dialog) -> None:
        hands, priced = int(session.game["hand_number"]) + 1, 0

        def progress(done: int) -> None:  # in the worker's thread
            nonlocal priced
            priced += done
            if not (self.is_running and dialog.is_attached):
                raise _LeftError
            self.call_from_thread(dialog.show, Text(f"{REVIEWING} {priced} of {hands} hands"))

        try:
            found = await self.worker.do(partial(review, session.record, session.person, progress=progress))
        except _LeftError:
            return
        except Exception as error:
            self.fail(error)
            return
        dialog.show(review_text(found, self.setup.suits))
