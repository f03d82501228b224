"""The options of `deepcrib tournament`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deepcrib.jobs.shared.options import RulesOptions, torch_device
from deepcrib.kernels.processes import BACKENDS
from deepcrib.options import at_least, one_of, option, optional, seed_value

ALL = "all"
"""The value of `agents` that stands for every agent of the package."""


@dataclass
class Config:
    """The schema of `conf/tournament.yaml`."""

    task: str = option(
        "round_robin", "or bracket, checkpoints, league; also as a bare word: deepcrib tournament bracket"
    )
    agents: Any = option([], "two or more: names, checkpoint paths or {name: NAME, ...}; league: all")
    run: str | None = option(None, "the run folder whose checkpoints the task checkpoints plays against")
    against: Any = option(None, "the agent that meets them; by default the run's final one")
    games: int | None = option(None, "of a match: 100, in a league 20,000", optional(at_least(1)))
    games_of: Any = option(None, "league: at most so many for an agent, {minimax: 2000}")
    deals: int = option(0, "league: that a best responder's gain on each agent is measured on; 0: not measured")
    deals_of: Any = option(
        None, "league: at most so many for an agent, {td_perceptron: 40}; networks that play have 40"
    )
    matches: int = option(1, "of each pairing; a bracket, and a league, has one", at_least(1))
    seed: int = option(1, check=seed_value)
    duplicate: bool = option(
        False, "games in pairs (a league always): same cards, seats swapped; intervals over the pairs"
    )
    resume: str | None = option(None, "the folder of a league, to resume it")
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = option("cpu", check=torch_device)
    threads: int = option(0, "to work on, of all workers; 0: all that this process may use", at_least(0))
    workers: int = option(1, "processes that share the pairings, or checkpoints; 1: this one", at_least(1))
    backend: str = option("loky", "where they are: loky, on this machine, or ray, on a cluster", one_of(*BACKENDS))
