"""What an evening at the table needs: games to start, hints, how cards are written and how fast it goes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from deepcrib.agents import Agent
from deepcrib.app.session import Session
from deepcrib.engine import Games, Turns
from deepcrib.engine.phases import DISCARD
from deepcrib.records.replay import ROW


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


def warm_up(agents: Sequence[Agent]) -> None:
    """Let agents of two-player games make their choices of one hand, so that their code is compiled and loaded.

    An agent that fails here will fail in the game, which says so.
    """
    for agent in agents:
        turns = Turns(Games([0], 0, first_dealer=[0]), hands=1)
        turns.settle()
        with contextlib.suppress(Exception):
            while turns.seat[0] >= 0:
                if turns.phase[0] == DISCARD:
                    turns.choose(ROW, agent.discard(turns.discard_observation(ROW)))
                else:
                    turns.choose(ROW, agent.play(turns.play_observation(ROW)))
                turns.settle()
