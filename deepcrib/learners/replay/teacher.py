"""A supervised start: both networks learn what a teacher's decisions were worth, before the first iteration.

O'Connor 2000 names "supervised learning on expert data" as the other way, and its limits: expert data are costly and
the learner is "no better than the human expert". Here the expert is an agent, so its games cost nothing, and what is
learned are no moves but values, the returns of its decisions, which replay iterations then improve on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import PRETRAINING, derive, uniform
from deepcrib.kernels import jit
from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.replay.learning import LearnedNetwork, Samples
from deepcrib.learners.replay.options import PretrainingOptions
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


def play_lessons(teacher: Agent, episodes: int, unit: str, seed: int, dealing: str) -> Trajectories:
    """The teacher's games against itself, or single hands."""
    return self_play(teacher, 0, episodes, derive(seed, PRETRAINING, _LESSONS), unit=unit, dealing=dealing)


def learn_lessons(
    networks: Mapping[str, LearnedNetwork],
    samples: Mapping[str, Samples],
    options: PretrainingOptions,
    seed: int,
    writer: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Let each network learn its samples in `options.epochs` passes.

    writer: a TensorBoard SummaryWriter; its steps are passes, of which progress(done, total) is told too.
    """
    # An optimiser of their own, as the show's pretraining has one.
    students = {part: LearnedNetwork(own.encoder, own.network, own.device) for part, own in networks.items()}
    seeds = {"play": 0, "discard": 1}
    generators = {part: np.random.default_rng((derive(seed, PRETRAINING, _LESSONS), seeds[part])) for part in students}
    for done in range(options.epochs):
        lr = options.lr * (1 - done / options.epochs)
        passes = [
            partial(student.train_pass, samples[part], lr, options.batch_size, 1.0, generators[part])
            for part, student in students.items()
        ]
        for part, passed in zip(students, run_pieces(passes), strict=True):
            if writer is not None:
                writer.add_scalar(f"teacher/{part}_loss", passed.loss, done + 1)
        if progress is not None:
            progress(done + 1, options.epochs)
