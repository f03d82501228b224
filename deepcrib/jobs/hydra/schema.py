"""A job's schema; overrides and composed configs held against it; Hydra's errors in one line each.

A field of a schema may hold one of several classes, by the choice of its group: `learner=weighted` puts
`WeightedOptions` where the schema says `LearnerOptions`. The field's metadata has them, `metadata={VARIANTS:
{"weighted": WeightedOptions, ...}}`; each choice's YAML begins with `defaults: [<choice>_schema, _self_]`.
"""

from __future__ import annotations

import functools
import os
import re
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from errno import EACCES, EDQUOT, EEXIST, EISDIR, ENAMETOOLONG, ENOSPC, ENOTDIR, EPERM, EROFS
from pathlib import Path
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf, errors

from deepcrib.errors import FailureError, OptionError, UserError, did_you_mean
from deepcrib.jobs import Job
from deepcrib.options import problems
from deepcrib.plugins import is_place

VARIANTS = "variants"
SCHEMA_SUFFIX = "_schema"
GROUP = "learner"
_EXPECTED: dict[Any, str] = {
    **{int: "a whole number", float: "a number", bool: "true or false", str: "text", list: "a list"},
    **{Any: "a value", type(None): "null"},
}
_TOO_LARGE = (
    r"can't allocate memory|out of memory|[Ss]torage size calculation overflowed|array is too big|Maximum allowed dim"
    r"|Overflow when unpacking|cannot convert float infinity to integer|too large to convert to"
)
"""What NumPy, PyTorch and Python say of sizes that nothing can have."""
_ABSENT = (errors.ConfigKeyError, errors.ConfigAttributeError)
_FOLDER_ERRORS = {EACCES, EPERM, EROFS, ENOSPC, EDQUOT, ENOTDIR, EISDIR, EEXIST, ENAMETOOLONG}


def variants_of(schema: type) -> dict[str, Mapping[str, type]]:
    """Those fields of a schema that have several classes, each with the classes by choice."""
    return {item.name: item.metadata[VARIANTS] for item in fields(schema) if VARIANTS in item.metadata}


@functools.cache
def register_schema(job: Job) -> type:
    """Import a job and store its `Config` as `<job>_schema`, which its YAML names first, and each variant's class."""
    schema: type = job.module().Config
    store = ConfigStore.instance()
    store.store(name=f"{job.name}{SCHEMA_SUFFIX}", node=schema)
    for group, classes in variants_of(schema).items():
        for choice, kind in classes.items():
            store.store(group=group, name=f"{choice}{SCHEMA_SUFFIX}", node=kind)
        for plugin in (LearnerSource, LearnerPath):
            Plugins.instance().register(plugin)
    return schema


# --- a learner from outside the package: for Hydra, a choice of the group `learner` -------------------------------


def options_of(place: str) -> type:
    """The class of a learner's options, `module:Class` of the learner. Raises OptionError."""
    from deepcrib.learners.registry import find_learner  # which other jobs need not wait for

    return find_learner(place).options


class LearnerSource(ConfigSource):
    """Configs of the group by the names of code, which hold the defaults of its options."""

    @staticmethod
    def scheme() -> str:
        """What a search path begins with."""
        return GROUP

    def load_config(self, config_path: str) -> ConfigResult:
        """The options of a learner."""
        place = _place(config_path)
        config = OmegaConf.structured(options_of(place))
        config.name = place
        return ConfigResult(self.provider, self.full_path(), config, {"package": None})

    def is_config(self, config_path: str) -> bool:
        """Whether it is of the group, and names code."""
        return is_place(_place(config_path))

    def is_group(self, config_path: str) -> bool:
        """The group itself is a folder of `conf/`."""
        return False

    def available(self) -> bool:
        """Always."""
        return True

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """None: code is not searched for."""
        return []


class LearnerPath(SearchPathPlugin):
    """Puts them behind the files of `conf/`."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Called by Hydra when it begins."""
        search_path.append("deepcrib", f"{GROUP}://")


