"""The options of `deepcrib evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from deepcrib.jobs.shared.options import RulesOptions, torch_device
from deepcrib.kernels.processes import BACKENDS
from deepcrib.options import at_least, one_of, option, seed_value

GAMES = "games"


@dataclass
class Config:
    """The schema of `conf/evaluate.yaml`."""

    task: str = option(GAMES, "full games to 121, or play, pairs, audit; also as a bare word: deepcrib evaluate play")
    agent: Any = option(MISSING, "a name, a checkpoint path or {name: NAME, option: value}")
    opponent: Any = option("deterministic", "likewise")
    games: int = option(10000, "with until, at most", at_least(1))
    hands: int | None = option(None, "of the task play (20,000) or audit (200)")
    pairs: int = option(20000, "of the task pairs: in each pair of hands both deal once")
    exploit: bool = option(False, "also what the agent loses to its best responder, points a hand")
    deals: int = option(1000, "that exploit is measured on")
    worst: int = option(20, "decisions that audit lists")
    seed: int = option(1, check=seed_value)
    duplicate: bool = option(False, "games in pairs: the same cards with seats swapped; interval over the pairs")
    until: str | None = option(
        None, "stop when decided: significant (the interval leaves out 50%) or sprt (Wald's test)"
    )
    difference: float = option(0.02, "significant: stop also within 50% +- it; sprt: tell 50% + it from 50% - it")
    alpha: float = option(
        0.05, "significant: 1 - the interval's level; sprt: chance to take 50% - difference for better"
    )
    beta: float = option(0.05, "sprt: chance to take 50% + difference for worse")
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = option("cpu", check=torch_device)
    threads: int = option(0, "to work on, of all workers; 0: all that this process may use", at_least(0))
    workers: int = option(1, "processes that share the games, and exploit's deals; 1: this one", at_least(1))
    backend: str = option("loky", "where they are: loky, on this machine, or ray, on a cluster", one_of(*BACKENDS))
