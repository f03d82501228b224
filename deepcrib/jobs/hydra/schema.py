"""A job's schema; overrides and composed configs held against it; Hydra's errors in one line each."""

from __future__ import annotations

import functools
import os
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from errno import EACCES, EDQUOT, EEXIST, EISDIR, ENAMETOOLONG, ENOSPC, ENOTDIR, EPERM, EROFS
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
    ValidationError,
)

from deepcrib.errors import FailureError, OptionError, UserError
from deepcrib.jobs import Job
from deepcrib.jobs.hydra.variants import SCHEMA_SUFFIX, Variants, present_classes, register_variants, variants_of
from deepcrib.options import did_you_mean

LONGEST = 10_000
"""Characters of an override."""
_EXPECTED: dict[Any, str] = {
    **{int: "a whole number", float: "a number", bool: "true or false", str: "text", list: "a list"},
    **{Any: "a value", type(None): "null"},
}
_SEARCH_PATH = "Config search path"
_NO_CHOICE = (
    r"(?:In '[^']*': )?Could not find '([^']+)/([^'/]+)'\s+"
    rf"Available options in '[^']+':(.*?)(?:{_SEARCH_PATH}|$)"
)
_BAD_OVERRIDE = r"Error merging override (.+)"
_BAD_FILE = r"In '([^']+)': \w+ raised while composing config"
_TOO_LARGE = (
    r"can't allocate memory|out of memory|[Ss]torage size calculation overflowed|array is too big|Maximum allowed dim"
    r"|Overflow when unpacking|cannot convert float infinity to integer|too large to convert to"
)
"""What NumPy, PyTorch and Python say of sizes that nothing can have."""
_FOLDER_ERRORS = {EACCES, EPERM, EROFS, ENOSPC, EDQUOT, ENOTDIR, EISDIR, EEXIST, ENAMETOOLONG}


_field_types = functools.cache(typing.get_type_hints)
"""The type of each field of a dataclass, whose annotations are text until they are asked for."""


@functools.cache
def register_schema(job: Job) -> type:
    """Import a job and store its `Config` as `<job>_schema`, which its YAML names first in its defaults."""
    schema: type = job.module().Config
    ConfigStore.instance().store(name=f"{job.name}{SCHEMA_SUFFIX}", node=schema)
    register_variants(schema)
    return schema


def parse(overrides: Sequence[str]) -> list[Override]:
    """`name=value` overrides as Hydra reads them, in a time that grows with the square of a list's length."""
    for word in overrides:
        if len(word) > LONGEST:
            long = f"{word[:40]}...: {len(word):,} characters, expected at most {LONGEST:,}"
            raise OptionError(f"{long}; a longer value stands in a YAML file of --config-dir")
    return list(_parsed(tuple(overrides)))


@functools.lru_cache(maxsize=8)
def _parsed(overrides: tuple[str, ...]) -> list[Override]:
    found: list[Override] = OverridesParser.create().parse_overrides(list(overrides))
    return found


def quoted(text: str) -> str:
    """Text as the value of an override that Hydra reads back as it is."""
    escaped = re.sub(r"(\\*)('|\Z)", lambda found: 2 * found[1] + found[2].replace("'", "\\'"), text)
    return f"'{escaped}'"  # where no quote follows, a backslash stands for itself


def check_keys(overrides: Iterable[Override], schema: type, folders: Sequence[Path]) -> None:
    """Refuse the first override that names neither a group below `folders` nor an option of the schema."""
    for override in overrides:
        key = override.key_or_group
        if key.split(".")[0].split("/")[0] == "hydra":
            continue
        if not key:
            raise OptionError(f"{override.input_line}: expected name=value")
        if is_group(key, folders):
            if not override.is_delete() and not override.is_sweep_override():  # of which Hydra says what is wrong
                _check_choice(override, choices(key, folders))
            continue
        leaf_type(schema, key)
        if override.is_delete():
            raise OptionError(f"~{key}: an option cannot be removed, only given another value")


