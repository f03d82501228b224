"""The task `experts` of `deepcrib analyse`: what agents lead, beside experts' rules and the best response."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.analysis.expert_figures import expert_figure, expert_tables
from deepcrib.analysis.strategy_graphs import save_png
from deepcrib.errors import OptionError
from deepcrib.evaluation.studies.expert_rules import ExpertRules, deal_leads, expert_rules, in_parts
from deepcrib.evaluation.studies.experts import ProbeResult, probe
from deepcrib.game.observations import PlayObservation
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.analyse.config import Config, Plan
from deepcrib.jobs.shared.common import chosen_agents
from deepcrib.jobs.shared.console import Bars
from deepcrib.search.best_response import BestResponseAgent

AGENTS = ("greedy", "deterministic", "td_perceptron", "partida_network", "hill_climber", "greedy_minimax")
"""Who leads by default: the fixed opponents, and each that learned or searches its play within seconds."""
FIGURE = "experts.png"
RESPONSE_BATCH = 32  # leads between two reports of progress


def plan_experts(config: Config) -> Plan:
    """The agents, who discards for them, and the best responder. Raises OptionError, AgentError or CheckpointError."""
    if config.best_response_hands > config.hands:
        raise OptionError(f"best_response_hands={config.best_response_hands}: expected at most hands={config.hands}")
    agents = chosen_agents(config.agents, AGENTS, config.device)
    discards = None if config.discards is None else make_agent(config.discards, device=config.device)
    responder = None
    if config.best_response_hands:
        responder = BestResponseAgent(make_agent(config.to, device=config.device))
    for agent in agents.values():
        require_players(agent, 2)
    return partial(_lead, config, agents, discards, responder)


def _lead(
    config: Config,
    agents: dict[str, Agent],
    discards: Agent | None,
    responder: BestResponseAgent | None,
    run: Run,
    bars: Bars,
) -> Outcome:
    best = _Best(responder, config.best_response_hands, bars)
    rules: dict[str, ExpertRules] = {}
    for name, agent in agents.items():
        leads = deal_leads(discards or agent, config.hands, config.seed)
        rules[name] = expert_rules(agent, leads, best.values(leads), bars.counter(f"leads of {name}", config.hands))
    probed = agents if responder is None else {**agents, responder.name: responder}
    probes = {name: probe(agent, config.deals, config.seed) for name, agent in probed.items()}
    if find_spec("matplotlib") is not None:
        save_png(expert_figure(rules), run.folder.path / FIGURE)
    return Outcome(_summary(config, probes, rules), expert_tables(probes, rules))


class _Best:
    """A best responder's values of leads, worked out once for agents that kept the same cards."""

    def __init__(self, responder: BestResponseAgent | None, hands: int, bars: Bars) -> None:
        self._responder, self._hands, self._bars = responder, hands, bars
        self._known: dict[bytes, NDArray[np.float64]] = {}

    def values(self, leads: PlayObservation) -> NDArray[np.float64] | None:
        """[M, 4] of the first M leads; None without a responder."""
        if self._responder is None:
            return None
        first = leads.take(slice(self._hands))
        seen = b"".join(getattr(first, column.name).tobytes() for column in fields(first))
        if seen not in self._known:
            done = self._bars.counter(f"best response, hands {len(self._known) + 1}", len(first))
            self._known[seen] = in_parts(self._responder.play_values, first, RESPONSE_BATCH, done)
        return self._known[seen]


def _summary(
    config: Config, probes: dict[str, dict[str, ProbeResult]], rules: dict[str, ExpertRules]
) -> dict[str, object]:
    return {
        "task": "experts",
        "hands": config.hands,
        "best_response_hands": config.best_response_hands,
        "to": config.to if config.best_response_hands else None,
        "discards": config.discards,
        "deals": config.deals,
        "seed": config.seed,
        "probes": {name: {hand: result.to_dict() for hand, result in found.items()} for name, found in probes.items()},
        "rules": {name: found.to_dict() for name, found in rules.items()},
    }
