"""`learner=replay`: replay iterations of two Q-networks (Bélanger et al. 2019), with pretraining before them."""

from __future__ import annotations

from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from deepcrib.analysis.figures import predicted_against_true
from deepcrib.evaluation.studies.experts import probe_figures
from deepcrib.jobs import Run
from deepcrib.jobs.shared.common import summary_writer
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners.common import Match, Trained, training_bar
from deepcrib.learners.replay import learner as replay
from deepcrib.learners.replay.options import Settings

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def prepare(config: Config, saved: Path | None) -> int:
    """Iterations done; refuses networks and states that do not go together, and a saved state of others."""
    return replay.prepare(_settings(config), saved).iteration


def train(config: Config, run: Run, match: Match, writer: SummaryWriter, resume: bool) -> Trained:
    """Pretrain, then train both networks, or go on from the saved state."""
    settings = _settings(config)
    by_show = config.pretraining.enabled and settings.learner.discard_agent is None
    pretrains = by_show or config.pretraining.teacher is not None
    own_events = _pretraining_events(run) if pretrains and not resume else nullcontext()
    with Bars(run.show_progress) as bars, own_events as pretraining_writer:
        result = replay.train(
            settings,
            run.folder.path,
            match,
            dealing=config.rules.name,
            probe=probe_figures,
            writer=writer,
            pretraining_writer=pretraining_writer,
            progress=training_bar(bars, settings.learner.iterations),
            pretraining_progress=partial(bars.show, "pretraining"),
            figure=predicted_against_true,
            resume=resume,
        )
    account = f"{result.iterations:,} iterations, {result.hands:,} hands, {result.seconds:,.0f} s"
    return Trained(result.agent, result.iterations, result.seconds, account, exploring=result.exploring)


def _settings(config: Config) -> Settings:
    return cast(Settings, config)  # its learner is ReplayOptions: the table's class, or the config was refused


def _pretraining_events(run: Run) -> closing[SummaryWriter]:
    """A writer apart, since steps are minibatches here; what a killed pretraining wrote is dropped."""
    return closing(summary_writer(run.folder.path / "pretraining", 0 if run.resuming else None))
