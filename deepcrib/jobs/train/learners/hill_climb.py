"""`learner=hill_climb`: a champion that moves towards mutants that beat it (Pollack and Blair 1997)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from deepcrib.jobs import Run
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners.common import Match, Trained, run_learner
from deepcrib.learners.hill_climb import learner as hill_climb
from deepcrib.learners.hill_climb.learner import Settings

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def prepare(config: Config, saved: Path | None) -> int:
    """Games done; refuses networks and states that do not go together, and a saved state of others."""
    return hill_climb.prepare(_settings(config), saved).games


def train(config: Config, run: Run, match: Match, writer: SummaryWriter, resume: bool) -> Trained:
    """Climb, or go on from the saved state."""
    settings = _settings(config)
    result = run_learner(hill_climb.train, config, settings.learner.games, run, match, writer, resume)
    account = f"{result.games:,} {settings.learner.unit}, {result.moves:,} moves, {result.seconds:,.0f} s"
    return Trained(result.agent, result.games, result.seconds, account)


def _settings(config: Config) -> Settings:
    return cast(Settings, config)  # its learner is HillClimbOptions: the table's class, or the config was refused
