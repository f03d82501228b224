"""All checks of a composed config: every option by itself, and what does not go together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from deepcrib.errors import OptionError
from deepcrib.jobs.hydra.resume import take_specs
from deepcrib.jobs.hydra.schema import check_names
from deepcrib.options import problems


def checked_options(config: DictConfig, overrides: Sequence[Override], saved: Path | None = None) -> Any:
    """A composed config as plain objects. Raises OptionError for the first option that the job would refuse.

    saved: the run's file that all but the overrides comes from, whose specs are held against what a file may say.
    """
    check_names(config)
    options = OmegaConf.to_object(config)
    if saved:  # first: a check imports what is named
        take_specs(options, saved, {override.key_or_group for override in overrides})
    check_values(options, overrides)
    return options


def check_values(options: Any, overrides: Sequence[Override] = ()) -> None:
    """Refuse the first option, nested ones included, that is out of its range, or contradicts another one.

    A job's `Config` says in `contradictions` what does not go together: lines, given the overrides by their names.
    """
    for line in problems(options):
        raise OptionError(line)
    if hasattr(options, "contradictions"):
        for line in options.contradictions({item.key_or_group: str(item.input_line) for item in overrides}):
            raise OptionError(line)
