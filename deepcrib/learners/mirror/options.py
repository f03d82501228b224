"""Options of `learner=mirror`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.learners.policies.options import PolicyOptions
from deepcrib.options import fraction, one_of, option, positive


@dataclass
class MirrorOptions(PolicyOptions):
    """`learner=mirror`: magnetic mirror descent in the play (Sokota et al. 2023), whose late policies are the agent."""

    name: str = option("mirror", "what learns")
    temperature: float = option(0.3, "tau at the beginning, points: how much a nat of entropy is worth", positive)
    final_temperature: float = option(0.05, "tau at the end; geometric in between", positive)
    magnet: str = option("uniform", "what tau pulls to; average: the agent", one_of("uniform", "average"))
    eta: float = option(1.0, "size of a step, nats a point", positive)
    policy_lr: float = option(
        3e-4, "learning rate of the policy, well below that of the values; linear down to 0", positive
    )
    value_lr: float = option(1e-3, "learning rate of the values; constant, so that their errors do not stay", positive)
    following: float = option(
        0.02,
        "rate of the agent's moving average of the policy's weights, an iteration (Polyak); 1: the last policy",
        fraction,
    )

    def temperature_at(self, iteration: int) -> float:
        """Tau of an iteration, counted from 0."""
        return float(self.temperature * (self.final_temperature / self.temperature) ** (iteration / self.iterations))
