"""The application in the terminal: games one after another."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Static

from deepcrib.app.screens.dialogs import MIN_HEIGHT, MIN_WIDTH, TOO_SMALL
from deepcrib.app.screens.game import GameScreen
from deepcrib.app.setup import Setup, prepare_words

PREPARING = "Preparing the table; the first time its code is compiled, once for this version: some seconds ..."


class PlayApp(App[None]):
    """Games of a person against agents; `setup` holds what happened when it has ended."""

    CSS_PATH = "screens.tcss"
    TITLE = "deepcrib"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (MIN_WIDTH, "-wide")]
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (MIN_HEIGHT, "-high")]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q", "interrupt", show=False, priority=True)]

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self.setup = setup

    def compose(self) -> ComposeResult:
        """What is seen until the first game begins."""
        yield Container(Static(PREPARING, id="preparing"), classes="whole")
        yield Static(TOO_SMALL, classes="notice")

    def on_mount(self) -> None:
        """Signals end the application as Ctrl-C does; every event is on the disk by then."""
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            with contextlib.suppress(NotImplementedError, RuntimeError, AttributeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), self.action_interrupt)
        self.run_worker(self.setup.or_end(self._play(), self.exit))

    async def _play(self) -> None:
        """Games until the person wants no other."""
        setup, another = self.setup, True
        while another:
            session = await setup.worker.do(setup.start, len(setup.games))
            setup.games.append(session)
            await setup.worker.do(prepare_words)
            another = await self.push_screen_wait(GameScreen(session, setup)) or False
        self.exit()

    def action_interrupt(self) -> None:
        """Ctrl-C and signals: leave at once."""
        self.setup.interrupted = True
        self.exit()
