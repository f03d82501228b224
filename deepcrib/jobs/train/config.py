"""The options of `deepcrib train`."""

from __future__ import annotations

from dataclasses import dataclass, field

from deepcrib.jobs.hydra.variants import VARIANTS, Variants
from deepcrib.jobs.shared.options import TRUST, RulesOptions, torch_device
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.registry import LEARNERS
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions, StateOptions
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.options import at_least, option, seed_value
from deepcrib.training.options import EvaluationOptions, LearnerOptions

_LEARNERS = Variants(
    {name: learner.options for name, learner in LEARNERS.items()},
    {name: (*learner.groups, *learner.reads) for name, learner in LEARNERS.items()},
)


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
