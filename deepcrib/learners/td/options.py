"""Options of `learner=td`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.options import at_least, between, each, one_of, option, positive
from deepcrib.training.options import LearnerOptions


@dataclass
class TdOptions(LearnerOptions):
    """`learner=td`: a perceptron by temporal differences (O'Connor 2000); its help says what the paper leaves open."""

    name: str = option("td", "what learns")
    hands: int = option(
        1_000_000, "hands of self-play (open in the paper: two days on a computer of 2000)", at_least(1)
    )
    hidden: list[int] = option(
        [40], "sigmoid units of each hidden layer; the paper has one of 20 or 40", each(at_least(1), least=1)
    )
    inputs: str = option("raw", "the paper's 209, or `features` (not in the paper)", one_of("raw", "features"))
    move_points: str = option(
        "learned",
        "points of a move: part of a state's value, or `added` to the value of the rest (not in the paper)",
        one_of("learned", "added"),
    )
    initial_deviation: float = option(1.0, "standard deviation of the initial weights", at_least(0))
    lr: float = option(0.003, "open in the paper for the full game", positive)
    lr_schedule: str = option(
        "constant", "or `linear`: down to 0 at the last hand (not in the paper)", one_of("constant", "linear")
    )
    trace_decay: float = option(0.0, "lambda of TD(lambda)", between(0, 1))
    pairs: int = option(1000, "pairs of hands against each opponent at monitoring; 0 or 1: none", at_least(0))
    checkpoint_every: int = option(100_000, "hands between checkpoints", at_least(1))
