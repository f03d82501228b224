"""Options that learners of a mixed policy share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deepcrib.options import at_least, option
from deepcrib.training.options import LearnerOptions


@dataclass
class PolicyOptions(LearnerOptions):
    """What an iteration plays and how much it learns of that."""

    iterations: int = option(1000, "iterations of self-play and learning", at_least(1))
    hands: int = option(8192, "single hands of self-play per iteration", at_least(1))
    discard_agent: Any = option(
        "expected_value", "agent that discards for both players; the play alone is learned", spec=True
    )
    batch_size: int = option(1024, "decisions in a minibatch", at_least(1))
    checkpoint_every: int = option(50, "iterations between saved training states", at_least(1))
