"""Files of a training in its run folder: names, the training state read back, checkpoints found again."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deepcrib.errors import RunError
from deepcrib.files.runs import is_number
from deepcrib.files.weights import WEIGHTS_FILE, CheckpointError, fitting
from deepcrib.networks import checkpoints
from deepcrib.training.learner import Writer
from deepcrib.training.progress import PROGRESS_FILE, read_progress

STATE_FILE = "state.pt"  # the training state in a run folder
CHECKPOINTS = "checkpoints"  # folder of a run with the weights after so many steps


@contextmanager
def fitting_state(path: Path) -> Iterator[dict[str, Any]]:
    """The training state in a file; whatever fails while it is taken over is a CheckpointError of one line."""
    try:
        saved = checkpoints.load_state(path)
    except CheckpointError as error:
        raise CheckpointError(f"{error}{_newest(path.parent)}") from error
    with fitting(f"{path} does not fit the options of this run"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Using a non-tuple sequence")  # a tensor in the place of a mapping
        yield saved


def require_like(found: Any, own: Any, where: str) -> None:
    """Hold what was saved against what a learner would save itself: types, shapes, and numbers that are finite.

    What is empty in a new learner, or None, may hold anything here: who loads it knows. Raises ValueError.
    """
    if isinstance(own, np.ndarray):
        own = torch.from_numpy(own)
    if isinstance(own, Mapping) or (isinstance(own, list | tuple) and own):
        if not isinstance(found, Mapping if isinstance(own, Mapping) else list | tuple):
            raise ValueError(f"{where} is of another type")
        pairs = own.items() if isinstance(own, Mapping) else enumerate(own)
        for name, value in pairs:
            if isinstance(found, Mapping) and name in found or not isinstance(own, Mapping) and name < len(found):
                require_like(found[name], value, f"{where}[{name!r}]")
    elif isinstance(own, torch.Tensor):
        fits = isinstance(found, torch.Tensor) and (found.dtype, found.shape) == (own.dtype, own.shape)
        if not fits or not found.isfinite().all():
            raise ValueError(f"{where} is not {str(own.dtype).removeprefix('torch.')} {list(own.shape)}, finite")
    elif isinstance(own, int | float) and not isinstance(own, bool):
        if not is_number(found) or (isinstance(own, int) and not (isinstance(found, int) and 0 <= found < 2**62)):
            raise ValueError(f"{where}={found!r}"[:100] + " is no such number")
    elif own is not None and own != [] and own != () and type(found) is not type(own):
        raise ValueError(f"{where} is of another type")


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


def write_scalars(writer: Writer | None, step: int, metrics: Mapping[str, float]) -> None:
    """Write metrics by their tags, where there is a writer."""
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
