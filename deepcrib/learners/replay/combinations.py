"""Options of `learner=replay` that do not go together, each refused in one line before anything is made."""

from __future__ import annotations

from deepcrib.errors import OptionError
from deepcrib.learners.replay.options import AlgorithmOptions, ReplayOptions
from deepcrib.training.options import refuse_unread

PRIORITIES = ("priority_exponent", "importance_exponent", "final_importance_exponent")


def refuse_combinations(algorithm: AlgorithmOptions, learner: ReplayOptions) -> None:
    """Raise OptionError for options that contradict each other, or that others leave without effect."""
    _refuse_targets(algorithm, learner)
    if learner.sampling != "prioritised":
        refuse_unread(learner, PRIORITIES, "learner.sampling=prioritised")
    elif learner.combined:
        raise OptionError("learner.combined=true learner.sampling=prioritised: expected one of the two")


def _refuse_targets(algorithm: AlgorithmOptions, learner: ReplayOptions) -> None:
    if algorithm.name == "monte_carlo":
        for name in ("n_steps", "trace_decay"):
            value, default = getattr(algorithm, name), getattr(AlgorithmOptions(), name)
            if value != default:
                raise OptionError(f"algorithm.{name}={value}: monte_carlo has no use for it, expected {default}")
        refuse_unread(learner, ("target_every",), "algorithm=sarsa, expected_sarsa and q_learning")
    if algorithm.n_steps != 1 and algorithm.trace_decay:
        raise OptionError(
            f"algorithm.n_steps={algorithm.n_steps} algorithm.trace_decay={algorithm.trace_decay}: "
            "expected n_steps=1 or trace_decay=0"
        )
    if algorithm.double and algorithm.name != "q_learning":
        raise OptionError(f"algorithm.double=true: expected algorithm=q_learning, not {algorithm.name}")
    if algorithm.double and learner.target_every == 1:
        raise OptionError(
            "algorithm.double=true learner.target_every=1: expected target_every=2 or more, "
            "for a second network to value what the first one chooses"
        )
