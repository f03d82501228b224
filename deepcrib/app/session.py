"""A game as a person drives it: choices that can be taken back, opponents asked in turn, all of it recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from deepcrib import __version__
from deepcrib.agents import Agent, AgentError, require_players
from deepcrib.agents.asking import ask
from deepcrib.errors import FailureError
from deepcrib.game.engine import IllegalActionError
from deepcrib.game.engine.phases import DEAL, OVER, PHASES
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.past import PastHands
from deepcrib.game.rules import KINDS
from deepcrib.records import Event, GameRecord, GameWriter, Player, RecordError, replay
from deepcrib.records.events import events_of
from deepcrib.records.replay import ROW


class Session:
    """One game of a person against agents, written event by event as soon as an event cannot be taken back.

    Whoever drives it asks `to_choose`: for the person it calls `choose`, for an agent `answer`, and `step` where
    nobody chooses. These return the events that happened.

    header: its events, if any, are an interrupted game that goes on. agents: by seat, None for the person.
    first_dealer: seat; None: the low cut deals, or in an interrupted game who dealt. past: of the games before it, of
    which agents may remember what they saw.
    """

    def __init__(
        self,
        header: GameRecord,
        agents: Sequence[Agent | None],
        writer: GameWriter,
        first_dealer: int | None = None,
        past: PastHands | None = None,
    ) -> None:
        """Raises AgentError for an agent that does not play with so many, RecordError and RunError."""
        for agent in agents:
            if agent is not None:
                require_players(agent, len(agents))
        self.header = header
        self.agents = tuple(agents)
        self.person = self.agents.index(None)
        self.writer = writer
        self.missed: list[int] = []
        """Points that the person's own counts lacked (below 0: had too many), where it counts."""
        self.events: list[Event] = list(header.events)  # everything that has happened, hints included
        self.turns = replay(header, first_dealer, redeal=not header.finished, past=past)
        happened = [event.kind for event in header.events if event.kind != "hint"]
        self._told = len(happened) - max((place for place, kind in enumerate(happened) if kind == "deal"), default=0)
        """Events of the current hand that have been returned."""
        writer.begin(header)
        self._news()  # what follows from the last choice but is not recorded

    @property
    def game(self) -> np.record:
        """The engine's record of the game, hidden cards too."""
        return self.turns.games.state[0]

    @property
    def phase(self) -> str:
        """One of `game.engine.phases.PHASES`."""
        return PHASES[self.turns.phase[0]]

    @property
    def over(self) -> bool:
        """Whether somebody has 121 points."""
        return bool(self.turns.phase[0] == OVER)

    @property
    def to_choose(self) -> int | None:
        """Seat that must discard or play; None where a `step` comes next, or nothing."""
        seat = int(self.turns.seat[0])
        return seat if seat >= 0 else None

    @property
    def record(self) -> GameRecord:
        """The game so far."""
        return replace(self.header, events=tuple(self.events))

    def summary(self) -> dict[str, Any]:
        """How the game went so far, in plain values: points by player and kind."""
        game, players = self.game, self.header.players
        points = game["points"].sum(axis=1)
        return {
            "finished": self.over,
            "winner": players[int(game["winner"])].name if self.over else None,
            "seed": self.header.seed,
            "game": self.header.game,
            "hands": int(game["hand_number"]) + 1,
            "hints": self.record.hints(self.person),
            "players": [
                {
                    "name": player.name,
                    "kind": player.kind,
                    "score": int(game["scores"][seat]),
                    "points": dict(zip(KINDS, points[seat].tolist(), strict=True)),
                }
                for seat, player in enumerate(players)
            ],
        }

    def observation(self) -> DiscardObservation | PlayObservation:
        """What the seat that must choose may see."""
        return self.turns.discard_observation(ROW) if self.phase == "discard" else self.turns.play_observation(ROW)

    def choose(self, action: int) -> list[Event]:
        """The person's choice. Raises IllegalActionError."""
        if self.to_choose != self.person:
            raise IllegalActionError("it is not your turn")
        return self._choose(action)

    def answer(self) -> list[Event]:
        """The choice of the agent whose turn it is, which may take long.

        Raises AgentError where it fails, IllegalActionError where it breaks the rules, or it is no agent's turn.
        """
        seat = self.to_choose
        agent = None if seat is None else self.agents[seat]
        if seat is None or agent is None:
            raise IllegalActionError("it is no agent's turn")
        try:
            action = int(ask(agent, self.observation())[0])
        except Exception as error:  # whatever it is, the game is saved and the person is told
            cause = error.__cause__ if isinstance(error, FailureError) else error
            raise AgentError(f"the opponent {agent.name} failed: {type(cause).__name__}: {cause}") from error
        try:
            return self._choose(action)
        except IllegalActionError as error:
            name = self.header.players[seat].name
            raise IllegalActionError(f"the opponent {name} broke the rules: {error}") from None

    def step(self) -> list[Event]:
        """Deal, turn up the starter, or count the hands."""
        if self.turns.phase[0] == DEAL:
            self._told = 0
        self.turns.step(ROW)
        return self._news()

    def hint(self) -> None:
        """Record that the person asked for a hint."""
        self._record([Event("hint", self.person)])

    def _choose(self, action: int) -> list[Event]:
        self.turns.choose(ROW, [action])
        return self._news()

    def _news(self) -> list[Event]:
        """What has happened since, recorded."""
        happened = list(events_of(self.game))
        news, self._told = happened[self._told :], len(happened)
        self._record(news)
        return news

    def _record(self, events: list[Event]) -> None:
        self.events += events
        self.writer.add(events)


def new_header(person: str, opponents: Sequence[Player], rules: str, seed: int, game: int) -> GameRecord:
    """The header of a new game, the person at seat 0."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return GameRecord((Player(person, "human"), *opponents), rules, seed, game, started, __version__)


def check_resumable(record: GameRecord) -> None:
    """Refuse a recorded game that cannot go on, or be looked at again. Raises RecordError."""
    people = sum(player.kind == "human" for player in record.players)
    if people != 1 or (record.seed is None and not record.finished):
        what = "a seed" if people == 1 else f"one person, found {people}"
        raise RecordError(f"{record.source}: to go on with a game its first line needs {what}")
