"""Options of `learner=evolution`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.training.options import LearnerOptions


@dataclass
class EvolutionOptions(LearnerOptions):
    """`learner=evolution`: values of cards that choose the discard, evolved (Kendall and Shaw 2002).

    Known here from Lang 2018, section 2.2, alone, which leaves the size and the form of an adjustment, the threshold
    and the numbers open. The last group is of `update: population` alone, the one before it of `update: threshold`.
    """

    name: str = "evolution"
    generations: int = 1000
    deals: int = 100  # of a generation
    genome: str = "ranks"  # or `pairs`: two ranks kept, or thrown, together have a value too
    cards: str = "same"  # both players (all members of a population) get the same cards, or `different`
    score: str = "hand"  # the starter being known; `crib`: plus the crib as dealer, less it as pone
    update: str = "threshold"  # hand by hand, or `population`
    measure_every: int = 10  # generations between two measurements on held-out hands
    held_out: int = 20_000  # hands
    checkpoint_every: int = 100  # generations

    against: str = "opponent"  # whose points a hand's are held against, or `optimal`: those of the best discard
    threshold: float = 1.0  # share of these points below which weights are adjusted
    adjust: str = "merge"  # one of evolution_steps.ADJUSTMENTS
    rate: float = 0.5  # of toward, merge and punish
    sigma: float = 0.1  # of a mutation; the first one where it adapts itself

    population: int = 64
    parents: int = 16  # whose mean the next generation comes from
    adaptive: bool = True  # sigma is inherited and mutated too
