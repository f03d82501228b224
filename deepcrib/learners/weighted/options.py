"""Options of `learner=weighted`."""

from __future__ import annotations

from dataclasses import dataclass, field

from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.training.options import LearnerOptions


@dataclass
class WeightedOptions(LearnerOptions):
    """`learner=weighted`: weighted strategies by score location (Lang 2018, chapter 3).

    Initial weights are named by `random`, a strategy (pure: all its weight on one), `semi_pure_` and a strategy (70%
    on one), or the path of a weighted checkpoint. Defaults are those of the experiments of section 4.2; what the thesis
    leaves open is as in its author's program, or a comment says so.
    """

    name: str = "weighted"
    games: int = 1_000_000
    strategies: list[str] = field(default_factory=lambda: list(THESIS_STRATEGIES))
    initial: str = "random"
    opponents: list[str] = field(default_factory=lambda: ["random"])  # initial weights of each of the pool
    opponents_learn: bool = True
    pairs: str = "first"  # the agent and each of the pool in turn, or `random`: any two, who are drawn (draft)
    switch_every: int = 1000  # games of one pair before the next (open in the thesis)
    reading: str = "code"  # of the update: the author's program, or `text`: what his thesis alone suggests
    scaling: float = 2.0  # s
    decay: float = 0.1  # d
    punishment: float = 1.0  # times the adjustment after a lost game
    baseline: bool = False  # adjust by the margin beyond the mean of earlier games from there (not in the thesis)
    cap: float | None = None  # r, the most a responsible weight may be before all are normalised again
    exploration: str = "constant"  # chance epsilon, or `variance`: less the variance of the preferences
    epsilon: float = 0.3  # k of round 1, e afterwards
    explore_by: str = "uniform"  # or `preference`: p as the distribution
    neighbours: str = "none"  # `average` of the up to 8 around a score, or `sum`
    neighbour_share: float = 0.4  # Y
    exploring_starts: bool = True
    start_spread: int = 60  # points apart, at most
    records: str = "exact"  # pegging records, or `sampled`: record_hands random hands
    record_hands: int = 100_000
    update_records: bool = False  # add every hand's play
    play: str = "greedy"  # or `weighted`: offensive and defensive strategies, learned likewise (section 5.1)
    checkpoint_every: int = 100_000  # games
