"""The application as its screens know it."""

from __future__ import annotations

from abc import abstractmethod

from textual.app import App

from deepcrib.app.session import Session
from deepcrib.app.setup import Setup
from deepcrib.app.worker import Worker
from deepcrib.search.best_response import BestResponseAgent


class Host(App[None]):
    """What the screens of a game ask of the application; `application.PlayApp` does it."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self.setup = setup
        self.worker = Worker()

    @property
    @abstractmethod
    def heading(self) -> str:
        """How the games have gone, once there are several, and what is still being prepared."""

    @abstractmethod
    def prepare(self, session: Session) -> None:
        """Behind the board, compile and load what hints and the opponent need; the first time only."""

    @abstractmethod
    def exact(self) -> BestResponseAgent:
        """The exact values of plays; for the worker's thread."""

    @abstractmethod
    def game_over(self, session: Session) -> None:
        """The result, and what next."""

    def fail(self, error: Exception) -> None:
        """Close the screen; the job says why."""
        self.setup.failure = error
        self.exit()
