"""Replay iterations: self-play with the current networks, then learning from the buffer, and again.

Bélanger et al. 2019, section 3.2. Both seats learn. The bootstrap network is frozen within an iteration: all targets
of an iteration are computed before its first minibatch, with the networks as they then are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import torch

from deepcrib.agents import kept_spec, make_agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.errors import OptionError
from deepcrib.game.randomness import NETWORKS, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.replay.batch import Batch, PlayTargets, make_batches
from deepcrib.learners.replay.buffer import ReplayBuffer
from deepcrib.learners.replay.monitoring import draws_at, pass_metrics, playing_metrics, show_values, speed_metrics
from deepcrib.learners.replay.options import (
    AlgorithmOptions,
    ReplayOptions,
    RewardOptions,
    StateOptions,
    contradictions,
)
from deepcrib.learners.replay.play import Episodes
from deepcrib.learners.replay.update import LearnedNetwork, learn_side_by_side, untrained
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, QNetwork
from deepcrib.networks.checkpoints import save_weights
from deepcrib.training.learner import Learner, Metrics, Setting, Writer

CHARTS = {
    "Points a hand": {"self-play, a player: play, hand, crib": "self_play/.*_points_per_hand"},
    "Learning": {
        "loss of the discard network": "loss/discard",
        "loss of the play network": "loss/play",
        "discard values and targets, mean (points)": "(q|target)/discard_mean",
        "play values and targets, mean (points)": "(q|target)/play_mean",
        "discard values and targets, deviation (points)": "(q|target)/discard_std",
        "play values and targets, deviation (points)": "(q|target)/play_std",
    },
    "Throughput": {
        "hands a second": "speed/hands_per_second",
        "samples a second": "speed/samples_per_second",
        "seconds of an iteration: playing, learning, monitoring": "speed/(playing|learning|monitoring)_seconds",
    },
    "Schedule": {"epsilon": "schedule/epsilon", "learning rates": "schedule/.*_lr"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class ReplayLearner(Learner):
    """Steps are iterations. Two networks learn, one for the discard and one for the play, or that of the play alone.

    Attributes:
        discard: the network that learns to discard, or None where the agent `discards_by` does it.
        play: the network that learns to play.
        buffer: the hands of the newest iterations.
        hands: played so far.
    """

    unit = "iterations"

    def __init__(
        self,
        options: ReplayOptions,
        setting: Setting,
        *,
        algorithm: AlgorithmOptions,
        reward: RewardOptions,
        state: StateOptions,
        discard_network: DiscardNetworkConfig,
        play_network: PlayNetworkConfig,
    ) -> None:
        """Raises OptionError where networks, states and options do not go together, and what `make_agent` does."""
        super().__init__(setting)
        for line in contradictions(algorithm, reward, options):
            raise OptionError(line)
        self.options, self.algorithm, self.reward = options, algorithm, reward
        self.num_steps, self.checkpoint_every = options.iterations, options.checkpoint_every
        self.targets = PlayTargets(algorithm, reward, options.forced, state.scores)
        self.discards_by = self.discard = None
        device = torch.device(setting.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
            self.play = LearnedNetwork(*untrained("play", state, play_network), device)
            if options.discard_agent is None:
                self.discard = LearnedNetwork(*untrained("discard", state, discard_network), device)
        if options.discard_agent is not None:
            self.discards_by = make_agent(options.discard_agent, setting.device)
        self.networks = {"play": self.play} | ({"discard": self.discard} if self.discard else {})
        self.episodes = Episodes(options, setting)
        self.buffer = ReplayBuffer(options.epochs_kept, options.buffer_size)
        self.target_network: QNetwork | None = copy.deepcopy(self.play.network) if options.target_every > 1 else None
        self.hands = 0
        self._learned: dict[str, Batch] = {}

    def first_metrics(self) -> Metrics:
        """No hand yet."""
        return {"progress/hands": 0.0}

    # --- the iteration ----------------------------------------------------------------------------------------

    def step(self) -> Metrics:
        """One replay iteration. Raises DivergenceError where a learning rate is too high."""
        iteration, start, processor = self.steps_done, seconds_running(), process_time()
        schedule = self.options.schedule(iteration)
        hands = self.episodes.play(self._player(iteration), iteration)
        self.buffer.add(hands)
        played = seconds_running()
        self._learned = self._batches(schedule.epsilon)
        lrs = {"play": schedule.play_lr, "discard": schedule.discard_lr}
        then = partial(self.episodes.choose_ahead, self._player(iteration + 1), iteration + 1)
        passed = learn_side_by_side(self.networks, self._learned, lrs, self.options, iteration, self.setting.seed, then)
        seconds = seconds_running() - played
        self.steps_done += 1
        self.hands += len(hands)
        self.episodes.pool.remember(self.steps_done, self.agent())
        metrics = pass_metrics(passed) | playing_metrics(hands)
        samples = sum(part.samples for part in passed.values())
        metrics |= speed_metrics(len(hands), samples, played - start, seconds)
        metrics |= {f"schedule/{name}": value for name, value in schedule._asdict().items()}
        return metrics | {"progress/hands": float(self.hands), "speed/processor_seconds": process_time() - processor}

    def _batches(self, epsilon: float) -> dict[str, Batch]:
        """What each network learns in an iteration.

        The target network, updated if due, values next decisions; for double Q-learning the online one chooses them.
        Without a target network the online one does both: all targets are computed before the first minibatch.
        """
        target_q, chooser = self.play.q_function(), None
        if self.target_network is not None:
            if self.steps_done % self.options.target_every == 0:
                self.target_network.load_state_dict(self.play.network.state_dict())
            chooser = target_q if self.algorithm.double else None
            target_q = QFunction(self.play.encoder, self.target_network, self.play.device)
        hands, newest = self.buffer.hands(), self.buffer.newest
        return make_batches(self.networks, hands, self.targets, target_q, epsilon, chooser=chooser, newest=newest)

    # --- agents -----------------------------------------------------------------------------------------------

    def agent(self) -> QNetworkAgent:
        """The networks as they now are, with the epsilon of evaluation."""
        return self._agent(self.setting.evaluation.epsilon)

    def exploring_agent(self) -> QNetworkAgent:
        """The same with the epsilon of the last iteration, and the temperature of self-play."""
        return self._agent(self.options.schedule(max(self.num_steps - 1, 0)).epsilon, self.options.temperature)

    def _player(self, iteration: int) -> QNetworkAgent:
        """What plays the hands of an iteration."""
        return self._agent(self.options.schedule(iteration).epsilon, self.options.temperature)

    def _agent(self, epsilon: float, temperature: float = 0.0) -> QNetworkAgent:
        discard_q, play_q = self.discard.q_function() if self.discard else None, self.play.q_function()
        return QNetworkAgent(
            discard_q, play_q, epsilon, name="training", discards_by=self.discards_by, temperature=temperature
        )

    # --- what a run leaves ------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the weights of both networks."""
        metadata = self.setting.metadata(
            self.options.name,
            algorithm=self.algorithm.name,
            reward_play=self.reward.play,
            reward_discard=self.reward.discard,
            iteration=self.steps_done,
            hands=self.hands,
            discards_by=kept_spec(self.options.discard_agent, path.parent),
        )
        save_weights(path, metadata, discard=self.discard.network if self.discard else None, play=self.play.network)

    def state_dict(self) -> dict[str, Any]:
        """Networks, optimisers, buffer and past players."""
        return {
            "discard": self.discard.state() if self.discard else None,
            "play": self.play.state(),
            "buffer": self.buffer.state(),
            "past": self.episodes.pool.state(),
            "target_network": self.target_network.state_dict() if self.target_network else None,
            "hands": self.hands,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a saved state. Raises ValueError for one of other options."""
        if (self.discard is None) != (state["discard"] is None):
            raise ValueError("one has a discard network, the other a discard agent")
        if (self.target_network is None) != (state["target_network"] is None):
            raise ValueError("learner.target_every is 1 for one, more for the other")
        if self.discard:
            self.discard.load(state["discard"])
        self.play.load(state["play"])
        self.buffer.load(state["buffer"])
        self.episodes.pool.load(state["past"], self.agent())
        if self.target_network:
            self.target_network.load_state_dict(state["target_network"])
        self.hands = state["hands"]

    def show(self, writer: Writer, step: int) -> None:
        """Histograms of values and targets; from time to time what the discard network predicts and what came of it."""
        figure = self.setting.figure if draws_at(self.setting.evaluation, step, self.num_steps) else None
        show_values(writer, step, self.agent().functions, self._learned, figure)
