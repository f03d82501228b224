"""Jobs called from Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.launch import run_job
from deepcrib.jobs.hydra.schema import quoted


def train(*overrides: str, folder: Path | str | None = None, **options: Any) -> Path:
    """Run `deepcrib train` in this process, and return its run folder, which is an agent wherever one is asked for.

    Args:
        overrides: as on the command line: `"experiment=quick"`, `"learner.iterations=10"`, `"resume=FOLDER"`.
        folder: the run folder; None: a new one under `outputs/train/`, or that of the run that is resumed.
        options: the same by name: `experiment="quick"`, `seed=2`, `learner={"iterations": 10}`.

    Raises UserError (an option that is unknown or out of range, a folder that cannot be written).
    """
    place = [] if folder is None else [f"hydra.run.dir={quoted(str(folder))}"]
    words = [f"{name}={_text(value)}" for name, value in options.items()]
    return run_job(JOBS["train"], [*overrides, *words, *place])


def _text(value: Any) -> str:
    """A value as Hydra reads it on the command line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_text(item)}' for name, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    return quoted(str(value)) if isinstance(value, str | Path) else json.dumps(value)
