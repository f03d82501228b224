"""The learning agent: values of every legal choice from two Q-networks, chosen epsilon-greedily or by a softmax."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents.asking import require_probabilities
from deepcrib.agents.base import Agent, AgentError, require_finite
from deepcrib.agents.specs.making import make_agent
from deepcrib.errors import UserError
from deepcrib.files.trust import UntrustedError
from deepcrib.files.weights import SavedWeights
from deepcrib.game.mixed import epsilon_greedy_probabilities
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import below, draw, uniform
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_pieces, run_rows
from deepcrib.networks import CategoricalHead, FeedForward, QNetwork
from deepcrib.networks.checkpoints import make_networks
from deepcrib.networks.encoders import Encoder, compact_discard, compact_play

_NUM_DISCARDS = len(DISCARD_SLOTS_6)
_CHUNK = 1024
"""Rows of one forward pass on a CPU: beyond it the activations leave the cache."""
_DEVICE_CHUNK = 131072
MANY = 16_384
"""Batch size from which equal inputs are merged: more decisions than a match has at once."""
_FEW = 16
"""Rows that are not worth a compiled first layer: so few take other ways through the library's products, too."""


class QFunction:
    """A network with the encoder of its input: values of (compact state, action) pairs.

    Where its head is grouped (`networks.QNetwork`), all legal actions of a state are evaluated whichever are asked for.
    """

    def __init__(self, encoder: Encoder, network: torch.nn.Module, device: torch.device | str = "cpu") -> None:
        self.encoder = encoder
        self.device = torch.device(device)
        self.network: Any = network.to(self.device)
        self._chunk = _CHUNK if self.device.type == "cpu" else _DEVICE_CHUNK
        self._grouped = isinstance(network, QNetwork) and network.head.grouped
        has_columns = isinstance(encoder, Encoder) and self.device.type == "cpu"
        self._by_columns = has_columns and isinstance(network, FeedForward) and network.reads_columns()

    @property
    def atoms(self) -> torch.Tensor | None:
        """Returns [K] that the network's head has a distribution on, or None of any other head than `categorical`."""
        head = self.network.head if isinstance(self.network, QNetwork) else None
        return head.atoms if isinstance(head, CategoricalHead) else None

    def values(self, states: NDArray[np.int8], actions: NDArray[np.int8]) -> NDArray[np.float32]:
        """[M] values, in the units of the return that the network was trained on (points)."""
        if self._grouped:
            return np.take_along_axis(self._grouped_values(states), actions[:, None].astype(np.int64), axis=1)[:, 0]
        indices, shape = self.encoder.indices, (len(states),)
        return self._in_chunks(shape, self._chunk, lambda part: self._values_of(indices(states[part], actions[part])))

    def all_values(
        self, states: NDArray[np.int8], legal: NDArray[np.bool_], distinct: bool = False
    ) -> NDArray[np.float32]:
        """[N, A] values of every legal action [N, A] of states [N, K]; -inf for the others.

        distinct: evaluate inputs that are equal once, which pays where very many states are asked about together.
        """
        values = np.full(legal.shape, -np.inf, dtype=np.float32)
        rows, actions = np.nonzero(legal)
        if self._grouped:
            values[rows, actions] = self._grouped_values(states)[rows, actions]
        elif distinct and isinstance(self.encoder, Encoder):
            columns, again = self.encoder.distinct(states[rows], actions.astype(np.int8))
            found = self._in_chunks((len(columns),), self._chunk, lambda part: self._values_of(columns[part]))
            values[rows, actions] = found[again]
        else:
            values[rows, actions] = self.values(states[rows], actions.astype(np.int8))
        return values

    def distributions(self, states: NDArray[np.int8], actions: NDArray[np.int8]) -> NDArray[np.float32]:
        """[M, K] probabilities of the return's atoms; of a network with the head `categorical` alone."""
        head: CategoricalHead = self.network.head

        def probabilities(part: slice) -> torch.Tensor:
            rows = self.encoder.encode(states[part], actions[part], self.device)
            return head.probabilities(self.network.outputs(rows))

        return self._in_chunks((len(states), len(head.atoms)), self._chunk, probabilities)

    def _values_of(self, columns: NDArray[np.int16]) -> torch.Tensor:
        """float32 values [M] of the index columns of one piece."""
        if self._by_columns and len(columns) > _FEW:
            return self.network.values_of_columns(columns, self.encoder.scales)
        return self.network(self.encoder.expand(columns, self.device))

    def _grouped_values(self, states: NDArray[np.int8]) -> NDArray[np.float32]:
        """[N, A] values of every action that states [N, K] allow, 0 elsewhere; the actions of a state stay together."""
        legal = self.encoder.legal(states)

        def values(part: slice) -> torch.Tensor:
            groups, actions = np.nonzero(legal[part])
            rows = self.encoder.encode(states[part][groups], actions.astype(np.int8), self.device)
            found = torch.zeros(legal[part].shape, device=self.device)
            found[groups, actions] = self.network(rows, torch.as_tensor(groups, device=self.device))
            return found

        return self._in_chunks(legal.shape, self._chunk // legal.shape[1], values)

    @staticmethod
    def _in_chunks(shape: tuple[int, ...], size: int, evaluate: Callable[[slice], torch.Tensor]) -> NDArray[np.float32]:
        """What is found for so many rows at a time, in an array of this shape. Raises DivergenceError."""
        found = np.empty(shape, dtype=np.float32)

        def piece(part: slice) -> None:
            with torch.inference_mode():
                found[part] = evaluate(part).cpu().numpy()

        run_pieces([partial(piece, slice(start, start + size)) for start in range(0, len(found), size)])
        require_finite(found)
        return found


@dataclass(eq=False)
class QNetworkAgent:
    """Plays the highest-valued choice, or with probability epsilon any legal one; for two players.

    With a temperature above 0, in points, cards are drawn by the softmax of values / temperature in place of the best
    one. `discard_q` may be None where another agent discards (`discards_by`). Raises AgentError for an epsilon or a
    temperature that is none.
    """

    num_players = frozenset({2})

    discard_q: QFunction | None
    play_q: QFunction | None
    epsilon: float = 0.0
    _: KW_ONLY
    name: str = "q_network"
    discards_by: Agent | None = None
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise AgentError(f"epsilon={self.epsilon}: expected 0 to 1")
        if not 0 <= self.temperature < np.inf:
            raise AgentError(f"temperature={self.temperature}: expected points, 0 or more")

    @property
    def functions(self) -> dict[str, QFunction]:
        """Its functions by what they decide, `discard` and `play`, where it has them."""
        return {part: one for part, one in (("discard", self.discard_q), ("play", self.play_q)) if one is not None}

    def frozen(self, name: str) -> QNetworkAgent:
        """A copy as it is now, which plays what it values most; learning leaves it as it is."""
        copies = {
            part: QFunction(one.encoder, copy.deepcopy(one.network).eval(), one.device)
            for part, one in self.functions.items()
        }
        return QNetworkAgent(copies.get("discard"), copies.get("play"), name=name, discards_by=self.discards_by)

    @property
    def discard_unit(self) -> str:
        """Points: whatever the reward, a discard's return is one of points. Empty where another agent discards."""
        return "points" if self.discards_by is None and self.discard_q is not None else ""

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        if self.discards_by is not None:
            return self.discards_by.discard(observation)
        return _choose(self.discard_values(observation), observation.key, self.epsilon)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots; a forced card costs no evaluation."""
        legal = observation.legal
        values = np.where(legal, np.float32(0), np.float32(-np.inf))
        open_rows = np.flatnonzero(legal.sum(axis=1) > 1)
        several = len(open_rows) >= MANY
        values[open_rows] = self.play_values(observation.take(open_rows), several)
        if self.temperature:
            return draw(epsilon_greedy_probabilities(values, self.epsilon, self.temperature), observation.key)
        return _choose(values, observation.key, self.epsilon)

    def discard_values(self, observation: DiscardObservation, distinct: bool = False) -> NDArray[np.float32]:
        """[N, 15] values of the discards. distinct: as in `QFunction.all_values`."""
        if self.discard_q is None:
            raise AgentError(
                f"agent {self.name} has no discard network: expected {{name: q_network, path: PATH, discards: AGENT}}"
            )
        states = compact_discard(observation)
        return self.discard_q.all_values(states, np.ones((len(states), _NUM_DISCARDS), dtype=bool), distinct)

    def play_values(self, observation: PlayObservation, distinct: bool = False) -> NDArray[np.float32]:
        """[N, 4] values of the plays, -inf where a slot may not be played. distinct: as in `QFunction.all_values`."""
        if self.play_q is None:
            raise AgentError(f"agent {self.name} has no play network")
        return self.play_q.all_values(compact_play(observation), observation.legal, distinct)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]: epsilon spread evenly, the rest on the highest value."""
        if self.discards_by is not None:
            return require_probabilities(self.discards_by).discard_probabilities(observation)
        return epsilon_greedy_probabilities(self.discard_values(observation, distinct=True), self.epsilon)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]: epsilon spread evenly over the legal slots, the rest on the highest value, or by the softmax."""
        return epsilon_greedy_probabilities(
            self.play_values(observation, distinct=True), self.epsilon, self.temperature
        )


def from_weights(
    saved: SavedWeights,
    device: str = "cpu",
    epsilon: float = 0.0,
    discards: Agent | None = None,
    temperature: float = 0.0,
) -> QNetworkAgent:
    """The agent of its weights. Raises CheckpointError.

    Where they name an agent that discards, it is made from its spec, but where `discards` takes its place; AgentError
    says so if it cannot be made.
    """
    pairs = make_networks(saved, "discard", "play")
    discards = discarder(saved, device) if discards is None else discards
    discard_q, play_q = (None if pair is None else QFunction(pair[1], pair[0], device) for pair in pairs)
    return QNetworkAgent(discard_q, play_q, epsilon, name=saved.path, temperature=temperature, discards_by=discards)


MOST_FILES = 64  # that one file of weights may name, and these in turn: a few that each name two would make billions
_asked: ContextVar[tuple[Path, ...]] = ContextVar("asked", default=())
"""Files whose other agents are being made, each named by the one before."""
_made: ContextVar[list[Path]] = ContextVar("made")  # all of them since the first


def discarder(saved: SavedWeights, device: str) -> Agent | None:
    """The agent that weights name for `discards_by`, made; None where they name none. Raises AgentError."""
    if (said := saved.discards_by) is None:
        return None
    file, path = Path(os.path.realpath(said.file)), said.file
    if file in _asked.get():
        raise AgentError(f"{path}: {said.part} comes back to this file, expected an agent that decides")
    if not _asked.get():
        _made.set([])
    _made.get().append(file)
    if len(_made.get()) > MOST_FILES:
        raise AgentError(f"{path}: {said.part} is one of more than {MOST_FILES} agents that files name for others")
    token = _asked.set((*_asked.get(), file))
    try:
        return make_agent(said, device)
    except UntrustedError:  # its line says what to do
        raise
    except UserError as error:
        hint = f"name another as {{path: {path}, discards: AGENT}}"
        raise AgentError(f"{path} names an agent that cannot be made: {error}; {hint}") from error
    finally:
        _asked.reset(token)


def _choose(values: NDArray[np.float32], keys: NDArray[np.uint64], epsilon: float) -> NDArray[np.int8]:
    choices = np.empty(len(values), dtype=np.int8)
    run_rows(_choose_rows, len(values), values, keys, epsilon, choices)
    return choices


@jit
def _sample_epsilon_greedy(values: np.ndarray, key: int, epsilon: float) -> int:
    best = 0
    num_legal = 0
    for action in range(len(values)):
        if values[action] > -np.inf:
            num_legal += 1
            if values[action] > values[best]:
                best = action
    if uniform(key, 0) < epsilon:
        skip = below(key, 1, num_legal)
        for action in range(len(values)):
            if values[action] > -np.inf:
                if skip == 0:
                    return action
                skip -= 1
    return best


@jit
def _choose_rows(part: Part, values: np.ndarray, keys: np.ndarray, epsilon: float, choices: np.ndarray) -> None:
    for r in range(*part):
        choices[r] = _sample_epsilon_greedy(values[r], keys[r], epsilon)
