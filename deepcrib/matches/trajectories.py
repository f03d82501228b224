"""Self-play, or games against others -> trajectories: decisions and points, to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE
from deepcrib.matches.games import Recorder, Rows, play_hand
from deepcrib.networks.encoders import DISCARD_COLUMNS, PLAY_COLUMNS, compact_discard, compact_play
from deepcrib.networks.encoders.states import DISCARD_BOUNDS, DISCARD_OWN_SCORE, PLAY_BOUNDS

PLAYS = 2 * HAND_SIZE


@dataclass(frozen=True)
class Trajectories:
    """H hands of two players with all decisions and points, int8 throughout; play k is the k-th card of the hand.

    discard_states: [H, 2, 9] by seat, compact (`networks.encoders`). discard_actions: [H, 2]. play_states: [H, 8, 22].
    play_actions: [H, 8] slots. play_seats: [H, 8]. play_points: [H, 8], pegged by that card, go and last card
    included. hand_points: [H, 2]. crib_points, heels, dealer: [H]. learned: [H, 2], 1 for the seats whose decisions
    are experience of the learner's, 0 for a seat that another agent took.
    """

    discard_states: NDArray[np.int8]
    discard_actions: NDArray[np.int8]
    play_states: NDArray[np.int8]
    play_actions: NDArray[np.int8]
    play_seats: NDArray[np.int8]
    play_points: NDArray[np.int8]
    hand_points: NDArray[np.int8]
    crib_points: NDArray[np.int8]
    heels: NDArray[np.int8]
    dealer: NDArray[np.int8]
    learned: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.dealer)

    @property
    def scores(self) -> NDArray[np.int8]:
        """[H, 2] of the game by seat, when the hand's discards were chosen."""
        return self.discard_states[:, :, DISCARD_OWN_SCORE]

    def require_possible(self) -> None:
        """Refuse arrays that are no hands: of other types and shapes, with cards, seats or counts that there are not.

        Compiled code reads them without a look at its bounds. Raises ValueError.
        """
        for item in fields(self):
            array, (low, high) = getattr(self, item.name), _BOUNDS[item.name]
            shape = (len(self), *_SHAPES.get(item.name, ()))
            if array.dtype != np.int8 or array.shape != shape or not len(array):
                raise ValueError(f"its {item.name} are {array.dtype} {list(array.shape)}, expected int8 {list(shape)}")
            if not ((low <= array) & (array <= high)).all():
                raise ValueError(f"its {item.name} hold what cannot be")

    def take(self, hands: slice | Rows) -> Trajectories:
        """Some of the hands."""
        return Trajectories(*(getattr(self, f.name)[hands] for f in fields(self)))

    @staticmethod
    def concatenate(parts: Sequence[Trajectories]) -> Trajectories:
        """The hands of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        return Trajectories(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Trajectories)))


_SHAPES = {
    "discard_states": (2, DISCARD_COLUMNS),
    "play_states": (PLAYS, PLAY_COLUMNS),
    **dict.fromkeys(("discard_actions", "hand_points", "learned"), (2,)),
    **dict.fromkeys(("play_actions", "play_seats", "play_points"), (PLAYS,)),
}
_BOUNDS: dict[str, tuple[Any, Any]] = {
    "discard_states": DISCARD_BOUNDS,
    "play_states": PLAY_BOUNDS,
    "discard_actions": (0, len(DISCARD_SLOTS_6) - 1),
    "play_actions": (0, HAND_SIZE - 1),
    **dict.fromkeys(("play_seats", "dealer", "learned"), (0, 1)),
    **dict.fromkeys(("play_points", "hand_points", "crib_points", "heels"), (0, 127)),
}
"""Lowest and highest values."""


class _Trajectory(Recorder):
    """Fills dense arrays with the decisions of one hand of games `rows`."""

    def __init__(self, num_games: int) -> None:
        self.discard_states = np.full((num_games, 2, DISCARD_COLUMNS), -1, dtype=np.int8)
        self.discard_actions = np.full((num_games, 2), -1, dtype=np.int8)
        self.play_states = np.full((num_games, PLAYS, PLAY_COLUMNS), -1, dtype=np.int8)
        self.play_actions = np.full((num_games, PLAYS), -1, dtype=np.int8)

    def discards(self, rows: Rows, observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        self.discard_states[rows, observation.seat] = compact_discard(observation)
        self.discard_actions[rows, observation.seat] = actions

    def plays(self, rows: Rows, observation: PlayObservation, slots: NDArray[np.int8]) -> None:
        number = (observation.history >= 0).sum(axis=1)
        self.play_states[rows, number] = compact_play(observation)
        self.play_actions[rows, number] = slots

    def finish(self, table: Games, rows: Rows, learned: NDArray[np.int8]) -> Trajectories:
        hands = table.records
        return Trajectories(
            self.discard_states[rows],
            self.discard_actions[rows],
            self.play_states[rows],
            self.play_actions[rows],
            hands["history_seats"][rows],
            hands["play_points"][rows],
            hands["hand_points"][rows],
            hands["crib_points"][rows],
            hands["heels"][rows],
            hands["dealer"][rows],
            learned,
        )


def self_play(
    agent: Agent, first_game: int, episodes: int, seed: int, *, unit: str = "games", dealing: str = "acc"
) -> Trajectories:
    """Games (`unit="games"`, to 121) or single hands (`"hands"`, at 0-0) of an agent against itself.

    Every hand is played out to the end of the show, also that in which a game ends, so that returns are not cut.
    """
    seating = np.zeros((episodes, 2), dtype=np.int64)
    return learning_games([agent], seating, first_game, seed, unit=unit, dealing=dealing)


def learning_games(
    agents: Sequence[Agent], seating: Rows, first_game: int, seed: int, *, unit: str = "games", dealing: str = "acc"
) -> Trajectories:
    """`self_play` with others at the table: seating [N, 2] names the agent of each seat of each episode, 0 learns.

    Episode g of single hands is dealt by seat g mod 2, counted from `first_game`.
    """
    if unit == "hands":
        table = single_hands(first_game, len(seating), seed, dealing)
    else:
        ids = np.arange(first_game, first_game + len(seating), dtype=np.int64)
        table = Games(ids, seed, dealing=dealing, stop_at_121=False)
    learned = (seating == 0).astype(np.int8)
    parts: list[Trajectories] = []
    while len(table.unfinished) and not (parts and unit == "hands"):
        recorder = _Trajectory(len(seating))
        rows = play_hand(table, agents, seating, recorder)
        parts.append(recorder.finish(table, rows, learned[rows]))
    return Trajectories.concatenate(parts)


def single_hands(first_game: int, episodes: int, seed: int, dealing: str) -> Games:
    """The table of as many single hands, before they are dealt."""
    ids = np.arange(first_game, first_game + episodes, dtype=np.int64)
    return Games(ids, seed, dealing=dealing, first_dealer=ids % 2, stop_at_121=False)
