"""Files of a training in its run folder: names, the training state read back, checkpoints found again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from deepcrib.errors import RunError
from deepcrib.files.weights import WEIGHTS_FILE, CheckpointError
from deepcrib.networks import checkpoints
from deepcrib.training.progress import PROGRESS_FILE, read_progress

STATE_FILE = "state.pt"
"""The training state in a run folder."""
CHECKPOINTS = "checkpoints"
"""Folder of a run with the weights after so many steps."""


@contextmanager
def fitting_state(path: Path) -> Iterator[dict[str, Any]]:
    """The training state in a file; whatever fails while it is taken over is a CheckpointError of one line."""
    try:
        saved = checkpoints.load_state(path)
    except CheckpointError as error:
        raise CheckpointError(f"{error}{_newest(path.parent)}") from error
    try:
        yield saved
    except (AttributeError, RuntimeError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{path} does not fit the options of this run: {reason}") from error


def weights_file(folder: Path, unit: str, steps: int) -> Path:
    """Where a run keeps the weights after so many steps, in a folder that is there."""
    (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
    return folder / CHECKPOINTS / f"{unit}_{steps:08d}.safetensors"


def require_state(folder: Path) -> bool:
    """Whether a run has a state to go on from; none is needed where it has not learned. Raises CheckpointError."""
    state = folder / STATE_FILE
    learned = (folder / WEIGHTS_FILE).exists() or (folder / PROGRESS_FILE).exists() and bool(read_progress(folder))
    if not state.exists() and (learned or state.is_symlink()):
        raise CheckpointError(f"{state}: not there: expected the training state of the run{_newest(folder)}")
    return state.exists()


def _newest(folder: Path) -> str:
    """What there is to use in place of a state."""
    with suppress(RunError):
        return f"; its newest weights are {list(checkpoint_files(folder).values())[-1]}"
    return ""


def write_scalars(writer: Any, step: int, metrics: Mapping[str, float]) -> None:
    """Write metrics by their tags; writer is a TensorBoard SummaryWriter or None."""
    if writer is not None:
        for tag, value in metrics.items():
            writer.add_scalar(tag, value, step)


def checkpoint_files(run: Path) -> dict[int, Path]:
    """Weights in a run folder's `checkpoints/`, by the number at the end of their names, in its order.

    Raises RunError where there are none, or where a name has no number or another one's.
    """
    folder = run / CHECKPOINTS
    files: dict[int, Path] = {}
    for path in folder.glob("*.safetensors"):
        found = re.search(r"\d+$", path.stem)
        if found is None or int(found[0]) in files:
            raise RunError(f"{path}: expected a name with a number of its own at the end, as games_00100000")
        files[int(found[0])] = path
    if not files:
        raise RunError(f"run={run}: expected a run folder with checkpoints, but {folder} holds no .safetensors")
    return dict(sorted(files.items()))
