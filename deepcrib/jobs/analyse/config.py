"""The options of `deepcrib analyse`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.checks import torch_device
from deepcrib.jobs.shared.console import Bars
from deepcrib.options import at_least, fraction, option, seed_value

Plan = Callable[[Run, Bars], Outcome]
"""A task whose input has been read: does its work."""


@dataclass
class Config:
    """The schema of `conf/analyse.yaml`."""

    task: str = option(
        "hand", "or strategies, thesis, humans, experts; also as a bare word: deepcrib analyse strategies"
    )
    hand: str | None = option(None, "hand: six cards; also as bare words: deepcrib analyse 5H 5S JD 2C 3C KH")
    dealer: bool | None = option(None, "hand: whether its holder deals; null: both")
    score: str = option("0-0", "hand: own and opponent's points before it, 0 to 120 each")
    agents: list[Any] | None = option(None, "hand, humans, experts: who is asked; null: some quick ones, or table 4's")
    run: str | None = option(None, "strategies: a run folder of learner=weighted, or one checkpoint")
    strategy: str | None = option(None, "strategies: the one whose evolution is drawn; by default each")
    runs: str | None = option(None, "thesis: a folder of run folders with names such as round_1 and cap_50")
    figures: list[int] = option([], "thesis: numbers of those to draw; by default all")
    matches: int = option(20, "thesis: against each checkpoint; of 10,000 games a quarter", at_least(1))
    games_scale: float = option(1.0, "thesis: times the 9, 100, 1,000 or 10,000 games of a match", fraction)
    choices: str | None = option(
        None, "humans: people's choices, CSV (docs/human_choices.md) or recorded games (*.jsonl)"
    )
    by: str = option("cards", "humans: discards are the same by their cards, or by their ranks")
    hands: int = option(10_000, "experts: of which each agent leads", at_least(1))
    discards: Any = option(None, "experts: the agent whose kept cards all lead from; null: each from its own")
    deals: int = option(200, "experts: of each of the three hands of Bélanger et al. 2019", at_least(1))
    to: Any = option("greedy", "experts: the opponent of the best response that leads are held against")
    best_response_hands: int = option(
        500, "experts: of the hands, how many it is asked about; some ms each; 0: none", at_least(0)
    )
    seed: int = option(1, check=seed_value)
    device: str = option("cpu", check=torch_device)
    threads: int = option(0, "to work on; 0: all that this process may use", at_least(0))
