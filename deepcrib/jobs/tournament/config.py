"""The options of `deepcrib tournament`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deepcrib.jobs.shared.options import TRUST, RulesOptions, torch_device
from deepcrib.options import at_least, option, optional, seed_value

ALL = "all"
"""The value of `agents` that stands for every agent of the package."""


@dataclass
class Config:
    """The schema of `conf/tournament.yaml`."""

    task: str = option("round_robin", "or checkpoints, league; also as an argument: deepcrib tournament league")
    agents: Any = option([], "two or more: names, checkpoint paths or {name: NAME, ...}; league: all", spec=True)
    run: str | None = option(None, "run folder whose checkpoints the task checkpoints plays", spec=True)
    against: Any = option(None, "checkpoints: the agent that plays them; by default the run's final one", spec=True)
    games: int | None = option(None, "games per match; default 100, in a league 20,000", optional(at_least(1)))
    games_of: Any = option(None, "league: maximum number of games of an agent, {minimax: 2000}")
    deals: int = option(0, "league: deals that a best responder's gain on each agent is measured on; 0: off")
    deals_of: Any = option(None, "league: maximum number of deals of an agent, {td_perceptron: 40}; play networks: 40")
    hands_of: Any = option(None, "league: hands that networks learn from to beat an agent, {minimax: 100000}")
    games_per_match: int = option(
        1, "league: so many games are a match, of which agents may remember what they saw", at_least(1)
    )
    matches: int = option(1, "matches per pairing; a league has one", at_least(1))
    seed: int = option(1, "of everything random", seed_value)
    duplicate: bool = option(
        False, "play games in pairs (a league always): same cards, seats swapped; intervals are over pairs"
    )
    resume: str | None = option(None, "folder of a league to resume")
    trust: bool = option(False, TRUST)
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "number of threads; 0: all that this process may use", at_least(0))
