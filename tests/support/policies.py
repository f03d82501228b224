"""Small learners of mixed policies."""

from __future__ import annotations

from typing import Any

from deepcrib.learners.registry import LEARNERS, make_learner
from deepcrib.learners.replay.options import StateOptions
from deepcrib.networks import PlayNetworkConfig
from deepcrib.training.learner import Setting
from deepcrib.training.options import EvaluationOptions


def new_learner(name: str, **options: Any) -> Any:
    """`mirror` or `nfsp`; options by name, groups among them."""
    groups = {"state": StateOptions("afterstate", dealer=True), "play_network": PlayNetworkConfig("mlp", hidden=[8])}
    given = {"iterations": 4, "hands": 30, "batch_size": 32, "discard_agent": "greedy"}
    chosen = LEARNERS[name].options(**(given | {k: v for k, v in options.items() if k not in groups}))
    evaluation = EvaluationOptions(opponents=[], every=0)
    return make_learner(chosen, Setting(3, evaluation), groups | {k: v for k, v in options.items() if k in groups})
