"""Discards that a small network chooses by the strategies' opinions and the score (Lang 2018, section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents.base import AgentError, DivergenceError
from deepcrib.agents.masks import best_masks, uniform_over
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.exact.classes import find_class
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.pegging import exact_records
from deepcrib.exact.strategies.discards import (
    NUM_VALUES,
    choose,
    fill_matrix,
    fill_values,
    strategy_codes,
)
from deepcrib.exact.table import cached_table
from deepcrib.files.weights import SavedWeights, write_weights
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.policies import GREEDY
from deepcrib.game.rules import MAX_SCORE
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_pieces, run_rows
from deepcrib.learners.weighted_network.network import SCORE_INPUTS, StrategyNetwork

CHUNK = 256
"""Hands of one forward pass on a CPU."""
DEVICE_CHUNK = 16384
_ALL_ALIKE = 0.0  # the input of a strategy to which all discards are alike


class StrategyInputs:
    """The network's input for hands: the desirability of each discard to each strategy, and the score."""

    def __init__(self, strategies: Sequence[str]) -> None:
        """Raises OptionError on strategies that there are not."""
        self.strategies = tuple(strategies)
        self.width = len(self.strategies) + SCORE_INPUTS
        self._codes = strategy_codes(self.strategies)
        self._pegging = exact_records().summary()

    def __call__(self, observation: DiscardObservation) -> NDArray[np.float32]:
        """[N, 15, m + 3]: m strategies' opinions 0..1, own score / 121, opponent's score / 121, 1 for the dealer."""
        table, each, seats = cached_table(), np.arange(len(observation)), observation.seat
        inputs = np.empty((len(observation), NUM_DISCARDS, self.width), dtype=np.float32)
        run_rows(
            _fill_inputs,
            len(observation.hand),
            observation.hand,
            np.asarray(table.rows),
            *table.classes,
            observation.scores[each, seats],
            observation.scores[each, 1 - seats],
            observation.is_dealer.astype(np.int8),
            self._codes,
            self._pegging,
            inputs,
            piece=64,
        )
        return inputs


@dataclass
class WeightedNetworkAgent:
    """Discards for the highest value of its network, ties uniform, or with chance epsilon any; plays as greedy does.

    Values are in the units of the return that the network was trained on: games won, or points. For two players.
    """

    name: str
    network: StrategyNetwork
    strategies: tuple[str, ...]
    epsilon: float = 0.0
    device: torch.device | str = "cpu"
    metadata: dict[str, Any] = field(default_factory=dict)
    num_players = frozenset({2})
    play_policy = GREEDY

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise AgentError(f"epsilon={self.epsilon}: expected 0 to 1")
        if self.network.strategies != len(self.strategies):
            raise AgentError(f"{len(self.strategies)} strategies for a network of {self.network.strategies}")
        self.inputs = StrategyInputs(self.strategies)
        self.device = torch.device(self.device)
        self.network.to(self.device)
        self._greedy = ScriptedAgent("greedy")

    @property
    def discard_unit(self) -> str:
        """That of the target of its training, as far as its checkpoint says which that was."""
        return {"win": "games won", "margin": "points"}.get(self.metadata.get("target", ""), "own scale")

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float32]:
        """[N, 15] values of the discards. Raises DivergenceError where they are no numbers."""
        inputs = self.inputs(observation)
        values = np.empty(inputs.shape[:2], dtype=np.float32)

        def evaluate(part: slice) -> None:
            with torch.inference_mode():
                values[part] = self.network(torch.from_numpy(inputs[part]).to(self.device)).cpu().numpy()

        size = CHUNK if torch.device(self.device).type == "cpu" else DEVICE_CHUNK
        run_pieces([partial(evaluate, slice(start, start + size)) for start in range(0, len(inputs), size)])
        if not np.isfinite(values).all():
            raise DivergenceError("a network's values are not finite: its learning diverged; lower the learning rate")
        return values

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        actions = np.empty(len(observation), dtype=np.int8)
        run_rows(
            _choose_rows,
            len(self.discard_values(observation).astype(np.float64)),
            self.discard_values(observation).astype(np.float64),
            self.epsilon,
            observation.key,
            actions,
        )
        return actions

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]: epsilon spread evenly, the rest uniform over the discards with the highest value."""
        masks = best_masks(self.discard_values(observation))
        return self.epsilon / NUM_DISCARDS + (1 - self.epsilon) * uniform_over(masks, NUM_DISCARDS)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self._greedy.play(observation)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]."""
        return self._greedy.play_probabilities(observation)

    def save(self, path: Path | str) -> None:
        """Write the agent, without its epsilon, as a checkpoint. Raises CheckpointError."""
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self.network.state_dict().items()}
        own = {"strategies": list(self.strategies), "hidden": self.network.hidden}
        write_weights(path, "weighted_network", arrays, {**self.metadata, **own})


def from_weights(saved: SavedWeights, device: str = "cpu", epsilon: float = 0.0) -> WeightedNetworkAgent:
    """The agent of its weights. Raises CheckpointError, or AgentError on a wrong epsilon."""
    with saved.unpacking():
        strategies = tuple(saved.metadata["strategies"])
        strategy_codes(strategies)
        network = StrategyNetwork(len(strategies), [int(size) for size in saved.metadata["hidden"]])
        network.load_state_dict({name: torch.from_numpy(array) for name, array in saved.arrays.items()})
    return WeightedNetworkAgent(saved.path, network, strategies, epsilon, device, saved.metadata)


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def _fill_inputs(
    part: Part,
    hands: np.ndarray,
    rows: np.ndarray,
    keys: np.ndarray,
    starts: np.ndarray,
    own: np.ndarray,
    other: np.ndarray,
    roles: np.ndarray,
    codes: np.ndarray,
    pegging: np.ndarray,
    inputs: np.ndarray,
) -> None:
    m = len(codes)
    for r in range(*part):
        actions = np.empty(NUM_DISCARDS, dtype=np.int64)
        values = np.empty((NUM_DISCARDS, NUM_VALUES))
        matrix = np.empty((m, NUM_DISCARDS))
        number = find_class(hands[r], keys, starts, actions)
        fill_values(hands[r], roles[r], rows[number], actions, pegging, values)
        fill_matrix(codes, values, _ALL_ALIKE, matrix)
        for action in range(NUM_DISCARDS):
            for i in range(m):
                inputs[r, action, i] = matrix[i, action]
            inputs[r, action, m] = own[r] / MAX_SCORE
            inputs[r, action, m + 1] = other[r] / MAX_SCORE
            inputs[r, action, m + 2] = roles[r]


@jit
def _choose_rows(part: Part, values: np.ndarray, epsilon: float, keys: np.ndarray, actions: np.ndarray) -> None:
    for r in range(*part):
        actions[r] = choose(values[r], epsilon, False, keys[r])
