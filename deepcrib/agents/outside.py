"""Agents from outside the package: `package.module:Class`, in a spec of a person's (see `plugins`)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepcrib.agents.base import METHODS, Agent, AgentError, checked_agent
from deepcrib.errors import OptionError
from deepcrib.plugins import checked_object, module_of, one_line


def make_outside(place: str, options: Mapping[str, Any], method: str = "") -> Agent:
    """The agent that a class, or a class method of it, makes from options as keyword arguments. Raises AgentError."""
    try:
        made = checked_object(place, _is_agent_class)
        make = getattr(made, method) if method else made
    except (OptionError, AttributeError) as error:
        raise AgentError(f"agent {place!r}: {error}") from error
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):  # of a class that is not written in Python
        signature = None
    if signature is not None:
        try:
            signature.bind(**options)
        except TypeError as error:
            expected = ", ".join(map(str, signature.parameters.values())) or "none"
            raise AgentError(f"agent {place!r}: {error} (expected {expected})") from error
    try:
        agent = make(**options)
    except Exception as error:
        raise AgentError(f"agent {place!r} cannot be made: {one_line(error)}") from error
    return checked_agent(agent)


def file_of(place: str) -> tuple[Path, Path] | None:
    """(file, folder of the package that it belongs to, or that it lies in) of an agent's module; None for no source."""
    module = module_of(place)
    if not (module.__file__ or "").endswith(".py"):
        return None
    file = Path(str(module.__file__)).resolve()
    depth = module.__name__.count(".") + hasattr(module, "__path__")
    return file, file.parents[max(depth - 1, 0)]


def _is_agent_class(made: Any) -> str | None:
    """A check: a class with the methods of an agent; nothing else is ever called."""
    lacking = [name for name in METHODS if not callable(getattr(made, name, None))]
    if not isinstance(made, type) or lacking:
        return f"expected a class with {(lacking or METHODS)[0]}(self, observation)"
    return None