def _place(config_path: str) -> str:
    group, _, name = config_path.strip("/").partition("/")
    return name.removesuffix(".yaml") if group == GROUP else ""


# --- overrides --------------------------------------------------------------------------------------------------


def parse(overrides: Sequence[str]) -> list[Override]:
    """`name=value` overrides as Hydra reads them."""
    return OverridesParser.create().parse_overrides(list(overrides))


def quoted(text: str) -> str:
    """Text as the value of an override that Hydra reads back as it is."""
    escaped = re.sub(r"(\\*)('|\Z)", lambda found: 2 * found[1] + found[2].replace("'", "\\'"), text)
    return f"'{escaped}'"  # where no quote follows, a backslash stands for itself


def check_overrides(overrides: Iterable[Override], folders: Sequence[Path]) -> None:
    """Refuse what Hydra would take, or refuse without a name: options removed, and groups of no choice."""
    for override in overrides:
        key, line = override.key_or_group, str(override.input_line)
        if not key:
            raise OptionError(f"{line}: expected name=value")
        if key.split("/")[0].split(".")[0] == "hydra":
            continue
        group = is_group(key, folders)
        if override.is_delete() and not group:
            raise OptionError(f"~{key}: an option cannot be removed, only given another value")
        if group and not override.is_delete() and not override.is_sweep_override():
            _check_choice(override, choices(key, folders))


def _check_choice(override: Override, names: Sequence[str]) -> None:
    """Refuse a name that a group does not have. Hydra knows names in a folder of the group, but lists none of them."""
    choice = override.value()
    if isinstance(choice, dict) or choice in names:
        return
    if override.key_or_group == GROUP and is_place(choice):
        options_of(str(choice))
        return
    listed = f"one of {', '.join(names)}"
    if override.key_or_group == "experiment":
        listed = "a name of deepcrib help experiments"
    raise OptionError(f"{override.input_line}: {did_you_mean(str(choice), names)}expected {listed}")


def is_group(key: str, folders: Sequence[Path]) -> bool:
    """Whether `key` is a config group, a folder of YAML files."""
    return "." not in key and any((folder / key).is_dir() for folder in folders)


def choices(group: str, folders: Sequence[Path]) -> list[str]:
    """The names of a group's files, those in folders of its own with the folder: `paper2019/mlp_sarsa`."""
    files = {(path, folder / group) for folder in folders for path in (folder / group).rglob("*.yaml")}
    return sorted({path.relative_to(place).with_suffix("").as_posix() for path, place in files})


# --- configs ----------------------------------------------------------------------------------------------------


def check_names(config: DictConfig) -> None:
    """Refuse a config with an option that its class does not have, as `+learner.lrr=1` makes one."""
    holder = OmegaConf.get_type(config)
    known: Collection[Any] = typing.get_type_hints(holder) if is_dataclass(holder) else set(config)
    for name in config:
        if name not in known:
            raise OptionError(_unknown(config._get_full_key(name), holder))
        node = config._get_node(name)
        if isinstance(node, DictConfig) and not node._is_none() and not node._is_missing():
            check_names(node)


def check_values(options: Any, overrides: Sequence[Override] = ()) -> None:
    """Refuse the first option, nested ones included, that is out of its range, or contradicts another one.

    A job's `Config` says in `contradictions` what does not go together: lines, given the overrides by their names.
    """
    for line in problems(options):
        raise OptionError(line)
    if hasattr(options, "contradictions"):
        for line in options.contradictions({item.key_or_group: str(item.input_line) for item in overrides}):
            raise OptionError(line)


def option_type(config: DictConfig, key: str) -> Any:
    """The type of the option with a dotted key. Raises OptionError where there is none such."""
    holder: Any = OmegaConf.get_type(config)
    walked: list[str] = []
    for name in key.split("."):
        if not is_dataclass(holder):  # within an agent's spec, say
            return Any
        if name not in typing.get_type_hints(holder):
            raise OptionError(_unknown(".".join([*walked, name]), holder))
        walked.append(name)
        kind = typing.get_type_hints(holder)[name]
        holder = OmegaConf.get_type(config, ".".join(walked)) if is_dataclass(kind) else kind
    return holder