def _check_choice(override: Override, names: Sequence[str]) -> None:
    """Refuse a name that a group does not have. Hydra knows names in a folder of the group, but lists none of them."""
    choice = override.value()
    if isinstance(choice, dict) or choice in names:
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


def leaf_type(schema: type, key: str, present: Mapping[str, type] | None = None) -> Any:
    """The type of the option that a dotted key names; an OptionError where there is none such.

    present: the class in each field that may hold several. Without it any of them may be there, and an option that
    none has gives Any: it is refused, and what there is instead is listed, once one of them is in place.
    """
    kinds: list[Any] = [schema]
    variants: Variants | None = None
    walked: list[str] = []
    for part in key.split("."):
        holders: list[Any] = [kind for kind in kinds if is_dataclass(kind)]
        if not holders:
            if _is_free(kinds[0]):
                return Any
            parent = ".".join(walked)
            raise OptionError(f"unknown option {key}: {parent} is a single value, {describe(kinds[0])}")
        holder = next((kind for kind in holders if part in _field_types(kind)), None)
        if holder is None:
            if len(holders) > 1:
                return Any
            raise OptionError(_unknown(key, len(walked), holders[0], variants))
        walked.append(part)
        variants = variants_of(holder).get(part)
        kinds = [_field_types(holder)[part]]
        if variants:
            kinds = [present[part]] if present and part in present else list(variants.classes.values())
    return kinds[0]


def check_no_extras(config: DictConfig, schema: type) -> None:
    """Refuse a composed config that holds an option unknown to its schema (as `+learner.lrr=1` makes one)."""
    present = present_classes(config, schema)
    for key in _keys(config):
        leaf_type(schema, key, present)


def _keys(config: DictConfig, prefix: str = "") -> Iterator[str]:
    """The dotted key of every option, and of everything within an option that is a mapping."""
    for name in map(str, config):
        node = config._get_node(name)
        yield f"{prefix}{name}"
        if isinstance(node, DictConfig) and not node._is_none() and not node._is_missing():
            yield from _keys(node, f"{prefix}{name}.")


def describe(kind: Any) -> str:
    """A type as an error names it: `a whole number or null`."""
    parts = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    origins = [typing.get_origin(part) or part for part in parts]
    return " or ".join(_EXPECTED.get(part, getattr(part, "__name__", str(part))) for part in origins)


def problem_line(error: BaseException, schema: type) -> str | None:
    """One line for an error that the caller can mend; None for any other, which is a defect of ours."""
    if isinstance(error, UserError | FailureError):
        return _flat(str(error))
    if isinstance(error, HydraException | OmegaConfBaseException):
        return _hydra_line(error, schema)
    if isinstance(error, RecursionError) and (found := re.search(r"full_key: ([\w.]{1,100})", str(error))):
        return f"{found[1]}: nested too deeply"  # for OmegaConf, which says where
    if isinstance(error, UnicodeEncodeError):  # TensorBoard's, for one, of a path
        return f"{os.fsencode(error.object)!r}: expected UTF-8"
    if isinstance(error, OSError) and error.errno in _FOLDER_ERRORS:
        return f"cannot write {error.filename or 'the run folder'}: {error.strerror}"
    if isinstance(error, MemoryError) or re.search(_TOO_LARGE, str(error)):
        return f"too large for this machine: {_first_line(error)[:200]}; expected smaller sizes or numbers in options"
    return None


