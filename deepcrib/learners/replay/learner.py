"""Training by replay iterations: self-play with the current networks, then learning from the buffer, and again.

Bélanger et al. 2019, section 3.2. Both seats learn. The bootstrap network is frozen within an iteration: all targets
of an iteration are computed before its first minibatch, with the networks as they then are.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import Agent, absolute_spec, make_agent, name_agents
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, PRETRAINING, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.kernels.workers import num_workers, run_pieces
from deepcrib.learners.replay.buffer import ReplayBuffer
from deepcrib.learners.replay.combinations import refuse_combinations
from deepcrib.learners.replay.experience import Backup, discard_samples, experience_of, play_samples
from deepcrib.learners.replay.learning import LearnedNetwork, Samples
from deepcrib.learners.replay.minibatches.sampling import sampling_of
from deepcrib.learners.replay.monitoring import Monitor, pass_figures, speed_figures
from deepcrib.learners.replay.options import Settings
from deepcrib.learners.replay.playing import discards_of, episodes_of, play_episodes, playing_figures
from deepcrib.learners.replay.pool import Pool, make_pool
from deepcrib.learners.replay.pretraining import PretrainingResult, pretrain
from deepcrib.learners.replay.teacher import make_teacher, teach
from deepcrib.networks import QNetwork, checkpoints, make_discard_network, make_play_network
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.training.checkpointing import (
    STATE_FILE,
    Progress,
    evaluation_seed,
    fitting_state,
    weights_file,
    write_scalars,
)
from deepcrib.training.curve import add_matches, forget_after
from deepcrib.training.monitoring import Evaluate, Probe


@dataclass
class TrainResult:
    """A finished run: its agent, with the epsilon of evaluation and with that of its last iteration; what it took.

    seconds: of all iterations, monitoring matches between them included, without pretraining.
    """

    agent: QNetworkAgent
    exploring: QNetworkAgent
    iterations: int
    hands: int
    seconds: float
    pretraining: PretrainingResult | None
    weights: Path


@dataclass
class LearnerState:
    """What is learned, and everything that a training state saves; `discards_by` takes the place of `discard`."""

    discard: LearnedNetwork | None
    discards_by: Agent | None
    play: LearnedNetwork
    buffer: ReplayBuffer
    pool: Pool = field(default_factory=Pool)
    lagging: QNetwork | None = None  # what targets come from where it is not the play network itself
    iteration: int = 0
    hands: int = 0
    seconds: float = 0.0
    discards_ahead: NDArray[np.int8] | None = None  # of the next iteration; a resumed run chooses the same anew

    def state(self) -> dict[str, Any]:
        """For `checkpoints.save_state`."""
        return {
            "discard": self.discard.state() if self.discard else None,
            "play": self.play.state(),
            "buffer": self.buffer.state(),
            "past": self.pool.state(),
            "lagging": self.lagging.state_dict() if self.lagging else None,
            "iteration": self.iteration,
            "hands": self.hands,
            "seconds": self.seconds,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        if (self.discard is None) != (state["discard"] is None):
            raise ValueError("one has a discard network, the other a discard agent")
        if (self.lagging is None) != (state.get("lagging") is None):
            raise ValueError("learner.target_every is 1 for one, more for the other")
        if self.discard:
            self.discard.load(state["discard"])
        self.play.load(state["play"])
        self.buffer.load(state["buffer"])
        self.pool.load(state.get("past", []), self.discard, self.play, self.discards_by)  # older states have none
        if self.lagging:
            self.lagging.load_state_dict(state["lagging"])
        self.iteration, self.hands, self.seconds = state["iteration"], state["hands"], state["seconds"]


def train(
    settings: Settings,
    run_dir: Path,
    evaluate: Evaluate,
    *,
    dealing: str = "acc",
    writer: Any = None,
    pretraining_writer: Any = None,
    probe: Probe | None = None,
    progress: Progress | None = None,
    pretraining_progress: Callable[[int, int], None] | None = None,
    figure: Callable[..., Any] | None = None,
    resume: bool = False,
) -> TrainResult:
    """Train both networks and save their weights; with `resume`, go on from the state in run_dir.

    writer is a TensorBoard SummaryWriter or None; that of pretraining is another one, because its steps are
    minibatches, which a resumed run would purge as iterations to come. probe measures the agent where matches do;
    figure draws what the discard network predicts against what came of it. Raises CheckpointError where a file cannot
    be read or written, DivergenceError where a learning rate is too high.
    """
    run = prepare(settings, run_dir / STATE_FILE if resume else None)
    opponents = name_agents([make_agent(spec, settings.device) for spec in settings.evaluation.opponents])
    pretrained = None
    if not resume and settings.pretraining.enabled and run.discard is not None:
        pretrained = _pretrain(run.discard, settings, pretraining_writer, pretraining_progress, figure)
    if not resume and settings.pretraining.teacher is not None:
        teacher = make_teacher(settings.pretraining, settings.device, run.discards_by)
        teach(run.discard, run.play, teacher, settings, dealing, pretraining_writer, pretraining_progress)
    options, seed, last = settings.evaluation, evaluation_seed(settings), settings.learner.iterations
    monitor = Monitor(options, seed, last, opponents, evaluate, probe, figure, writer)
    begin = time.perf_counter() - run.seconds
    forget_after(run_dir, run.iteration if resume else -1)

    def measure(figures: dict[str, float], learned: Mapping[str, Samples]) -> dict[str, float]:
        """With what matches and probes find, if they are due, for TensorBoard and the curve."""
        found = figures | monitor(run.iteration, _agent(run, options.epsilon), learned)
        run.seconds = time.perf_counter() - begin
        add_matches(run_dir, run.iteration, opponents, options.games, run.seconds, found)
        write_scalars(writer, run.iteration, found)
        return found

    if run.iteration == 0 and options.due(0):
        figures = measure({"progress/hands": 0.0}, {})
        if progress is not None:
            progress(0, figures)
    while run.iteration < last:
        figures = measure(*_iterate(run, settings, dealing))
        if run.iteration % settings.learner.checkpoint_every == 0:
            _checkpoint(run, settings, run_dir, dealing, writer)
        if progress is not None:
            progress(run.iteration, figures)
    if run.iteration % settings.learner.checkpoint_every:
        _checkpoint(run, settings, run_dir, dealing, writer)
    weights = run_dir / WEIGHTS_FILE
    _save_weights(run, settings, weights, dealing)
    agent, exploring = _agent(run, options.epsilon), _agent(run, settings.learner.exploration(max(last - 1, 0)))
    return TrainResult(agent, exploring, run.iteration, run.hands, run.seconds, pretrained, weights)


def prepare(settings: Settings, saved: Path | None = None) -> LearnerState:
    """Networks, optimisers and buffer of a new run, or of the training state in the file `saved`.

    Raises OptionError where networks and states, or options, do not go together, CheckpointError where the saved
    state cannot be read or is of other networks than those of the settings.
    """
    refuse_combinations(settings.algorithm, settings.learner)
    run = _new_learner(settings)
    if settings.pretraining.teacher is not None:
        make_teacher(settings.pretraining, settings.device)  # so that one that cannot be made is refused here
    if saved is not None:
        with fitting_state(saved) as state:
            run.load(state)
    return run


def _new_learner(settings: Settings) -> LearnerState:
    device = torch.device(settings.device)
    state, learner = settings.state, settings.learner
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(settings.seed, NETWORKS))
        play_encoder = make_play_encoder(state.play, dealer=state.dealer, scores=state.scores)
        play_network = make_play_network(settings.play_network, play_encoder.spec)
        play = LearnedNetwork(play_encoder, play_network, device, learner.inference)
        discard = discards_by = None
        if learner.discard_agent is not None:
            discards_by = make_agent(learner.discard_agent, settings.device)
        else:
            encoder = make_discard_encoder(state.discard, scores=state.scores)
            network = make_discard_network(settings.discard_network, encoder.spec)
            discard = LearnedNetwork(encoder, network, device, learner.inference)
    buffer = ReplayBuffer(learner.epochs_kept, learner.buffer_size)
    lagging = copy.deepcopy(play.network) if learner.target_every > 1 else None
    return LearnerState(discard, discards_by, play, buffer, make_pool(learner, settings.device), lagging)


def _pretrain(
    discard: LearnedNetwork,
    settings: Settings,
    writer: Any,
    progress: Callable[[int, int], None] | None,
    figure: Callable[..., Any] | None,
) -> PretrainingResult:
    seed = derive(settings.seed, PRETRAINING)
    encoder: Any = discard.encoder
    return pretrain(discard.network, encoder, settings.pretraining, seed, writer, progress, figure)


def _agent(run: LearnerState, epsilon: float, noise: int | None = None, inference: str = "float32") -> QNetworkAgent:
    """The networks as they now are; with a seed `noise`, noisy ones explore with noise that is drawn from it once.

    Matches are played in float32, as an agent made from the saved weights plays.
    """
    seeds = (None, None) if noise is None else (derive(noise, NETWORKS, 0), derive(noise, NETWORKS, 1))
    discard_q = run.discard.q_function(seeds[0], inference) if run.discard else None
    play_q = run.play.q_function(seeds[1], inference)
    return QNetworkAgent(discard_q, play_q, epsilon, name="training", discards_by=run.discards_by)


def _iterate(run: LearnerState, settings: Settings, dealing: str) -> tuple[dict[str, float], dict[str, Samples]]:
    """One replay iteration; returns its figures by TensorBoard tag, and what each network learned from."""
    epsilon, discard_lr, play_lr = settings.learner.schedule(run.iteration)
    start = seconds_running()
    player = _player(run, settings, run.iteration)
    hands = play_episodes(player, run.pool, settings, run.iteration, dealing, run.discards_ahead)
    run.buffer.add(hands)
    played = seconds_running()
    figures, learned = _learn(run, settings, dealing)
    seconds = seconds_running() - played
    run.iteration += 1
    run.hands += len(hands)
    run.pool.remember(run.iteration, run.discard, run.play, run.discards_by)
    samples = sum(figures[f"progress/{part}_samples"] for part in learned)
    figures |= playing_figures(hands) | speed_figures(len(hands), samples, played - start, seconds)
    figures |= {
        "schedule/epsilon": epsilon,
        "schedule/discard_lr": discard_lr,
        "schedule/play_lr": play_lr,
        "progress/hands": float(run.hands),
    }
    return figures, learned


def _player(run: LearnerState, settings: Settings, iteration: int) -> QNetworkAgent:
    """Who plays the hands of an iteration."""
    noise = derive(derive(settings.seed, SELF_PLAY), NETWORKS, iteration)
    return _agent(run, settings.learner.exploration(iteration), noise, settings.learner.inference)


def _player_ahead(run: LearnerState, settings: Settings) -> QNetworkAgent | None:
    """Who plays the next iteration, where its discard network alone decides the discards, to choose them early."""
    options, following = settings.learner, run.iteration + 1
    alone = episodes_of(options)[0] == "hands" and not run.pool.meets_others(following)
    # Noisy and bfloat16 networks are copies as they were before they learned; a GPU has no thread to spare.
    plain = options.inference == "float32" and not run.play.network.config.noisy and run.play.device.type == "cpu"
    if not (alone and plain) or following >= options.iterations or num_workers() < 2:
        return None
    return _player(run, settings, following)


def _learn(run: LearnerState, settings: Settings, dealing: str) -> tuple[dict[str, float], dict[str, Samples]]:
    """A pass of each network over the buffer; they share nothing, so they learn side by side."""
    options = settings.learner
    epsilon, discard_lr, play_lr = options.schedule(run.iteration)
    hands, newest = experience_of(run.buffer.hands(), settings), run.buffer.newest
    reward, sampling = settings.reward, sampling_of(options, run.iteration)

    def learn(part: str, network: LearnedNetwork, samples: Samples, lr: float, stream: int) -> dict[str, float]:
        generator = np.random.default_rng((derive(settings.seed, MINIBATCHES, run.iteration), stream))
        passed = network.train_pass(samples, lr, options.batch_size, options.passes, generator, sampling)
        return pass_figures(part, passed)

    def learn_discards(network: LearnedNetwork, samples: Samples) -> dict[str, float]:
        figures = learn("discard", network, samples, discard_lr, 1)
        if ahead is not None:
            run.discards_ahead = discards_of(ahead, settings, run.iteration + 1, dealing)
        return figures

    ahead, run.discards_ahead = _player_ahead(run, settings), None  # made here: another thread will change its parts
    frozen, backup = _targets_from(run, settings)
    bonuses = reward.game_bonus, reward.hand_bonus
    plays = play_samples(
        hands, settings.algorithm.name, reward.play, frozen, epsilon, options.forced, backup, newest, *bonuses
    )
    learned = {"play": plays}
    passes = [partial(learn, "play", run.play, plays, play_lr, 0)]
    if run.discard is not None:
        discards = discard_samples(hands, reward.discard, reward.discard_baseline, newest, reward.game_bonus)
        learned["discard"] = discards
        passes.append(partial(learn_discards, run.discard, discards))
    return {tag: value for figures in run_pieces(passes) for tag, value in figures.items()}, learned


def _targets_from(run: LearnerState, settings: Settings) -> tuple[QFunction, Backup]:
    """The network that values next decisions in this iteration's targets, and how far they look ahead."""
    options, present = settings.algorithm, run.play.q_function()
    if run.lagging is None:
        return present, Backup(options.n_steps, options.trace_decay)
    if run.iteration % settings.learner.target_every == 0:
        run.lagging.load_state_dict(run.play.network.state_dict())
    frozen = QFunction(run.play.encoder, run.lagging, run.play.device, settings.learner.inference)
    return frozen, Backup(options.n_steps, options.trace_decay, present if options.double else None)


def _checkpoint(run: LearnerState, settings: Settings, run_dir: Path, dealing: str, writer: Any) -> None:
    """Save the weights under their iteration, then the state that a resumed run goes on from.

    Events are flushed first: those after the saved step are purged on resumption, those before it must be there.
    """
    if writer is not None:
        writer.flush()
    _save_weights(run, settings, weights_file(run_dir, f"{run.iteration:06d}"), dealing)
    checkpoints.save_state(run_dir / STATE_FILE, run.state())


def _save_weights(run: LearnerState, settings: Settings, path: Path, dealing: str) -> None:
    metadata = {
        "rules": dealing,
        "learner": settings.learner.name,
        "algorithm": settings.algorithm.name,
        "reward_play": settings.reward.play,
        "reward_discard": settings.reward.discard,
        "seed": settings.seed,
        "iteration": run.iteration,
        "hands": run.hands,
        "discards_by": absolute_spec(settings.learner.discard_agent),
    }
    discard = run.discard.network if run.discard else None
    checkpoints.save_weights(path, discard, run.play.network, metadata)
