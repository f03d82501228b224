"""The agents of the package by name, and how each is made.

To add an agent: a line in BUILDERS, or in LOADED for one with weights. Those that come with the package
(`agents.packaged`) are agents by their file's name. `package.module:Class` needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from deepcrib.agents.packaged import CHAMPION, CHAMPIONS_OWN, LEVELS, LIBRARY, packaged_weights
from deepcrib.exact.strategies.names import STRATEGIES
from deepcrib.options import object_at

SCRIPTED_NAMES = ("random", "deterministic", "greedy")
MINIMAX_NAMES = ("minimax", "greedy_minimax")
SEMI_PURE = "semi_pure_"
WEIGHTED_NAMES = ("random_weights", *STRATEGIES, *(f"{SEMI_PURE}{name}" for name in STRATEGIES))
"""Of `learners.weighted.agent`: random weights, each pure strategy, each semi-pure one."""


@dataclass(frozen=True)
class Builder:
    """How an agent is made.

    make: `module:function`, imported when the agent is asked for; its parameters are the agent's options, without
    those that are `fixed`, the weights (`saved`) and the `device` of networks. agents: the options that are specs of
    agents, or lists of such, which are made first, with what stands where none is given.
    """

    make: str
    agents: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def function(self) -> Callable[..., Any]:
        """What makes the agent."""
        return object_at(self.make)

    def options(self) -> dict[str, bool]:
        """The names of its options, and whether each must be given."""
        own = {"saved", "device", *self.fixed}
        parameters = {name: one for name, one in signature(self.function()).parameters.items() if name not in own}
        return {name: one.default is one.empty and not self.agents.get(name) for name, one in parameters.items()}


_DISCARDS: dict[str, Any] = {"discards": None}
LOADED = {
    "q_network": Builder("deepcrib.agents.q_network:from_weights", _DISCARDS),
    "weighted": Builder("deepcrib.learners.weighted.agent:from_weights"),
    "partida": Builder("deepcrib.learners.partida.agent:from_weights", {"discards": "expected_value"}),
    "td": Builder("deepcrib.learners.td.agent:from_weights"),
    "evolution": Builder("deepcrib.learners.evolution.agent:from_weights"),
    "policy_network": Builder("deepcrib.agents.policy_network:from_weights", _DISCARDS),
}
"""Agents of weights, by the names that files have for them; `saved` are their `files.weights.SavedWeights`."""


_LOOKAHEAD = "deepcrib.search.lookahead:LookaheadAgent"
_ADAPTIVE = "deepcrib.search.adaptive:AdaptiveAgent"
_EXPECTED_VALUE = "deepcrib.agents.expected_value:ExpectedValueAgent"
_LEVEL = "deepcrib.agents.specs.making:level_agent"
_MINIMAX = "deepcrib.search.minimax:MinimaxAgent"
_WEIGHTED = "deepcrib.learners.weighted.agent:named_weighted"
BUILDERS: dict[str, Builder] = {
    **{name: Builder("deepcrib.agents.scripted:ScriptedAgent", fixed={"name": name}) for name in SCRIPTED_NAMES},
    "expected_value": Builder(_EXPECTED_VALUE, fixed={"pegging": False}),
    "expected_value_pegging": Builder(_EXPECTED_VALUE, fixed={"pegging": True}),
    **{
        name: Builder(_MINIMAX, {"discards": "expected_value"}, {"name": name, "greedy": name == MINIMAX_NAMES[1]})
        for name in MINIMAX_NAMES
    },
    "best_response": Builder("deepcrib.search.best_response:BestResponseAgent", {"to": None}),
    "lookahead": Builder(_LOOKAHEAD, CHAMPIONS_OWN | {"opponent": None}, {"name": "lookahead"}),
    # Its networks' values are too good for trying cards by points to pay: near the end alone.
    CHAMPION: Builder(_LOOKAHEAD, CHAMPIONS_OWN, {"name": CHAMPION, "within": 0, "opponent": None}),
    **{
        name: Builder(_LEVEL, fixed={"name": name, "temperature": temperature, "epsilon": epsilon})
        for name, (temperature, epsilon) in LEVELS.items()
    },
    "adaptive": Builder(_ADAPTIVE, CHAMPIONS_OWN | {"library": LIBRARY}, {"name": "adaptive"}),
    "weighted": Builder("deepcrib.learners.weighted.agent:weighted_agent"),
    "q_network": Builder("deepcrib.agents.specs.making:load_checkpoint", _DISCARDS),
    "command": Builder("deepcrib.agents.command:CommandAgent"),
    **{name: Builder(_WEIGHTED, fixed={"name": name, "seed": 1}) for name in WEIGHTED_NAMES},
    "random_weights": Builder(_WEIGHTED, fixed={"name": "random_weights"}),
}
"""By name, in the order in which they are shown."""


def is_name(text: str) -> bool:
    """Whether a text is the name of an agent of the package."""
    return text in BUILDERS or text in packaged_weights()


def shown_names() -> tuple[str, ...]:
    """The names of agents; strategies stand for all of theirs."""
    own = [name for name in BUILDERS if name not in WEIGHTED_NAMES]
    return (*own, "random_weights", "STRATEGY", "semi_pure_STRATEGY", *packaged_weights())
