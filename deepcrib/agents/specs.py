"""`make_agent`: from a name, a checkpoint path or a mapping of options to a player.

To add an agent: a line in BUILDERS, or in LOADERS for one that is read from a checkpoint of its own format. Weights
that come with the package, `deepcrib/weights/NAME.safetensors`, are agents by the name NAME.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deepcrib.agents.base import Agent, AgentError
from deepcrib.agents.belanger2019 import load_belanger2019
from deepcrib.agents.best_response import best_response_options
from deepcrib.agents.evolutionary import load_evolutionary
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.agents.minimax import MINIMAX_NAMES, minimax_options
from deepcrib.agents.partida import load_partida
from deepcrib.agents.q_network import load_agent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.agents.td_perceptron import load_td_perceptron
from deepcrib.agents.weighted import WEIGHTED_NAMES, load_weighted, named_weighted, weighted_options
from deepcrib.agents.weighted_network import load_weighted_network
from deepcrib.checkpoints import (
    EVOLUTIONARY_FORMAT,
    FORMAT,
    PARTIDA_FORMAT,
    TD_FORMAT,
    WEIGHTED_FORMAT,
    WEIGHTED_NETWORK_FORMAT,
    read_format,
)
from deepcrib.policies import POLICIES

Options = dict[str, Any]
WEIGHTS = Path(__file__).resolve().parents[1] / "weights"
"""Weights of small trained baselines, with how they were trained in its README."""
_AGENT_OPTIONS = ("name", "discards", "to")
"""Of a mapping: those whose values are agents again, or may be."""


@dataclass(frozen=True)
class Builder:
    """How an agent of a name is made.

    make: (options, device) -> agent. options: what a mapping may give it besides the name. needs: those it must give.
    """

    make: Callable[[Options, str], Agent]
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loader:
    """How the agent of a checkpoint of one format is made.

    load: (path, options, device) -> agent. options: those it takes. lacks: what to say to one it does not take.
    """

    load: Callable[[str, Options, str], Agent]
    options: tuple[str, ...] = ()
    lacks: str = ""


def make_agent(spec: Any, device: str = "cpu") -> Agent:
    """An agent from its spec.

    A name, the path of a checkpoint file or run folder, or a mapping with a `name` and options:
    `{name: q_network, path: PATH, epsilon: 0.05, discards: AGENT}`, `{name: random_weights, seed: 2}`,
    `{name: weighted, initial: hand_max_avg, strategies: [...]}`. Raises AgentError, OptionError or CheckpointError.
    """
    if isinstance(spec, str | os.PathLike):
        return _from_text(str(spec), device)
    if isinstance(spec, Mapping):
        return _from_mapping({str(key): value for key, value in spec.items()}, device)
    raise AgentError(f"not an agent: {spec!r} (expected a name, a checkpoint path or {{name: NAME, option: value}})")


def absolute_spec(spec: Any) -> Any:
    """A spec in plain JSON values, with every path of a checkpoint made absolute: it holds wherever it is read."""
    if isinstance(spec, Mapping):
        return {str(key): _absolute_option(str(key), value) for key, value in spec.items()}
    text = os.fspath(spec) if isinstance(spec, str | os.PathLike) else ""
    if text in BUILDERS or text in packaged_weights() or not _is_path(text):
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


def packaged_weights() -> dict[str, Path]:
    """The weights that come with the package, by name."""
    return {path.stem: path for path in sorted(WEIGHTS.glob("*.safetensors"))}


def _from_text(text: str, device: str) -> Agent:
    if text in BUILDERS:
        return _build(text, {}, device)
    packaged = packaged_weights()
    if text in packaged:
        agent = _from_checkpoint(str(packaged[text]), {}, device)
        agent.name = text
        return agent
    if _is_path(text):
        return _from_checkpoint(text, {}, device)
    names = ", ".join(_shown_names())
    raise AgentError(f"unknown agent {text!r} (expected one of {names}, or the path of a checkpoint)")


def _from_mapping(spec: Options, device: str) -> Agent:
    name = spec.pop("name", "q_network" if "path" in spec else None)
    if not isinstance(name, str):
        raise AgentError(f"agent {spec or name!r} has no name (expected one of {', '.join(_shown_names())})")
    if name in BUILDERS:
        return _build(name, spec, device)
    if spec:
        raise AgentError(f"agent {name!r} has no option {next(iter(spec))!r} (expected none)")
    return _from_text(name, device)


def _absolute_option(option: str, value: Any) -> Any:
    if option == "path":
        return str(Path(str(value)).absolute())
    return absolute_spec(value) if option in _AGENT_OPTIONS else value


def _build(name: str, options: Options, device: str) -> Agent:
    builder = BUILDERS[name]
    for option in options:
        if option not in builder.options:
            expected = f"one of {', '.join(builder.options)}" if builder.options else "none"
            raise AgentError(f"agent {name!r} has no option {option!r} (expected {expected})")
    for option in builder.needs:
        if options.get(option) is None:
            raise AgentError(f"agent {name!r} needs the option {option}, as {{name: {name}, {option}: ...}}")
    return builder.make(options, device)


def _from_checkpoint(path: str, options: Options, device: str) -> Agent:
    """The agent of a checkpoint of whatever format."""
    loader = LOADERS.get(read_format(path), LOADERS[FORMAT])
    for option, value in options.items():
        if value is not None and option not in loader.options:
            raise AgentError(f"{path} {loader.lacks}: expected no option {option}")
    return loader.load(path, {option: value for option, value in options.items() if value is not None}, device)


def _shown_names() -> tuple[str, ...]:
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


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise AgentError(f"epsilon={value!r}: expected a number from 0 to 1") from None


def _seed(options: Options) -> int:
    value = options.get("seed", 1)
    if isinstance(value, int) and 0 <= value < 2**63:
        return value
    raise AgentError(f"seed={value!r}: expected a whole number from 0 to 2^63 - 1")


# --- checkpoints ------------------------------------------------------------------------------------------------


def _load_q_network(path: str, options: Options, device: str) -> Agent:
    discards = make_agent(options["discards"], device) if "discards" in options else None
    return load_agent(path, device, options.get("epsilon", 0.0), discards, partial(make_agent, device=device))


def _load_weighted(path: str, options: Options, device: str) -> Agent:
    return load_weighted(path)


def _load_weighted_network(path: str, options: Options, device: str) -> Agent:
    return load_weighted_network(path, device, options.get("epsilon", 0.0))


def _load_partida(path: str, options: Options, device: str) -> Agent:
    return load_partida(path, make_agent(options.get("discards", "expected_value"), device))


def _load_td_perceptron(path: str, options: Options, device: str) -> Agent:
    return load_td_perceptron(path)


def _load_evolutionary(path: str, options: Options, device: str) -> Agent:
    return load_evolutionary(path)


LOADERS = {
    FORMAT: Loader(_load_q_network, ("epsilon", "discards")),
    WEIGHTED_FORMAT: Loader(_load_weighted, (), "holds weighted strategies, which do not explore"),
    TD_FORMAT: Loader(_load_td_perceptron, (), "holds a TD perceptron, which does not explore"),
    WEIGHTED_NETWORK_FORMAT: Loader(_load_weighted_network, ("epsilon",), "discards by strategies"),
    PARTIDA_FORMAT: Loader(_load_partida, ("discards",), "does not explore"),
    EVOLUTIONARY_FORMAT: Loader(_load_evolutionary, (), "holds the values of cards, which do not explore"),
}
"""By the format of a checkpoint; a file of no known format is refused by the first."""


# --- names ------------------------------------------------------------------------------------------------------


def _by_path(options: Options, device: str) -> Agent:
    epsilon = {"epsilon": _number(options["epsilon"])} if "epsilon" in options else {}
    if epsilon == {"epsilon": 0.0}:  # what every agent of a checkpoint does
        epsilon = {}
    return _from_checkpoint(str(options["path"]), {"discards": options.get("discards"), **epsilon}, device)


def _belanger2019(options: Options, device: str) -> Agent:
    return load_belanger2019(str(options["path"]), device, _number(options.get("epsilon", 0.0)))


def _scripted(name: str, options: Options, device: str) -> Agent:
    return ScriptedAgent(name)


def _expected_value(options: Options, device: str) -> Agent:
    return ExpectedValueAgent()


def _expected_value_pegging(options: Options, device: str) -> Agent:
    return ExpectedValueAgent(pegging=True)


def _minimax(name: str, options: Options, device: str) -> Agent:
    return minimax_options(name, options, make_agent(options.get("discards", "expected_value"), device))


def _best_response(options: Options, device: str) -> Agent:
    return best_response_options(options, make_agent(options["to"], device))


def _weighted(options: Options, device: str) -> Agent:
    return weighted_options({**options, "seed": _seed(options)})


def _named_weighted(name: str, options: Options, device: str) -> Agent:
    return named_weighted(name, _seed(options))


BUILDERS: dict[str, Builder] = {
    **{name: Builder(partial(_scripted, name)) for name in POLICIES},
    "expected_value": Builder(_expected_value),
    "expected_value_pegging": Builder(_expected_value_pegging),
    **{name: Builder(partial(_minimax, name), ("samples", "hands", "discards")) for name in MINIMAX_NAMES},
    "best_response": Builder(_best_response, ("to", "within"), ("to",)),
    "weighted": Builder(_weighted, ("initial", "seed", "strategies")),
    "q_network": Builder(_by_path, ("path", "epsilon", "discards"), ("path",)),
    "belanger2019": Builder(_belanger2019, ("path", "epsilon"), ("path",)),
    **{
        name: Builder(partial(_named_weighted, name), ("seed",) if name == "random_weights" else ())
        for name in WEIGHTED_NAMES
    },
}
"""By name, in the order in which they are shown."""
