"""The checks of what learners can be told: every option's value that a type cannot express."""

from __future__ import annotations

from deepcrib.agents.q_network import INFERENCE
from deepcrib.exact.strategies.names import STRATEGIES
from deepcrib.jobs.shared.checks import (
    Check,
    anything,
    ascending,
    at_least,
    between,
    distinct,
    each,
    one_of,
    optional,
    positive,
    seed_value,
    share,
)
from deepcrib.jobs.shared.rules import RULES_CHECKS, RulesOptions
from deepcrib.learners.evolution.agent import GENOMES
from deepcrib.learners.evolution.options import EvolutionOptions
from deepcrib.learners.evolution.steps import ADJUSTMENTS
from deepcrib.learners.hill_climb.climbers import CLIMBED
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.partida.fitting import OPTIMIZERS
from deepcrib.learners.partida.inputs import ENCODINGS, INPUTS
from deepcrib.learners.partida.options import PartidaOptions
from deepcrib.learners.replay.options import (
    ALGORITHMS,
    DISCARD_REWARDS,
    PRETRAINING_OPTIMIZERS,
    AlgorithmOptions,
    PretrainingOptions,
    ReplayOptions,
    RewardOptions,
    StateOptions,
)
from deepcrib.learners.replay.rewards import PLAY_REWARDS
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.learners.weighted.state import READINGS
from deepcrib.learners.weighted_network.options import WeightedNetworkOptions
from deepcrib.networks import DISCARD_NETWORKS, HEADS, PLAY_NETWORKS, DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.networks.encoders import DISCARD_ENCODERS, PLAY_ENCODERS
from deepcrib.training.options import EvaluationOptions

HEAD_CHECKS: dict[str, Check] = {
    "head": one_of(HEADS),
    "atoms_low": between(-1000, 1000),
    "atoms_high": between(-1000, 1000),
}
"""Of both networks."""
CHECKS: dict[type, dict[str, Check]] = {
    RulesOptions: RULES_CHECKS,
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
