"""`learner=td`: a perceptron of the full game, by temporal differences (O'Connor 2000)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from deepcrib.evaluation.hand_pairs import hand_pairs
from deepcrib.jobs import Run
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners.common import Match, Trained, run_learner
from deepcrib.learners.td import learner as td
from deepcrib.learners.td.learner import Settings

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def prepare(config: Config, saved: Path | None) -> int:
    """Hands done; refuses a saved state of other options."""
    return td.prepare(_settings(config), saved).hands


def train(config: Config, run: Run, match: Match, writer: SummaryWriter, resume: bool) -> Trained:
    """Train the network, or go on from the saved state."""
    hands = _settings(config).learner.hands
    result = run_learner(partial(td.train, pairs=hand_pairs), config, hands, run, match, writer, resume)
    account = f"{result.hands:,} hands, {result.seconds:,.0f} s"
    return Trained(result.agent, result.hands, result.seconds, account)


def _settings(config: Config) -> Settings:
    return cast(Settings, config)  # its learner is TdOptions: the table's class, or the config was refused
