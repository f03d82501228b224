"""The files of a run folder as a report reads them, which anybody may have written: one line refuses a wrong value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.errors import RunError
from deepcrib.files.runs import is_number, starts
from deepcrib.files.trust import require_small_yaml

_LONGEST = 60  # characters of a wrong value that are shown


class Kind(NamedTuple):
    """What a value may be: a description and a test."""

    expected: str
    fits: Callable[[Any], bool]


def _is_time(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        return False


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(entry, kind) for entry in value)


NUMBER = Kind("a number", is_number)
COUNT = Kind("a whole number above 0", lambda value: is_number(value) and isinstance(value, int) and value > 0)
SHARE = Kind("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
SEED = Kind("a whole number or a name", lambda value: is_number(value) or isinstance(value, str))
WORDS = Kind("a list of words", lambda value: _is_list_of(value, str))
MAPPING = Kind("a mapping", lambda value: isinstance(value, dict))
MACHINE = Kind(
    "a mapping, with a list of gpus", lambda value: MAPPING.fits(value) and WORDS.fits(value.get("gpus", []))
)
STARTS = Kind("a list of mappings", lambda value: _is_list_of(value, dict))
TIME = Kind("a time with its zone, such as 2026-11-22T01:00:00+01:00", _is_time)

OPTIONS = {"seed": SEED, "evaluation.games": COUNT}
"""Options [by dotted name] with which the report computes; all others are text."""
START = {
    **{"time": TIME, "command": WORDS, "overrides": WORDS, "seconds": NUMBER, "versions": MAPPING},
    **{"machine": MACHINE, "earlier": STARTS, "commands": STARTS},
}
PRETRAINED = {"mean_absolute_error": NUMBER, "sample_error": NUMBER}


def read_yaml(path: Path) -> dict[str, Any]:
    """The nested options of `config.yaml`; none where there is no such file. Raises RunError."""
    return _read(path, _plain_yaml) or {}


def _plain_yaml(text: str) -> Any:
    require_small_yaml(text)
    return OmegaConf.to_container(OmegaConf.create(text))


def read_json(path: Path) -> dict[str, Any] | None:
    """The mapping in a JSON file, without what is null; None where there is no such file. Raises RunError."""
    content = _read(path, json.loads)
    return None if content is None else {name: value for name, value in content.items() if value is not None}


def read_environment(path: Path) -> dict[str, Any]:
    """`environment.json`, or what `error.json` holds of it; empty where there is no such file. Raises RunError."""
    found = read_json(path) or {}
    check(path, found, START)
    for start in starts(found):
        check(path, start, START)
    return found


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
    found: dict[str, Any] = _on_one_line(content)
    return found


def _on_one_line(value: Any) -> Any:
    """The same without what would be more than text where texts are shown: control characters, lines, links."""
    if isinstance(value, dict):
        return {_on_one_line(name): _on_one_line(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_on_one_line(inner) for inner in value]
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " for c in value).replace("](", "] (")
    return value


def check_matches(path: Path, summary: Mapping[str, Any]) -> None:
    """Raise RunError where matches in the summary of a training have other results than games can have."""
    for name, match in summary.items():
        if isinstance(match, dict) and "win_rate" in match:
            _check_wins(path, match, "games", f"{name}.")
            check(path, match, {"hands_won": MAPPING}, f"{name}.")
            if match.get("hands_won"):
                _check_wins(path, match["hands_won"], "hands", f"{name}.hands_won.")


def _check_wins(path: Path, match: Mapping[str, Any], trials: str, prefix: str) -> None:
    check(path, match, {trials: COUNT, "wins": NUMBER, "win_rate": SHARE}, prefix, needed=True)
    within = Kind(f"0 to {match[trials]:,}", lambda wins: 0 <= wins <= match[trials])
    check(path, match, {"wins": within}, prefix)


def check(
    path: Path, content: Mapping[str, Any], kinds: Mapping[str, Kind], prefix: str = "", needed: bool = False
) -> None:
    """Raise RunError for the first value that is not of its kind, and with `needed` for one that is not there."""
    for name, kind in kinds.items():
        value = content.get(name)
        if value is None and needed:
            raise RunError(f"{path}: {prefix}{name} is missing: expected {kind.expected}")
        if value is not None and not kind.fits(value):
            text = json.dumps(value, default=str)
            shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
            raise RunError(f"{path}: {prefix}{name}={shown}: expected {kind.expected}")
