"""`deepcrib analyse`: what the discards of a hand are worth, and what agents throw."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from deepcrib.agents import require_players
from deepcrib.analysis.hand_values import hand_tables, hand_values
from deepcrib.errors import OptionError
from deepcrib.game.cards import format_cards
from deepcrib.game.rules import MAX_SCORE
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import chosen_agents, six_cards, working
from deepcrib.jobs.shared.options import TRUST, torch_device
from deepcrib.options import at_least, option, seed_value

AGENTS = ("greedy", "evolutionary", "expected_value", "expected_value_pegging", "td_perceptron")
"""All that answer within seconds."""


@dataclass
class Config:
    """The schema of `conf/analyse.yaml`."""

    hand: str | None = option(None, "six cards; also as arguments: deepcrib analyse 5H 5S JD 2C 3C KH")
    dealer: bool | None = option(None, "whether the hand's holder deals; null: both")
    score: str = option("0-0", "own and opponent's points before the hand, 0 to 120 each")
    agents: list[Any] | None = option(None, "who is asked; null: some quick ones", spec=True)
    seed: int = option(1, "of everything random", seed_value)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "to work on; 0: all that this process may use", at_least(0))
    trust: bool = option(False, TRUST)


def run(config: Config, run: Run) -> Outcome:
    """Look at the hand in each role."""
    if config.hand is None:
        raise OptionError("option hand is missing: expected six cards")
    hand, score = six_cards(config.hand), read_score(config.score)
    agents = chosen_agents(config.agents, AGENTS, config.device)
    for agent in agents.values():
        require_players(agent, 2)
    roles = (True, False) if config.dealer is None else (config.dealer,)
    found = []
    with working(run, config.threads) as bars:
        for number, is_dealer in enumerate(roles):
            bars.show("roles", number, len(roles))
            found.append(hand_values(hand, is_dealer, score, agents, config.seed))
    summary = {
        "hand": format_cards(hand),
        "score": list(score),
        "seed": config.seed,
        "roles": {values.role: values.to_dict() for values in found},
    }
    return Outcome(summary, [table for values in found for table in hand_tables(values)])


def read_score(text: str) -> tuple[int, int]:
    """Own and opponent's points of a text such as `100-95`. Raises OptionError."""
    found = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", text)
    own, other = map(int, found.groups()) if found else (MAX_SCORE, MAX_SCORE)
    if max(own, other) >= MAX_SCORE:
        raise OptionError(
            f"score={text}: expected own and opponent's points before the hand, 0 to {MAX_SCORE - 1} each, as 100-95"
        )
    return own, other