def _hydra_line(error: BaseException, schema: type) -> str:
    chain = list(_causes(error))
    if isinstance(error, OverrideParseException):
        quoted = "='".join(error.override.split("=", 1)) + "'"
        return f'{error.override}: cannot be read ({_first_line(error)}); quote special characters: "{quoted}"'
    if isinstance(error, MissingConfigException) and (choice := re.match(_NO_CHOICE, str(error), re.DOTALL)):
        names = [name for name in choice[3].split() if not name.endswith(SCHEMA_SUFFIX)]
        return f"{choice[1]}={choice[2]}: {did_you_mean(choice[2], names)}expected one of {', '.join(names)}"
    if ambiguous := re.search(r"(?:Ambiguous value for argument|Sweep parameters) '([^']*)'", str(error)):
        return f"{ambiguous[1]}: several values need -m; a list is written [a,b], a comma in text 'a,b'"
    omega = next((e for e in chain if isinstance(e, OmegaConfBaseException) and e.full_key), None)
    if isinstance(omega or error, MissingMandatoryValue):
        key = str(omega.full_key) if omega else ""
        return f"option {key} is missing: expected {key}=VALUE"
    file = re.match(_BAD_FILE, str(error))
    place = f"{file[1]}: " if file else ""
    if isinstance(omega, ValidationError):
        overrides = [found[1] for cause in chain if (found := re.search(_BAD_OVERRIDE, str(cause)))]
        return place + wrong_value(overrides[0] if overrides else str(omega.full_key), omega, schema)
    if isinstance(omega, ConfigAttributeError | ConfigKeyError) and (unknown := _unknown_key(omega, schema)):
        return place + unknown
    place = f"{omega.full_key}: " if omega else ""
    return place + _joined(chain)


def wrong_value(subject: str, error: ValidationError, schema: type) -> str:
    """About a value of the wrong type, in `subject`, an override or a key."""
    try:
        expected = describe(leaf_type(schema, str(error.full_key).split("[")[0], _class_at(error, schema)))
    except OptionError:
        expected = "another value"
    return f"{subject}: expected {expected} ({_first_line(error)})"


def _unknown_key(error: OmegaConfBaseException, schema: type) -> str | None:
    """About a key that OmegaConf found no place for; None where it would have one."""
    key, holder = str(error.full_key), error.object_type
    if key.startswith("hydra."):
        if isinstance(holder, type) and is_dataclass(holder):
            return _unknown(key, key.count("."), holder, None)
        return f"unknown option {key}: a new entry is written +{key}=VALUE"
    try:
        leaf_type(schema, str(error.full_key), _class_at(error, schema))
    except OptionError as refusal:
        return str(refusal)
    return None


def _class_at(error: OmegaConfBaseException, schema: type) -> dict[str, type]:
    """The class that stood in a field of several classes when an error occurred there."""
    group = str(error.full_key).split(".")[0]
    variants, kind = variants_of(schema).get(group), error.object_type
    return {group: kind} if variants and kind is not None and variants.fits(kind) else {}


def _joined(chain: Sequence[BaseException]) -> str:
    """What an error and its causes say, each once, without the lines about Hydra's insides."""
    lines: list[str] = []
    for cause in chain:
        text = _flat(re.split(rf"{_SEARCH_PATH}|\n    full_key|\n    object_type", str(cause))[0])
        if text and not any(text in line for line in lines):
            lines.append(text)
    return ": ".join(lines) or type(chain[0]).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it; Hydra's about a file names its cause only as the error that it was handling."""
    while error is not None:
        yield error
        error = error.__cause__ or (error.__context__ if re.match(_BAD_FILE, str(error)) else None)


def _unknown(key: str, place: int, holder: type, variants: Variants | None) -> str:
    """About a key whose part number `place` is no option of the class `holder`, one of `variants` if there are any."""
    parts = key.split(".")
    known = list(_field_types(holder))
    listed = f"expected one of {', '.join(known)}"
    if variants:
        group, choice = ".".join(parts[:place]), variants.choice(holder)
        if choice is None:
            return f"{key}: {variants.expected()}"
        others = [f"{group}={name}" for name in variants.with_option(parts[place])]
        if others:
            return f"{key} is an option of {' and '.join(others)}, not of {group}={choice}: {listed}"
    paths = {name: ".".join([*parts[:place], name, *parts[place + 1 :]]) for name in known}
    return f"unknown option {key}: {did_you_mean(key, paths.values())}{listed}"


def _is_free(kind: Any) -> bool:
    """Whether a type leaves its inside open, as that of an agent spec does."""
    return kind is Any or any(_is_free(part) for part in typing.get_args(kind))


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _flat(text: str) -> str:
    return " ".join(text.split())
