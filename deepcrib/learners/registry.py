"""The learners by the choice of the group `learner`, which is also the `name` of their options."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.learners.evolution.options import EvolutionOptions
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.partida.options import PartidaOptions
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.learners.weighted_network.options import WeightedNetworkOptions
from deepcrib.training.options import LearnerOptions


@dataclass(frozen=True)
class Entry:
    """A learner's options, and the groups, and options elsewhere, that it reads and not every learner does."""

    options: type[LearnerOptions]
    reads: tuple[str, ...] = ()


LEARNERS = {
    "replay": Entry(
        ReplayOptions,
        (
            *("algorithm", "reward", "state", "discard_network", "play_network", "pretraining"),
            *("evaluation.epsilon", "evaluation.at", "evaluation.exploring"),
        ),
    ),
    "weighted": Entry(WeightedOptions),
    "weighted_network": Entry(WeightedNetworkOptions),
    "partida": Entry(PartidaOptions),
    "td": Entry(TdOptions),
    "evolution": Entry(EvolutionOptions),
    "hill_climb": Entry(HillClimbOptions, ("state", "discard_network", "play_network")),
}
