"""The game of a person against an agent, in a terminal. The screens need Textual, of the extra `play`."""

from __future__ import annotations

from deepcrib.app.session import Session, check_resumable, new_header
from deepcrib.app.setup import Setup
from deepcrib.errors import OptionError

__all__ = ["Session", "Setup", "check_resumable", "new_header", "require_textual", "run_app"]


def require_textual() -> None:
    """Raises OptionError where Textual is not installed."""
    try:
        import textual  # noqa: F401
    except ModuleNotFoundError as error:
        raise OptionError("play needs Textual, which is not installed: pip install 'deepcrib[play]'") from error


def run_app(setup: Setup) -> None:
    """Play until the person leaves; `setup` then says what happened. Raises OptionError without Textual."""
    require_textual()
    from deepcrib.app.screens.application import PlayApp  # the screens, which import Textual

    PlayApp(setup).run()
