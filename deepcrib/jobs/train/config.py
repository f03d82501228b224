"""The options of `deepcrib train`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from deepcrib.jobs.hydra.schema import VARIANTS
from deepcrib.jobs.shared.options import TRUST, RulesOptions, torch_device
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.registry import LEARNERS, find_learner, learner_class
from deepcrib.learners.replay.options import (
    AlgorithmOptions,
    ReplayOptions,
    RewardOptions,
    StateOptions,
    contradictions,
)
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.options import at_least, option, seed_value
from deepcrib.plugins import is_place
from deepcrib.training.options import EvaluationOptions, LearnerOptions

READ_BY_EXPLORERS = frozenset({"evaluation.epsilon", "evaluation.exploring"})
"""Options that learners read which have an `exploring_agent`."""
_LEARNERS = {name: learner.options for name, learner in LEARNERS.items()}


def unread(learner: str) -> set[str]:
    """The groups and options that other learners read, and this one does not."""
    groups = {group for entry in LEARNERS.values() for group in entry.groups}
    read = READ_BY_EXPLORERS if hasattr(learner_class(learner), "exploring_agent") else ()
    return (groups | READ_BY_EXPLORERS) - {*find_learner(learner).groups, *read}


@dataclass
class Config:
    """The schema of `conf/train.yaml`."""

    seed: int = option(1, "of everything random; the same seed gives the same weights", seed_value)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(
        0, "number of threads; 0: all that this process may use; does not affect the weights", at_least(0)
    )
    resume: str | None = option(None, "folder of a run to resume; of a finished one with more steps")
    trust: bool = option(False, TRUST)
    learner: LearnerOptions = field(default_factory=LearnerOptions, metadata={VARIANTS: _LEARNERS})
    algorithm: AlgorithmOptions = field(default_factory=AlgorithmOptions)
    reward: RewardOptions = field(default_factory=RewardOptions)
    state: StateOptions = field(default_factory=StateOptions)
    discard_network: DiscardNetworkConfig = field(default_factory=DiscardNetworkConfig)
    play_network: PlayNetworkConfig = field(default_factory=PlayNetworkConfig)
    rules: RulesOptions = field(default_factory=RulesOptions)
    pretraining: PretrainingOptions = field(default_factory=PretrainingOptions)
    evaluation: EvaluationOptions = field(default_factory=EvaluationOptions)

    def contradictions(self, overrides: Mapping[str, str]) -> Iterator[str]:
        """A line for each of the options that do not go together; overrides: words of the call, by option."""
        learner = self.learner.name
        if type(self.learner) is not (find_learner(learner).options if is_place(learner) else _LEARNERS.get(learner)):
            present = next((name for name, kind in _LEARNERS.items() if kind is type(self.learner)), "")
            expected = (
                present or f"one of {', '.join(_LEARNERS)}, whose options begin with `defaults: [NAME_schema, _self_]`"
            )
            yield f"learner.name={learner}: expected {expected}"
            return
        others = unread(learner)
        for name, word in overrides.items():
            if any(f"{name}.".startswith(f"{part}.") for part in others):
                yield f"{word}: learner={learner} does not read it"
        if self.evaluation.exploring and "evaluation.exploring" in others:
            yield f"evaluation.exploring=true: learner={learner} does not read it"
        if self.evaluation.monitored and self.evaluation.at and "evaluation.every" in overrides:
            place = f"evaluation.at={self.evaluation.at} takes its place, expected evaluation.at=null beside it"
            yield f"{overrides['evaluation.every']}: {place}"
        if isinstance(self.learner, ReplayOptions):
            yield from contradictions(self.algorithm, self.reward, self.learner)
