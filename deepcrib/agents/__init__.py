"""Agents, one file each, and `make_agent`: from a name, a checkpoint path or a mapping to a player."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepcrib.agents.base import Agent, AgentError, DivergenceError, HasProbabilities, require_players
from deepcrib.agents.q_network import QFunction, QNetworkAgent, load_agent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.policies import POLICIES

__all__ = [
    "AGENT_NAMES",
    "Agent",
    "AgentError",
    "DivergenceError",
    "HasProbabilities",
    "QFunction",
    "QNetworkAgent",
    "ScriptedAgent",
    "load_agent",
    "make_agent",
    "name_agents",
    "require_players",
]

AGENT_NAMES = (*POLICIES, "q_network")
_Q_NETWORK_OPTIONS = ("path", "epsilon", "discards")


def make_agent(spec: Any, device: str = "cpu") -> Agent:
    """An agent from its spec.

    A name (`random`, `deterministic`, `greedy`), the path of a checkpoint file or run folder, or a mapping with a
    `name` and options: `{name: q_network, path: PATH, epsilon: 0.05, discards: AGENT}`. Raises AgentError or
    CheckpointError.
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
    if os.sep in text or text.endswith(".safetensors") or _exists(text):
        return load_agent(text, device)
    raise AgentError(
        f"unknown agent {text!r} (expected one of {', '.join(AGENT_NAMES[:-1])}, or the path of a checkpoint)"
    )


def _from_mapping(spec: dict[str, Any], device: str) -> Agent:
    name = spec.pop("name", "q_network" if "path" in spec else None)
    if not isinstance(name, str):
        raise AgentError(f"agent {spec or name!r} has no name (expected one of {', '.join(AGENT_NAMES)})")
    options = _Q_NETWORK_OPTIONS if name == "q_network" else ()
    for option in spec:
        if option not in options:
            expected = f"one of {', '.join(options)}" if options else "none"
            raise AgentError(f"agent {name!r} has no option {option!r} (expected {expected})")
    if name != "q_network":
        return _from_text(name, device)
    if "path" not in spec:
        raise AgentError("agent 'q_network' needs the option path, a checkpoint file or run folder")
    discards = make_agent(spec["discards"], device) if spec.get("discards") is not None else None
    return load_agent(str(spec["path"]), device, _number(spec.get("epsilon", 0.0)), discards)


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
