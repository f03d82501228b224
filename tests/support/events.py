"""TensorBoard's events, read back."""

from pathlib import Path

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from deepcrib.training.progress import Curve


def read_events(folder: Path) -> dict[str, Curve]:
    """Every TensorBoard scalar in a folder itself, by tag; {} where none are."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    found = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"]}
    return {
        tag: (np.array([one.step for one in scalars], dtype=np.int64), np.array([one.value for one in scalars]))
        for tag, scalars in found.items()
    }