def describe(kind: Any) -> str:
    """A type as an error names it: `a whole number or null`."""
    origins = [typing.get_origin(part) or part for part in parts_of(kind)]
    return " or ".join(_EXPECTED.get(part, getattr(part, "__name__", str(part))) for part in origins)


def parts_of(kind: Any) -> tuple[Any, ...]:
    """The types that a union has, or the one that it is."""
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def _unknown(key: str, holder: Any) -> str:
    """About the dotted key of an option that its holder, a class of options, does not have."""
    parent, dot, name = key.rpartition(".")
    known = list(typing.get_type_hints(holder))
    known[:0] = ["experiment"] if not parent and "learner" in known else []  # which composes, and is no option
    near = did_you_mean(name, known).replace("mean ", f"mean {parent}{dot}")
    return f"unknown option {key}: {near}expected one of {', '.join(known)}"


# --- errors -----------------------------------------------------------------------------------------------------


def problem_line(error: BaseException) -> str | None:
    """One line for an error of the user's; None for any other, which is a defect of ours."""
    if isinstance(error, UserError | FailureError):
        return _flat(str(error))
    if isinstance(error, HydraException | errors.OmegaConfBaseException):
        return _hydra_line(error)
    if isinstance(error, UnicodeEncodeError):  # TensorBoard's, for one, of a path
        return f"{os.fsencode(error.object)!r}: expected UTF-8"
    if isinstance(error, OSError) and error.errno in _FOLDER_ERRORS:
        return f"cannot write {error.filename or 'the run folder'}: {error.strerror}"
    if isinstance(error, MemoryError) or re.search(_TOO_LARGE, str(error)):
        return f"too large for this machine: {_first_line(error)[:200]}; expected smaller sizes or numbers in options"
    return None


def _hydra_line(error: BaseException) -> str:
    """What Hydra or OmegaConf found wrong, from their attributes; a file that is at fault is named first."""
    if isinstance(error, OverrideParseException):
        advice = "='".join(error.override.split("=", 1)) + "'"
        return f'{error.override}: cannot be read ({_first_line(error)}); quote special characters: "{advice}"'
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, name = error.missing_cfg_file.rpartition("/")
        names = [option for option in error.options if not option.endswith(SCHEMA_SUFFIX)]
        return f"{group}={name}: {did_you_mean(name, names)}expected one of {', '.join(names)}"
    cause = next((e for e in _chain(error) if isinstance(e, errors.OmegaConfBaseException) and e.full_key), None)
    loose = isinstance(cause, _ABSENT) and not is_dataclass(cause.object_type)
    if cause is None or (loose and cause is not error):  # Hydra says how to add to a mapping
        return _flat(str(error))
    is_of_file = cause is not error and error.__cause__ is None
    place = f"{_first_line(error).partition(': ')[0]}: " if is_of_file else ""
    return place + _option_line(cause)


def _option_line(error: errors.OmegaConfBaseException) -> str:
    """About the option that an error of OmegaConf's names."""
    key, holder = str(error.full_key), error.object_type
    kinds = typing.get_type_hints(holder) if is_dataclass(holder) else {}
    if isinstance(error, errors.MissingMandatoryValue):
        return f"option {key} is missing: expected {key}=VALUE"
    if isinstance(error, _ABSENT) and kinds and error.key not in kinds:
        return _unknown(key, holder)
    if isinstance(error, errors.ValidationError):
        value = "null" if error.value is None else error.value
        expected = f"expected {describe(kinds[error.key])}" if error.key in kinds else _first_line(error)
        return f"{key}={value}: {expected}"
    return f"{key}: {_first_line(error)}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _flat(text: str) -> str:
    return " ".join(text.split())
