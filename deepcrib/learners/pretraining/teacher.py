"""A supervised start: both networks learn what a teacher's decisions were worth, before the first iteration.

O'Connor 2000 names "supervised learning on expert data" as the other way, and its limits: expert data are costly and
the learner is "no better than the human expert". Here the expert is an agent, so its games cost nothing, and what is
learned are no moves but values, the returns of its decisions, which replay iterations then improve on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import PRETRAINING, derive, uniform
from deepcrib.kernels import jit
from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.pretraining.options import PretrainingOptions, stated
from deepcrib.learners.replay.batch import Batch, make_batches
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.learners.replay.options import AlgorithmOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import self_play
from deepcrib.networks.checkpoints import load_optimizer
from deepcrib.training.learner import Learner, Metrics

LESSONS = 1
"""The index of `derive` for the teacher's games; 0 is the show's pretraining."""
_EXPLORATION = 1 << 32
"""The index of the random number of a key that decides on exploration: no agent uses it, theirs begin with 0."""


class Exploring:
    """Another agent that makes any legal choice instead of its own with probability epsilon; for two players.

    Without that, values of what a teacher never does would be guesses, and the highest of many guesses is too high.
    """

    num_players = frozenset({2})

    def __init__(self, agent: Agent, epsilon: float, discards_by: Agent | None = None) -> None:
        """discards_by: who discards in its place, and does not explore: where only the play is learned."""
        self.name = f"exploring {agent.name}"
        self.agent, self.epsilon, self.discards_by = agent, epsilon, discards_by
        self._any = make_agent("random")

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        if self.discards_by is not None:
            return self.discards_by.discard(observation)
        own, other = self.agent.discard(observation), self._any.discard(observation)
        return np.where(_explores(observation.key, self.epsilon), other, own)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        own, other = self.agent.play(observation), self._any.play(observation)
        return np.where(_explores(observation.key, self.epsilon), other, own)


@jit
def _explores(keys: np.ndarray, epsilon: float) -> np.ndarray:
    """[N] exploration mask, Bernoulli(epsilon) by key."""
    explores = np.empty(len(keys), dtype=np.bool_)
    for r in range(len(keys)):
        explores[r] = uniform(keys[r], _EXPLORATION) < epsilon
    return explores


def make_teacher(options: PretrainingOptions, device: str, discards_by: Agent | None = None) -> Exploring:
    """The teacher with its exploration; another agent's discards stand where only the play is learned."""
    agent = make_agent(options.teacher, device)
    require_players(agent, 2)
    return Exploring(agent, options.teacher_epsilon, discards_by)


class TeacherPretraining(Learner):
    """Steps are passes. Each network learns its samples, with an optimiser of its own, in `options.epochs` of them."""

    unit = "passes"
    saved = ("sort",)
    checkpoint_every = 1

    def __init__(self, learner: ReplayLearner, teacher: Agent, options: PretrainingOptions) -> None:
        """learner: whose networks learn, from returns of the teacher's episodes, which are of the same kind as its."""
        super().__init__(learner.setting)
        self.options, self.sort = options, stated(options)
        networks, seed = learner.networks, learner.setting.seed
        self.num_steps, self.teacher, self.kind = options.epochs, teacher, learner.episodes.unit
        self.targets = replace(learner.targets, algorithm=AlgorithmOptions("monte_carlo"))
        self.students = {part: LearnedNetwork(own.encoder, own.network, own.device) for part, own in networks.items()}
        self.seed = derive(seed, PRETRAINING, LESSONS)
        self.generators = {part: np.random.default_rng((self.seed, i)) for i, part in enumerate(networks)}
        self._samples: Mapping[str, Batch] = {}

    def step(self) -> Metrics:
        """One pass. Raises DivergenceError where the learning rate is too high."""
        options, self._samples = self.options, self._samples or self.lessons()
        lr = options.lr * (1 - self.steps_done / options.epochs)
        passes = [
            partial(student.train_pass, self._samples[part], lr, options.batch_size, 1.0, self.generators[part])
            for part, student in self.students.items()
        ]
        passed = zip(self.students, run_pieces(passes), strict=True)
        metrics = {f"teacher/{part}_loss": statistics.loss for part, statistics in passed}
        self.steps_done += 1
        if self.steps_done == self.num_steps:
            self._samples = {}  # there may be many
        self.tick(self.steps_done)
        return metrics

    def agent(self) -> None:
        """None."""

    def lessons(self) -> dict[str, Batch]:
        """The teacher's decisions with their returns."""
        count, dealing = self.options.teacher_episodes, self.setting.dealing
        hands = self_play(self.teacher, 0, count, self.seed, unit=self.kind, dealing=dealing)
        return make_batches(self.students, hands, self.targets, self.students["play"].q_function(), 0.0)

    def state_dict(self) -> dict[str, Any]:
        """Optimisers and generators, whose numbers are too long for other integers."""
        drawn = {part: json.dumps(generator.bit_generator.state) for part, generator in self.generators.items()}
        optimizers = {part: student.optimizer.state_dict() for part, student in self.students.items()}
        return super().state_dict() | {"drawn": drawn, "optimizers": optimizers}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a saved state. Raises ValueError for one of other options."""
        super().load_state_dict(state)
        for part, student in self.students.items():
            load_optimizer(student.optimizer, state["optimizers"][part])
            self.generators[part].bit_generator.state = json.loads(state["drawn"][part])
