"""Options that jobs share, and the checks of every option's value that a type cannot express."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch

from deepcrib.agents.evolutionary import GENOMES
from deepcrib.agents.q_network import INFERENCE
from deepcrib.encoders import DISCARD_ENCODERS, PLAY_ENCODERS
from deepcrib.encoders.partida import ENCODINGS, INPUTS
from deepcrib.engine import DEALING
from deepcrib.errors import OptionError
from deepcrib.networks import DISCARD_NETWORKS, HEADS, PLAY_NETWORKS, DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.statistics.strategies import STRATEGIES
from deepcrib.training.climbers import CLIMBED
from deepcrib.training.evolution_steps import ADJUSTMENTS
from deepcrib.training.options import (
    ALGORITHMS,
    DISCARD_REWARDS,
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

Check = Callable[[Any], str | None]
"""Returns what was expected when the value is not it, else None."""


@dataclass
class RulesOptions:
    """Group `rules`: `acc`, the deal alternates after a cut; `random_dealer`, a coin before every hand."""

    name: str = "acc"


def one_of(choices: Collection[Any]) -> Check:
    """One of a few words or numbers."""
    return lambda value: None if value in choices else f"expected one of {', '.join(map(str, choices))}"


def between(low: float, high: float) -> Check:
    """A number from `low` to `high`, both allowed."""
    return lambda value: None if low <= value <= high else f"expected {low:g} to {high:g}"


def at_least(low: int) -> Check:
    """A number not below `low`."""
    return lambda value: None if low <= value < math.inf else f"expected {low} or more"


def positive(value: float) -> str | None:
    """A finite number above 0."""
    return None if 0 < value < math.inf else "expected a number above 0"


def share(value: float) -> str | None:
    """Above 0, up to 1."""
    return None if 0 < value <= 1 else "expected more than 0, at most 1"


def optional(check: Check) -> Check:
    """None, or what `check` accepts."""
    return lambda value: None if value is None else check(value)


def if_number(check: Check) -> Check:
    """What `check` accepts where the job takes a number; whatever else it takes, paths say, the job checks itself."""
    return lambda value: check(value) if isinstance(value, int | float) else None


def each(check: Check, least: int = 0) -> Check:
    """A list of `least` or more values that `check` accepts."""

    def check_list(values: list[Any]) -> str | None:
        if len(values) < least:
            return f"expected {least} or more values"
        return next((problem for problem in map(check, values) if problem), None)

    return check_list


def distinct(check: Check) -> Check:
    """A list that `check` accepts, without anything twice."""
    return lambda values: check(values) or (None if len(set(values)) == len(values) else "expected nothing twice")


def anything(value: Any) -> None:
    """Whatever it is."""
    return None


def seed_value(value: int) -> str | None:
    """What NumPy and PyTorch both take as a seed."""
    return None if 0 <= value < 2**63 else "expected a whole number from 0 to 2^63 - 1"


def torch_device(value: str) -> str | None:
    """A device that PyTorch can use here."""
    try:
        device = torch.device(value)
    except RuntimeError:
        return "expected a PyTorch device such as cpu, cuda or cuda:1"
    if device.type == "cpu":
        return None
    if device.type != "cuda":
        return "expected cpu or cuda"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return None if (device.index or 0) < count else f"expected a device of this machine ({count} GPUs)"


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
        "lr": positive,
        "teacher_episodes": at_least(1),
        "teacher_epsilon": between(0, 1),
    },
    EvaluationOptions: {
        "every": at_least(0),
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
    learner = getattr(config, "learner", None)
    if isinstance(learner, ReplayOptions):
        _check_replay(learner, config.reward)


def _check_replay(learner: ReplayOptions, reward: RewardOptions) -> None:
    """Options of `learner=replay` that do not go together."""
    if (learner.buffer_size is None) != (learner.replacement is None):
        raise OptionError(
            f"learner.buffer_size={learner.buffer_size} learner.replacement={learner.replacement}: "
            "expected both, or neither"
        )
    if bool(learner.priming) != bool(learner.priming_iterations):
        raise OptionError(
            f"learner.priming={learner.priming} learner.priming_iterations={learner.priming_iterations}: "
            "expected agents and a number of iterations, or neither"
        )
    if reward.game_bonus and (learner.unit == "hands" or learner.buffer_size is not None):
        raise OptionError(
            f"reward.game_bonus={reward.game_bonus:g}: nobody wins a game in single hands, "
            "expected learner.unit=games and no learner.buffer_size"
        )


def _checked_fields(node: Any, prefix: str, checks: dict[str, Check]) -> Iterator[tuple[str, Any, Check]]:
    for item in fields(node):
        value = getattr(node, item.name)
        if item.name in checks:
            yield prefix + item.name, value, checks[item.name]
        if is_dataclass(value):
            yield from _checked_fields(value, f"{prefix}{item.name}.", CHECKS.get(type(value), {}))
