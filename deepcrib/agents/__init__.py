"""Agents, one file each, and `make_agent`: from a name, a checkpoint path or a mapping to a player."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepcrib.agents.base import Agent, AgentError, DivergenceError, HasProbabilities, require_players
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.agents.q_network import QFunction, QNetworkAgent, load_agent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.agents.weighted import (
    WEIGHTED_NAMES,
    WeightedAgent,
    load_weighted,
    named_weighted,
    weighted_options,
)
from deepcrib.agents.weighted_network import WeightedNetworkAgent, load_weighted_network
from deepcrib.checkpoints import WEIGHTED_FORMAT, WEIGHTED_NETWORK_FORMAT, read_format
from deepcrib.policies import POLICIES

__all__ = [
    "AGENT_NAMES",
    "Agent",
    "AgentError",
    "DivergenceError",
    "ExpectedValueAgent",
    "HasProbabilities",
    "QFunction",
    "QNetworkAgent",
    "ScriptedAgent",
    "WeightedAgent",
    "WeightedNetworkAgent",
    "load_agent",
    "load_weighted",
    "load_weighted_network",
    "make_agent",
    "name_agents",
    "require_players",
]

SIMPLE_NAMES = (*POLICIES, "expected_value", *WEIGHTED_NAMES)
"""Agents that a name alone makes."""
AGENT_NAMES = (*SIMPLE_NAMES, "weighted", "q_network")
_OPTIONS = {
    "q_network": ("path", "epsilon", "discards"),
    "weighted": ("initial", "seed", "strategies"),
    "random_weights": ("seed",),
}
_SHOWN_NAMES = (*POLICIES, "expected_value", "random_weights", "STRATEGY", "semi_pure_STRATEGY")


def make_agent(spec: Any, device: str = "cpu") -> Agent:
    """An agent from its spec.

    A name (one of SIMPLE_NAMES), the path of a checkpoint file or run folder, or a mapping with a `name` and options:
    `{name: q_network, path: PATH, epsilon: 0.05, discards: AGENT}`, `{name: random_weights, seed: 2}`,
    `{name: weighted, initial: hand_max_avg, strategies: [...]}`. Raises AgentError, OptionError or CheckpointError.
    """
    if isinstance(spec, str | os.PathLike):
        return _from_text(str(spec), device)
    if isinstance(spec, Mapping):
        return _from_mapping({str(key): value for key, value in spec.items()}, device)
    raise AgentError(f"not an agent: {spec!r} (expected a name, a checkpoint path or {{name: NAME, option: value}})")


def name_agents(agents: Sequence[Agent]) -> dict[str, Agent]:
    """Agents by their names, numbered where two would share one."""
    named: dict[str, Agent] = {}
    for agent in agents:
        name, number = agent.name, 1
        while name in named:
            number += 1
            name = f"{agent.name} ({number})"
        named[name] = agent
    return named


def _from_text(text: str, device: str) -> Agent:
    if text in POLICIES:
        return ScriptedAgent(text)
    if text == "expected_value":
        return ExpectedValueAgent()
    if text in WEIGHTED_NAMES:
        return named_weighted(text)
    if os.sep in text or text.endswith(".safetensors") or _exists(text):
        return _from_checkpoint(text, device)
    raise AgentError(f"unknown agent {text!r} (expected one of {', '.join(_SHOWN_NAMES)}, or the path of a checkpoint)")


def _from_mapping(spec: dict[str, Any], device: str) -> Agent:
    name = spec.pop("name", "q_network" if "path" in spec else None)
    if not isinstance(name, str):
        expected = ", ".join((*_SHOWN_NAMES, "weighted", "q_network"))
        raise AgentError(f"agent {spec or name!r} has no name (expected one of {expected})")
    options = _OPTIONS.get(name, ())
    for option in spec:
        if option not in options:
            expected = f"one of {', '.join(options)}" if options else "none"
            raise AgentError(f"agent {name!r} has no option {option!r} (expected {expected})")
    if name == "weighted":
        return weighted_options({**spec, "seed": _seed(spec.get("seed", 1))})
    if name == "random_weights":
        return named_weighted(name, _seed(spec.get("seed", 1)))
    return _q_network(spec, device) if name == "q_network" else _from_text(name, device)


def _q_network(spec: Mapping[str, Any], device: str) -> Agent:
    if "path" not in spec:
        raise AgentError("agent 'q_network' needs the option path, a checkpoint file or run folder")
    discards = make_agent(spec["discards"], device) if spec.get("discards") is not None else None
    return _from_checkpoint(str(spec["path"]), device, _number(spec.get("epsilon", 0.0)), discards)


def _from_checkpoint(path: str, device: str, epsilon: float = 0.0, discards: Agent | None = None) -> Agent:
    """The agent of a checkpoint of whatever format."""
    kind = read_format(path)
    if kind in (WEIGHTED_FORMAT, WEIGHTED_NETWORK_FORMAT) and discards is not None:
        raise AgentError(f"{path} discards by strategies: expected no option discards")
    if kind == WEIGHTED_FORMAT and epsilon:
        raise AgentError(f"{path} holds weighted strategies, which do not explore: expected no option epsilon")
    if kind == WEIGHTED_FORMAT:
        return load_weighted(path)
    if kind == WEIGHTED_NETWORK_FORMAT:
        return load_weighted_network(path, device, epsilon)
    return load_agent(path, device, epsilon, discards)


def _exists(text: str) -> bool:
    try:
        return text != "" and Path(text).exists()
    except OSError:  # longer than a file name can be
        return False


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise AgentError(f"epsilon={value!r}: expected a number from 0 to 1") from None


def _seed(value: Any) -> int:
    if isinstance(value, int) and 0 <= value < 2**63:
        return value
    raise AgentError(f"seed={value!r}: expected a whole number from 0 to 2^63 - 1")
