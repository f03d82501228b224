"""Figures of a match that nobody played, for what only asks for matches; and trainings that ask for none."""

from types import SimpleNamespace
from typing import Any

from deepcrib.training.fit import MATCH_METRICS
from deepcrib.training.options import EvaluationOptions

NO_MATCHES = EvaluationOptions(opponents=[], every=0)


def match_of(**known: Any) -> SimpleNamespace:
    """All that learners read of a match, 0 but for what is given."""
    return SimpleNamespace(**(dict.fromkeys(MATCH_METRICS.values(), 0.0) | known))


def no_match(*_: Any) -> Any:
    """In place of a match where there is none."""
    raise AssertionError("no match was asked for")
