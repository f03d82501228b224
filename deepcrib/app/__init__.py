"""The game of a person against an agent, in a terminal. The screens need Textual, of the extra `play`."""

from __future__ import annotations

from deepcrib.app.session import Session, check_resumable, new_header
from deepcrib.app.setup import Setup

__all__ = ["Session", "Setup", "check_resumable", "new_header", "run_app"]


def run_app(setup: Setup) -> None:
    """Play until the person leaves; `setup` then says what happened."""
    from deepcrib.app.screens.application import PlayApp  # the screens, which import Textual

    PlayApp(setup).run()
