"""How every option of a job is held against its check."""

from __future__ import annotations

from typing import Any

from deepcrib.errors import OptionError
from deepcrib.jobs.hydra.options_together import check_together
from deepcrib.options import problems


def check_values(config: Any) -> None:
    """Refuse the first option of a job's config, nested ones included, whose value is out of its range."""
    for problem in problems(config):
        raise OptionError(problem)
    check_together(config)
