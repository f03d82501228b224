"""The small network of Partida 2022 as a player of the play: the highest value of what lies on the table after a card.

The network is computed by compiled code, so that hands are played inside one kernel; `networks.MLP` learns the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.asking import OthersDiscards
from deepcrib.agents.base import Agent, AgentError
from deepcrib.agents.masks import PlaysByMask
from deepcrib.files.weights import SavedWeights
from deepcrib.game.cards import NO_CARD, rank_of, value_of_rank
from deepcrib.game.observations import PlayColumns, PlayObservation
from deepcrib.game.rules import HAND_SIZE, add_rank, is_legal_play, pack_series, play_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.partida.inputs import (
    ENCODINGS,
    INPUTS,
    PLAYS,
    STATE,
    Turn,
    fill_position,
    fill_state,
    input_width,
)

HIDDEN = (24, 24, 24)
"""Units of the hidden layers (section 2.2)."""
TARGETS = ("whole", "rest")


class Layers(NamedTuple):
    """Weights float32 [inputs, outputs] and biases [outputs] of the hidden layers; of the output [24] and [1]."""

    w1: NDArray[np.float32]
    b1: NDArray[np.float32]
    w2: NDArray[np.float32]
    b2: NDArray[np.float32]
    w3: NDArray[np.float32]
    b3: NDArray[np.float32]
    w4: NDArray[np.float32]
    b4: NDArray[np.float32]


def layer_shapes(width: int) -> list[tuple[int, ...]]:
    """Shapes of `Layers` over so many inputs."""
    sizes = (width, *HIDDEN)
    hidden = [shape for pair in zip(sizes[:-1], sizes[1:], strict=True) for shape in (pair, pair[1:])]
    return [*hidden, sizes[-1:], (1,)]


class Form(NamedTuple):
    """What a network reads and means, for compiled code.

    inputs: 12 or 16. encoding: a value of `inputs.ENCODINGS`. rest: whether its values leave out what has been
    scored up to and with the card, so that the card's own points are added to choose by them.
    """

    inputs: int
    encoding: int
    rest: bool


def make_form(inputs: int, encoding: str, target: str) -> Form:
    """Raises ValueError where there is none such."""
    if inputs not in INPUTS or encoding not in ENCODINGS or target not in TARGETS:
        raise ValueError(f"no such network: inputs={inputs} encoding={encoding} target={target}")
    return Form(inputs, ENCODINGS[encoding], target == "rest")


class PartidaAgent(OthersDiscards, PlaysByMask):
    """Plays the card after which its network of 12 inputs sees the highest value, ties uniform; discards as another.

    The network of 16 inputs sees hidden cards and makes no agent. For two players.
    """

    def __init__(self, name: str, layers: Layers, metadata: Mapping[str, Any], discards: Agent) -> None:
        """metadata: has `inputs`, `encoding` and `target`. Raises AgentError where it sees hidden cards."""
        self.name, self.layers, self.metadata, self.discards_by = name, layers, dict(metadata), discards
        self.form = make_form(metadata["inputs"], metadata["encoding"], metadata["target"])
        if self.form.inputs != min(INPUTS):
            raise AgentError(f"{name}: a network that sees the opponent's cards is no agent (expected 12 inputs)")

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] values in points, -inf where a slot may not be played."""
        values = np.empty(observation.hand.shape)
        run_rows(_value_rows, len(values), observation.columns, self.layers, self.form, values, piece=64)
        return values


# --- checkpoints ------------------------------------------------------------------------------------------------


def from_weights(saved: SavedWeights, discards: Agent) -> PartidaAgent:
    """The agent of its weights. Raises CheckpointError, or AgentError if it sees hidden cards."""
    metadata = saved.metadata
    with saved.unpacking():
        form = make_form(metadata["inputs"], metadata["encoding"], metadata["target"])
        layers = Layers(**{name: np.ascontiguousarray(array, dtype=np.float32) for name, array in saved.arrays.items()})
        shapes = layer_shapes(input_width(form.inputs, form.encoding))
        for name, array, shape in zip(Layers._fields, layers, shapes, strict=True):
            if array.shape != shape or not np.isfinite(array).all():
                raise ValueError(f"{name} is {array.shape}, expected finite numbers {shape}")
    return PartidaAgent(saved.path, layers, metadata, discards)


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def network_value(x: np.ndarray, layers: Layers) -> float:
    """Value of an input x [W], float32: the output of the layers with ReLU between them."""
    hidden = hidden_layer(x, layers.w1, layers.b1)
    hidden = hidden_layer(hidden, layers.w2, layers.b2)
    hidden = hidden_layer(hidden, layers.w3, layers.b3)
    value = layers.b4[0]
    for j in range(len(hidden)):
        value += hidden[j] * layers.w4[j]
    return float(value)


@jit
def hidden_layer(x: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Units [m] of a layer over x [n]: weights [n, m], bias [m], and ReLU."""
    y = bias.copy()
    for i in range(len(x)):
        if x[i] != 0:
            for j in range(len(y)):
                y[j] += x[i] * weights[i, j]
    for j in range(len(y)):
        y[j] = max(y[j], np.float32(0))
    return y


@jit
def fill_card_values(turn: Turn, layers: Layers, form: Form, values: np.ndarray) -> None:
    """values [4] of the cards of a hand, -inf where they may not be played."""
    state = np.empty(STATE, dtype=np.int8)
    x = np.empty(input_width(form.inputs, form.encoding), dtype=np.float32)
    series = pack_series(turn.history[turn.start :], turn.played - turn.start)
    for slot in range(HAND_SIZE):
        values[slot] = -np.inf
        if not is_legal_play(turn.series_count, turn.own[slot]):
            continue
        fill_state(turn, slot, state)
        fill_position(state, form.inputs, form.encoding, x)
        value = network_value(x, layers)
        if form.rest:
            rank = rank_of(turn.own[slot])
            value += play_points(add_rank(series, rank), turn.series_count + value_of_rank(rank))
        values[slot] = value


@jit
def _value_rows(part: Part, o: PlayColumns, layers: Layers, form: Form, values: np.ndarray) -> None:
    for r in range(*part):
        hidden = np.full(HAND_SIZE, NO_CARD, dtype=np.int8)
        ranks = np.empty(PLAYS, dtype=np.int8)
        played = 0
        while played < PLAYS and o.history[r, played] >= 0:
            ranks[played] = rank_of(o.history[r, played])
            played += 1
        turn = Turn(o.hand[r], hidden, ranks, played, o.series_start[r], o.counts[r])
        fill_card_values(turn, layers, form, values[r])
