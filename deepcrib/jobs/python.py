"""Jobs called from Python."""

from __future__ import annotations

from pathlib import Path

from deepcrib.files import runs
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.launch import run_job


def train(*overrides: str, folder: Path | str | None = None) -> Path:
    """Run `deepcrib train` in this process, and return its run folder, which is an agent wherever one is asked for.

    Args:
        overrides: as on the command line: `"experiment=quick"`, `"learner.iterations=10"`, `"seed=2"`.
        folder: the run folder; None: a new one under `outputs/train/`.

    Raises UserError (an option that is unknown or out of range, a folder that cannot be written).
    """
    place = Path(folder) if folder is not None else runs.new_folder("train")
    run_job(JOBS["train"], overrides, place)
    return place
