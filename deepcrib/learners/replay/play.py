"""What a replay iteration plays: games or hands of the learner against itself and its pool.

Who sits opposite the learner: itself, named agents, or networks of its own past.

Lang 2018, section 5.1: a pool "from which the agent will randomly select an opponent", and priming, first games
against agents that play well-known strategies "to train the learning agent to basic levels before self-play is used".
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import SELF_PLAY, derive
from deepcrib.learners.replay.buffer import hands_per_iteration
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories, learning_games, self_play, single_hands
from deepcrib.training.run_files import require_like

PAST = "past"
"""Among `learner.opponents`: a past checkpoint of the run, any of those kept."""
GROUP = 4
"""Episodes in a row against the same opponent: the learner sits in each seat twice, and deals first once in each."""


@dataclass
class PastPlayer:
    """A checkpoint of the run as an opponent: it plays what it values most, without exploration."""

    iteration: int
    discard: QFunction | None
    play: QFunction
    discards_by: Agent | None

    @property
    def agent(self) -> QNetworkAgent:
        """The player."""
        return QNetworkAgent(self.discard, self.play, name=f"past {self.iteration}", discards_by=self.discards_by)


@dataclass
class Pool:
    """The opponents of a run, all made before its first iteration, and its past players, oldest first."""

    options: ReplayOptions = field(default_factory=ReplayOptions)
    opponents: list[Agent | None] = field(default_factory=list)  # None: a past player
    priming: list[Agent] = field(default_factory=list)
    past: list[PastPlayer] = field(default_factory=list)

    def meets_others(self, iteration: int) -> bool:
        """Whether an iteration is not self-play alone."""
        return bool(self.priming if iteration < self.options.priming_iterations else self.opponents)

    def seating(self, seed: int, iteration: int, episodes: int) -> tuple[list[Agent], NDArray[np.int64]]:
        """(opponents, seating [episodes, 2]) of an iteration: 0 is the learner, k the k-th of the opponents.

        Opponents are sampled deterministically in (seed, iteration, pool), the first episodes alike whatever their
        number; where the learner sits follows from the episode's number in the run, so that few are balanced too.
        """
        primed = iteration < self.options.priming_iterations
        choices: Sequence[Agent | None] = self.priming if primed else self.opponents
        players = [agent for agent in choices if agent is not None] + [past.agent for past in self.past]
        number_of = {id(player): number for number, player in enumerate(players, 1)}
        named = np.array([0 if agent is None else number_of[id(agent)] for agent in choices], dtype=np.int64)
        share = 1.0 if primed else self.options.opponent_share
        generator = np.random.default_rng(derive(seed, SELF_PLAY, iteration + 1))
        coins = generator.random((-(-episodes // GROUP), 3))  # a row for every group
        choice = (coins[:, 1] * len(choices)).astype(np.int64)
        first_past = len(players) - len(self.past) + 1
        past = first_past + (coins[:, 2] * len(self.past)).astype(np.int64) if self.past else 0
        is_past = np.array([agent is None for agent in choices])[choice]
        met = np.where(coins[:, 0] < share, np.where(is_past, past, named[choice]), 0)
        return players, seats_of(np.repeat(met, GROUP)[:episodes], iteration * episodes)

    def remember(self, iteration: int, discard: LearnedNetwork | None, play: LearnedNetwork, by: Agent | None) -> None:
        """Take the networks in after so many iterations, if it is their turn; the oldest leaves a full pool."""
        if None in self.opponents and iteration % self.options.past_every == 0:
            self.past.append(PastPlayer(iteration, None if discard is None else frozen(discard), frozen(play), by))
            self.past = self.past[-self.options.past_kept :]

    def state(self) -> list[dict[str, Any]]:
        """What `load` needs: weights of the past players."""
        return [
            {
                "iteration": past.iteration,
                "discard": past.discard.network.state_dict() if past.discard else None,
                "play": past.play.network.state_dict(),
            }
            for past in self.past
        ]

    def load(
        self, state: Sequence[dict[str, Any]], discard: LearnedNetwork | None, play: LearnedNetwork, by: Agent | None
    ) -> None:
        """Take over the past players of a saved state; networks are made like the learner's."""
        self.past = [
            PastPlayer(
                saved["iteration"],
                None if discard is None else frozen(discard, saved["discard"]),
                frozen(play, saved["play"]),
                by,
            )
            for saved in state
        ]


