"""The perceptron that learned the full game by temporal differences (O'Connor 2000), as a player."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import AgentError, require_finite
from deepcrib.agents.masks import DiscardsByMask, PlaysByMask
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.files.weights import SavedWeights, write_weights
from deepcrib.game.cards import NO_CARD
from deepcrib.game.observations import DiscardObservation, PlayColumns, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, is_legal_play, play_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.td.features import PLAYS, Deal, State, read_plays
from deepcrib.learners.td.inputs import KINDS, MOST_INPUTS, WIDTHS, discard_means, fill_entries, new_deal, set_discard
from deepcrib.learners.td.perceptron import count_weights, forward, layer_sizes

MOVE_POINTS = ("learned", "added")
"""The points of a move are part of the value of the state that it leads to, or are added to the value of the rest."""


class StateValue(NamedTuple):
    """A perceptron that values states; `kind` is one of `inputs.KINDS`, `added` of MOVE_POINTS. units: hidden ones."""

    weights: np.ndarray
    sizes: np.ndarray
    units: int
    kind: int
    added: bool


def state_value(weights: NDArray[np.float64], hidden: Sequence[int], inputs: str, move_points: str) -> StateValue:
    """A perceptron of `inputs`, one of `inputs.KINDS`, on an array of weights."""
    sizes = layer_sizes(WIDTHS[inputs], hidden)
    return StateValue(weights, sizes, sum(hidden), KINDS[inputs], move_points == "added")


@dataclass
class TdPerceptronAgent(DiscardsByMask, PlaysByMask):
    """Takes the move to the state of the highest value, ties uniform; values are points, own less the opponent's.

    The value of a state is what the rest of the hand is worth, show included. With move_points `added` the points that
    the card makes at once (fifteen, thirty-one, pairs, runs; not the go, which depends on hidden cards) are added to
    it; with `learned`, as in the paper, they are part of it. A discard makes none. For two players.
    """

    name: str
    weights: NDArray[np.float64]
    hidden: tuple[int, ...]
    inputs: str = "raw"
    move_points: str = "learned"
    metadata: dict[str, Any] = field(default_factory=dict)
    num_players = frozenset({2})
    discard_unit = "points"

    def __post_init__(self) -> None:
        if self.inputs not in KINDS:
            raise AgentError(f"inputs={self.inputs}: expected one of {', '.join(KINDS)}")
        if self.move_points not in MOVE_POINTS:
            raise AgentError(f"move_points={self.move_points}: expected one of {', '.join(MOVE_POINTS)}")
        sizes = layer_sizes(WIDTHS[self.inputs], self.hidden)
        if not self.hidden or sizes.min() < 1 or self.weights.shape != (count_weights(sizes),):
            raise AgentError(f"{self.weights.shape} weights for {self.inputs} inputs and hidden={list(self.hidden)}")
        require_finite(self.weights, lower="lr")
        self._network = state_value(self.weights, self.hidden, self.inputs, self.move_points)

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] points, by discard action."""
        o, values = observation, np.empty((len(observation), NUM_DISCARDS))
        hands = o.hand.astype(np.int64)
        means = discard_means(self.inputs, hands, o.is_dealer)
        run_rows(_value_discards, len(hands), self._network, hands, o.is_dealer, means, values, piece=16)
        return values

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] points, by slot; -inf where no card may be played."""
        o, values = observation, np.empty((len(observation), HAND_SIZE))
        dealt, actions = _dealt_and_thrown(o)
        means = discard_means(self.inputs, dealt, o.is_dealer)
        run_rows(_value_plays, len(values), self._network, dealt, actions, means, o.columns, values, piece=64)
        return values

    def save(self, path: Path | str) -> None:
        """Write the agent as a checkpoint. Raises RunError."""
        own = {"hidden": list(self.hidden), "inputs": self.inputs, "move_points": self.move_points}
        write_weights(path, "td", {"weights": self.weights}, {**self.metadata, **own})


def from_weights(saved: SavedWeights) -> TdPerceptronAgent:
    """The agent of its weights. Raises CheckpointError."""
    metadata = saved.metadata
    with saved.unpacking():
        hidden = tuple(int(size) for size in metadata["hidden"])
        weights = saved.arrays["weights"].astype(np.float64)
        return TdPerceptronAgent(saved.path, weights, hidden, metadata["inputs"], metadata["move_points"], metadata)


def _dealt_and_thrown(observation: PlayObservation) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[N, 6] the sorted cards that were dealt: those left, played and thrown; [N] the discard action."""
    o = observation
    thrown = np.sort(o.discards, axis=1)
    dealt = np.sort(np.concatenate([o.kept, thrown], axis=1), axis=1).astype(np.int64)
    slots = (dealt[:, None, :] == thrown[:, :, None]).argmax(axis=2)  # [N, 2]
    return dealt, (slots[:, None, :] == DISCARD_SLOTS_6).all(axis=2).argmax(axis=1)


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def fill_discard_values(net: StateValue, hand: np.ndarray, means: np.ndarray, deal: Deal, values: np.ndarray) -> None:
    """values [15]: of the states after each discard of a sorted hand [6] with means [15, 3]; `deal` is overwritten."""
    places, x, units = np.empty(MOST_INPUTS, dtype=np.int64), np.empty(MOST_INPUTS), np.empty(net.units)
    nobody = np.empty(PLAYS, dtype=np.int64)
    for action in range(NUM_DISCARDS):
        set_discard(hand, action, means, deal)
        n = fill_entries(net.kind, State(deal, NO_CARD, nobody, nobody, 0, 0), places, x)
        values[action] = forward(net.weights, net.sizes, places, x, n, units)


