"""Agents, one file each, and `make_agent`: from a name, a checkpoint path or a mapping to a player.

What an agent needs is imported when the agent is asked for; its class, from the file that it stands in.
"""

from deepcrib.agents.base import Agent, AgentError, DivergenceError, HasDiscardValues, HasProbabilities, require_players
from deepcrib.agents.specs import absolute_spec, make_agent, name_agents

__all__ = [
    "Agent",
    "AgentError",
    "DivergenceError",
    "HasDiscardValues",
    "HasProbabilities",
    "absolute_spec",
    "make_agent",
    "name_agents",
    "require_players",
]
