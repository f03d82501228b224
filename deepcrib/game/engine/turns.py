"""`Turns`: games that are asked for one decision at a time, as people at a table and records of games need it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deepcrib.game.engine import phases
from deepcrib.game.engine.games import Games, IllegalActionError, Rows, whole_numbers
from deepcrib.game.engine.phases import DISCARD, PHASES, PLAY
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.kernels.workers import run_rows


class Turns:
    """Drives `Games`, in any state, seat by seat: `choose` for the seat that must, `step` for what takes no choice."""

    def __init__(self, games: Games) -> None:
        self.games = games
        self.phase = np.empty(len(games), dtype=np.int8)
        """[N] codes of `phases.PHASES`: what each game waits for."""
        self.seat = np.empty(len(games), dtype=np.int8)
        """[N] seat that must choose, -1 where none must."""
        self.look()

    def choose(self, rows: Rows, actions: ArrayLike) -> None:
        """Discard or play for the seats that must: actions [R] of that phase. Raises IllegalActionError."""
        actions = whole_numbers(actions)
        phase = self.phase[rows]
        waiting = np.flatnonzero((phase != DISCARD) & (phase != PLAY))
        if len(waiting):
            row = int(rows[waiting[0]])
            raise IllegalActionError(
                f"game {self.games.state.game[row]}: nobody chooses now ({PHASES[self.phase[row]]})"
            )
        try:
            discarding = phase == DISCARD
            if discarding.any():
                throwing = rows[discarding]
                self.games.discard(throwing, self.seat[throwing], actions[discarding])
            if not discarding.all():
                self.games.play(rows[~discarding], actions[~discarding])
        finally:  # of an illegal action among others, these have been carried out
            self.look()

    def step(self, rows: Rows) -> None:
        """One step that takes no choice (deal, starter, show) in each of the games that wait for one."""
        g = self.games
        run_rows(phases.step_rows, len(rows), g.records, rows, g.seed, g.random_dealer, g.stop_at_121)
        self.look()

    def discard_observation(self, rows: Rows) -> DiscardObservation:
        """What the seats that must discard see."""
        return self.games.discard_observation(rows, self.seat[rows])

    def play_observation(self, rows: Rows) -> PlayObservation:
        """What the seats that must play see."""
        return self.games.play_observation(rows)

    def look(self) -> None:
        """Read phase and seat anew, after `games` has been changed by other means."""
        run_rows(phases.phase_rows, len(self.games), self.games.records, self.phase, self.seat)
        self.games.note_hands(np.arange(len(self.games)))
