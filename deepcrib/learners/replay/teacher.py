"""A supervised start: both networks learn what a teacher's decisions were worth, before the first iteration.

O'Connor 2000 names "supervised learning on expert data" as the other way, and its limits: expert data are costly and
the learner is "no better than the human expert". Here the expert is an agent, so its games cost nothing, and what is
learned are no moves but values, the returns of its decisions, which replay iterations then improve on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import PRETRAINING, derive, uniform
from deepcrib.kernels import jit
from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.replay.experience import discard_samples, experience_of, play_samples
from deepcrib.learners.replay.learning import LearnedNetwork, Samples
from deepcrib.learners.replay.options import PretrainingOptions, Settings
from deepcrib.learners.replay.playing import episodes_of
from deepcrib.matches.trajectories import Trajectories, self_play

_LESSONS = 1
"""The index of `derive` for the teacher's games; 0 is the show's pretraining."""
_COIN = 1 << 32
"""Which of a key's random numbers is the coin: one that no agent takes, as a player's choices begin with the first."""


class Exploring:
    """Another agent that makes any legal choice instead of its own with probability epsilon; for two players.

    Without that, values of what a teacher never does would be guesses, and the highest of many guesses is too high.
    """

    num_players = frozenset({2})

    def __init__(self, discards_by: Agent, plays_by: Agent, discard_epsilon: float, play_epsilon: float) -> None:
        self.name = f"exploring {plays_by.name}"
        self.discards_by, self.plays_by = discards_by, plays_by
        self.discard_epsilon, self.play_epsilon = discard_epsilon, play_epsilon
        self._any = make_agent("random")

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        own, other = self.discards_by.discard(observation), self._any.discard(observation)
        return np.where(_heads(observation.key, self.discard_epsilon), other, own)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        own, other = self.plays_by.play(observation), self._any.play(observation)
        return np.where(_heads(observation.key, self.play_epsilon), other, own)


@jit
def _heads(keys: np.ndarray, chance: float) -> np.ndarray:
    """[N] whether each key's coin shows heads."""
    heads = np.empty(len(keys), dtype=np.bool_)
    for r in range(len(keys)):
        heads[r] = uniform(keys[r], _COIN) < chance
    return heads


def make_teacher(options: PretrainingOptions, device: str, discards_by: Agent | None = None) -> Exploring:
    """The teacher with its exploration; another agent's discards stand where only the play is learned."""
    agent = make_agent(options.teacher, device)
    require_players(agent, 2)
    epsilon = options.teacher_epsilon
    return Exploring(discards_by or agent, agent, 0.0 if discards_by else epsilon, epsilon)


def teach(
    discard: LearnedNetwork | None,
    play: LearnedNetwork,
    teacher: Agent,
    settings: Settings,
    dealing: str = "acc",
    writer: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Play the teacher against itself, and learn the returns of both seats' decisions (Monte Carlo, both networks).

    writer: a TensorBoard SummaryWriter; its steps are passes
    over these games, of which progress(done, total) is told too.
    """
    options, (unit, _) = settings.pretraining, episodes_of(settings.learner)
    seed = derive(settings.seed, PRETRAINING, _LESSONS)
    hands = self_play(teacher, 0, options.teacher_episodes, seed, unit=unit, dealing=dealing)
    lessons = _lessons(experience_of(hands, settings), discard, play, settings)
    # An optimiser of their own, as the show's pretraining has one.
    students = {part: LearnedNetwork(own.encoder, own.network, own.device) for part, (own, _) in lessons.items()}
    generators = {part: np.random.default_rng((seed, stream)) for stream, part in enumerate(lessons)}
    for done in range(options.epochs):
        lr = options.lr * (1 - done / options.epochs)
        passes = [
            partial(students[part].train_pass, samples, lr, options.batch_size, 1.0, generators[part])
            for part, (_, samples) in lessons.items()
        ]
        for part, passed in zip(lessons, run_pieces(passes), strict=True):
            if writer is not None:
                writer.add_scalar(f"teacher/{part}_loss", passed.loss, done + 1)
        if progress is not None:
            progress(done + 1, options.epochs)


def _lessons(
    hands: Trajectories, discard: LearnedNetwork | None, play: LearnedNetwork, settings: Settings
) -> dict[str, tuple[LearnedNetwork, Samples]]:
    """Each network with the teacher's decisions and their returns."""
    reward, forced, frozen = settings.reward, settings.learner.forced, play.q_function()
    won, hand = reward.game_bonus, reward.hand_bonus
    plays = play_samples(hands, "monte_carlo", reward.play, frozen, 0.0, forced, game_bonus=won, hand_bonus=hand)
    lessons = {"play": (play, plays)}
    if discard is not None:
        discards = discard_samples(hands, reward.discard, reward.discard_baseline, game_bonus=won)
        lessons["discard"] = discard, discards
    return lessons
