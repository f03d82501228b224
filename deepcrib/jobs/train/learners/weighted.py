"""`learner=weighted`: weighted strategies by score location (Lang 2018)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from deepcrib.jobs import Run
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners.common import Match, Trained, run_learner
from deepcrib.learners.weighted import learner as weighted
from deepcrib.learners.weighted.learner import Settings

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def prepare(config: Config, saved: Path | None) -> int:
    """Games done; refuses initial weights and strategies that there are not, and a saved state of other options."""
    return weighted.prepare(_settings(config), saved).games


def train(config: Config, run: Run, match: Match, writer: SummaryWriter, resume: bool) -> Trained:
    """Train the first agent of a pool, or go on from the saved state."""
    games = _settings(config).learner.games
    result = run_learner(weighted.train, config, games, run, match, writer, resume)
    account = f"{result.games:,} games, {result.hands:,} hands, {result.seconds:,.0f} s"
    return Trained(result.agent, result.games, result.seconds, account)


def _settings(config: Config) -> Settings:
    return cast(Settings, config)  # its learner is WeightedOptions: the table's class, or the config was refused
