"""Options of `learner=weighted_network`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.training.options import LearnerOptions


@dataclass
class WeightedNetworkOptions(LearnerOptions):
    """`learner=weighted_network`: a small network over strategies and score (Lang 2018, section 5.2, "Linearity").

    The thesis names the idea alone; what is learned from, and how games start, are those of its chapter 3.
    """

    name: str = "weighted_network"
    games: int = 1_000_000
    strategies: list[str] = field(default_factory=lambda: list(THESIS_STRATEGIES))
    hidden: list[int] = field(default_factory=lambda: [32, 32])
    opponent: Any = None  # agent spec: only one player learns; null: both, by self-play
    target: str = "win"  # of a decision: 1 for a won game, or `margin`: own minus opponent's final score, points
    returns: str = "game"  # the game's outcome, or `hand`: its learned mean at the scores after the hand
    decay: float = 0.0  # d: a loss counts (1 - d) times less for every hand back from the end of the game
    epsilon: float = 0.3
    exploring_starts: bool = True
    start_spread: int = 60  # points apart, at most
    batch_games: int = 2048  # played with the same network, before it learns from them once
    batch_size: int = 512  # decisions
    lr: float = 1e-3
    lr_schedule: str = "linear"  # down to 0 at the last game, or `constant`
    checkpoint_every: int = 100_000  # games
