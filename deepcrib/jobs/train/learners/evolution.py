"""`learner=evolution`: evolved values of cards that choose the discard (Kendall and Shaw 2002)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from deepcrib.jobs import Run
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners.common import Match, Trained, run_learner
from deepcrib.learners.evolution import learner as evolution
from deepcrib.learners.evolution.learner import Settings

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def prepare(config: Config, saved: Path | None) -> int:
    """Generations done; refuses options that do not go together, and a saved state of other options."""
    return evolution.prepare(_settings(config), saved).generation


def train(config: Config, run: Run, match: Match, writer: SummaryWriter, resume: bool) -> Trained:
    """Evolve, or go on from the saved state."""
    generations = _settings(config).learner.generations
    result = run_learner(evolution.train, config, generations, run, match, writer, resume)
    hands = f"{100 * result.hand_fraction:.1f}% of the best hand points"
    account = f"{result.generations:,} generations, {result.deals:,} deals, {result.seconds:,.0f} s; {hands}"
    return Trained(result.agent, result.generations, result.seconds, account)


def _settings(config: Config) -> Settings:
    return cast(Settings, config)  # its learner is EvolutionOptions: the table's class, or the config was refused
