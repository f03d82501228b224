"""Options of a job that each are in range and do not go together, refused in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deepcrib.errors import OptionError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    from deepcrib.learners.replay.options import ReplayOptions, RewardOptions
    from deepcrib.training.options import EvaluationOptions, LearnerOptions


REPLAY = "replay"
"""The learner whose options they mostly are."""


def check_together(config: Any) -> None:
    """Refuse what contradicts each other in a job's config, if it has a learner and matches. Raises OptionError."""
    learner, evaluation = (getattr(config, name, None) for name in ("learner", "evaluation"))
    if learner is not None and learner.name == REPLAY:
        _check_replay(learner, config.reward)
    if learner is not None and evaluation is not None:
        _check_evaluation(learner, evaluation)


def check_heard(config: Any, overrides: Sequence[Override]) -> None:
    """Refuse an override `evaluation.every` that would pass unheard beside a list of iterations. Raises OptionError."""
    evaluation = getattr(config, "evaluation", None)
    if evaluation is not None and evaluation.monitored and evaluation.at:
        for override in overrides:
            if override.key_or_group == "evaluation.every":
                place = f"evaluation.at={evaluation.at} takes its place, expected evaluation.at=null beside it"
                raise OptionError(f"{override.input_line}: {place}")


def _check_evaluation(learner: LearnerOptions, evaluation: EvaluationOptions) -> None:
    """What other learners do not read."""
    for name in ("at", "exploring"):
        value = getattr(evaluation, name)
        if value and learner.name != REPLAY:
            raise OptionError(
                f"evaluation.{name}={value}: learner={learner.name} does not read it, only learner=replay"
            )


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
