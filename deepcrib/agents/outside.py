"""Agents from outside the package: `package.module:Class`, found as `python -m` finds modules.

So in the current folder first, then on PYTHONPATH, then among what is installed. Whoever names one runs its code; a
file may not (`agents.specs.travel.spec_of_file`).
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from deepcrib.agents.base import METHODS, Agent, AgentError, checked_agent

_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_place(text: str) -> bool:
    """Whether a text is `package.module:Class`."""
    return _PLACE.fullmatch(text) is not None


def make_outside(place: str, options: Mapping[str, Any]) -> Agent:
    """The agent that a class makes from options as keyword arguments. Raises AgentError."""
    make = _agent_class(place)
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
        raise AgentError(f"agent {place!r} cannot be made: {_one_line(error)}") from error
    return checked_agent(agent)


def file_of(place: str) -> tuple[Path, Path] | None:
    """(file, folder of the package that it belongs to, or that it lies in) of an agent's module; None for no source."""
    module = _import(place)
    if not (module.__file__ or "").endswith(".py"):
        return None
    file = Path(str(module.__file__)).resolve()
    depth = module.__name__.count(".") + hasattr(module, "__path__")
    return file, file.parents[max(depth - 1, 0)]


def _agent_class(place: str) -> type:
    """The class of that name; anything else is refused before it is called."""
    module, name = _import(place), place.partition(":")[2]
    where, made = f"agent {place!r}: module {module.__name__} ({module.__file__})", getattr(module, name, None)
    if not isinstance(made, type):
        raise AgentError(f"{where} {'has no' if made is None else 'has no class'} {name}")
    for method in METHODS:
        if not callable(getattr(made, method, None)):
            raise AgentError(f"{where} has a class {name} without {method}: expected {method}(self, observation)")
    return made


def _import(place: str) -> ModuleType:
    name, folder = place.partition(":")[0], os.getcwd()
    if folder not in sys.path:  # a console script's own folder stands there instead
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            expected = f"expected one in {folder}, on PYTHONPATH or installed"
            raise AgentError(f"agent {place!r}: there is no module {error.name} ({expected})") from error
        raise AgentError(f"agent {place!r}: {name} cannot be imported: {_one_line(error)}") from error


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
