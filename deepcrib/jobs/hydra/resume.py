"""What decides whether, and with which options, a run is resumed: all checks but those of the learner's state.

`resume=PATH` takes the saved options of a run, with this call's plain values on top, in the same folder
(`resumed_config`). A sweep that is started again resumes those of its runs that were started with the same options
(`require_same_options`). `launch.execute` then leaves alone what is finished (`is_same`), the run folder keeps what it
holds (`files.runs.RunFolder.resume`), and `training.fit.restore` holds the learner against its saved state.

A run folder may be anybody's. Its `config.yaml` was written resolved, so that nothing in it needs to be resolved; what
it says of agents and files is held against `agents.specs.travel.spec_of_file`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override, OverrideType
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.agents.specs.travel import needs_trust, spec_of_file
from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.files.runs import CONFIG, flat
from deepcrib.files.trust import FromFile, is_trusting, plain_of_file, require_no_way_out, require_small_yaml, trusting
from deepcrib.jobs.hydra.schema import check_names, check_values, is_group, option_type, options_of, parse, variants_of
from deepcrib.jobs.shared.console import short_path
from deepcrib.plugins import is_place

OF_THE_CALL = {"resume": None, "trust": False}  # options of one call alone, as `config.yaml` has them


class RefusedError(RunError):
    """A run's folder holds one with other options."""


