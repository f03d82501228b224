"""Figures of a match that nobody played, for what only asks for matches."""

from types import SimpleNamespace
from typing import Any

from deepcrib.training.monitoring import MATCH_METRICS


def match_of(**known: Any) -> SimpleNamespace:
    """All that learners read of a match, 0 but for what is given."""
    return SimpleNamespace(**(dict.fromkeys(MATCH_METRICS.values(), 0.0) | known))
