"""Options of `learner=nfsp`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.learners.policies.options import PolicyOptions
from deepcrib.options import at_least, between, fraction, option, positive


@dataclass
class NfspOptions(PolicyOptions):
    """`learner=nfsp`: neural fictitious self-play (Heinrich and Silver 2016), whose average policy is the agent."""

    name: str = option("nfsp", "what learns")
    anticipatory: float = option(
        0.1, "share of a player's hands that follow its best response, eta of the paper", fraction
    )
    epsilon: float = option(0.06, "exploration of the best response; linear down to 0", between(0, 1))
    recent: int = option(200_000, "decisions in the circular buffer, for the best response", at_least(1))
    reservoir: int = option(2_000_000, "decisions in the reservoir, for the average policy", at_least(1))
    draws: float = option(1.0, "replay ratio: decisions drawn from either memory for each new one", positive)
    best_lr: float = option(1e-3, "learning rate of the best response; linear down to 0", positive)
    average_lr: float = option(1e-3, "learning rate of the average policy; linear down to 0", positive)
