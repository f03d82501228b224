"""Asking an agent for its choices or their probabilities, and validating the answer.

Dtypes and shapes are looked at here, and the sums of probabilities; what may not be chosen the engine refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import Agent, AgentError, HasProbabilities
from deepcrib.game.engine import IllegalActionError
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import HAND_SIZE, discard_slots
from deepcrib.plugins import blamed

_ROUNDING = 1e-4  # of probabilities in float32


class FaultError(AgentError, IllegalActionError):
    """An agent that broke the rules or the protocol: `FaultError(its name, what it did)`."""

    def __str__(self) -> str:
        """One line."""
        return "agent {}: {}".format(*self.args)


def ask(agent: Agent, observation: DiscardObservation | PlayObservation) -> NDArray[Any]:
    """[N] choices of an agent. Raises FaultError where they are no whole numbers, or not one a row.

    And FailureError where an agent from outside this package raised an error.
    """
    method = "discard" if isinstance(observation, DiscardObservation) else "play"
    with blamed(f"agent {agent.name}: {method}", type(agent).__module__):
        given = agent.discard(observation) if isinstance(observation, DiscardObservation) else agent.play(observation)
    return _array(agent, method, given, "iu", "whole numbers", (len(observation),))


@contextmanager
def named(agent: Agent) -> Iterator[None]:
    """Let the engine's refusal of a choice name the agent that made it."""
    try:
        yield
    except FaultError:
        raise
    except IllegalActionError as error:
        raise FaultError(agent.name, f"an illegal action, {error}") from error


class Probabilities:
    """The probabilities of an agent that knows them, or is `deterministic`: then 1 for what it chooses.

    Of any other agent, how often it chooses what, asked so many times by as many keys.
    """

    def __init__(self, agent: Agent, times: int = 1) -> None:
        self.agent, self.times = agent, times

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15], or 5. Raises FaultError."""
        return self._of("discard_probabilities", observation, len(discard_slots(observation.hand.shape[1])))

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]. Raises FaultError."""
        return self._of("play_probabilities", observation, HAND_SIZE)

    def _of(
        self, method: str, observation: DiscardObservation | PlayObservation, num_choices: int
    ) -> NDArray[np.float64]:
        shape = len(observation), num_choices
        if not isinstance(self.agent, HasProbabilities):
            legal = observation.legal if isinstance(observation, PlayObservation) else np.ones(shape, dtype=np.bool_)
            keys = (observation.key + np.uint64(time) for time in range(self.times))
            return sum((self._certain(replace(observation, key=key), legal) for key in keys), np.zeros(shape))
        with blamed(f"agent {self.agent.name}: {method}", type(self.agent).__module__):
            given = getattr(self.agent, method)(observation)
        probabilities = _array(self.agent, method, given, "f", "floats", shape)
        sums = probabilities.sum(axis=1)
        wrong = np.flatnonzero(~(np.abs(sums - 1) < _ROUNDING))
        if len(wrong):
            raise FaultError(self.agent.name, f"{method} gave a row whose sum is {sums[wrong[0]]:g}, expected 1")
        return probabilities

    def _certain(
        self, observation: DiscardObservation | PlayObservation, legal: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """No engine sees these choices, so illegal ones, of legal [N, A], are refused here."""
        chosen = ask(self.agent, observation)
        certain = (np.arange(legal.shape[1]) == chosen[:, None]) & legal
        wrong = np.flatnonzero(~certain.any(axis=1))
        if len(wrong):
            allowed = np.flatnonzero(legal[wrong[0]]).tolist()
            raise FaultError(self.agent.name, f"an illegal action, {chosen[wrong[0]]}: expected one of {allowed}")
        return certain / self.times


def knows_probabilities(agent: Agent) -> bool:
    """Whether `Probabilities` can tell how likely an agent's choices are."""
    return isinstance(agent, HasProbabilities) or getattr(agent, "deterministic", False) is True


def require_probabilities(agent: Agent) -> Probabilities:
    """The probabilities of an agent. Raises AgentError where it gives none."""
    if not knows_probabilities(agent):
        raise AgentError(f"agent {agent.name} does not give the probabilities of its choices")
    return Probabilities(agent)


class OthersDiscards:
    """Discards as another agent does, `discards_by`: of an agent of the play alone, for two players."""

    num_players = frozenset({2})
    discards_by: Agent

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return self.discards_by.discard(observation)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] of the agent that discards. Raises AgentError where it gives none."""
        return require_probabilities(self.discards_by).discard_probabilities(observation)


def _array(agent: Agent, method: str, given: Any, kinds: str, expected: str, shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        found = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:  # rows of several lengths, or a tensor that is not here
        raise FaultError(agent.name, f"{method} gave no array ({error}), expected {expected} {list(shape)}") from error
    if found.shape != shape or found.dtype.kind not in kinds:
        what = f"{method} gave {found.dtype} {list(found.shape)}, expected {expected} {list(shape)}"
        raise FaultError(agent.name, what)
    return found
