"""How scripted players discard, worked out once: it takes a second or more, and many tests answer the same players."""

from __future__ import annotations

from functools import cache

from deepcrib.agents import make_agent
from deepcrib.agents.asking import Probabilities
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.exact.beliefs.discards import DiscardModel, DiscardProbabilities, discard_model


@cache
def model_of(name: str) -> DiscardModel:
    """The model of the agent of a name."""
    return discard_model(make_agent(name).discard_probabilities)


def known_model(probabilities: DiscardProbabilities) -> DiscardModel:
    """`discard_model`, but for scripted players, which `model_of` knows."""
    asked = getattr(probabilities, "__self__", None)
    agent = asked.agent if isinstance(asked, Probabilities) else asked
    known = isinstance(agent, ScriptedAgent) or type(agent) is ExpectedValueAgent
    return model_of(agent.name) if known else discard_model(probabilities)
