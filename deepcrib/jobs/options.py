"""Options that jobs share, and the checks of every option's value that a type cannot express."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from deepcrib.agents.evolutionary import GENOMES
from deepcrib.agents.q_network import INFERENCE
from deepcrib.encoders import DISCARD_ENCODERS, PLAY_ENCODERS
from deepcrib.encoders.partida import ENCODINGS, INPUTS
from deepcrib.engine import DEALING
from deepcrib.errors import OptionError
from deepcrib.jobs.checks import (
    Check,
    anything,
    ascending,
    at_least,
    between,
    distinct,
    each,
    if_number,
    one_of,
    optional,
    positive,
    seed_value,
    share,
    torch_device,
)
from deepcrib.jobs.options_together import check_together
from deepcrib.networks import DISCARD_NETWORKS, HEADS, PLAY_NETWORKS, DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.statistics.strategy_names import STRATEGIES
from deepcrib.training.climbers import CLIMBED
from deepcrib.training.evolution_steps import ADJUSTMENTS
from deepcrib.training.options import (
    ALGORITHMS,
    DISCARD_REWARDS,
    PRETRAINING_OPTIMIZERS,
    AlgorithmOptions,
    EvaluationOptions,
    EvolutionOptions,
    HillClimbOptions,
    PartidaOptions,
    PretrainingOptions,
    ReplayOptions,
    RewardOptions,
    StateOptions,
    TdOptions,
    WeightedNetworkOptions,
    WeightedOptions,
)
from deepcrib.training.partida_fitting import OPTIMIZERS
from deepcrib.training.rewards import PLAY_REWARDS
from deepcrib.training.weighted_state import READINGS


@dataclass
class RulesOptions:
    """Group `rules`: `acc`, the deal alternates after a cut; `random_dealer`, a coin before every hand."""

    name: str = "acc"


HEAD_CHECKS: dict[str, Check] = {
    "head": one_of(HEADS),
    "atoms_low": between(-1000, 1000),
    "atoms_high": between(-1000, 1000),
}
"""Of both networks."""
CHECKS: dict[type, dict[str, Check]] = {
    RulesOptions: {"name": one_of(DEALING)},
    AlgorithmOptions: {"name": one_of(ALGORITHMS), "n_steps": at_least(1), "trace_decay": between(0, 1)},
    RewardOptions: {
        "play": one_of(PLAY_REWARDS),
        "discard": one_of(DISCARD_REWARDS),
        "game_bonus": at_least(0),
        "hand_bonus": at_least(0),
    },
    StateOptions: {"play": one_of(PLAY_ENCODERS), "discard": one_of(DISCARD_ENCODERS)},
    ReplayOptions: {
        "iterations": at_least(1),
        "unit": one_of(("games", "hands")),
        "episodes": at_least(1),
        "epochs_kept": at_least(1),
        "buffer_size": optional(at_least(1)),
        "replacement": optional(share),
        "batch_size": at_least(1),
        "passes": positive,
        "sampling": one_of(("uniform", "prioritised")),
        "priority_exponent": between(0, 1),
        "importance_exponent": between(0, 1),
        "final_importance_exponent": between(0, 1),
        "target_every": at_least(1),
        "inference": one_of(INFERENCE),
        "epsilon": between(0, 1),
        "epsilon_decay": share,
        "discard_lr": positive,
        "play_lr": positive,
        "lr_decay": share,
        "lr_schedule": one_of(("exponential", "linear")),
        "checkpoint_every": at_least(1),
        "opponent_share": share,
        "past_every": at_least(1),
        "past_kept": at_least(1),
        "priming_iterations": at_least(0),
    },
    WeightedOptions: {
        "games": at_least(1),
        "strategies": distinct(each(one_of(STRATEGIES), least=1)),
        "opponents": each(anything, least=1),
        "pairs": one_of(("first", "random")),
        "switch_every": at_least(1),
        "scaling": positive,
        "decay": between(0, 1),
        "reading": one_of(tuple(READINGS)),
        "punishment": at_least(0),
        "cap": optional(share),
        "exploration": one_of(("constant", "variance")),
        "epsilon": between(0, 1),
        "explore_by": one_of(("uniform", "preference")),
        "neighbours": one_of(("none", "average", "sum")),
        "neighbour_share": between(0, 1),
        "start_spread": between(0, 120),
        "records": one_of(("exact", "sampled")),
        "record_hands": at_least(1),
        "play": one_of(("greedy", "weighted")),
        "checkpoint_every": at_least(1),
    },
    WeightedNetworkOptions: {
        "games": at_least(1),
        "strategies": distinct(each(one_of(STRATEGIES), least=1)),
        "hidden": each(at_least(1)),
        "target": one_of(("win", "margin")),
        "returns": one_of(("game", "hand")),
        "decay": between(0, 1),
        "epsilon": between(0, 1),
        "start_spread": between(0, 120),
        "batch_games": at_least(1),
        "batch_size": at_least(1),
        "lr": positive,
        "lr_schedule": one_of(("linear", "constant")),
        "checkpoint_every": at_least(1),
    },
    PartidaOptions: {
        "inputs": one_of(INPUTS),
        "encoding": one_of(ENCODINGS),
        "opponent": one_of(("greedy", "self")),
        "sessions": at_least(1),
        "games_per_fit": at_least(1),
        "target": one_of(("whole", "rest")),
        "epsilon": between(0, 1),
        "optimizer": one_of(OPTIMIZERS),
        "batch_size": at_least(1),
        "lr": positive,
        "lr_schedule": one_of(("linear", "constant")),
        "measure_every": at_least(1),
        "hands": at_least(2),
        "final_hands": at_least(2),
        "checkpoint_every": at_least(1),
    },
    TdOptions: {
        "hands": at_least(1),
        "hidden": each(at_least(1), least=1),
        "inputs": one_of(("raw", "features")),
        "move_points": one_of(("learned", "added")),
        "initial_deviation": at_least(0),
        "lr": positive,
        "lr_schedule": one_of(("constant", "linear")),
        "trace_decay": between(0, 1),
        "epsilon": between(0, 1),
        "pairs": at_least(0),
        "checkpoint_every": at_least(1),
    },
    EvolutionOptions: {
        "generations": at_least(1),
        "deals": at_least(1),
        "genome": one_of(GENOMES),
        "cards": one_of(("same", "different")),
        "score": one_of(("hand", "crib")),
        "update": one_of(("threshold", "population")),
        "measure_every": at_least(1),
        "held_out": at_least(2),
        "checkpoint_every": at_least(1),
        "against": one_of(("opponent", "optimal")),
        "threshold": share,
        "adjust": one_of(ADJUSTMENTS),
        "rate": positive,
        "sigma": positive,
        "population": at_least(2),
        "parents": at_least(1),
    },
    HillClimbOptions: {
        "games": at_least(2),
        "unit": one_of(("games", "hands")),
        "climb": one_of(CLIMBED),
        "genome": one_of(GENOMES),
        "start": one_of(("zero", "random")),
        "pairs": at_least(1),
        "sigma": positive,
        "share": between(0, 1),
        "final_share": optional(between(0, 1)),
        "step": share,
        "checkpoint_every": at_least(1),
    },
    PretrainingOptions: {
        "epochs": at_least(1),
        "batch_size": at_least(1),
        "optimizer": one_of(PRETRAINING_OPTIMIZERS),
        "lr": positive,
        "teacher_episodes": at_least(1),
        "teacher_epsilon": between(0, 1),
    },
    EvaluationOptions: {
        "every": at_least(0),
        "at": optional(ascending(each(at_least(0)))),
        "games": at_least(1),
        "final_games": at_least(1),
        "epsilon": between(0, 1),
        "hands": at_least(0),
        "seed": optional(seed_value),
    },
    DiscardNetworkConfig: {
        "name": one_of(DISCARD_NETWORKS),
        "hidden": each(at_least(1)),
        "channels": at_least(1),
        **HEAD_CHECKS,
    },
    PlayNetworkConfig: {
        "name": one_of(PLAY_NETWORKS),
        "hidden": each(at_least(1)),
        "channels": at_least(1),
        "lstm_hidden": at_least(1),
        **HEAD_CHECKS,
    },
}
COMMON_CHECKS: dict[str, Check] = {
    "seed": optional(seed_value),
    "threads": at_least(1),
    "games": if_number(at_least(1)),
    "matches": at_least(1),
    "device": torch_device,
}
"""Of the options at the top of every job's config."""


def check_values(config: Any) -> None:
    """Refuse the first option of a job's config, nested ones included, whose value is out of its range."""
    for path, value, check in _checked_fields(config, "", COMMON_CHECKS):
        problem = check(value)
        if problem:
            raise OptionError(f"{path}={value}: {problem}")
    check_together(config)


def _checked_fields(node: Any, prefix: str, checks: dict[str, Check]) -> Iterator[tuple[str, Any, Check]]:
    for item in fields(node):
        value = getattr(node, item.name)
        if item.name in checks:
            yield prefix + item.name, value, checks[item.name]
        if is_dataclass(value):
            yield from _checked_fields(value, f"{prefix}{item.name}.", CHECKS.get(type(value), {}))
