"""deepcrib: deep reinforcement learning for the card game cribbage.

The names of `__all__` are imported when they are first used, so that `import deepcrib` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_MODULES = {
    "Agent": "agents",
    "Callback": "training.fit",
    "DiscardObservation": "game.observations",
    "Evaluation": "evaluation.evaluate",
    "Games": "game.engine",
    "Learner": "training.learner",
    "PlayObservation": "game.observations",
    "TrainedRun": "jobs.python",
    "evaluate": "jobs.python",
    "fit": "training.fit",
    "make_agent": "agents",
    "play_hand": "matches",
    "play_match": "matches",
    "train": "jobs.python",
}
__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'deepcrib' has no attribute {name!r}")
    value = getattr(import_module(f"deepcrib.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
