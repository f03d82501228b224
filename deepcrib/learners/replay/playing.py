"""What a replay iteration plays: games or hands of the learner against itself and its pool, and their metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import SELF_PLAY, derive
from deepcrib.learners.replay.buffer import hands_per_iteration
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.learners.replay.pool import Pool
from deepcrib.learners.replay.rewards import discard_returns, play_totals
from deepcrib.matches.trajectories import Trajectories, learning_games, self_play, single_hands


@dataclass
class HasDiscarded:
    """The learner, whose discards in the hands that it will play are known: [2 * episodes]."""

    learner: Agent
    discards: NDArray[np.int8]
    name: str = "training"
    num_players: frozenset[int] = frozenset({2})

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[2 * episodes] what is known."""
        return self.discards

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self.learner.play(observation)


@dataclass(frozen=True)
class Episodes:
    """What every iteration plays: `count` games to 121, or single hands (`unit`); deals are those of `seed`."""

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
            learner = HasDiscarded(learner, discards)
        if not pool.meets_others(iteration):
            return self_play(learner, first, self.count, seed, unit=self.unit, dealing=self.dealing)
        opponents, seating = pool.seating(self.seed, iteration, self.count)
        return learning_games([learner, *opponents], seating, first, seed, unit=self.unit, dealing=self.dealing)


def episodes_of(options: ReplayOptions, seed: int, dealing: str) -> Episodes:
    """What an iteration plays with these options."""
    if options.buffer_size is not None and options.replacement is not None:
        return Episodes("hands", hands_per_iteration(options.buffer_size, options.replacement), seed, dealing)
    return Episodes(options.unit, options.episodes, seed, dealing)


def playing_metrics(hands: Trajectories) -> dict[str, float]:
    """Metrics of an iteration's hands by TensorBoard tag: the learner's mean points, and how it did against others.

    points_ahead_per_hand: of all kinds but heels, in the hands where another agent sat opposite.
    """
    own, all_hands = hands.learned == 1, np.arange(len(hands))
    dealt = own[all_hands, hands.dealer]
    play = play_totals(hands.play_points, hands.play_seats)[own].sum(dtype=np.float64)
    metrics = {
        "self_play/play_points_per_hand": float(play / own.sum()),
        "self_play/hand_points_per_hand": float(hands.hand_points[own].mean()),
        "self_play/crib_points_per_hand": float(hands.crib_points[dealt].sum() / max(1, dealt.sum())),
    }
    others = own.sum(axis=1) == 1
    if others.any():
        ahead = discard_returns(hands, "difference")[own & others[:, None]]
        metrics |= {
            "opponents/share_of_hands": float(others.mean()),
            "opponents/points_ahead_per_hand": float(ahead.mean()),
        }
    return metrics
