"""Agents, one file each, and `make_agent`: from a name, a checkpoint path or a mapping to a player."""

from deepcrib.agents.base import (
    Agent,
    AgentError,
    DivergenceError,
    HasDiscardValues,
    HasProbabilities,
    require_players,
)
from deepcrib.agents.best_response import BestResponseAgent
from deepcrib.agents.evolutionary import EvolutionaryAgent, load_evolutionary
from deepcrib.agents.expected_value import DiscardExpectations, ExpectedValueAgent, discard_expectations
from deepcrib.agents.minimax import MinimaxAgent
from deepcrib.agents.partida import PartidaAgent, load_partida
from deepcrib.agents.q_network import QFunction, QNetworkAgent, load_agent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.agents.specs import absolute_spec, make_agent, name_agents
from deepcrib.agents.td_perceptron import TdPerceptronAgent, load_td_perceptron
from deepcrib.agents.weighted import WeightedAgent, load_weighted
from deepcrib.agents.weighted_network import WeightedNetworkAgent, load_weighted_network

__all__ = [
    "Agent",
    "AgentError",
    "BestResponseAgent",
    "DiscardExpectations",
    "DivergenceError",
    "EvolutionaryAgent",
    "ExpectedValueAgent",
    "HasDiscardValues",
    "HasProbabilities",
    "MinimaxAgent",
    "PartidaAgent",
    "QFunction",
    "QNetworkAgent",
    "ScriptedAgent",
    "TdPerceptronAgent",
    "WeightedAgent",
    "WeightedNetworkAgent",
    "absolute_spec",
    "discard_expectations",
    "load_agent",
    "load_partida",
    "load_td_perceptron",
    "load_evolutionary",
    "load_weighted",
    "load_weighted_network",
    "make_agent",
    "name_agents",
    "require_players",
]
