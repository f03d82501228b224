"""Options of `learner=weighted`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.exact.strategies.names import STRATEGIES, THESIS_STRATEGIES
from deepcrib.options import anything, at_least, between, each, fraction, one_in, one_of, option, optional, positive
from deepcrib.training.options import LearnerOptions


@dataclass
class WeightedOptions(LearnerOptions):
    """`learner=weighted`: weighted strategies by score location (Lang 2018, chapter 3).

    Initial weights are named by `random`, a strategy (pure: all its weight on one), `semi_pure_` and a strategy (70%
    on one), or the path of a weighted checkpoint. Defaults are those of the experiments of section 4.2; what the thesis
    leaves open is as in its author's program, or their help says so.
    """

    name: str = option("weighted", "what learns")
    games: int = option(1_000_000, "games of training", at_least(1))
    strategies: list[str] = option(
        list(THESIS_STRATEGIES), "any of these and crib_max_avg", each(one_of(*STRATEGIES), least=1, distinct=True)
    )
    initial: str = option("random", "or a strategy (pure), semi_pure_STRATEGY (70%), or the path of weights", spec=True)
    opponents: list[str] = option(
        ["random"], "initial weights of each opponent in the pool", each(anything, least=1), spec=True
    )
    opponents_learn: bool = option(True, "false: their weights are fixed")
    pairs: str = option(
        "first",
        "the agent and each opponent in turn; or `random`: two drawn at random (draft)",
        one_of("first", "random"),
    )
    switch_every: int = option(1000, "games per pair before the next (open in the thesis)", at_least(1))
    reading: str = option(
        "code",
        "the update of the author's program; or `text`: what the thesis alone suggests",
        one_in("deepcrib.learners.weighted.state:READINGS"),
    )
    scaling: float = option(
        2.0, "s: the adjustment of a game is s times its margin, as a share of 121 points", positive
    )
    decay: float = option(0.1, "d: factor 1 - d for every step back from the end of the game", between(0, 1))
    punishment: float = option(1.0, "factor of the adjustment after a lost game", at_least(0))
    cap: float | None = option(None, "r: maximum of a responsible weight before all are normalised", optional(fraction))
    exploration: str = option(
        "constant",
        "probability epsilon; or `variance`: minus the variance of the preferences",
        one_of("constant", "variance"),
    )
    epsilon: float = option(0.3, "probability of exploring; k of round 1, e afterwards", between(0, 1))
    explore_by: str = option("uniform", "or `preference`: p as the distribution", one_of("uniform", "preference"))
    neighbours: str = option(
        "none",
        "or `sum`: a share of the sum over up to 8 neighbouring scores; or `average`: of their mean (the thesis)",
        one_of("none", "average", "sum"),
    )
    neighbour_share: float = option(0.4, "Y, that share", between(0, 1))
    exploring_starts: bool = option(True, "games start at random scores")
    start_spread: int = option(60, "maximum difference of the starting scores, points", between(0, 120))
    records: str = option(
        "exact", "pegging records, or `sampled`: record_hands random hands", one_of("exact", "sampled")
    )
    record_hands: int = option(100_000, "hands that `records: sampled` plays", at_least(1))
    update_records: bool = option(False, "add every hand's play to the records")
    checkpoint_every: int = option(100_000, "games between checkpoints", at_least(1))
