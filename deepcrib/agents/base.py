"""What an agent is: two batched choices, and optionally the probabilities behind them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from deepcrib.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deepcrib.game.observations import DiscardObservation, PlayObservation


METHODS = ("discard", "play")
"""What every agent can be asked."""


class AgentError(UserError):
    """An agent that does not exist, cannot be made as asked, or cannot do what is asked of it."""


class DivergenceError(UserError):
    """Values that are no longer finite: the learning rate was too high for the batch size and the targets."""


def require_finite(values: ArrayLike, lr: float | None = None, *, lower: str = "the learning rate") -> None:
    """Refuse losses, weights or values that are no numbers. Raises DivergenceError, which says what to lower.

    lr: the learning rate that they were learned at, where it is known.
    """
    if not np.isfinite(values).all():
        reason = f"; lower {lower}" if lr is None else f" at learning rate {lr:g}; lower it"
        raise DivergenceError(f"learning diverged: values are not finite{reason}")


class Agent(Protocol):
    """A player of N games at once. It keeps no memory between calls: observations hold all that it may use.

    In long matches several threads ask it at once. One that says `uses_past = True` finds in `observation.past` the
    hands that both players have seen of the match, and may keep what it worked out as long as it follows from these.

    One that plays its cards as a player of `policies` does says so by the attribute `play_policy`; one that always
    chooses the same in the same place may say `deterministic = True`, so that it need not tell its probabilities; one
    that throws what it values most may have `discard_values(observation)` [N, 15], counted in its `discard_unit`.
    """

    name: str
    num_players: frozenset[int]

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions, indices of `rules.discard_slots`."""
        ...

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots 0..3 of cards that may be played."""
        ...


@runtime_checkable
class HasProbabilities(Protocol):
    """An agent that can also say how likely each of its choices was."""

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] (5 with three or four players), rows summing to 1."""
        ...

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4], rows summing to 1, 0 on what may not be played."""
        ...


def checked_agent(agent: Any) -> Agent:
    """An object that has what `Agent` asks for. Raises AgentError."""
    name, numbers = getattr(agent, "name", None), getattr(agent, "num_players", None)
    who = f"agent {name or f'{type(agent).__module__}:{type(agent).__qualname__}'}"
    if not isinstance(name, str) or not name:
        raise AgentError(f"{who}: name is {name!r}, expected a text")
    if not isinstance(numbers, Collection) or not numbers or not all(isinstance(number, int) for number in numbers):
        raise AgentError(f"{who}: num_players is {numbers!r}, expected a set such as frozenset({{2}})")
    for method in METHODS:
        if not callable(getattr(agent, method, None)):
            raise AgentError(f"{who} has no method {method}: expected {method}(observation), one choice a row")
    return cast(Agent, agent)


def require_players(agent: Agent, num_players: int) -> None:
    """Validate the agent protocol and the number of players. Raises AgentError."""
    checked_agent(agent)
    if num_players not in agent.num_players:
        supported = ", ".join(map(str, sorted(agent.num_players)))
        raise AgentError(f"agent {agent.name} plays with {supported} players, not {num_players}")


def uses_past(agent: Agent | None) -> bool:
    """Whether an agent looks at the finished hands of its match."""
    return getattr(agent, "uses_past", False)


def play_policy_of(agent: Agent) -> int | None:
    """The code in `policies.POLICIES` by which an agent plays its cards, its `play_policy`; None for any other play."""
    return getattr(agent, "play_policy", None)
