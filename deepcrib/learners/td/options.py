"""Options of `learner=td`."""

from __future__ import annotations

from dataclasses import dataclass, field

from deepcrib.training.options import LearnerOptions


@dataclass
class TdOptions(LearnerOptions):
    """`learner=td`: a perceptron by temporal differences (O'Connor 2000); a comment says what the paper leaves open."""

    name: str = "td"
    hands: int = 1_000_000  # of self-play (open in the paper: two days of a computer of 2000)
    hidden: list[int] = field(default_factory=lambda: [40])  # sigmoid units of each hidden layer
    inputs: str = "raw"  # the paper's 209, or `features` (not in the paper)
    move_points: str = "learned"  # as part of a state's value, or `added` to the value of the rest (not in the paper)
    initial_deviation: float = 1.0  # of the normal distribution that weights are drawn from
    lr: float = 0.003  # open in the paper for the full game
    lr_schedule: str = "constant"  # or `linear`: down to 0 at the last hand (not in the paper)
    trace_decay: float = 0.0  # lambda of TD(lambda)
    epsilon: float = 0.0  # chance of any move
    pairs: int = 1000  # pairs of hands against each opponent whenever the agent is monitored; 0 or 1: none
    checkpoint_every: int = 100_000  # hands
