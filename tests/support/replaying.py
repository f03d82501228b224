"""Runs and samples of `learner=replay` as tests write them: settings by name, plain arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.pretraining.show import ShowPretraining
from deepcrib.learners.registry import make_learner
from deepcrib.learners.replay import batch
from deepcrib.learners.replay.batch import Batch, PlayTargets
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks import QNetwork
from deepcrib.networks.checkpoints import load_state
from deepcrib.networks.encoders import Encoder
from deepcrib.training.fit import fit, restore
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.run_files import write_scalars


@dataclass(frozen=True)
class Trained:
    """What is left of a run."""

    agent: QNetworkAgent
    exploring: QNetworkAgent
    iterations: int
    hands: int
    weights: Path
    learner: ReplayLearner


def learner_of(settings: Any, dealing: str = "acc", figure: Any = None) -> ReplayLearner:
    """A learner of settings, which have the fields of the job's config."""
    setting = Setting(settings.seed, settings.evaluation, dealing, settings.device, figure)
    learner = make_learner(settings.learner, setting, vars(settings))
    assert isinstance(learner, ReplayLearner)
    return learner


def train(
    settings: Any,
    folder: Path,
    evaluate: Any,
    *,
    dealing: str = "acc",
    figure: Any = None,
    progress: Any = None,
    **options: Any,
) -> Trained:
    """Train in a folder; options: those of `fit`. progress: called after iterations, and after matches before them."""
    learner = learner_of(settings, dealing, figure)

    def after(done: int, metrics: Any) -> None:
        if progress is not None and (done > 0 or any(tag.endswith("/win_rate") for tag in metrics)):
            progress(done, metrics)

    agent = fit(learner, folder, evaluate, progress=after, **options)
    assert isinstance(agent, QNetworkAgent)
    return Trained(
        agent, learner.exploring_agent(), learner.steps_done, learner.hands, folder / "weights.safetensors", learner
    )


def complete(stage: Learner, writer: Any = None, progress: Callable[[int], None] = lambda done: None) -> Metrics:
    """A stage from its first step to its last, as `fit` does it; returns the last one's metrics."""
    stage.tick = progress
    while stage.steps_done < stage.num_steps:
        stage.metrics = stage.step()
        write_scalars(writer, stage.steps_done - stage.num_steps - 1, stage.metrics)
    if writer is not None:
        stage.show(writer, -1)
    return stage.metrics


def pretrain(
    network: QNetwork, encoder: Encoder, options: PretrainingOptions, seed: int, figure: Any = None, **shown: Any
) -> Metrics:
    """Pretrain a network on the show and return what is measured of it; shown: those of `complete`."""
    stage = ShowPretraining(network, encoder, options, Setting(seed, figure=figure))
    return {tag.removeprefix("pretraining/"): value for tag, value in complete(stage, **shown).items()}


def saved(folder: Path) -> dict[str, Any]:
    """The learner's state that a run has saved, with the iterations done."""
    state = load_state(folder / "state.pt")
    return state["state"] | {"iteration": state["steps"]}


def restored(settings: Any, folder: Path) -> ReplayLearner:
    """A learner as a run has saved it."""
    learner = learner_of(settings)
    restore(learner, folder / "state.pt")
    return learner


@dataclass(frozen=True)
class Backup:
    """How far a target looks ahead."""

    n_steps: int = 1
    trace_decay: float = 0.0
    chooser: QFunction | None = None


def play_samples(
    hands: Trajectories,
    algorithm: str,
    reward: str,
    frozen: Any,
    epsilon: float,
    forced: bool = True,
    backup: Backup = Backup(),  # noqa: B008 - it is frozen
    newest: int = 0,
) -> Batch:
    """The learner's plays with the targets of an algorithm and a reward, by their names."""
    how = PlayTargets(AlgorithmOptions(algorithm, backup.n_steps, backup.trace_decay), RewardOptions(reward), forced)
    return batch.play_samples(hands, how, frozen, epsilon, chooser=backup.chooser, newest=newest)


def discard_samples(hands: Trajectories, reward: str, newest: int = 0) -> Batch:
    """The learner's discards with the returns of a reward, by its name."""
    return batch.discard_samples(hands, RewardOptions(discard=reward), newest)