def split_resume(overrides: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take `resume=PATH` out of the overrides.

    Its value is read as it stands, since Hydra would take a comma in a path for a sweep.
    """
    named = [word for word in overrides if word.lstrip("+").startswith("resume=")]
    path = named[-1].partition("=")[2].strip("'\"") if named else "null"
    if not path.strip():  # as a variable of the shell that is not set makes it
        raise OptionError("resume=: expected the folder of an earlier run")
    return (None if path == "null" else path), [word for word in overrides if word not in named]


def resumed_config(path: str, overrides: Sequence[str], schema: type, groups: Sequence[Path]) -> DictConfig:
    """The options of the run in a folder, as this call changes them, and the folder as `resume`; checked first."""
    folder = Path(path).expanduser().absolute()
    if not (folder / CONFIG).is_file():
        raise RunError(f"resume={path}: expected the folder of an earlier run, which holds {CONFIG}")
    parsed = parse(overrides)
    given = {override.key_or_group: override.value() for override in parsed}
    config = saved_config(folder / CONFIG, schema, given.values(), trust=given.get("trust") is True)
    for override in parsed:
        key, word = override.key_or_group, override.input_line or ""
        if key == "hydra.run.dir":
            raise OptionError(f"{word}: a resumed run goes on in its own folder; leave this out")
        if is_group(key, groups) or key.split(".")[0] == "hydra" or is_dataclass(option_type(config, key)):
            raise OptionError(f"{word}: with resume only plain values can change (evaluation.games=2000)")
        if override.type != OverrideType.CHANGE or override.is_sweep_override():
            raise OptionError(f"{word}: with resume write name=value, one value each")
        OmegaConf.update(config, key, override.value())
    config.resume = str(folder)
    if not config.trust:
        require_no_way_out(folder)
    return config


def require_same_options(folder: Path, config: DictConfig, schema: type) -> None:
    """Raise RefusedError where the folder of a sweep's run holds one with other options than `config`."""
    ours = _flat_options(config)
    try:
        saved = _flat_options(saved_config(folder / CONFIG, schema, ours.values()))
    except RunError as error:
        raise RefusedError(str(error)) from error
    other = next((name for name in ours if name not in saved or saved[name] != ours[name]), None)
    if other is not None:
        found = f"{other}={saved[other]}, not {ours[other]}" if other in saved else f"no option {other}"
        advice = "name another folder with hydra.sweep.dir=FOLDER, or remove this one"
        raise RefusedError(f"its folder {folder} holds a run with {found}: {advice}")


def checked_options(config: DictConfig, overrides: Sequence[Override], saved: Path | None = None) -> Any:
    """A composed config as plain objects. Raises OptionError for the first option that the job would refuse.

    saved: the run's file that all but the overrides comes from; what it names of agents, files and code becomes a
    person's own, or raises UntrustedError.
    """
    check_names(config)
    options = OmegaConf.to_object(config)
    given = {override.key_or_group for override in overrides}  # a person's already
    for holder, name, said, read in _named(options, saved) if saved else ():  # first: a check imports what is named
        if said.part not in given:
            setattr(holder, name, read(said))
    check_values(options, overrides)
    return options


def is_same(folder: Path, config: DictConfig, schema: type) -> bool:
    """Whether the run in a folder was started with the options `config`."""
    return config_text(config) == config_text(saved_config(folder / CONFIG, schema, _flat_options(config).values()))


def _flat_options(config: DictConfig) -> dict[str, Any]:
    """Options by their dotted names, without those of one call alone."""
    content: Any = OmegaConf.to_container(config, resolve=True)
    return {name: value for name, value in flat(content) if name not in OF_THE_CALL}


def resume_words(options: Any, folder: Path) -> str:
    """With what a run of these options goes on: `resume=FOLDER`, and `trust=true` where a file may not say as much."""
    trust = any(needs_trust(said, read) for _, _, said, read in _named(options, folder / CONFIG))
    return f"resume={shlex.quote(short_path(folder))}{' trust=true' if trust else ''}"


def _named(options: Any, file: Path, prefix: str = "") -> Iterator[tuple[Any, str, FromFile, Callable[..., Any]]]:
    """Every option: its holder, name in it, what a run's file says of it, and what decides whether it may."""
    for item in fields(options):
        value = getattr(options, item.name)
        if is_dataclass(value):
            yield from _named(value, file, f"{prefix}{item.name}.")
        else:
            part = f"{prefix}{item.name}"
            plain = partial(plain_of_file, allowing=f"{part}={value}")
            yield options, item.name, FromFile(value, file, part), spec_of_file if item.metadata.get("spec") else plain


def config_text(config: DictConfig) -> str:
    """`config.yaml`: every option resolved, without those of the call, so that it starts the same run anew."""
    plain: Any = OmegaConf.to_container(config, resolve=True)
    plain |= {name: value for name, value in OF_THE_CALL.items() if name in plain}
    return OmegaConf.to_yaml(OmegaConf.create(plain))


def saved_config(path: Path, schema: type, given: Collection[Any] = (), trust: bool = False) -> DictConfig:
    """The options that a run was started with. Raises RunError where the file holds none of this job.

    given: values that this call sets itself: a learner from outside the package has to be among them. trust: or not.
    """
    try:
        saved = _plain_options(path.read_text(encoding="utf-8"))
        config: Any = OmegaConf.structured(schema)
        for group, classes in variants_of(schema).items():
            if (name := str(OmegaConf.select(saved, f"{group}.name"))) in classes:
                config[group] = classes[name]
            elif is_place(name):
                with trusting(trust or is_trusting() or given):
                    plain_of_file(FromFile(name, path, f"{group}.name"), f"{group}.name={name}")
                config[group] = options_of(name)
        config.merge_with(saved)
        if "trust" in config:
            config.trust = False  # which no file can say
    except UserError:
        raise
    except (OmegaConfBaseException, YAMLError, OSError, ValueError, RecursionError) as error:
        reason = str(getattr(error, "problem", None) or error).strip().splitlines()[0]  # `problem` is YAML's
        raise RunError(f"{path} does not hold the options of this job: {reason}") from error
    return config


def _plain_options(text: str) -> DictConfig:
    """The options in YAML that asks for nothing to be worked out. Raises ValueError, or what YAML's readers raise."""
    require_small_yaml(text)
    saved = OmegaConf.create(text)
    if not isinstance(saved, DictConfig) or not saved:
        raise ValueError("expected options by name")
    plain: Any = OmegaConf.to_container(saved, resolve=False)
    for name, value in flat(plain):
        if "${" in str(value):
            raise ValueError(f"{name}={value}: expected a plain value, not one to be worked out (${{...}})")
    saved.pop("hydra", None)  # which says how a run is started, not what it is
    return saved
