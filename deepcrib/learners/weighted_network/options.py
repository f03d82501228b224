"""Options of `learner=weighted_network`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.exact.strategies.names import STRATEGIES, THESIS_STRATEGIES
from deepcrib.options import at_least, between, each, one_of, option, positive
from deepcrib.training.options import LearnerOptions


@dataclass
class WeightedNetworkOptions(LearnerOptions):
    """`learner=weighted_network`: a small network over strategies and score (Lang 2018, section 5.2, "Linearity").

    The thesis names the idea alone. Games start as those of its chapter 3; what is learned from is who won them.
    """

    name: str = option("weighted_network", "what learns")
    games: int = option(1_000_000, "games of training", at_least(1))
    strategies: list[str] = option(
        list(THESIS_STRATEGIES), "any of these and crib_max_avg", each(one_of(*STRATEGIES), least=1, distinct=True)
    )
    hidden: list[int] = option([32, 32], "layers of ReLU units; [] is linear", each(at_least(1)))
    epsilon: float = option(0.3, "probability of a random discard", between(0, 1))
    start_spread: int = option(60, "maximum difference of the random starting scores, points", between(0, 120))
    batch_games: int = option(2048, "games per update of the network", at_least(1))
    batch_size: int = option(512, "decisions per minibatch", at_least(1))
    lr: float = option(1e-3, "learning rate", positive)
    lr_schedule: str = option("linear", "falls to 0 at the last game; or `constant`", one_of("linear", "constant"))
    checkpoint_every: int = option(100_000, "games between checkpoints", at_least(1))
