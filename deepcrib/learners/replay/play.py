"""What a replay iteration plays: games or hands of the learner against itself and its pool of opponents.

Lang 2018, section 5.1: a pool "from which the agent will randomly select an opponent", and priming, first games
against agents that play well-known strategies "to train the learning agent to basic levels before self-play is used".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.randomness import SELF_PLAY, derive
from deepcrib.kernels.workers import num_workers
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.matches.trajectories import PLAYS, Trajectories, learning_games, self_play, single_hands
from deepcrib.training.learner import Setting
from deepcrib.training.run_files import require_like

PAST = "past"
"""Among `learner.opponents`: a past checkpoint of the run, any of those kept."""
GROUP = 4
"""Episodes in a row against the same opponent: the learner sits in each seat twice, and deals first once in each."""


class Episodes:
    """The episodes of a run: `count` games to 121, or single hands (`unit`), an iteration; deals are those of the seed.

    pool: the opponents where the learner does not play itself.
    """

    def __init__(self, options: ReplayOptions, setting: Setting) -> None:
        """Raises AgentError and the like for opponents that cannot be made."""
        self.options, self.setting, self.pool = options, setting, Pool(options, setting.device)
        self.unit, self.count = options.unit, options.episodes
        if options.buffer_size is not None and options.replacement is not None:
            self.unit, self.count = "hands", max(1, round(options.buffer_size * options.replacement / PLAYS))
        self._seed = derive(setting.seed, SELF_PLAY)
        self._chosen_ahead: NDArray[np.int8] | None = None  # a resumed run chooses the same anew

    def play(self, learner: QNetworkAgent, iteration: int) -> Trajectories:
        """The hands of an iteration, counted from 0."""
        first, seed, dealing = iteration * self.count, self._seed, self.setting.dealing
        if self._chosen_ahead is not None:
            chosen: Any = ChosenAhead(self._chosen_ahead)
            learner.discards_by, self._chosen_ahead = chosen, None
        if not self.pool.meets_others(iteration):
            return self_play(learner, first, self.count, seed, unit=self.unit, dealing=dealing)
        opponents, seating = self.pool.seating(self.setting.seed, iteration, self.count)
        return learning_games([learner, *opponents], seating, first, seed, unit=self.unit, dealing=dealing)

    # What follows changes the time of an iteration alone: on two threads one of `quick` takes 0.59 s so, else 0.70 s.

    def choose_ahead(self, learner: QNetworkAgent, iteration: int) -> None:
        """Choose the discards of a coming iteration's hands while the play network still learns.

        That is not done where others decide too, nor on a GPU, which has no thread to spare.
        """
        own = learner.discard_q
        alone = self.unit == "hands" and not self.pool.meets_others(iteration)
        plain = own is not None and own.device.type == "cpu"
        if alone and plain and iteration < self.options.iterations and num_workers() > 1:
            table = single_hands(iteration * self.count, self.count, self._seed, self.setting.dealing)
            rows = np.repeat(table.deal(), 2)
            self._chosen_ahead = learner.discard(table.discard_observation(rows, np.tile([0, 1], self.count)))


@dataclass
class ChosenAhead:
    """Discards [2 * episodes] that were chosen before, in place of the agent that would choose them."""

    discards: NDArray[np.int8]

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[2 * episodes] discard actions."""
        return self.discards


# --- opponents --------------------------------------------------------------------------------------------------------


class Pool:
    """The opponents of a run, all made before its first iteration, and its past players by iteration, oldest first."""

    def __init__(self, options: ReplayOptions, device: str) -> None:
        """Raises AgentError and the like for opponents that cannot be made."""
        self.options = options
        self.opponents = [None if spec == PAST else _opponent(spec, device) for spec in options.opponents]
        self.priming = [_opponent(spec, device) for spec in options.priming]
        self.past: dict[int, QNetworkAgent] = {}

    def meets_others(self, iteration: int) -> bool:
        """Whether an iteration is not self-play alone."""
        return bool(self.priming if iteration < self.options.priming_iterations else self.opponents)

    def seating(self, seed: int, iteration: int, episodes: int) -> tuple[list[Agent], NDArray[np.int64]]:
        """(opponents, seating [episodes, 2]) of an iteration: 0 is the learner, k the k-th of the opponents.

        Opponents are sampled deterministically in (seed, iteration, pool), the first episodes alike whatever their
        number. The learner's seat follows from the episode's number in the run: it moves on every two episodes, single
        hands' dealer on every one, so that any four in a row are balanced.
        """
        primed = iteration < self.options.priming_iterations
        choices: Sequence[Agent | None] = self.priming if primed else self.opponents
        players = [agent for agent in choices if agent is not None]
        numbers = np.cumsum([agent is not None for agent in choices])  # of the named ones
        generator = np.random.default_rng(derive(seed, SELF_PLAY, iteration + 1))
        coins = generator.random((-(-episodes // GROUP), 3))  # a row for every group
        choice = (coins[:, 1] * len(choices)).astype(np.int64)
        past = len(players) + 1 + (coins[:, 2] * len(self.past)).astype(np.int64) if self.past else 0
        is_past = np.array([agent is None for agent in choices])[choice]
        share = 1.0 if primed else self.options.opponent_share
        met = np.where(coins[:, 0] < share, np.where(is_past, past, numbers[choice]), 0)
        seating, rows = np.zeros((episodes, 2), dtype=np.int64), np.arange(episodes)
        seating[rows, 1 - (iteration * episodes + rows) // 2 % 2] = np.repeat(met, GROUP)[:episodes]
        return [*players, *self.past.values()], seating

    def remember(self, iteration: int, player: QNetworkAgent) -> None:
        """Take the player in as it is after so many iterations, if it is its turn; the oldest leaves a full pool."""
        if None in self.opponents and iteration % self.options.past_every == 0:
            self.past[iteration] = player.frozen(f"past {iteration}")
            for oldest in list(self.past)[: -self.options.past_kept]:
                del self.past[oldest]

    def state(self) -> list[dict[str, Any]]:
        """What `load` needs: weights of the past players."""
        return [{"iteration": iteration, **_weights(past)} for iteration, past in self.past.items()]

    def load(self, state: Sequence[dict[str, Any]], player: QNetworkAgent) -> None:
        """Take over the past players of a saved state; networks are made like the learner's, `player`."""
        self.past = {}
        for saved in state:
            past = self.past[saved["iteration"]] = player.frozen(f"past {saved['iteration']}")
            for part, function in past.functions.items():
                function.network.load_state_dict(saved[part])
            require_like(saved, {"iteration": 0, **_weights(past)}, "a past player")


def _opponent(spec: Any, device: str) -> Agent:
    agent = make_agent(spec, device)
    require_players(agent, 2)
    return agent


def _weights(player: QNetworkAgent) -> dict[str, Any]:
    return {part: function.network.state_dict() for part, function in player.functions.items()}
