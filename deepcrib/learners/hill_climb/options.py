"""Options of `learner=hill_climb`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deepcrib.options import at_least, between, fraction, one_of, option, positive
from deepcrib.training.options import LearnerOptions


@dataclass
class HillClimbOptions(LearnerOptions):
    """`learner=hill_climb`: a champion moves towards mutants that beat it (Pollack and Blair 1997, for backgammon).

    Known here from Lang 2018, section 2.1; all numbers are ours (the step of 5% too, which our sources do not give).
    Mutant and champion meet in pairs of games, or single hands, with the same deals and seats swapped.
    """

    name: str = option("hill_climb", "what learns")
    games: int = option(200_000, "games or hands in all", at_least(2))
    unit: str = option(
        "games", "games to 121; or `hands`: single ones at 0-0, won by points of all kinds", one_of("games", "hands")
    )
    climb: str = option("both", "networks that climb: `both`, or that of the `play` alone", one_of("both", "play"))
    discards_by: Any = option("greedy", "agent that discards where only the play climbs", spec=True)
    start: str = option("zero", "initial weights; or `random`", one_of("zero", "random"))
    pairs: int = option(100, "pairs of games or hands per contest of champion and mutant", at_least(1))
    sigma: float = option(0.05, "standard deviation of a mutant's noise", positive)
    share: float = option(0.5, "share of the pairs' points that a mutant must exceed", between(0, 1))
    step: float = option(0.05, "step towards the mutant; 1 replaces the champion", fraction)
    checkpoint_every: int = option(20_000, "games or hands between checkpoints", at_least(1))
