"""Replay iterations: self-play with the current networks, then learning from the buffer, and again.

Bélanger et al. 2019, section 3.2. Both seats learn. The bootstrap network is frozen within an iteration: all targets
of an iteration are computed before its first minibatch, with the networks as they then are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import Agent, kept_spec, make_agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, PRETRAINING, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.kernels.workers import num_workers, run_pieces
from deepcrib.learners.replay.batch import Batch, PlayTargets, discard_samples, experience_of, play_samples
from deepcrib.learners.replay.buffer import ReplayBuffer
from deepcrib.learners.replay.extras import sampling_of
from deepcrib.learners.replay.monitoring import draws_at, pass_metrics, playing_metrics, show_values, speed_metrics
from deepcrib.learners.replay.options import (
    AlgorithmOptions,
    PretrainingOptions,
    ReplayOptions,
    RewardOptions,
    Schedule,
    StateOptions,
    refuse_combinations,
)
from deepcrib.learners.replay.play import episodes_of, make_pool
from deepcrib.learners.replay.pretraining import LESSONS, Pretraining, ShowPretraining, TeacherPretraining, make_teacher
from deepcrib.learners.replay.update import LearnedNetwork, begin_with
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks import (
    DiscardNetworkConfig,
    PlayNetworkConfig,
    QNetwork,
    checkpoints,
    make_discard_network,
    make_play_network,
)
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.training.learner import Learner, Metrics, Setting


class ReplayLearner(Learner):
    """Steps are iterations. Two networks learn, one for the discard and one for the play, or that of the play alone.

    Attributes:
        discard: the network that learns to discard, or None where the agent `discards_by` does it.
        play: the network that learns to play.
        buffer: the hands of the newest iterations.
        hands: played so far.
    """

    unit = "iterations"
    evaluates_steps = True

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
        pretraining: PretrainingOptions,
    ) -> None:
        """Raises OptionError where networks, states and options do not go together, and what `make_agent` does."""
        super().__init__(setting)
        refuse_combinations(algorithm, options)
        self.options, self.algorithm, self.reward = options, algorithm, reward
        self.num_steps, self.checkpoint_every = options.iterations, options.checkpoint_every
        self.sees_scores = state.scores
        self.targets = PlayTargets(algorithm, reward, options.forced)
        self.episodes = episodes_of(options, setting.seed, setting.dealing)
        self.discards_by = self.discard = None
        device = torch.device(setting.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
            play_encoder = make_play_encoder(state.play, dealer=state.dealer, scores=state.scores)
            network = make_play_network(play_network, play_encoder.spec)
            self.play = LearnedNetwork(play_encoder, network, device)
            if options.discard_agent is None:
                encoder = make_discard_encoder(state.discard, scores=state.scores)
                network = make_discard_network(discard_network, encoder.spec)
                self.discard = LearnedNetwork(encoder, network, device)
        if options.discard_agent is not None:
            self.discards_by = make_agent(options.discard_agent, setting.device)
        if options.initial is not None:
            begin_with(options.initial, {"play": self.play, "discard": self.discard}, setting.device)
        self.stages = self._stages(pretraining)
        self.buffer = ReplayBuffer(options.epochs_kept, options.buffer_size)
        self.pool = make_pool(options, setting.device)
        self.target_network: QNetwork | None = copy.deepcopy(self.play.network) if options.target_every > 1 else None
        self.hands = 0
        self._discards_ahead: NDArray[np.int8] | None = None  # a resumed run chooses the same anew
        self._learned: dict[str, Batch] = {}

    # --- the iteration ----------------------------------------------------------------------------------------

    def step(self) -> Metrics:
        """One replay iteration. Raises DivergenceError where a learning rate is too high."""
        iteration, start, processor = self.steps_done, seconds_running(), process_time()
        schedule = self.options.schedule(iteration)
        hands = self.episodes.play(self._player(iteration), self.pool, iteration, self._discards_ahead)
        self.buffer.add(hands)
        played = seconds_running()
        metrics = self._learn(schedule)
        seconds = seconds_running() - played
        self.steps_done += 1
        self.hands += len(hands)
        self.pool.remember(self.steps_done, self.discard, self.play, self.discards_by)
        samples = sum(metrics[f"progress/{part}_samples"] for part in self._learned)
        metrics |= playing_metrics(hands) | speed_metrics(len(hands), samples, played - start, seconds)
        metrics |= {f"schedule/{name}": value for name, value in schedule._asdict().items()}
        return metrics | {"progress/hands": float(self.hands), "speed/processor_seconds": process_time() - processor}

    def _learn(self, schedule: Schedule) -> Metrics:
        """A pass of each network over the buffer; they share nothing, so they learn side by side."""
        ahead, self._discards_ahead = self._player_ahead(), None  # made here: another thread will change its parts
        target_q, chooser = self._update_targets()
        self._learned = self._samples(
            self.buffer.hands(), self.targets, target_q, schedule.epsilon, chooser, self.buffer.newest
        )

        def learn_discards(network: LearnedNetwork) -> Metrics:
            metrics = self._pass("discard", network, schedule.discard_lr, 1)
            if ahead is not None:
                self._discards_ahead = self.episodes.discards(ahead, self.steps_done + 1)
            return metrics

        passes = [partial(self._pass, "play", self.play, schedule.play_lr, 0)]
        if self.discard is not None:
            passes.append(partial(learn_discards, self.discard))
        return {tag: value for metrics in run_pieces(passes) for tag, value in metrics.items()}

    def _pass(self, part: str, network: LearnedNetwork, lr: float, stream: int) -> Metrics:
        options, iteration = self.options, self.steps_done
        generator = np.random.default_rng((derive(self.setting.seed, MINIBATCHES, iteration), stream))
        sampling = sampling_of(options, iteration)
        passed = network.train_pass(self._learned[part], lr, options.batch_size, options.passes, generator, sampling)
        return pass_metrics(part, passed)

    def _samples(
        self,
        hands: Trajectories,
        how: PlayTargets,
        target_q: QFunction,
        epsilon: float,
        chooser: QFunction | None = None,
        newest: int = 0,
    ) -> dict[str, Batch]:
        """What each network learns from hands."""
        hands = experience_of(hands, self.sees_scores)
        samples = {"play": play_samples(hands, how, target_q, epsilon, chooser=chooser, newest=newest)}
        if self.discard is not None:
            samples["discard"] = discard_samples(hands, self.reward, newest)
        return samples

    def _update_targets(self) -> tuple[QFunction, QFunction | None]:
        """Update the target network if due. Returns what values next decisions, and for double Q-learning what chooses.

        Without a target network the online network does it: all targets are computed before the first minibatch.
        """
        online_q = self.play.q_function()
        if self.target_network is None:
            return online_q, None
        if self.steps_done % self.options.target_every == 0:
            self.target_network.load_state_dict(self.play.network.state_dict())
        target_q = QFunction(self.play.encoder, self.target_network, self.play.device)
        return target_q, online_q if self.algorithm.double else None

    # --- who plays --------------------------------------------------------------------------------------------

    def agent(self) -> QNetworkAgent:
        """The networks as they now are, with the epsilon of evaluation."""
        return self._agent(self.setting.evaluation.epsilon)

    def exploring_agent(self) -> QNetworkAgent:
        """The same with the epsilon of the last iteration, and the temperature of self-play."""
        return self._agent(self.options.schedule(max(self.num_steps - 1, 0)).epsilon, self.options.temperature)

    def _agent(self, epsilon: float, temperature: float = 0.0, noise: int | None = None) -> QNetworkAgent:
        """With a seed `noise`, noisy networks explore with noise that is drawn from it once."""
        seeds = (None, None) if noise is None else (derive(noise, NETWORKS, 0), derive(noise, NETWORKS, 1))
        discard_q = self.discard.q_function(seeds[0]) if self.discard else None
        play_q = self.play.q_function(seeds[1])
        return QNetworkAgent(
            discard_q, play_q, epsilon, name="training", discards_by=self.discards_by, temperature=temperature
        )

    def _player(self, iteration: int) -> QNetworkAgent:
        """Who plays the hands of an iteration."""
        noise = derive(derive(self.setting.seed, SELF_PLAY), NETWORKS, iteration)
        options = self.options
        return self._agent(options.schedule(iteration).epsilon, options.temperature, noise)

    def _player_ahead(self) -> QNetworkAgent | None:
        """Who plays the next iteration, where its discard network alone decides the discards, to choose them early.

        On two threads an iteration of `quick` takes 0.59 s so, and 0.70 s without.
        """
        options, following = self.options, self.steps_done + 1
        alone = self.episodes.unit == "hands" and not self.pool.meets_others(following)
        # Noisy networks are copies as they were before they learned; a GPU has no thread to spare.
        plain = not self.play.network.config.noisy and self.play.device.type == "cpu"
        if not (alone and plain) or following >= options.iterations or num_workers() < 2:
            return None
        return self._player(following)

    # --- before the first iteration ---------------------------------------------------------------------------

    def _stages(self, options: PretrainingOptions) -> list[Pretraining]:
        """The discard network learns the show, then both learn from a teacher, as the options say."""
        stages: list[Pretraining] = []
        if options.enabled and self.discard is not None and self.options.initial is None:
            setting = replace(self.setting, seed=derive(self.setting.seed, PRETRAINING))
            stages.append(ShowPretraining(self.discard.network, self.discard.encoder, options, setting))
        if options.teacher is not None:
            teacher = make_teacher(options, self.setting.device, self.discards_by)
            networks = {"play": self.play} | ({"discard": self.discard} if self.discard else {})
            lessons = partial(self._lessons, teacher, options.teacher_episodes)
            stages.append(TeacherPretraining(networks, lessons, options, self.setting))
        return stages

    def _lessons(self, teacher: Agent, episodes: int) -> dict[str, Batch]:
        """A teacher's decisions with their returns (Monte Carlo)."""
        seed, unit = derive(self.setting.seed, PRETRAINING, LESSONS), self.episodes.unit
        hands = self_play(teacher, 0, episodes, seed, unit=unit, dealing=self.setting.dealing)
        how = PlayTargets(AlgorithmOptions("monte_carlo"), self.reward, self.options.forced)
        return self._samples(hands, how, self.play.q_function(), 0.0)

    def first_metrics(self) -> Metrics:
        """No hand yet."""
        return {"progress/hands": 0.0}

    # --- what a run leaves ------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the weights of both networks."""
        metadata = {
            "rules": self.setting.dealing,
            "learner": self.options.name,
            "algorithm": self.algorithm.name,
            "reward_play": self.reward.play,
            "reward_discard": self.reward.discard,
            "seed": self.setting.seed,
            "iteration": self.steps_done,
            "hands": self.hands,
            "discards_by": kept_spec(self.options.discard_agent, path.parent),
        }
        checkpoints.save_weights(path, self.discard.network if self.discard else None, self.play.network, metadata)

    def state_dict(self) -> dict[str, Any]:
        """Networks, optimisers, buffer and past players."""
        return {
            "discard": self.discard.state() if self.discard else None,
            "play": self.play.state(),
            "buffer": self.buffer.state(),
            "past": self.pool.state(),
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
        self.pool.load(state["past"], self.discard, self.play, self.discards_by)
        if self.target_network:
            self.target_network.load_state_dict(state["target_network"])
        self.hands = state["hands"]

    def show(self, writer: Any, step: int) -> None:
        """Histograms of values and targets; from time to time what the discard network predicts and what came of it."""
        agent = self.agent()
        functions = {"discard": agent.discard_q, "play": agent.play_q}
        figure = self.setting.figure if draws_at(self.setting.evaluation, step, self.num_steps) else None
        show_values(writer, step, functions, self._learned, figure)

    def description(self) -> str:
        """Iterations and hands."""
        return f"{self.steps_done:,} iterations, {self.hands:,} hands"
