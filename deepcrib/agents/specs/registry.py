"""The agents of the package by name, and how each is made.

To add an agent: a line in BUILDERS, or in LOADED for one with weights. Those that come with the package
(`agents.packaged`) are agents by their file's name. `package.module:Class` needs nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deepcrib.agents.packaged import CHAMPION, CHAMPIONS_OWN, packaged_weights
from deepcrib.exact.strategies.names import STRATEGIES

SCRIPTED_NAMES = ("random", "deterministic", "greedy")
MINIMAX_NAMES = ("minimax", "greedy_minimax")
SEMI_PURE = "semi_pure_"
WEIGHTED_NAMES = ("random_weights", *STRATEGIES, *(f"{SEMI_PURE}{name}" for name in STRATEGIES))
"""Of `learners.weighted.agent`: random weights, each pure strategy, each semi-pure one."""


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
        "deepcrib.agents.specs.making:load_checkpoint", ("path", *LOADED["q_network"].options), ("path",), device=True
    ),
    "belanger2019": Builder(
        "deepcrib.agents.belanger2019:load_belanger2019", ("path", "epsilon"), ("path",), device=True
    ),
    **{name: Builder(_WEIGHTED, fixed={"name": name}) for name in WEIGHTED_NAMES},
    "random_weights": Builder(_WEIGHTED, ("seed",), fixed={"name": "random_weights"}),
}
"""By name, in the order in which they are shown."""


def is_name(text: str) -> bool:
    """Whether a text is the name of an agent of the package."""
    return text in BUILDERS or text in packaged_weights()


def shown_names() -> tuple[str, ...]:
    """The names of agents; strategies stand for all of theirs."""
    own = [name for name in BUILDERS if name not in WEIGHTED_NAMES]
    return (*own, "random_weights", "STRATEGY", "semi_pure_STRATEGY", *packaged_weights())
