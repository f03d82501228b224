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
    deals: int = option(100, "deals per generation: two hands of six and a starter", at_least(1))
    genome: str = option(
        "ranks",
        "or `pairs`: also values for two ranks kept, or discarded, together",
        one_in("deepcrib.learners.evolution.agent:GENOMES"),
    )
    cards: str = option(
        "same",
        "cards of both players: the same, or `different`; all of a population have the same",
        one_of("same", "different"),
    )
    score: str = option(
        "hand", "with a known starter; or `crib`: plus the crib as dealer, minus it as pone", one_of("hand", "crib")
    )
    update: str = option("threshold", "`threshold`: hand by hand; or `population`", one_of("threshold", "population"))
    measure_every: int = option(10, "generations between measurements on held-out hands", at_least(1))
    held_out: int = option(20_000, "number of held-out hands", at_least(2))
    checkpoint_every: int = option(100, "generations between checkpoints", at_least(1))

    against: str = option(
        "opponent",
        "whose points a hand is compared with; or `optimal`: the best discard's",
        one_of("opponent", "optimal"),
    )
    threshold: float = option(1.0, "weights are adjusted below this share of these points", fraction)
    adjust: str = option(
        "merge",
        "values of wrong and right cards move together; or toward, punish, mutate, select: docs/results/evolution.md",
        one_in("deepcrib.learners.evolution.steps:ADJUSTMENTS"),
    )
    rate: float = option(0.5, "rate of merge (share of the gap), toward and punish", positive)
    sigma: float = option(0.1, "noise of mutate and select; of a population the initial one, which it adapts", positive)

    population: int = option(64, "mutants per generation", at_least(2))
    parents: int = option(16, "number of fittest mutants; their mean starts the next generation", at_least(1))
