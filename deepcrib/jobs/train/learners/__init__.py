"""What `deepcrib train learner=NAME` can train: one file a learner, which joins the job and the loop in `training`.

To add a learner: its options, a subclass of `LearnerOptions` in `training/options.py`, and in `CHECKS` of
`jobs/options.py` what their types cannot express; a YAML of its name in `conf/learner/`, which begins with
`defaults: [<name>_schema, _self_]`; a file here with `prepare` and `train`; and a line in `LEARNERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deepcrib.jobs.train.learners import evolution, hill_climb, partida, replay, td, weighted, weighted_network
from deepcrib.jobs.train.learners.common import Trained
from deepcrib.training.options import (
    EvolutionOptions,
    HillClimbOptions,
    LearnerOptions,
    PartidaOptions,
    ReplayOptions,
    TdOptions,
    WeightedNetworkOptions,
    WeightedOptions,
)

if TYPE_CHECKING:
    from deepcrib.jobs.train import Config


@dataclass(frozen=True)
class Learner:
    """A line of the table.

    options: the class of `config.learner`.
    state_file: the saved training state, in the run folder.
    prepare: (config, saved state or None) -> steps done; refuses what cannot be trained, before anything is written.
    train: (config, run, match, writer, resume) -> the trained agent; see `common`.
    reads: groups, and options elsewhere, that not every learner reads.
    """

    options: type[LearnerOptions]
    state_file: str
    prepare: Callable[[Config, Path | None], int]
    train: Callable[..., Trained]
    reads: tuple[str, ...] = ()


LEARNERS = {
    "replay": Learner(ReplayOptions, replay.STATE_FILE, replay.prepare, replay.train, replay.READS),
    "weighted": Learner(WeightedOptions, weighted.STATE_FILE, weighted.prepare, weighted.train),
    "weighted_network": Learner(
        WeightedNetworkOptions, weighted_network.STATE_FILE, weighted_network.prepare, weighted_network.train
    ),
    "partida": Learner(PartidaOptions, partida.STATE_FILE, partida.prepare, partida.train),
    "td": Learner(TdOptions, td.STATE_FILE, td.prepare, td.train),
    "evolution": Learner(EvolutionOptions, evolution.STATE_FILE, evolution.prepare, evolution.train),
    "hill_climb": Learner(
        HillClimbOptions, hill_climb.STATE_FILE, hill_climb.prepare, hill_climb.train, hill_climb.READS
    ),
}
"""By the choice of the group `learner`, which is also the `name` of its options."""
