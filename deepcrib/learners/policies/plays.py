"""The plays of single hands as decisions: those with a choice, each with its reward and what follows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.learners.replay.batch import Batch, skip_forced
from deepcrib.learners.replay.rewards import margin, next_own, returns_to_the_end
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks.encoders import legal_plays


def chosen_plays(hands: Trajectories) -> tuple[NDArray[np.bool_], NDArray[np.float32], NDArray[np.int64]]:
    """(decisions, rewards, following) of the plays [H, 8] of H hands by both seats.

    Decisions are plays with a choice: the reward of a card that has to be played is that of the decision before. A
    reward is own points less the opponent's up to the player's next decision or the end of the play; following is the
    number of that decision, -1: there is none.
    """
    decisions = legal_plays(hands.play_states).sum(axis=2) > 1
    rewards = margin(hands.play_points, hands.play_seats)
    return decisions, *skip_forced(rewards, next_own(hands.play_seats), decisions)


def plays_with_returns(hands: Trajectories) -> Batch:
    """The decisions of both seats, with what came of each to the end of the play."""
    decisions, rewards, following = chosen_plays(hands)
    returns = returns_to_the_end(rewards, following)
    return Batch(hands.play_states[decisions], hands.play_actions[decisions], returns[decisions])
