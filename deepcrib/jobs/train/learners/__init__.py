"""How the job `train` runs each learner: one file a learner, which joins the job and the learner's loop.

To add a learner: a folder in `learners/` with its options (a subclass of `LearnerOptions`) and its loop, a line in
`learners/registry.py`, in `CHECKS` of `jobs/hydra/options.py` what the types of its options cannot express; a YAML of
its name in `conf/learner/`, which begins with `defaults: [<name>_schema, _self_]`; a file here with `prepare` and
`train`, and a line in `TRAINERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners import evolution, hill_climb, partida, replay, td, weighted, weighted_network
from deepcrib.jobs.train.learners.common import Trained


@dataclass(frozen=True)
class Trainer:
    """A line of the table.

    prepare: (config, saved state or None) -> steps done; refuses what cannot be trained, before anything is written.
    train: (config, run, match, writer, resume) -> the trained agent; see `common`.
    """

    prepare: Callable[[Config, Path | None], int]
    train: Callable[..., Trained]


TRAINERS = {
    "replay": Trainer(replay.prepare, replay.train),
    "weighted": Trainer(weighted.prepare, weighted.train),
    "weighted_network": Trainer(weighted_network.prepare, weighted_network.train),
    "partida": Trainer(partida.prepare, partida.train),
    "td": Trainer(td.prepare, td.train),
    "evolution": Trainer(evolution.prepare, evolution.train),
    "hill_climb": Trainer(hill_climb.prepare, hill_climb.train),
}
"""By the choice of the group `learner`."""
