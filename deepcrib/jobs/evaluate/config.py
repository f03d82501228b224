"""The options of `deepcrib evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from deepcrib.jobs.shared.rules import RulesOptions

GAMES = "games"


@dataclass
class Config:
    """The schema of `conf/evaluate.yaml`."""

    task: str = GAMES  # full games to 121, or play, pairs, audit; also as a bare word: deepcrib evaluate play
    agent: Any = MISSING  # a name, a checkpoint path or {name: NAME, option: value}
    opponent: Any = "deterministic"  # likewise
    games: int = 10000  # with until, at most
    hands: int | None = None  # of the task play (20,000) or audit (200)
    pairs: int = 20000  # of the task pairs: in each pair of hands both deal once
    exploit: bool = False  # also what the agent loses to its best responder, points a hand
    deals: int = 1000  # that exploit is measured on
    worst: int = 20  # decisions that audit lists
    seed: int = 1
    duplicate: bool = False  # games in pairs: the same cards with seats swapped; interval over the pairs
    until: str | None = None  # stop when decided: significant (the interval leaves out 50%) or sprt (Wald's test)
    difference: float = 0.02  # significant: stop also within 50% +- it; sprt: tell 50% + it from 50% - it
    alpha: float = 0.05  # significant: 1 - the interval's level; sprt: chance to take 50% - difference for better
    beta: float = 0.05  # sprt: chance to take 50% + difference for worse
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = "cpu"
    threads: int = 0  # to work on; 0: all that this process may use
