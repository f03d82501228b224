"""All checks of a composed config: every option by itself, and what does not go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from deepcrib.errors import OptionError
from deepcrib.jobs.hydra.resume import take_specs
from deepcrib.jobs.hydra.schema import check_no_extras
from deepcrib.jobs.hydra.variants import check_variants
from deepcrib.options import problems

REPLAY = "replay"
"""The learner that alone reads some options."""


def checked_options(config: DictConfig, schema: type, overrides: Sequence[Override], saved: Path | None = None) -> Any:
    """A composed config as plain objects. Raises OptionError for the first option that the job would refuse.

    saved: the run's file that all but the overrides comes from, whose specs are held against what a file may say.
    """
    check_no_extras(config, schema)
    options = OmegaConf.to_object(config)
    check_variants(options, overrides)
    check_values(options, overrides)
    if saved:
        take_specs(options, saved, {override.key_or_group for override in overrides})
    return options


def check_values(options: Any, overrides: Sequence[Override] = ()) -> None:
    """Refuse the first option, nested ones included, that is out of its range, or contradicts another one."""
    for problem in problems(options):
        raise OptionError(problem)
    for problem in _contradictions(options, overrides):
        raise OptionError(problem)


def _contradictions(options: Any, overrides: Sequence[Override]) -> Iterator[str]:
    """A line for each of the options of a learner and its matches that do not go together."""
    learner, evaluation = (getattr(options, name, None) for name in ("learner", "evaluation"))
    if learner is not None and learner.name != REPLAY and evaluation is not None and evaluation.exploring:
        yield f"evaluation.exploring=true: learner={learner.name} does not read it, only learner={REPLAY}"
    if evaluation is not None and evaluation.monitored and evaluation.at:
        for override in overrides:
            if override.key_or_group == "evaluation.every":
                place = f"evaluation.at={evaluation.at} takes its place, expected evaluation.at=null beside it"
                yield f"{override.input_line}: {place}"
