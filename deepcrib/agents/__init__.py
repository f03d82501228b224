"""Agents, one file each, and `make_agent`: from a name, a checkpoint path or a mapping to a player.

What an agent needs is imported when the agent is asked for; its class, from the file that it stands in.
"""

from deepcrib.agents.base import Agent, AgentError, DivergenceError, HasProbabilities, require_players
from deepcrib.agents.specs.making import make_agent, name_agents
from deepcrib.agents.specs.travel import kept_spec
from deepcrib.files.trust import UntrustedError, trusting

__all__ = [
    "Agent",
    "AgentError",
    "DivergenceError",
    "HasProbabilities",
    "UntrustedError",
    "kept_spec",
    "make_agent",
    "name_agents",
    "require_players",
    "trusting",
]