@jit
def fill_slot_values(
    net: StateValue, now: State, left: np.ndarray, count: int, values: np.ndarray, points: np.ndarray
) -> None:
    """values [4]: of each card left [4] (-inf where it may not be played); points [4]: those that it makes at once.

    now: what its player knows, before it. count: of the series. The n-th entries of history and seats are overwritten.
    """
    places, x, units = np.empty(MOST_INPUTS, dtype=np.int64), np.empty(MOST_INPUTS), np.empty(net.units)
    values[:] = -np.inf
    points[:] = 0
    deal, starter, history, seats, n, seat = now
    for slot in range(HAND_SIZE):
        if not is_legal_play(count, left[slot]):
            continue
        history[n], seats[n] = left[slot], seat
        series, total, _, _ = read_plays(history, seats, n + 1, seat)
        points[slot] = play_points(series, total)
        state = State(deal, starter, history, seats, n + 1, seat)
        filled = fill_entries(net.kind, state, places, x)
        values[slot] = forward(net.weights, net.sizes, places, x, filled, units)
        if net.added:
            values[slot] += points[slot]


@jit
def _value_discards(
    part: Part, net: StateValue, hands: np.ndarray, dealers: np.ndarray, means: np.ndarray, values: np.ndarray
) -> None:
    for r in range(*part):
        deal = new_deal(1 if dealers[r] else 0)
        fill_discard_values(net, hands[r], means[r], deal, values[r])


@jit
def _value_plays(
    part: Part,
    net: StateValue,
    dealt: np.ndarray,
    actions: np.ndarray,
    means: np.ndarray,
    o: PlayColumns,
    values: np.ndarray,
) -> None:
    for r in range(*part):
        deal, n = new_deal(1 if o.seat[r] == o.dealer[r] else 0), 0
        set_discard(dealt[r], actions[r], means[r], deal)
        while n < PLAYS and o.history[r, n] >= 0:
            n += 1
        history, seats = o.history[r].astype(np.int64), o.history_seats[r].astype(np.int64)
        now, points = State(deal, o.starter[r], history, seats, n, o.seat[r]), np.empty(HAND_SIZE, dtype=np.int64)
        fill_slot_values(net, now, o.hand[r], o.counts[r], values[r], points)