def make_pool(options: ReplayOptions, device: str) -> Pool:
    """The pool that the options name, without past players. Raises AgentError and the like for who cannot be made."""
    opponents = [None if spec == PAST else _opponent(spec, device) for spec in options.opponents]
    return Pool(options, opponents, [_opponent(spec, device) for spec in options.priming])


def _opponent(spec: Any, device: str) -> Agent:
    agent = make_agent(spec, device)
    require_players(agent, 2)
    return agent


def frozen(learned: LearnedNetwork, weights: dict[str, Any] | None = None) -> QFunction:
    """The values of a copy of a network, as it is now or with other weights; learning leaves it as it is."""
    network = copy.deepcopy(learned.network)
    if weights is not None:
        network.load_state_dict(weights)
        require_like(weights, network.state_dict(), "a past player")
    return QFunction(learned.encoder, network.eval(), learned.device)


def seats_of(met: NDArray[np.int64], first: int) -> NDArray[np.int64]:
    """[N, 2] seating of the episodes from number `first` on, whose opponents [N] are given.

    The learner, 0, moves on every two episodes, single hands' dealer on every one: any four in a row are balanced.
    """
    seating = np.zeros((len(met), 2), dtype=np.int64)
    rows = np.arange(len(met))
    seating[rows, 1 - (first + rows) // 2 % 2] = met
    return seating


# --- what is played ---------------------------------------------------------------------------------------------------


@dataclass
class PrecomputedDiscards:
    """The learner with its discards of the coming hands, computed before: [2 * episodes]."""

    learner: Agent
    discards: NDArray[np.int8]
    name: str = "training"
    num_players: frozenset[int] = frozenset({2})

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[2 * episodes] those computed before."""
        return self.discards

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self.learner.play(observation)


@dataclass(frozen=True)
class Episodes:
    """The episodes of an iteration: `count` games to 121, or single hands (`unit`); deals are those of `seed`."""

    unit: str
    count: int
    seed: int
    dealing: str

    def discards(self, learner: Agent, iteration: int) -> NDArray[np.int8]:
        """[2 * count] what the learner throws in single hands of self-play, before they are played."""
        table = single_hands(iteration * self.count, self.count, derive(self.seed, SELF_PLAY), self.dealing)
        rows = np.repeat(table.deal(), 2)
        return learner.discard(table.discard_observation(rows, np.tile(np.arange(2), self.count)))

    def play(
        self, learner: Agent, pool: Pool, iteration: int, discards: NDArray[np.int8] | None = None
    ) -> Trajectories:
        """The hands of an iteration, counted from 0; discards: what `discards` gave, where they are known."""
        first, seed = iteration * self.count, derive(self.seed, SELF_PLAY)
        if discards is not None:
            learner = PrecomputedDiscards(learner, discards)
        if not pool.meets_others(iteration):
            return self_play(learner, first, self.count, seed, unit=self.unit, dealing=self.dealing)
        opponents, seating = pool.seating(self.seed, iteration, self.count)
        return learning_games([learner, *opponents], seating, first, seed, unit=self.unit, dealing=self.dealing)


def episodes_of(options: ReplayOptions, seed: int, dealing: str) -> Episodes:
    """What an iteration plays with these options."""
    if options.buffer_size is not None and options.replacement is not None:
        return Episodes("hands", hands_per_iteration(options.buffer_size, options.replacement), seed, dealing)
    return Episodes(options.unit, options.episodes, seed, dealing)
