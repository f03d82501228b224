"""Jobs called from Python."""

from __future__ import annotations

from pathlib import Path

from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.launch import run_job
from deepcrib.jobs.hydra.schema import quoted


def train(*overrides: str, folder: Path | str | None = None) -> Path:
    """Run `deepcrib train` in this process, and return its run folder, which is an agent wherever one is asked for.

    Args:
        overrides: as on the command line: `"experiment=quick"`, `"learner.iterations=10"`, `"resume=FOLDER"`.
        folder: the run folder; None: a new one under `outputs/train/`, or that of the run that is resumed.

    Raises UserError (an option that is unknown or out of range, a folder that cannot be written).
    """
    place = [] if folder is None else [f"hydra.run.dir={quoted(str(folder))}"]
    return run_job(JOBS["train"], [*overrides, *place])
