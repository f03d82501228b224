"""The options of `deepcrib evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from deepcrib.jobs.shared.options import TRUST, RulesOptions, torch_device
from deepcrib.options import at_least, one_of, option, optional, seed_value

GAMES, PLAY = "games", "play"


@dataclass
class Config:
    """The schema of `conf/evaluate.yaml`."""

    task: str = option(GAMES, "full games to 121; or play, pairs, audit; also as an argument: deepcrib evaluate play")
    agent: Any = option(MISSING, "a name, a checkpoint path or {name: NAME, option: value}", spec=True)
    opponent: Any = option("deterministic", "the same forms as agent", spec=True)
    games: int = option(10000, "number of games; the maximum with until", at_least(1))
    hands: int | None = option(None, "hands of the task play (20,000) or audit (200)")
    pairs: int = option(20000, "pairs of hands of the task pairs; each player deals once in a pair")
    exploit: Any = option(
        False,
        "true: also measure what the agent loses to its best responder, points per hand; play: in the play alone, after"
        " the agent's own discards",
        one_of(False, True, PLAY),
    )
    deals: int = option(1000, "deals that exploit is measured on")
    worst: int = option(20, "number of decisions that audit lists")
    seed: int = option(1, "of everything random", seed_value)
    duplicate: bool = option(
        False, "play games in pairs, the same cards with seats swapped; the interval is over pairs"
    )
    until: str | None = option(
        None, "significant: stop when the interval excludes 50%, or lies close to it", optional(one_of("significant"))
    )
    difference: float = option(0.02, "until: also stop when the interval lies within 50% +- difference")
    alpha: float = option(0.05, "until: 1 - confidence level of the interval")
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "number of threads; 0: all that this process may use", at_least(0))
    trust: bool = option(False, TRUST)
