"""Games of the network over strategies, side by side, and what its discards in them led to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.exact.strategies.discards import SCORES
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.randomness import START, below, hash_key
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.weighted_network.agent import WeightedNetworkAgent
from deepcrib.matches import Recorder, Rows, play_hand

PLAYERS = 2
LEARNER = 0
"""The learner's place among the agents of a table; the opponent, if there is one, has the next."""
FROM_ZERO = -1
"""A spread of starting scores: games start at 0-0."""


@dataclass(frozen=True)
class Decisions:
    """E discards of the learner, in the order in which they were made, and the outcomes of their games.

    inputs: float32 [E, m + 3], of the discard that was chosen. following: [E], the number of the same player's next
    decision of the game, -1 for none. hands_left: [E], hands of the game after this one. won: float32 [E], 1 or 0.
    margin: float32 [E], own minus opponent's final score, points.
    """

    inputs: NDArray[np.float32]
    following: NDArray[np.int64]
    hands_left: NDArray[np.int64]
    won: NDArray[np.float32]
    margin: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.inputs)


def play_games(
    agent: WeightedNetworkAgent,
    opponent: Agent | None,
    first: int,
    last: int,
    seed: int,
    *,
    spread: int = FROM_ZERO,
    dealing: str = "acc",
) -> tuple[Decisions, int]:
    """Play games first..last - 1 to 121, and return the agent's discards with the number of hands played.

    opponent: None for self-play, whose discards are both players'; else the agent sits at seat 0 of even games.
    spread: most points between the random scores at the start, or FROM_ZERO. The first dealer is drawn by a coin.
    """
    numbers = np.arange(first, last, dtype=np.int64)
    scores, dealers = np.zeros((len(numbers), PLAYERS), dtype=np.int16), np.zeros(len(numbers), dtype=np.int8)
    run_rows(_draw_starts, len(numbers), numbers, seed, spread, dealers, scores)
    table = Games(numbers, seed, dealing=dealing, first_dealer=dealers)
    table.state.scores[:] = scores
    agents: Sequence[Agent] = [agent] if opponent is None else [agent, opponent]
    seating = np.full((len(numbers), PLAYERS), LEARNER)
    if opponent is not None:
        seating = (np.arange(PLAYERS) + numbers[:, None]) % PLAYERS
    recorder = _Discards(agent, table, seating)
    while len(table.unfinished):
        play_hand(table, agents, seating, recorder)
    return recorder.decisions(), int((table.state.hand_number + 1).sum())


class _Discards(Recorder):
    """Keeps the learner's discards of games from their start to their end."""

    def __init__(self, agent: WeightedNetworkAgent, table: Games, seating: NDArray[np.int64]) -> None:
        self._agent, self._table, self._seating = agent, table, seating
        self._inputs: list[NDArray[np.float32]] = []
        self._rows: list[Rows] = []
        self._seats: list[NDArray[np.int8]] = []
        self._hands: list[NDArray[np.int64]] = []

    def discards(self, rows: Rows, observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        mine = np.flatnonzero(self._seating[rows, observation.seat] == LEARNER)
        if len(mine):
            self._inputs.append(self._agent.inputs(observation.take(mine))[np.arange(len(mine)), actions[mine]])
            self._rows.append(rows[mine])
            self._seats.append(observation.seat[mine])
            self._hands.append(self._table.state.hand_number[rows[mine]].astype(np.int64))

    def decisions(self) -> Decisions:
        """All of them, once the games are over."""
        state = self._table.state
        rows, seats, hands = np.concatenate(self._rows), np.concatenate(self._seats), np.concatenate(self._hands)
        last, following = np.full((len(self._table), PLAYERS), -1), np.empty(len(rows), dtype=np.int64)
        end = len(rows)
        for part in reversed(self._rows):
            mine = slice(end - len(part), end)
            following[mine] = last[rows[mine], seats[mine]]
            last[rows[mine], seats[mine]] = np.arange(mine.start, mine.stop)
            end = mine.start
        margin = state.scores[rows, seats] - state.scores[rows, 1 - seats]
        return Decisions(
            inputs=np.concatenate(self._inputs),
            following=following,
            hands_left=state.hand_number[rows] - hands,
            won=(state.winner[rows] == seats).astype(np.float32),
            margin=margin.astype(np.float32),
        )


@jit
def _draw_starts(
    part: Part, numbers: np.ndarray, seed: int, spread: int, dealers: np.ndarray, scores: np.ndarray
) -> None:
    for r in range(*part):
        key = hash_key(seed, numbers[r], 0, -1, START)
        dealers[r] = below(key, 0, PLAYERS)
        counter = 1
        while spread >= 0:
            scores[r, 0] = below(key, counter, SCORES)
            scores[r, 1] = below(key, counter + 1, SCORES)
            counter += 2
            if abs(scores[r, 0] - scores[r, 1]) <= spread:
                break
