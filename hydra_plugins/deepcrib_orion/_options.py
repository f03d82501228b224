"""The sweeper's options. Apart from `sweeper`, which Hydra runs without registering it as a module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hydra.core.config_store import ConfigStore

from deepcrib.options import at_least, one_of, option


def study_name(value: str | None) -> str | None:
    """A check: a name that can be a folder's."""
    named = value is not None and re.fullmatch(r"\w[\w.+-]*", value)
    return None if named else "expected a name of letters, digits, and . _ + - between them"


@dataclass
class OrionSweeperConf:
    """`hydra.sweeper`, with `hydra/sweeper=orion`."""

    _target_: str = "hydra_plugins.deepcrib_orion.sweeper.OrionSweeper"
    name: str | None = option(None, "of the study; the same name resumes it", study_name)
    algorithm: str = option("tpe", "or random, asha (which needs a fidelity), and others of Orion's")
    seed: int = option(1, "of the algorithm")
    settings: dict[str, Any] = option({}, "of the algorithm, {n_initial_points: 20} of tpe")
    max_trials: int = option(20, "of the study, whoever runs them; more of them resume it", at_least(1))
    max_broken: int = option(5, "that end the study", at_least(1))
    n_workers: int = option(1, "trials at once, by the launcher", at_least(1))
    objective: str = option("deterministic.win_rate", "where in a run's summary.json")
    direction: str = option("maximize", "or minimize", one_of("maximize", "minimize"))
    params: dict[str, Any] = option({}, "option: choice(...), interval(...), tag(fidelity,interval(...))")


ConfigStore.instance().store(group="hydra/sweeper", name="orion", node=OrionSweeperConf, provider="deepcrib")
