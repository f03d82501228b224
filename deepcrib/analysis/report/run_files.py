"""The files of a run folder as a report reads them, which anybody may have written: one line refuses a wrong value.

Values with which the report computes are checked; all others are shown as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.errors import RunError
from deepcrib.files.runs import is_number
from deepcrib.files.trust import require_small_yaml
from deepcrib.options import Check


def _kind(expected: str, fits: Callable[[Any], bool]) -> Check:
    return lambda value: None if fits(value) else f"expected {expected}"


def _list_of(expected: str, kind: type) -> Check:
    return _kind(expected, lambda value: isinstance(value, list) and all(isinstance(entry, kind) for entry in value))


NUMBER = _kind("a number", is_number)
COUNT = _kind("a whole number above 0", lambda value: is_number(value) and isinstance(value, int) and value > 0)
SHARE = _kind("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
MAPPING = _kind("a mapping", lambda value: isinstance(value, dict))
MAPPINGS, WORDS = _list_of("a list of mappings", dict), _list_of("a list of words", str)
START = {
    **{"command": WORDS, "overrides": WORDS, "seconds": NUMBER, "versions": MAPPING, "machine": MAPPING},
    **{"earlier": MAPPINGS, "commands": MAPPINGS},
}
"""What `environment.json` says of a start of a run."""


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; empty where there is no such file. Raises RunError."""

    def plain(text: str) -> Any:
        require_small_yaml(text)
        return OmegaConf.to_container(OmegaConf.create(text))

    return _read(path, plain) or {}


def read_mapping(path: Path) -> dict[str, Any] | None:
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
    return _on_one_line(content)


def _on_one_line(value: Any) -> Any:
    """The same without what would be more than text where texts are shown: control characters, lines, links."""
    if isinstance(value, dict):
        return {_on_one_line(name): _on_one_line(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_on_one_line(inner) for inner in value]
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " for c in value).replace("](", "] (")
    return value


def check_match(path: Path, match: Mapping[str, Any], prefix: str, trials: str = "games") -> None:
    """Raise RunError where a match has other results than so many games, or hands, can have."""
    check(path, match, {trials: COUNT, "wins": NUMBER, "win_rate": SHARE}, prefix, needed=True)
    possible = _kind(f"0 to {match[trials]:,}", lambda wins: 0 <= wins <= match[trials])
    check(path, match, {"wins": possible, "hands_won": MAPPING}, prefix)
    if match.get("hands_won"):
        check_match(path, match["hands_won"], f"{prefix}hands_won.", "hands")


def check(
    path: Path, content: Mapping[str, Any], checks: Mapping[str, Check], prefix: str = "", needed: bool = False
) -> None:
    """Raise RunError for the first value that its check refuses; with `needed` also for one that is not there."""
    for name, problem_of in checks.items():
        value = content.get(name)
        if (needed or value is not None) and (problem := problem_of(value)):
            raise RunError(f"{path}: {prefix}{name}={json.dumps(value, default=str)[:60]}: {problem}")
