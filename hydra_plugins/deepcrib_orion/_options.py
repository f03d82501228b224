"""The sweeper's options. Apart from `sweeper`, which Hydra runs without registering it as a module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore

DIRECTIONS = ("maximize", "minimize")


@dataclass
class OrionSweeperConf:
    """`hydra.sweeper`, with `hydra/sweeper=orion`."""

    _target_: str = "hydra_plugins.deepcrib_orion.sweeper.OrionSweeper"
    name: str | None = None  # of the study; the same name goes on with it
    database: str | None = None  # a file, or mongodb://host/database; null: orion.pkl in the study's folder
    algorithm: str = "tpe"  # or random, asha (which needs a fidelity), and others of Orion's
    seed: int = 1  # of the algorithm
    settings: dict[str, Any] = field(default_factory=dict)  # of the algorithm, {n_initial_points: 20} of tpe
    max_trials: int = 20  # of the study, whoever runs them; more of them go on with it
    max_broken: int = 5  # that end the study
    n_workers: int = 1  # trials at once, by the launcher
    objective: str = "deterministic.win_rate"  # where in a run's summary.json
    direction: str = "maximize"  # or minimize
    heartbeat: int = 15  # seconds between signs of life; five missed ones, and other machines take a worker for ended
    params: dict[str, Any] = field(default_factory=dict)  # option: choice(...), interval(...), fidelity(low,high,base)


ConfigStore.instance().store(group="hydra/sweeper", name="orion", node=OrionSweeperConf, provider="deepcrib")
