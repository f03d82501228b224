"""The game of a person against an agent, in a terminal. The screens need Textual, of the extra `play`."""

from __future__ import annotations

from deepcrib.app.session import Session, check_resumable, new_header
from deepcrib.app.setup import Setup
from deepcrib.errors import MissingExtraError

__all__ = ["Session", "Setup", "check_resumable", "new_header", "require_textual", "run_app"]


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
