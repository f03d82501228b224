"""Options of `learner=hill_climb`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deepcrib.training.options import LearnerOptions


@dataclass
class HillClimbOptions(LearnerOptions):
    """`learner=hill_climb`: a champion moves towards mutants that beat it (Pollack and Blair 1997, for backgammon).

    Known here from Lang 2018, section 2.1; all numbers are ours (the step of 5% too, which our
    sources do not give). Mutant and champion
    meet in pairs of games, or single hands, with the same deals and seats swapped.
    """

    name: str = "hill_climb"
    games: int = 200_000  # or hands, in all
    unit: str = "games"  # to 121, or `hands`: single ones at 0-0, won by the points of all kinds
    climb: str = "both"  # networks: `both`, `discard`, `play`; or `genome`: values of cards (learner=evolution)
    genome: str = "pairs"  # of `climb: genome`
    discards_by: Any = "greedy"  # agent spec: who discards where only the play is climbed
    plays_by: Any = "greedy"  # agent spec: who plays where only the discards are climbed
    start: str = "zero"  # the first weights, or `random`
    pairs: int = 100  # of games or hands between champion and mutant
    sigma: float = 0.05  # of the noise that makes a mutant
    share: float = 0.5  # of the pairs' points: the mutant must win more than this, in the first contest ...
    final_share: float | None = None  # ... and in the last one, in a straight line between
    step: float = 0.05  # of the way to the mutant; 1 replaces the champion
    checkpoint_every: int = 20_000  # games or hands
