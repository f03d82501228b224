"""Options of the group `pretraining`, which `learner=replay` reads."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from deepcrib.options import at_least, between, one_of, option, positive


@dataclass
class PretrainingOptions:
    """What is learned before the first iteration.

    The discard network learns the show value of every four-card hand (section 3.6.4); with a teacher, both networks
    learn what its decisions are worth (O'Connor 2000 names experts as the alternative to self-play).
    """

    enabled: bool = option(True, "learn the show value of every four-card hand first")
    epochs: int = option(3, "passes over all 270,725 hands", at_least(1))
    batch_size: int = option(64, "hands in a minibatch", at_least(1))
    optimizer: str = option(
        "adam",
        "with warm-up and cosine decay; or the authors' `sgd`: momentum 0.9, constant rate",
        one_of("adam", "sgd"),
    )
    lr: float = option(1e-3, "learning rate, at its highest", positive)
    starter: bool = option(False, "learn the value with a random starter (figure 6)")
    teacher: Any = option(None, "agent whose games against itself are then learned from, `enabled` or not", spec=True)
    teacher_episodes: int = option(2000, "number of its games, or hands if learner.unit=hands", at_least(1))
    teacher_epsilon: float = option(
        0.1, "probability of a random legal choice in them, so that other choices get values too", between(0, 1)
    )


def stated(options: PretrainingOptions) -> dict[str, Any]:
    """As the command line has them: what pretraining that goes on must share with that which was interrupted."""
    return {f"pretraining.{name}": value for name, value in asdict(options).items()}
