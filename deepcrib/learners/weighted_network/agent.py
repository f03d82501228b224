"""Discards that a small network chooses by the strategies' opinions and the score (Lang 2018, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from deepcrib.agents.base import AgentError, require_finite
from deepcrib.agents.masks import best_masks, uniform_over
from deepcrib.agents.scripted import GreedyPlay
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.pegging import exact_records
from deepcrib.exact.strategies.discards import choose, strategy_codes
from deepcrib.files.weights import SavedWeights, write_weights
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.rules import MAX_SCORE
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_pieces, run_rows
from deepcrib.learners.weighted.agent import opinions
from deepcrib.networks.checkpoints import filled, sketched
from deepcrib.networks.layers import MLP

SCORE_INPUTS = 3
"""Of the strategies' network: own score, opponent's score, whether one deals."""


class StrategyNetwork(nn.Module):
    """A small network over the strategies' opinions of a discard and the score (proposed by Lang 2018, section 5.2).

    The value of a discard is that of the score, from one MLP, plus what the discard adds to it, from another that sees
    both; the same weights judge every discard. Without hidden layers it is linear.
    """

    def __init__(self, strategies: int, hidden: list[int]) -> None:
        """Both MLPs have hidden layers of the given sizes."""
        super().__init__()
        self.strategies, self.hidden = strategies, list(hidden)
        self.score = MLP(SCORE_INPUTS, hidden)
        self.gain = MLP(strategies + SCORE_INPUTS, hidden)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [N, A] of A discards of a hand; inputs [N, A, strategies + 3], whose last three are the hand's."""
        scores = inputs[:, 0, self.strategies :]
        return self.score(scores).unsqueeze(1) + self.gain(inputs)


_CHUNK = 256
"""Hands of one forward pass on a CPU."""
_DEVICE_CHUNK = 16384
_ALL_ALIKE = 0.0  # the input of a strategy to which all discards are alike


@dataclass
class WeightedNetworkAgent(GreedyPlay):
    """Discards for the highest value of its network, ties uniform, or with chance epsilon any; plays as greedy does.

    Values are in the units of the return that the network was trained on: games won, or points. For two players.
    """

    name: str
    network: StrategyNetwork
    strategies: tuple[str, ...]
    epsilon: float = 0.0
    device: torch.device | str = "cpu"
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise AgentError(f"epsilon={self.epsilon}: expected 0 to 1")
        if self.network.strategies != len(self.strategies):
            raise AgentError(f"{len(self.strategies)} strategies for a network of {self.network.strategies}")
        self._codes, self._pegging = strategy_codes(self.strategies), exact_records().summary()
        self.device = torch.device(self.device)
        self.network.to(self.device)

    @property
    def discard_unit(self) -> str:
        """That of the target of its training, as far as its checkpoint says which that was."""
        return {"win": "games won", "margin": "points"}.get(self.metadata.get("target", ""), "own scale")

    def inputs(self, observation: DiscardObservation) -> NDArray[np.float32]:
        """[N, 15, m + 3]: m strategies' opinions 0..1, own score / 121, opponent's score / 121, 1 for the dealer."""
        found, rows = opinions(observation, self._codes, self._pegging, _ALL_ALIKE), np.arange(len(observation))
        inputs = np.empty((len(found), NUM_DISCARDS, found.shape[1] + SCORE_INPUTS), dtype=np.float32)
        inputs[:, :, :-SCORE_INPUTS] = found.transpose(0, 2, 1)
        for column, seats in ((-3, observation.seat), (-2, 1 - observation.seat)):
            inputs[:, :, column] = (observation.scores[rows, seats] / MAX_SCORE)[:, None]
        inputs[:, :, -1] = observation.is_dealer[:, None]
        return inputs

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float32]:
        """[N, 15] values of the discards. Raises DivergenceError where they are no numbers."""
        inputs = self.inputs(observation)
        values = np.empty(inputs.shape[:2], dtype=np.float32)

        def evaluate(part: slice) -> None:
            with torch.inference_mode():
                values[part] = self.network(torch.from_numpy(inputs[part]).to(self.device)).cpu().numpy()

        size = _CHUNK if torch.device(self.device).type == "cpu" else _DEVICE_CHUNK
        run_pieces([partial(evaluate, slice(start, start + size)) for start in range(0, len(inputs), size)])
        require_finite(values)
        return values

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        values, actions = self.discard_values(observation).astype(np.float64), np.empty(len(observation), dtype=np.int8)
        run_rows(_choose_rows, len(values), values, self.epsilon, observation.key, actions)
        return actions

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]: epsilon spread evenly, the rest uniform over the discards with the highest value."""
        masks = best_masks(self.discard_values(observation))
        return self.epsilon / NUM_DISCARDS + (1 - self.epsilon) * uniform_over(masks, NUM_DISCARDS)

    def save(self, path: Path | str) -> None:
        """Write the agent, without its epsilon, as a checkpoint. Raises RunError."""
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self.network.state_dict().items()}
        own = {"strategies": list(self.strategies), "hidden": self.network.hidden}
        write_weights(path, "weighted_network", arrays, {**self.metadata, **own})


def from_weights(saved: SavedWeights, device: str = "cpu", epsilon: float = 0.0) -> WeightedNetworkAgent:
    """The agent of its weights. Raises CheckpointError, or AgentError on a wrong epsilon."""
    with saved.unpacking():
        strategies = tuple(saved.metadata["strategies"])
        strategy_codes(strategies)
        hidden = [int(size) for size in saved.metadata["hidden"]]
        make = partial(StrategyNetwork, len(strategies), hidden)
        network = filled(sketched(make, hidden, saved.arrays), make, saved.arrays)
    return WeightedNetworkAgent(saved.path, network, strategies, epsilon, device, saved.metadata)


@jit
def _choose_rows(part: Part, values: np.ndarray, epsilon: float, keys: np.ndarray, actions: np.ndarray) -> None:
    for r in range(*part):
        actions[r] = choose(values[r], epsilon, False, keys[r])
