"""`resume=PATH`: the saved options of a run, with this call's plain values on top, in the same folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from deepcrib.errors import OptionError, RunError
from deepcrib.jobs.schema import is_group, leaf_type, parse
from deepcrib.runs import CONFIG

_PREFIX = "resume="


@dataclass
class Resume:
    """A run to be continued: its folder, and the values that this call changes, `(key, value)`."""

    folder: Path
    changes: list[tuple[str, Any]]


def split_resume(overrides: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take `resume=PATH` out of the overrides.

    Its value is read as it stands, since Hydra would take a comma in a path for a sweep.
    """
    path: str | None = None
    others = []
    for word in overrides:
        if word.lstrip("+").startswith(_PREFIX):
            path = word.lstrip("+").removeprefix(_PREFIX).strip("'\"")
        else:
            others.append(word)
    return (None if path in ("", "null") else path), others


def plan_resume(path: str, overrides: Sequence[str], schema: type, groups: Sequence[Path]) -> Resume:
    """Check what a resuming call asks for, before anything is touched."""
    folder = Path(path).expanduser().absolute()
    if not (folder / CONFIG).is_file():
        raise RunError(f"resume={path}: expected the folder of an earlier run, which holds {CONFIG}")
    changes = []
    for override in parse(overrides):
        key, word = override.key_or_group, override.input_line
        if key == "hydra.run.dir":
            raise OptionError(f"{word}: a resumed run goes on in its own folder; leave this out")
        if is_group(key, groups) or "/" in key or key.split(".")[0] == "hydra":
            raise OptionError(f"{word}: with resume only plain values can change (learner.iterations=800)")
        if override.type != OverrideType.CHANGE or override.is_sweep_override():
            raise OptionError(f"{word}: with resume write name=value, one value each")
        if is_dataclass(leaf_type(schema, key)):
            raise OptionError(f"{word}: with resume only plain values can change (learner.iterations=800)")
        changes.append((key, override.value()))
    return Resume(folder, changes)


def saved_config(resume: Resume, schema: type) -> DictConfig:
    """The options that the run was started with, changed as this call says."""
    path = resume.folder / CONFIG
    try:
        config = OmegaConf.merge(OmegaConf.structured(schema), OmegaConf.load(path))
    except (OmegaConfBaseException, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise RunError(f"{path} does not hold the options of this job: {reason}") from error
    assert isinstance(config, DictConfig)
    for key, value in resume.changes:
        OmegaConf.update(config, key, value)
    config.resume = str(resume.folder)
    return config
