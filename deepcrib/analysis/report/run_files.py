"""The files of a run folder as a report reads them, which anybody may have written: one line refuses a wrong value.

Values with which the report computes are checked; all others are shown as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.errors import RunError
from deepcrib.files.runs import is_number
from deepcrib.files.trust import require_small_yaml


class Kind(NamedTuple):
    """What a value may be: a description and a test."""

    expected: str
    fits: Callable[[Any], bool]


NUMBER = Kind("a number", is_number)
COUNT = Kind("a whole number above 0", lambda value: is_number(value) and isinstance(value, int) and value > 0)
SHARE = Kind("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
MAPPING = Kind("a mapping", lambda value: isinstance(value, dict))
MAPPINGS = Kind("a list of mappings", lambda value: _is_list_of(value, dict))
WORDS = Kind("a list of words", lambda value: _is_list_of(value, str))
START = {
    **{"command": WORDS, "overrides": WORDS, "seconds": NUMBER, "versions": MAPPING, "machine": MAPPING},
    **{"earlier": MAPPINGS, "commands": MAPPINGS},
}
"""What `environment.json` says of a start of a run."""


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(entry, kind) for entry in value)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; empty where there is no such file. Raises RunError."""
    return _read(path, _plain_yaml) or {}


def _plain_yaml(text: str) -> Any:
    require_small_yaml(text)
    return OmegaConf.to_container(OmegaConf.create(text))


def read_json(path: Path) -> dict[str, Any] | None:
    """The mapping in a JSON file, without what is null; None where there is no such file. Raises RunError."""
    content = _read(path, json.loads)
    return None if content is None else {name: value for name, value in content.items() if value is not None}


def _read(path: Path, parse: Callable[[str], Any]) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        content = parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, YAMLError, OmegaConfBaseException) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise RunError(f"{path}: cannot be read: {reason[:120]}") from error
    if not isinstance(content, dict):
        raise RunError(f"{path}: expected a mapping")
    plain: dict[str, Any] = _on_one_line(content)
    return plain


def _on_one_line(value: Any) -> Any:
    """The same without what would be more than text where texts are shown: control characters, lines, links."""
    if isinstance(value, dict):
        return {_on_one_line(name): _on_one_line(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_on_one_line(inner) for inner in value]
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " for c in value).replace("](", "] (")
    return value


def check_match(path: Path, match: Mapping[str, Any], trials: str, prefix: str) -> None:
    """Raise RunError where a match has other results than so many games, or hands, can have."""
    check(path, match, {trials: COUNT, "wins": NUMBER, "win_rate": SHARE}, prefix, needed=True)
    within = Kind(f"0 to {match[trials]:,}", lambda wins: 0 <= wins <= match[trials])
    check(path, match, {"wins": within, "hands_won": MAPPING}, prefix)


def check(
    path: Path, content: Mapping[str, Any], kinds: Mapping[str, Kind], prefix: str = "", needed: bool = False
) -> None:
    """Raise RunError for the first value that is not of its kind, and with `needed` for one that is not there."""
    for name, kind in kinds.items():
        value = content.get(name)
        if value is None and needed:
            raise RunError(f"{path}: {prefix}{name} is missing: expected {kind.expected}")
        if value is not None and not kind.fits(value):
            raise RunError(f"{path}: {prefix}{name}={json.dumps(value, default=str)[:60]}: expected {kind.expected}")
