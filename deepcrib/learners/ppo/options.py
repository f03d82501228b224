"""Options of `learner=ppo`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.learners.policies.options import PolicyOptions
from deepcrib.options import at_least, between, fraction, one_of, option, positive


@dataclass
class PpoOptions(PolicyOptions):
    """`learner=ppo`: proximal policy gradients in the play (Schulman et al. 2017), whose slow copy is the agent."""

    name: str = option("ppo", "what learns")
    clip: float = option(0.1, "an advantage pulls no further where a card's chance has changed by this share", positive)
    entropy: float = option(
        0.1, "worth of a nat of entropy at the beginning, standard deviations of the advantages", between(0, 1e3)
    )
    final_entropy: float = option(0.05, "the same at the end; linear in between", between(0, 1e3))
    divergence: float = option(
        0.1, "worth of a nat of divergence from the magnet, standard deviations", between(0, 1e3)
    )
    magnet: str = option("average", "policy that it is held to", one_of("average", "last"))
    trace_decay: float = option(
        0.95, "lambda of the generalised advantages, over one's own plays of a hand", between(0, 1)
    )
    passes: int = option(2, "passes over the decisions of an iteration", at_least(1))
    policy_lr: float = option(3e-4, "learning rate of the policy; linear down to 0", positive)
    value_lr: float = option(1e-3, "learning rate of the values", positive)
    following: float = option(
        0.02, "rate of the moving average of the policy's weights, an iteration (Polyak)", fraction
    )

    def entropy_at(self, iteration: int) -> float:
        """Worth of a nat of entropy in an iteration, counted from 0."""
        return self.entropy + (self.final_entropy - self.entropy) * iteration / self.iterations
