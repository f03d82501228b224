"""`resume=PATH`: the saved options of a run, with this call's plain values on top, in the same folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path

from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException, ValidationError
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.errors import OptionError, RunError
from deepcrib.files.runs import CONFIG
from deepcrib.jobs.hydra.schema import is_group, leaf_type, parse, wrong_value
from deepcrib.jobs.hydra.variants import as_saved, present_classes

_PREFIX = "resume="


def split_resume(overrides: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take `resume=PATH` out of the overrides.

    Its value is read as it stands, since Hydra would take a comma in a path for a sweep.
    """
    paths = [word.lstrip("+").removeprefix(_PREFIX).strip("'\"") for word in overrides if _names_run(word)]
    others = [word for word in overrides if not _names_run(word)]
    if paths and not paths[-1].strip():  # as a variable of the shell that is not set makes it
        raise OptionError("resume=: expected the folder of an earlier run")
    return (paths[-1] if paths and paths[-1] != "null" else None), others


def _names_run(word: str) -> bool:
    return word.lstrip("+").startswith(_PREFIX)


def resumed_config(path: str, overrides: Sequence[str], schema: type, groups: Sequence[Path]) -> DictConfig:
    """The options of the run in a folder, as this call changes them, and the folder as `resume`; checked first."""
    folder = Path(path).expanduser().absolute()
    if not (folder / CONFIG).is_file():
        raise RunError(f"resume={path}: expected the folder of an earlier run, which holds {CONFIG}")
    config = saved_config(folder / CONFIG, schema)
    present = present_classes(config, schema)
    for override in parse(overrides):
        key, word = override.key_or_group, override.input_line or ""
        if key == "hydra.run.dir":
            raise OptionError(f"{word}: a resumed run goes on in its own folder; leave this out")
        plain = not (is_group(key, groups) or "/" in key or key.split(".")[0] == "hydra")
        if not plain or is_dataclass(leaf_type(schema, key, present)):
            raise OptionError(f"{word}: with resume only plain values can change (evaluation.games=2000)")
        if override.type != OverrideType.CHANGE or override.is_sweep_override():
            raise OptionError(f"{word}: with resume write name=value, one value each")
        try:
            OmegaConf.update(config, key, override.value())
        except ValidationError as error:
            raise OptionError(wrong_value(word, error, schema)) from error
    config.resume = str(folder)
    return config


def saved_config(path: Path, schema: type) -> DictConfig:
    """The options that a run was started with. Raises RunError where the file holds none of this job."""
    try:
        saved = OmegaConf.load(path)
        if not isinstance(saved, DictConfig) or not saved:
            raise ValueError("expected options by name")
        config = OmegaConf.merge(as_saved(schema, saved), saved)
    except (OmegaConfBaseException, YAMLError, OSError, ValueError, RecursionError) as error:
        reason = str(getattr(error, "problem", None) or error).strip().splitlines()[0]  # `problem` is YAML's
        raise RunError(f"{path} does not hold the options of this job: {reason}") from error
    assert isinstance(config, DictConfig)
    return config
