"""Options of `learner=evolution`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.options import at_least, fraction, one_in, one_of, option, positive
from deepcrib.training.options import LearnerOptions


@dataclass
class EvolutionOptions(LearnerOptions):
    """`learner=evolution`: values of cards that choose the discard, evolved (Kendall and Shaw 2002).

    Known here from Lang 2018, section 2.2, alone, which leaves the size and the form of an adjustment, the threshold
    and the numbers open. The last group is of `update: population` alone, the one before it of `update: threshold`.
    """

    name: str = option("evolution", "what learns")
    generations: int = option(1000, "generations of training", at_least(1))
    deals: int = option(100, "of a generation: two hands of six and a starter", at_least(1))
    genome: str = option(
        "ranks",
        "or `pairs`: two ranks kept, or thrown, together have a value too",
        one_in("deepcrib.learners.evolution.agent:GENOMES"),
    )
    cards: str = option(
        "same",
        "both players (all members of a population) get the same cards, or `different`",
        one_of("same", "different"),
    )
    score: str = option(
        "hand", "the starter being known; `crib`: plus the crib as dealer, less it as pone", one_of("hand", "crib")
    )
    update: str = option("threshold", "hand by hand, or `population`", one_of("threshold", "population"))
    measure_every: int = option(10, "generations between two measurements on held-out hands", at_least(1))
    held_out: int = option(20_000, "hands", at_least(2))
    checkpoint_every: int = option(100, "generations", at_least(1))

    against: str = option(
        "opponent",
        "whose points a hand's are held against, or `optimal`: those of the best discard",
        one_of("opponent", "optimal"),
    )
    threshold: float = option(1.0, "share of these points below which weights are adjusted", fraction)
    adjust: str = option(
        "merge",
        "values of wrong and right cards move together; or toward, punish, mutate, select: docs/results/evolution.md",
        one_in("deepcrib.learners.evolution.steps:ADJUSTMENTS"),
    )
    rate: float = option(0.5, "of merge (share of the gap), toward and punish", positive)
    sigma: float = option(0.1, "of mutate and select; the first one of a population that adapts it", positive)

    population: int = option(64, "mutants of a generation", at_least(2))
    parents: int = option(16, "the fittest, whose mean the next generation comes from", at_least(1))
    adaptive: bool = option(True, "sigma is inherited and mutated too")
