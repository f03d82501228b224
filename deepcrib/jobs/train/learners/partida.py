"""`learner=partida`: a small network for the play, learned on random four-card hands (Partida 2022)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from deepcrib.analysis.tables import plain_table
from deepcrib.jobs import Run
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners.common import Match, Trained, run_learner
from deepcrib.learners.partida import learner as partida
from deepcrib.learners.partida.learner import PlayOnly, Settings

if TYPE_CHECKING:
    from rich.table import Table
    from torch.utils.tensorboard import SummaryWriter


def prepare(config: Config, saved: Path | None) -> int:
    """Sessions done; refuses matches of a network that makes no agent, and a saved state of other options."""
    return partida.prepare(_settings(config), saved).sessions


def train(config: Config, run: Run, match: Match, writer: SummaryWriter, resume: bool) -> Trained:
    """Train the network, or go on from the saved state; its play alone is measured here."""
    sessions = _settings(config).learner.sessions
    result = run_learner(partida.train, config, sessions, run, match, writer, resume)
    account = f"{result.sessions:,} sessions, {result.hands:,} hands, {result.seconds:,.0f} s"
    summary = {"play_only": result.play_only.to_dict()}
    return Trained(result.agent, result.sessions, result.seconds, account, summary, [_table(account, result.play_only)])


def _table(account: str, figures: PlayOnly) -> Table:
    interval = f"{figures.difference:+.3f} [{figures.ci_low:+.3f}, {figures.ci_high:+.3f}]"
    columns = ("opponent", "play points a hand, own - opponent's [95%]", "hands")
    return plain_table(
        f"play of random four-card hands ({account})", columns, [("greedy", interval, f"{figures.hands:,}")]
    )


def _settings(config: Config) -> Settings:
    return cast(Settings, config)  # its learner is PartidaOptions: the table's class, or the config was refused
