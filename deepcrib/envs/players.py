"""Agents of deepcrib in any environment, policies of any library as agents of deepcrib, and random actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepcrib.agents import Agent
from deepcrib.agents.specs.making import make_agent
from deepcrib.envs.observation import block_starts, fill_rows, num_actions, num_discards, observation_spec
from deepcrib.game.engine.batch import games_seen
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

Vectors = tuple[NDArray[np.int8], NDArray[np.int8]]
Policy = Callable[[NDArray[np.int8], NDArray[np.int8]], ArrayLike]
"""(observations [N, W], masks [N, A]) -> actions [N]."""


def deepcrib_action(env: Any, agent: Agent) -> Any:
    """What an agent does where it is an environment's turn: an action, or [N] of a vector environment.

    env: any environment of this package, in whatever wrappers. In PettingZoo's it acts for `agent_selection`, and None
    is the action when that agent's game is over.
    """
    return env.unwrapped.ask(agent)


def encode(observation: DiscardObservation | PlayObservation) -> Vectors:
    """Vectors int8 [N, W] and masks int8 [N, A] that an environment shows whoever sees such observations.

    Cards that the observer does not see are not needed for them: here there are none.
    """
    players, rows, seats = observation.num_players, np.arange(len(observation)), observation.seat
    games = games_seen(observation)
    for name in ("dealt", "kept"):  # others have some cards, any of them
        games[name] = np.maximum(games[name], 0)
    if isinstance(observation, DiscardObservation):
        games["kept"][rows, seats] = -1
    vectors = np.empty((len(rows), observation_spec(players).width), dtype=np.int8)
    masks = np.empty((len(rows), num_actions(players)), dtype=np.int8)
    run_rows(fill_rows, len(games), games, seats, 0, block_starts(players), vectors, masks, piece=4096)
    return vectors, masks


class PolicyAgent:
    """A policy of any library as an agent of deepcrib, so that `matches` and `evaluation` can measure it.

    Args:
        policy: (observations int8 [N, W], masks int8 [N, A]) -> actions [N]; the engine refuses illegal ones.
        num_players: 2, 3 or 4, as in the environment that it was trained in.
        discards: spec of the agent that discards instead of a policy that knows only the play.
        name: what tables call it.
    """

    def __init__(self, policy: Policy, *, num_players: int = 2, discards: Any = None, name: str = "policy") -> None:
        self.name = name
        self.num_players = frozenset({num_players})
        self._policy = policy
        self._discards = None if discards is None else make_agent(discards)
        self._first_play = num_discards(num_players)

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        if self._discards is not None:
            return self._discards.discard(observation)
        return self._actions(observation)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self._actions(observation) - np.int8(self._first_play)

    def _actions(self, observation: DiscardObservation | PlayObservation) -> NDArray[np.int8]:
        return np.asarray(self._policy(*encode(observation)), dtype=np.int8)


def random_actions(mask: NDArray[np.int8] | NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Actions [N], each uniform over those that its row of mask [N, A] allows; 0 where none is."""
    actions, allowed = np.empty(len(mask), dtype=np.int64), np.ascontiguousarray(mask).view(np.int8)
    run_rows(_pick_rows, len(mask), allowed, rng.random(len(mask)), actions)
    return actions


@jit
def _pick_rows(part: Part, masks: np.ndarray, chances: np.ndarray, actions: np.ndarray) -> None:
    for r in range(*part):
        allowed = 0
        for a in range(masks.shape[1]):
            allowed += masks[r, a] != 0
        skip = int(chances[r] * allowed)
        actions[r] = 0
        for a in range(masks.shape[1]):
            if masks[r, a] != 0:
                if skip == 0:
                    actions[r] = a
                    break
                skip -= 1
