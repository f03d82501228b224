"""`make_agent`: from a name, a checkpoint path or a mapping of options to a player.

An agent's code is imported when it is asked for, so that a match of scripted players waits for no PyTorch. To add an
agent: a line in `registry`. What a file says of agents is a `FromFile`, and `travel.spec_of_file` decides about it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from inspect import signature
from typing import Any

from deepcrib.agents.base import Agent, AgentError, checked_agent
from deepcrib.agents.outside import make_outside
from deepcrib.agents.packaged import CHAMPION_NETWORKS, packaged_weights
from deepcrib.agents.specs.registry import BUILDERS, LOADED, Builder, shown_names
from deepcrib.agents.specs.travel import is_path, spec_of_file
from deepcrib.errors import did_you_mean
from deepcrib.files.trust import FromFile, is_trusting, trusting
from deepcrib.files.weights import CheckpointError, read_weights
from deepcrib.plugins import is_place

Options = dict[str, Any]


def make_agent(spec: Any, device: str = "cpu", *, trust: bool = False) -> Agent:
    """An agent from its spec; an agent itself is returned as it is.

    A name, the path of a checkpoint file or run folder, `package.module:Class` of an agent from outside the package
    (`agents.outside`), or a mapping with a `name` and options: `{name: random_weights, seed: 2}`,
    `{name: q_network, path: PATH, epsilon: 0.05, discards: AGENT, plugins: [module:Class]}` (plugins: code that the
    file may name), `{name: "my_agent:Mine", depth: 2}`, `{command: "./bot"}`; or what a file says of one (`FromFile`).
    trust: what the spec's files name may be code, and lie anywhere. Raises AgentError, OptionError or CheckpointError.
    """
    if trust:
        with trusting():
            return make_agent(spec, device)
    if isinstance(spec, FromFile):
        spec = spec_of_file(spec)
    if isinstance(spec, str | os.PathLike):
        spec = {"name": str(spec)}
    if isinstance(spec, Mapping):
        return _made({str(key): value for key, value in spec.items()}, device)
    if (hasattr(spec, "discard") or hasattr(spec, "play")) and not isinstance(spec, type):
        return checked_agent(spec)
    expected = "expected a name, a checkpoint path, package.module:Class or {name: NAME, option: value}"
    raise AgentError(f"not an agent: {spec!r} ({expected})")


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


def _made(options: Options, device: str) -> Agent:
    """The agent of that `name`, which is the first of its options."""
    name = options.pop("name", "q_network" if "path" in options else "command" if "command" in options else None)
    if not isinstance(name, str):
        raise AgentError(f"agent {options or name!r} has no name (expected one of {', '.join(shown_names())})")
    if name in BUILDERS:
        return _build(f"agent {name!r}", BUILDERS[name], _read(options), device)
    if name in packaged_weights():
        agent = _loaded(str(packaged_weights()[name]), _read(options), device)
        agent.name = name
        return agent
    if is_place(name):
        return make_outside(name, options)
    if options:
        raise AgentError(f"agent {name!r} has no option {next(iter(options))!r} (expected none)")
    if is_path(name):
        return _loaded(name, {}, device)
    expected = f"one of {', '.join(shown_names())}, the path of a checkpoint, or package.module:Class"
    raise AgentError(f"unknown agent {name!r}: {did_you_mean(name, shown_names())}expected {expected}")


def load_checkpoint(
    path: str,
    device: str = "cpu",
    epsilon: float | None = None,
    temperature: float | None = None,
    discards: Agent | None = None,
    plugins: Sequence[str] = (),
) -> Agent:
    """The agent of weights in a file, or of a finished run folder; options that are None are not given.

    plugins: code from outside the package, `module:name`, that the file may name.
    """
    with trusting(plugins) if plugins and not is_trusting() else nullcontext():
        return _loaded(path, {"epsilon": epsilon, "temperature": temperature, "discards": discards}, device)


def level_agent(name: str, temperature: float, epsilon: float, device: str = "cpu") -> Agent:
    """A player of `packaged.LEVELS`."""
    agent = make_agent({"name": CHAMPION_NETWORKS, "temperature": temperature, "epsilon": epsilon}, device)
    agent.name = name
    return agent


def _loaded(path: str, options: Options, device: str) -> Agent:
    saved = read_weights(path)
    given = {option: value for option, value in options.items() if value is not None}
    if is_place(saved.agent):
        saved.plain("agent", saved.agent)
        return make_outside(saved.agent, {"saved": saved, **given}, "from_weights")
    if saved.agent not in LOADED:
        raise CheckpointError(f"{path} holds weights of {saved.agent!r}, expected one of {', '.join(LOADED)}")
    for option in ("epsilon", "temperature"):
        if given.get(option) == 0.0:  # what every agent of a checkpoint does
            del given[option]
    return _build(path, LOADED[saved.agent], given, device, {"saved": saved})


def _build(who: str, builder: Builder, given: Options, device: str, fixed: Mapping[str, Any] | None = None) -> Agent:
    """Import what makes an agent, and call it with what is given, which is refused in the name of `who`."""
    known = builder.options()
    for option in given:
        if option not in known:
            expected = f"one of {', '.join(known)}" if known else "none"
            raise AgentError(f"{who} has no option {option!r} (expected {expected})")
    for option, is_needed in known.items():
        if is_needed and given.get(option) is None:
            raise AgentError(f"{who} needs the option {option}, as {{name: NAME, {option}: ...}}")
    specs = {option: spec for option, spec in builder.agents.items() if spec is not None} | given
    options = given | {option: _agents(specs[option], device) for option in builder.agents if option in specs}
    function = builder.function()
    if "device" in signature(function).parameters:
        options["device"] = device
    return function(**options, **builder.fixed, **(fixed or {}))


def _agents(spec: Any, device: str) -> Any:
    """The agent of an option, or the agents of one that takes several."""
    if isinstance(spec, list | tuple):
        return [make_agent(one, device) for one in spec]
    return make_agent(spec, device)


def _seed(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError
    return value


def _seconds(value: Any) -> float:
    if not 0 < float(value) <= _DAY:
        raise ValueError
    return float(value)


_DAY = 86_400
_READ: dict[str, tuple[Callable[[Any], Any], str]] = {
    "path": (os.fspath, "the path of a checkpoint"),
    "plugins": (lambda value: value if isinstance(value, list | tuple) else [value], ""),
    "epsilon": (float, "a number from 0 to 1"),
    "temperature": (float, "points, 0 or more"),
    "timeout": (_seconds, f"seconds, above 0 and at most {_DAY}"),
    "seed": (_seed, "a whole number from 0 to 2^63 - 1"),
}
"""How options of these names are read, and what they are expected to be."""


def _read(options: Options) -> Options:
    """Options of the package's agents in the types that these take."""
    plain = dict(options)
    for option, (read, expected) in _READ.items():
        if option in options:
            try:
                plain[option] = read(options[option])
            except (TypeError, ValueError):
                raise AgentError(f"{option}={options[option]!r:.60}: expected {expected}") from None
    return plain
