"""Games of agents as records, for the tests of what is made of recorded games."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deepcrib.agents import Agent, make_agent
from deepcrib.game.engine import Games, Turns
from deepcrib.game.engine.phases import DEAL, DISCARD, OVER, PLAY
from deepcrib.records import Event, GameRecord, GameWriter, Player
from deepcrib.records.events import events_of

ROW = np.array([0])


def played(
    seed: int,
    num_players: int = 2,
    rules: str = "acc",
    agents: Sequence[str | Agent] = ("greedy",),
    *,
    person: int | None = None,
    name: str = "Ann",
    hands: int = 0,
) -> GameRecord:
    """A game of agents in turn, recorded as it goes on; the seat `person` is said to be one of that name.

    hands: stop before the deal after so many; 0: at the end of the game.
    """
    turns = Turns(Games([3], seed, num_players=num_players, dealing=rules))
    specs = [agents[seat % len(agents)] for seat in range(num_players)]
    makers = [make_agent(spec) if isinstance(spec, str) else spec for spec in specs]
    events: list[Event] = []
    told = 0
    game = turns.games.records[0]
    while turns.phase[0] != OVER and not (game["shown"] and game["hand_number"] + 1 == hands):
        agent = makers[turns.seat[0]]
        if turns.phase[0] == DISCARD:
            turns.choose(ROW, agent.discard(turns.discard_observation(ROW)))
        elif turns.phase[0] == PLAY:
            turns.choose(ROW, agent.play(turns.play_observation(ROW)))
        else:
            told = 0 if turns.phase[0] == DEAL else told
            turns.step(ROW)
        happened = list(events_of(turns.games.state[0]))
        events += happened[told:]
        told = len(happened)
    players = [_player(spec, name if seat == person else None) for seat, spec in enumerate(specs)]
    return GameRecord(tuple(players), rules, seed, 3, "2026-11-21T20:15:00+00:00", "0.1.0", tuple(events))


def _player(spec: str | Agent, person: str | None) -> Player:
    if person is not None:
        return Player(person, "human")
    spec_text: Any = spec if isinstance(spec, str) else None
    return Player(spec if isinstance(spec, str) else spec.name, "agent", spec_text)


def write(path: Path, *records: GameRecord) -> Path:
    """A file of games."""
    writer = GameWriter(path)
    for record in records:
        writer.begin(record)
    return path
