"""Options of `learner=mirror`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.learners.policies.options import PolicyOptions
from deepcrib.options import at_least, option, positive


@dataclass
class MirrorOptions(PolicyOptions):
    """`learner=mirror`: magnetic mirror descent in the play (Sokota et al. 2023), whose last policy is the agent."""

    name: str = option("mirror", "what learns")
    temperature: float = option(0.5, "tau at the beginning, points: how much a nat of entropy is worth", positive)
    final_temperature: float = option(0.05, "tau at the end; geometric in between", positive)
    magnet_every: int = option(
        0, "iterations after which the magnet moves to the policy; 0: it stays uniform", at_least(0)
    )
    eta: float = option(1.0, "size of a step, nats a point", positive)
    policy_lr: float = option(1e-3, "learning rate of the policy; linear down to 0 at the last iteration", positive)
    value_lr: float = option(1e-3, "learning rate of the values; likewise", positive)

    def temperature_at(self, iteration: int) -> float:
        """Tau of an iteration, counted from 0."""
        return float(self.temperature * (self.final_temperature / self.temperature) ** (iteration / self.iterations))
