"""The game of a person against an agent, in a terminal. The screens need Textual, of the extra `play`."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from deepcrib.app.session import Session, check_resumable, new_header
from deepcrib.app.setup import Setup
from deepcrib.errors import MissingExtraError, OptionError

__all__ = ["Session", "Setup", "check_resumable", "new_header", "require_textual", "run_app", "serve_app"]


def require_textual() -> None:
    """Raises MissingExtraError where Textual is not installed."""
    try:
        import textual  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError("play", "Textual", "play") from error


def run_app(setup: Setup) -> None:
    """Play until the person leaves; `setup` then says what happened. Raises MissingExtraError."""
    require_textual()
    from deepcrib.app.screens.application import PlayApp  # the screens, which import Textual

    PlayApp(setup).run()


def serve_app(command: Sequence[str], port: int, say: Callable[[str], None]) -> None:
    """Let a command that runs an app be played in a browser of this machine, until Ctrl-C.

    say: called with the line that tells where. Raises MissingExtraError, and OptionError for a port that is taken.
    """
    try:
        from deepcrib.app.screens.browser import HOST, PageServer
    except ModuleNotFoundError as error:
        raise MissingExtraError("play web=true", "textual-serve", "web") from error
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        raise OptionError(f"port={port}: {error.strerror}, expected another one") from error
    PageServer(command, port, say).serve()
