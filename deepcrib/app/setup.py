"""What an evening at the table needs: games to start, hints, how cards are written and how fast it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from deepcrib.agents import Agent
from deepcrib.app.hints import discard_hint, play_hint
from deepcrib.app.session import Session
from deepcrib.app.words import play_parts, show_parts
from deepcrib.game.engine import Games, Turns
from deepcrib.game.engine.phases import DISCARD
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import is_legal_play
from deepcrib.records.replay import ROW
from deepcrib.search.best_response import BestResponseAgent


@dataclass
class Setup:
    """What `PlayApp` is given.

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


def prepare_words() -> None:
    """Compile and load what the screen itself calls: it would stand still while the worker compiles something else."""
    play_parts([0, 4, 8], 0, is_last=False)
    show_parts((0, 4, 8, 12), 16, is_crib=False)
    is_legal_play(0, 0)


def preparations(
    opponent: Agent, hints: Mapping[str, Agent], exact: Callable[[], BestResponseAgent]
) -> list[Callable[[], object]]:
    """What compiles and loads the code of hints and of an opponent of two-player games, in the order of their need.

    The figures that a first hint shows, the opponent's discard, what hints say of it, then the same of the play.
    """
    return [
        lambda: discard_hint(_discarding(), {}),
        lambda: opponent.discard(_discarding()),
        lambda: discard_hint(_discarding(), hints),
        lambda: opponent.play(_playing()),
        lambda: play_hint(_playing(), hints),
        lambda: exact().play_values(_playing()),
    ]


def _discarding() -> DiscardObservation:
    """The first decision of some hand."""
    return _sample().discard_observation(ROW)


def _playing() -> PlayObservation:
    """The first card of it."""
    turns = _sample()
    while turns.phase[0] == DISCARD:
        turns.choose(ROW, [0])
        turns.settle()
    return turns.play_observation(ROW)


def _sample() -> Turns:
    turns = Turns(Games([0], 0, first_dealer=[0]), hands=1)
    turns.settle()
    return turns
