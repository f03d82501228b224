"""The task `hand` of `deepcrib analyse`: what the discards of a hand are worth, and what agents throw."""

from __future__ import annotations

import re
from functools import partial

from deepcrib.agents import Agent, require_players
from deepcrib.analysis.hand_tables import hand_tables
from deepcrib.analysis.hand_values import hand_values
from deepcrib.errors import OptionError
from deepcrib.game.cards import format_cards
from deepcrib.game.rules import MAX_SCORE
from deepcrib.jobs import JOBS, Outcome, Run
from deepcrib.jobs.analyse.config import Config, Plan
from deepcrib.jobs.shared.common import chosen_agents, six_cards
from deepcrib.jobs.shared.console import Bars

AGENTS = ("greedy", "evolutionary", "expected_value", "expected_value_pegging", "td_perceptron")
"""Who is asked by default: all that answer within seconds."""


def plan_hand(config: Config) -> Plan:
    """The hand, the score and the agents read. Raises OptionError, CardError, AgentError or CheckpointError."""
    if config.hand is None:
        tasks = ", ".join(JOBS["analyse"].tasks)
        raise OptionError(f"option hand is missing: expected six cards, or one of the tasks {tasks}")
    hand, score = six_cards(config.hand), read_score(config.score)
    agents = chosen_agents(config.agents, AGENTS, config.device)
    for agent in agents.values():
        require_players(agent, 2)
    return partial(_show, config, hand, score, agents)


def read_score(text: str) -> tuple[int, int]:
    """Own and opponent's points of a text such as `100-95`. Raises OptionError."""
    found = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", text)
    own, other = map(int, found.groups()) if found else (MAX_SCORE, MAX_SCORE)
    if max(own, other) >= MAX_SCORE:
        raise OptionError(
            f"score={text}: expected own and opponent's points before the hand, 0 to {MAX_SCORE - 1} each, as 100-95"
        )
    return own, other


def _show(
    config: Config, hand: list[int], score: tuple[int, int], agents: dict[str, Agent], run: Run, bars: Bars
) -> Outcome:
    roles = (True, False) if config.dealer is None else (config.dealer,)
    found = []
    for number, is_dealer in enumerate(roles):
        bars.show("roles", number, len(roles))
        found.append(hand_values(hand, is_dealer, score, agents, config.seed))
    summary = {
        "task": "hand",
        "hand": format_cards(hand),
        "score": list(score),
        "seed": config.seed,
        "roles": {values.role: values.to_dict() for values in found},
    }
    return Outcome(summary, [table for values in found for table in hand_tables(values)])
