"""The options of `deepcrib tournament`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deepcrib.jobs.shared.rules import RulesOptions


@dataclass
class Config:
    """The schema of `conf/tournament.yaml`."""

    task: str = "round_robin"  # or bracket, checkpoints, league; also as a bare word: deepcrib tournament bracket
    agents: Any = field(default_factory=list)  # two or more: names, checkpoint paths or {name: NAME, ...}; league: all
    run: str | None = None  # the run folder whose checkpoints the task checkpoints plays against
    against: Any = None  # the agent that meets them; by default the run's final one
    games: int | None = None  # of a match: 100, in a league 20,000
    games_of: Any = None  # league: at most so many for an agent, {minimax: 2000}
    deals: int = 0  # league: that a best responder's gain on each agent is measured on; 0: not measured
    deals_of: Any = None  # league: at most so many for an agent, {td_perceptron: 40}; networks that play have 40
    matches: int = 1  # of each pairing; a bracket, and a league, has one
    seed: int = 1
    duplicate: bool = False  # games in pairs (a league always): same cards, seats swapped; intervals over the pairs
    resume: str | None = None  # the folder of a league, which then goes on
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = "cpu"
    threads: int = 0  # to work on; 0: all that this process may use
