"""`resume=PATH`: the saved options of a run, with this call's plain values on top, in the same folder.

A run folder may be anybody's. Its `config.yaml` was written resolved, so that nothing in it is to be worked out; what
it says of agents and files is held against `agents.specs.travel.spec_of_file`.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException, ValidationError
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.agents.specs.travel import needs_trust, spec_of_file
from deepcrib.errors import OptionError, RunError
from deepcrib.files.runs import CONFIG, flat
from deepcrib.files.trust import FromFile, require_no_way_out, require_small_yaml
from deepcrib.jobs.hydra.schema import is_group, leaf_type, parse, wrong_value
from deepcrib.jobs.hydra.variants import as_saved, present_classes
from deepcrib.jobs.shared.console import short_path

OF_THE_CALL = {"resume": None, "trust": False}
"""Options of one call alone, as `config.yaml` has them."""
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
    if not config.trust:
        require_no_way_out(folder)
    return config


def take_specs(options: Any, file: Path, told: Collection[str]) -> None:
    """Make specs of a person of those that a run's `config.yaml` holds. Raises UntrustedError.

    told: the options that this call gives itself, by their whole names; they are a person's already.
    """
    for holder, name, said in _specs(options, file):
        if said.part not in told:
            setattr(holder, name, spec_of_file(said))


def resume_words(options: Any, folder: Path) -> str:
    """With what a run of these options goes on: `resume=FOLDER`, and `trust=true` where a file may not say as much."""
    trust = any(needs_trust(said) for _, _, said in _specs(options, folder / CONFIG))
    return f"resume={shlex.quote(short_path(folder))}{' trust=true' if trust else ''}"


def _specs(options: Any, file: Path, prefix: str = "") -> Iterator[tuple[Any, str, FromFile]]:
    """Options that name agents or files: their holder, name in it, and what a run's file says of them."""
    for item in fields(options):
        value = getattr(options, item.name)
        if is_dataclass(value):
            yield from _specs(value, file, f"{prefix}{item.name}.")
        elif item.metadata.get("spec"):
            yield options, item.name, FromFile(value, file, f"{prefix}{item.name}")


def config_text(config: DictConfig) -> str:
    """`config.yaml`: every option resolved, without those of the call, so that it starts the same run anew."""
    plain = OmegaConf.to_container(config, resolve=True)
    assert isinstance(plain, dict)
    plain |= {name: value for name, value in OF_THE_CALL.items() if name in plain}
    return OmegaConf.to_yaml(OmegaConf.create(plain))


def saved_config(path: Path, schema: type) -> DictConfig:
    """The options that a run was started with. Raises RunError where the file holds none of this job."""
    try:
        saved = _plain_options(path.read_text(encoding="utf-8"))
        config = OmegaConf.merge(as_saved(schema, saved), saved)
        if "trust" in config:
            config.trust = False  # which no file can say
    except (OmegaConfBaseException, YAMLError, OSError, ValueError, RecursionError) as error:
        reason = str(getattr(error, "problem", None) or error).strip().splitlines()[0]  # `problem` is YAML's
        raise RunError(f"{path} does not hold the options of this job: {reason}") from error
    assert isinstance(config, DictConfig)
    return config


def _plain_options(text: str) -> DictConfig:
    """The options in YAML that asks for nothing to be worked out. Raises ValueError, or what YAML's readers raise."""
    require_small_yaml(text)
    saved = OmegaConf.create(text)
    if not isinstance(saved, DictConfig) or not saved:
        raise ValueError("expected options by name")
    plain = OmegaConf.to_container(saved, resolve=False)
    assert isinstance(plain, Mapping)
    for name, value in flat(plain):
        if "${" in str(value):
            raise ValueError(f"{name}={value}: expected a plain value, not one to be worked out (${{...}})")
    saved.pop("hydra", None)  # which says how a run is started, not what it is
    return saved
