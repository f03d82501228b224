"""The weighted agent of Lang 2018 (chapter 3): strategies weighted by the score decide the discard."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import AgentError
from deepcrib.agents.masks import best_masks
from deepcrib.agents.scripted import BestDiscards
from deepcrib.agents.specs.registry import SEMI_PURE
from deepcrib.errors import OptionError
from deepcrib.exact.cribs import NUM_DISCARDS, CribSums
from deepcrib.exact.discards import plain_statistics, uniform_sums
from deepcrib.exact.pegging import exact_records
from deepcrib.exact.strategies.discards import (
    NO_OPINION,
    NUM_VALUES,
    SCORES,
    fill_matrix,
    fill_preference,
    fill_values,
    fill_weights,
    strategy_codes,
)
from deepcrib.exact.strategies.names import STRATEGIES, THESIS_STRATEGIES
from deepcrib.files.weights import CheckpointError, SavedWeights, read_weights, write_weights
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.randomness import NETWORKS, derive
from deepcrib.game.rank_sets import NUM_RANK_SETS_4
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

_RANDOM = "random"
SEMI_PURE_SHARE = 0.7
_APART = 1_000_000  # index of the random agent by name: no member of a pool has it, so that it is no run's start
NEIGHBOURS = ("none", "average", "sum")
_PEGGING = frozenset(name for name in STRATEGIES if name.startswith("pegging"))
Weights = NDArray[np.float64]
"""[121 own score, 121 opponent's score, 2 (1: dealer), m strategies], the m adding up to 1."""


@dataclass
class WeightedAgent(BestDiscards):
    """Discards for the highest preference p = wS, w the weights at the score, ties uniform; plays as greedy does.

    weights: [121, 121, 2, m]. pegging: [1820, 2, 3], figures of the pegging records that its strategies go by, nan
    without a record.
    neighbours, share: how the weights around a score count (`strategies.fill_weights`). For two players.
    """

    name: str
    weights: Weights
    strategies: tuple[str, ...]
    pegging: NDArray[np.float64]
    neighbours: str = "none"
    share: float = 0.4
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.codes = strategy_codes(self.strategies)
        self.weights = checked_weights(self.weights, len(self.strategies))
        if self.pegging.shape != (NUM_RANK_SETS_4, 2, 3):
            raise AgentError(f"pegging records have the shape {self.pegging.shape}, expected (1820, 2, 3)")
        if np.isinf(self.pegging).any():
            raise AgentError("pegging records are not all finite, expected points, or nan without a record")
        if self.neighbours not in NEIGHBOURS:
            raise AgentError(f"neighbours {self.neighbours!r}: expected one of {', '.join(NEIGHBOURS)}")
        if not 0 <= self.share <= 1:
            raise AgentError(f"share {self.share}: expected 0 to 1")

    def preferences(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """p [N, 15]: how much the strategies, weighted, like each discard, 0 to 1."""
        # In games that are played out a player may be asked at 121, of which no weights are.
        scores, rows, seat = np.minimum(observation.scores, SCORES - 1), np.arange(len(observation)), observation.seat
        places = scores[rows, seat], scores[rows, 1 - seat], observation.is_dealer.astype(np.int8)
        tables = uniform_sums(), plain_statistics(), self.pegging
        method = self.codes, self.weights, NEIGHBOURS.index(self.neighbours), self.share
        preferences = np.empty((len(rows), NUM_DISCARDS))
        run_rows(_fill_preferences, len(rows), *tables, observation.hand, *places, *method, preferences, piece=128)
        return preferences

    def discard_masks(self, observation: DiscardObservation) -> NDArray[np.int64]:
        """[N] masks of the discards with the highest preference."""
        return best_masks(self.preferences(observation))

    def save(self, path: Path | str) -> None:
        """Write the agent as a checkpoint. Raises RunError."""
        arrays = {"weights": self.weights, "pegging": self.pegging}
        own = {"strategies": list(self.strategies), "neighbours": self.neighbours, "share": self.share}
        write_weights(path, "weighted", arrays, {**self.metadata, **own})


def load_weighted(path: Path | str) -> WeightedAgent:
    """The agent of a checkpoint file or run folder. Raises CheckpointError."""
    return from_weights(read_weights(path, "weighted"))


def from_weights(saved: SavedWeights) -> WeightedAgent:
    """The agent of its weights. Raises CheckpointError."""
    arrays, metadata = saved.arrays, saved.metadata
    with saved.unpacking():
        if "play_weights" in arrays:
            raise ValueError("they weigh its plays too, which this version does not")
        return WeightedAgent(
            saved.path,
            arrays["weights"],
            tuple(metadata["strategies"]),
            arrays["pegging"],
            metadata["neighbours"],
            float(metadata["share"]),
            metadata,
        )


def named_weighted(name: str, seed: int = 1) -> WeightedAgent:
    """One of `registry.WEIGHTED_NAMES`. Pure strategies stand alone, the others among the thesis's eight."""
    wanted = name.removeprefix(SEMI_PURE)
    strategies = STRATEGIES if wanted in STRATEGIES and wanted not in THESIS_STRATEGIES else THESIS_STRATEGIES
    initial = _RANDOM if name == "random_weights" else name
    agent = weighted_agent(initial, seed, (name,) if name in STRATEGIES else strategies)
    agent.name = name
    return agent


def pegging_figures(strategies: Sequence[str]) -> NDArray[np.float64]:
    """The exact pegging figures of both roles together (`PeggingRecords.pooled`); zeros if no strategy reads it."""
    if _PEGGING.isdisjoint(strategies):
        return np.zeros((NUM_RANK_SETS_4, 2, 3))
    return exact_records().pooled().summary()


def initial_weights(initial: str, strategies: Sequence[str], seed: int, index: int = 0) -> Weights:
    """Weights before training: `random`, a strategy's name (pure), `semi_pure_` and one (70%), or a checkpoint's path.

    Random weights are uniform numbers, normalised, and differ by seed and index (a member of a pool). Raises
    OptionError, or CheckpointError where the path holds no weights of these strategies.
    """
    shape = (SCORES, SCORES, 2, len(strategies))
    if initial == _RANDOM:
        weights = np.random.default_rng(derive(seed, NETWORKS, index)).random(shape)
        return weights / weights.sum(axis=3, keepdims=True)
    name = initial.removeprefix(SEMI_PURE)
    if name in strategies:
        share = SEMI_PURE_SHARE if initial.startswith(SEMI_PURE) and len(strategies) > 1 else 1.0
        weights = np.full(shape, (1 - share) / max(len(strategies) - 1, 1))
        weights[..., list(strategies).index(name)] = share
        return weights
    if name in STRATEGIES:
        raise OptionError(f"initial={initial}: {name} is none of the strategies {', '.join(strategies)}")
    if not os.path.exists(initial):  # Path.exists raises on a name that is too long
        raise OptionError(f"initial={initial}: expected random, STRATEGY, {SEMI_PURE}STRATEGY or a checkpoint's path")
    agent = load_weighted(initial)
    if agent.strategies != tuple(strategies):
        raise CheckpointError(f"{initial} weighs {', '.join(agent.strategies)}; expected {', '.join(strategies)}")
    return agent.weights


def checked_weights(weights: NDArray, strategies: int) -> Weights:
    """Weights as float64. AgentError on a wrong shape, negative or unnormalised ones."""
    expected = (SCORES, SCORES, 2, strategies)
    if weights.shape != expected:
        raise AgentError(f"weights have the shape {weights.shape}, expected {expected}")
    checked = np.ascontiguousarray(weights, dtype=np.float64)
    errors = np.where((checked >= 0).all(axis=3), np.abs(checked.sum(axis=3) - 1), np.inf)
    if not (errors <= 1e-4).all():
        place = np.unravel_index(np.argmax(errors), errors.shape)
        at = ", ".join(str(int(i)) for i in place)
        raise AgentError(f"weights at ({at}) are {checked[place].tolist()}, expected numbers from 0 that add up to 1")
    return checked


def weighted_agent(initial: Any = _RANDOM, seed: int = 1, strategies: Sequence[str] | None = None) -> WeightedAgent:
    """The agent of initial weights (see `initial_weights`), of the thesis's strategies unless others are named."""
    names = strategies or THESIS_STRATEGIES
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise OptionError(f"strategies={names!r}: expected a list of {', '.join(STRATEGIES)}")
    strategy_codes(names)
    if not isinstance(initial, str | os.PathLike):
        raise OptionError(f"initial={initial!r:.60}: expected a strategy or the path of a checkpoint")
    initial = str(initial)
    weights = initial_weights(initial, names, seed, _APART)
    name = f"{initial} weights" if initial == _RANDOM else initial
    return WeightedAgent(name, weights, tuple(names), pegging_figures(names))


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def _fill_preferences(
    part: Part,
    cribs: CribSums,
    plain: np.ndarray,
    pegging: np.ndarray,
    hands: np.ndarray,
    own: np.ndarray,
    other: np.ndarray,
    roles: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    neighbours: int,
    share: float,
    preferences: np.ndarray,
) -> None:
    values, matrix = np.empty((NUM_DISCARDS, NUM_VALUES)), np.empty((len(codes), NUM_DISCARDS))
    blended = np.empty(len(codes))
    for r in range(*part):
        fill_values(hands[r], roles[r], cribs, plain, pegging, values)
        fill_matrix(codes, values, NO_OPINION, matrix)
        fill_weights(weights, own[r], other[r], roles[r], neighbours, share, blended)
        fill_preference(blended, matrix, preferences[r])
