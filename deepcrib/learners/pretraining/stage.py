"""What all pretraining is: a learner that `fit` runs before the first step of another, whose networks it trains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.training.learner import Learner, Setting


class Pretraining(Learner):
    """A stage of these options: it has no agent, and what it leaves is in the networks."""

    def __init__(self, options: PretrainingOptions, setting: Setting) -> None:
        super().__init__(setting)
        self.options = options

    def agent(self) -> None:
        """None."""

    def save(self, path: Path) -> None:
        """Write nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Options."""
        return {"options": asdict(self.options)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Raises ValueError for other options."""
        if state["options"] != asdict(self.options):
            raise ValueError("its pretraining is not done: expected the same options pretraining.*")
