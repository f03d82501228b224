"""`make_agent`: from a name, a checkpoint path or a mapping of options to a player.

To add an agent: a line in BUILDERS, or in LOADED for one with weights. Those that come with the package
(`agents.packaged`) are agents by their file's name. `package.module:Class` needs nothing here.

An agent's code is imported when it is asked for, so that a match of scripted players waits for no PyTorch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from deepcrib.agents.base import Agent, AgentError, checked_agent
from deepcrib.agents.outside import is_place, make_outside
from deepcrib.agents.packaged import CHAMPION, CHAMPIONS_OWN, packaged_weights
from deepcrib.exact.strategies.names import STRATEGIES
from deepcrib.files.weights import CheckpointError, read_weights
from deepcrib.options import did_you_mean

Options = dict[str, Any]
SCRIPTED_NAMES = ("random", "deterministic", "greedy")
MINIMAX_NAMES = ("minimax", "greedy_minimax")
SEMI_PURE = "semi_pure_"
WEIGHTED_NAMES = ("random_weights", *STRATEGIES, *(f"{SEMI_PURE}{name}" for name in STRATEGIES))
"""Of `learners.weighted.agent`: random weights, each pure strategy, each semi-pure one."""
_AGENT_OPTIONS = ("name", "discards", "to", "agent", "rollouts")
"""Of a mapping: those whose values are agents again, or may be."""


@dataclass(frozen=True)
class Builder:
    """How an agent is made.

    make: `module:function`, imported when the agent is asked for and called with these options by their names.
    options: what a mapping may give. needs: those it must give. agents: those that are specs of agents, which are made
    first, with the agent that stands where none is given. fixed: options that are not the caller's. device: whether it
    has the option `device`, that of networks. lacks: what is said of weights whose agent does
    not take an option, if not which it takes.
    """

    make: str
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    agents: Mapping[str, str | None] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    device: bool = False
    lacks: str = ""


def make_agent(spec: Any, device: str = "cpu") -> Agent:
    """An agent from its spec; an agent itself is returned as it is.

    A name, the path of a checkpoint file or run folder, `package.module:Class` of an agent from outside the package
    (`agents.outside`), or a mapping with a `name` and options: `{name: random_weights, seed: 2}`,
    `{name: q_network, path: PATH, epsilon: 0.05, discards: AGENT}`, `{name: "my_agent:Mine", depth: 2}`.
    Raises AgentError, OptionError or CheckpointError.
    """
    if isinstance(spec, str | os.PathLike):
        return _from_text(str(spec), device)
    if isinstance(spec, Mapping):
        return _from_mapping({str(key): value for key, value in spec.items()}, device)
    if (hasattr(spec, "discard") or hasattr(spec, "play")) and not isinstance(spec, type):
        return checked_agent(spec)
    expected = "expected a name, a checkpoint path, package.module:Class or {name: NAME, option: value}"
    raise AgentError(f"not an agent: {spec!r} ({expected})")


def absolute_spec(spec: Any) -> Any:
    """A spec in plain JSON values, with every path of a checkpoint made absolute: it holds wherever it is read."""
    if isinstance(spec, Mapping):
        return {str(key): _absolute_option(str(key), value) for key, value in spec.items()}
    text = os.fspath(spec) if isinstance(spec, str | os.PathLike) else ""
    if text in BUILDERS or text in packaged_weights() or is_place(text) or not _is_path(text):
        return spec
    return str(Path(text).absolute())


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
    if text in BUILDERS:
        return _build_named(text, {}, device)
    if text in packaged_weights():
        return _packaged(text, {}, device)
    if is_place(text):
        return make_outside(text, {})
    if _is_path(text):
        return load_checkpoint(text, device)
    expected = f"one of {', '.join(shown_names())}, the path of a checkpoint, or package.module:Class"
    raise AgentError(f"unknown agent {text!r}: {did_you_mean(text, shown_names())}expected {expected}")


def _from_mapping(spec: Options, device: str) -> Agent:
    name = spec.pop("name", "q_network" if "path" in spec else None)
    if not isinstance(name, str):
        raise AgentError(f"agent {spec or name!r} has no name (expected one of {', '.join(shown_names())})")
    if name in BUILDERS:
        return _build_named(name, spec, device)
    if is_place(name):
        return make_outside(name, spec)
    if name in packaged_weights():
        return _packaged(name, spec, device)
    if spec:
        raise AgentError(f"agent {name!r} has no option {next(iter(spec))!r} (expected none)")
    return _from_text(name, device)


def _packaged(name: str, options: Options, device: str) -> Agent:
    """A trained agent that comes with the package, under its name there."""
    agent = load_checkpoint(str(packaged_weights()[name]), device, **_read(options))
    agent.name = name
    return agent


def _absolute_option(option: str, value: Any) -> Any:
    if option == "path":
        return str(Path(str(value)).absolute())
    return absolute_spec(value) if option in _AGENT_OPTIONS else value


def _build_named(name: str, options: Options, device: str) -> Agent:
    builder = BUILDERS[name]
    for option in options:
        if option not in builder.options:
            expected = f"one of {', '.join(builder.options)}" if builder.options else "none"
            raise AgentError(f"agent {name!r} has no option {option!r} (expected {expected})")
    for option in builder.needs:
        if options.get(option) is None:
            raise AgentError(f"agent {name!r} needs the option {option}, as {{name: {name}, {option}: ...}}")
    return _build(builder, _read(options), device)


def _read(options: Options) -> Options:
    """Options in the types that agents take."""
    return {option: _READ[option](value) if option in _READ else value for option, value in options.items()}


def load_checkpoint(path: str, device: str, **options: Any) -> Agent:
    """The agent of weights in a file, or of a finished run folder; options that are None are not given."""
    saved = read_weights(path)
    if saved.agent not in LOADED:
        raise CheckpointError(f"{path} holds weights of {saved.agent!r}, expected one of {', '.join(LOADED)}")
    builder = LOADED[saved.agent]
    given = {option: value for option, value in options.items() if value is not None}
    for option in ("epsilon", "temperature"):
        if given.get(option) == 0.0:  # what every agent of a checkpoint does
            del given[option]
    for option in given:
        if option not in builder.options:
            lacks = builder.lacks or f"takes {', '.join(builder.options)}"
            raise AgentError(f"{path} {lacks}: expected no option {option}")
    return _build(builder, {"saved": saved, **given}, device)


def _build(builder: Builder, options: Options, device: str) -> Agent:
    """Import what makes the agent, and call it."""
    specs = {option: spec for option, spec in builder.agents.items() if spec is not None} | options
    agents = {option: make_agent(specs[option], device) for option in builder.agents if option in specs}
    make = _imported(builder.make)
    return make(**{**options, **agents, **builder.fixed, **({"device": device} if builder.device else {})})


def _imported(place: str) -> Callable[..., Agent]:
    module, _, function = place.partition(":")
    found: Callable[..., Agent] = getattr(import_module(module), function)
    return found


def shown_names() -> tuple[str, ...]:
    """The names of agents; strategies stand for all of theirs."""
    own = [name for name in BUILDERS if name not in WEIGHTED_NAMES]
    return (*own, "random_weights", "STRATEGY", "semi_pure_STRATEGY", *packaged_weights())


def _is_path(text: str) -> bool:
    """Whether a text that is no name is meant as the path of a checkpoint."""
    return os.sep in text or text.endswith(".safetensors") or _exists(text)


def _exists(text: str) -> bool:
    try:
        return text != "" and Path(text).exists()
    except OSError:  # longer than a file name can be
        return False


def _number(option: str, expected: str) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise AgentError(f"{option}={value!r}: expected {expected}") from None

    return read


def _seed(value: Any) -> int:
    if isinstance(value, int) and 0 <= value < 2**63:
        return value
    raise AgentError(f"seed={value!r}: expected a whole number from 0 to 2^63 - 1")


_READ: dict[str, Callable[[Any], Any]] = {
    "path": str,
    "epsilon": _number("epsilon", "a number from 0 to 1"),
    "temperature": _number("temperature", "points, 0 or more"),
    "seed": _seed,
}
"""How options of these names are read, before an agent is imported."""

LOADED = {
    "q_network": Builder(
        "deepcrib.agents.q_network:from_weights",
        ("epsilon", "temperature", "discards"),
        agents={"discards": None},
        device=True,
    ),
    "weighted": Builder(
        "deepcrib.learners.weighted.agent:from_weights", lacks="holds weighted strategies, which do not explore"
    ),
    "weighted_network": Builder(
        "deepcrib.learners.weighted_network.agent:from_weights",
        ("epsilon",),
        device=True,
        lacks="discards by strategies",
    ),
    "partida": Builder(
        "deepcrib.learners.partida.agent:from_weights",
        ("discards",),
        agents={"discards": "expected_value"},
        lacks="does not explore",
    ),
    "td": Builder("deepcrib.learners.td.agent:from_weights", lacks="holds a TD perceptron, which does not explore"),
    "evolution": Builder(
        "deepcrib.learners.evolution.agent:from_weights", lacks="holds the values of cards, which do not explore"
    ),
    "policy_network": Builder(
        "deepcrib.agents.policy_network:from_weights",
        ("discards",),
        agents={"discards": None},
        device=True,
        lacks="holds a mixed policy, which does not explore",
    ),
}
"""Agents of weights, by the names that files have for them; `saved` are their `files.weights.SavedWeights`."""


_LOOKAHEAD = Builder(
    "deepcrib.search.lookahead:LookaheadAgent",
    ("agent", "rollouts", "hands", "within", "doubt", "late"),
    agents=CHAMPIONS_OWN,
)
_WEIGHTED = "deepcrib.learners.weighted.agent:named_weighted"
BUILDERS: dict[str, Builder] = {
    **{name: Builder("deepcrib.agents.scripted:ScriptedAgent", fixed={"name": name}) for name in SCRIPTED_NAMES},
    "expected_value": Builder("deepcrib.agents.expected_value:ExpectedValueAgent"),
    "expected_value_pegging": Builder("deepcrib.agents.expected_value:ExpectedValueAgent", fixed={"pegging": True}),
    **{
        name: Builder(
            "deepcrib.search.minimax:MinimaxAgent",
            ("samples", "hands", "discards"),
            agents={"discards": "expected_value"},
            fixed={"name": name, "greedy": name == MINIMAX_NAMES[1]},
        )
        for name in MINIMAX_NAMES
    },
    "best_response": Builder(
        "deepcrib.search.best_response:BestResponseAgent", ("to", "within"), ("to",), agents={"to": None}
    ),
    "lookahead": _LOOKAHEAD,
    CHAMPION: replace(  # its networks' values are too good for trying cards by points to pay: near the end alone
        _LOOKAHEAD,
        options=tuple(option for option in _LOOKAHEAD.options if option != "within"),
        fixed={"name": CHAMPION, "within": 0},
    ),
    "weighted": Builder("deepcrib.learners.weighted.agent:weighted_agent", ("initial", "seed", "strategies")),
    "q_network": Builder(
        "deepcrib.agents.specs:load_checkpoint", ("path", *LOADED["q_network"].options), ("path",), device=True
    ),
    "belanger2019": Builder(
        "deepcrib.agents.belanger2019:load_belanger2019", ("path", "epsilon"), ("path",), device=True
    ),
    **{name: Builder(_WEIGHTED, fixed={"name": name}) for name in WEIGHTED_NAMES},
    "random_weights": Builder(_WEIGHTED, ("seed",), fixed={"name": "random_weights"}),
}
"""By name, in the order in which they are shown."""
