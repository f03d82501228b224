"""The files of a run folder as a report reads them; one that it could not use is refused in a line that names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.errors import RunError
from deepcrib.files.runs import flat, is_number
from deepcrib.files.trust import require_small_yaml

_LONGEST = 60  # characters of a wrong value that are shown


class Kind(NamedTuple):
    """What a value may be, in words and as a test."""

    words: str
    fits: Callable[[Any], bool]


def _is_time(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        return False


NUMBER = Kind("a number", is_number)
COUNT = Kind("a whole number, 0 or more", lambda value: is_number(value) and isinstance(value, int) and value >= 0)
TRIALS = Kind("a whole number above 0", lambda value: COUNT.fits(value) and value > 0)
SHARE = Kind("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
NAME = Kind("a name", lambda value: isinstance(value, str) and re.fullmatch(r"[\w.-]+", value) is not None)
SEED = Kind("a whole number or a name", lambda value: is_number(value) or NAME.fits(value))
WORDS = Kind("a list of words", lambda value: isinstance(value, list) and all(isinstance(word, str) for word in value))
LIST = Kind("a list", lambda value: isinstance(value, list))
MAPPING = Kind("a mapping", lambda value: isinstance(value, dict))
TIME = Kind("a time with its zone, such as 2026-11-22T01:00:00+01:00", _is_time)

_OPTIONS = {
    "seed": SEED,
    "evaluation.opponents": LIST,
    **dict.fromkeys(("evaluation.games", "learner.iterations", "learner.epochs_kept", "learner.buffer_size"), COUNT),
    "learner.replacement": SHARE,
    **dict.fromkeys(("learner.play_lr", "learner.lr_decay", "learner.epsilon_decay"), NUMBER),
    **dict.fromkeys(("algorithm.name", "play_network.name", "discard_network.name"), NAME),
    **dict.fromkeys(("discard_network.head", "reward.play", "state.play"), NAME),
}
_ENVIRONMENT: Mapping[str, Any] = {
    **{"time": TIME, "command": WORDS, "overrides": WORDS, "seconds": NUMBER, "versions": MAPPING},
    **{"machine": {"gpus": WORDS}, "earlier": [{"command": WORDS}], "commands": [{"command": WORDS}]},
}


def read_options(path: Path) -> dict[str, Any]:
    """The options of `config.yaml` by dotted name; none where there is no such file. Raises RunError."""
    content = _read(path, _plain_yaml, "options by name") or {}
    options = dict(flat(content))
    _check(path, options, _OPTIONS)
    return options


def _plain_yaml(text: str) -> Any:
    require_small_yaml(text)
    return OmegaConf.to_container(OmegaConf.create(text))


def read_json(path: Path) -> dict[str, Any] | None:
    """The mapping in a JSON file, without what is null; None where there is no such file. Raises RunError."""
    content = _read(path, json.loads, "a mapping")
    return None if content is None else {name: value for name, value in content.items() if value is not None}


def read_environment(path: Path) -> dict[str, Any] | None:
    """`environment.json`, or what `error.json` holds of it; None where there is no such file. Raises RunError."""
    found = read_json(path)
    _check(path, found or {}, _ENVIRONMENT)
    return found


def _read(path: Path, parse: Callable[[str], Any], expected: str) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        content = parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, YAMLError, OmegaConfBaseException) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise RunError(f"{path}: cannot be read: {reason[:120]}") from error
    if not isinstance(content, dict):
        raise RunError(f"{path}: expected {expected}")
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


def check_pretrained(path: Path, summary: Mapping[str, Any]) -> None:
    """Raise RunError where the summary of `deepcrib pretrain` lacks an error, or has another value there."""
    _check(path, summary, {"mean_absolute_error": NUMBER, "sample_error": NUMBER}, needed=True)
    _check(path, summary, {"exact_share": SHARE})


def check_matches(path: Path, summary: Mapping[str, Any], opponents: Sequence[Any]) -> None:
    """Raise RunError where metrics of matches in the summary of `deepcrib train` are none."""
    _check(path, summary, {name: {"hands_won": {}} for name in summary if name in opponents})
    for name, metrics in summary.items():
        if isinstance(metrics, dict):
            if "win_rate" in metrics:
                _check_wins(path, metrics, "games", f"{name}.")
            if metrics.get("hands_won") is not None:
                _check(path, metrics, {"hands_won": {}}, f"{name}.")
                _check_wins(path, metrics["hands_won"], "hands", f"{name}.hands_won.")


def _check_wins(path: Path, metrics: Mapping[str, Any], trials: str, prefix: str) -> None:
    _check(path, metrics, {trials: TRIALS, "wins": NUMBER, "win_rate": SHARE}, prefix, needed=True)
    within = Kind(f"0 to {metrics[trials]:,}", lambda wins: 0 <= wins <= metrics[trials])
    _check(path, metrics, {"wins": within}, prefix)


def _check(
    path: Path, content: Mapping[str, Any], kinds: Mapping[str, Any], prefix: str = "", needed: bool = False
) -> None:
    """Raise RunError for the first value that is not of its kind, and with `needed` for one that is not there.

    kinds: by name a Kind, the kinds of a mapping within, or [kind] of a list's entries.
    """
    for name, kind in kinds.items():
        value = content.get(name)
        own = MAPPING if isinstance(kind, dict) else LIST if isinstance(kind, list) else kind
        if value is None:
            if needed:
                raise RunError(f"{path}: {prefix}{name} is missing: expected {own.words}")
        elif not own.fits(value):
            text = json.dumps(value, default=str)
            shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
            raise RunError(f"{path}: {prefix}{name}={shown}: expected {own.words}")
        elif isinstance(kind, dict):
            _check(path, value, kind, f"{prefix}{name}.")
        elif isinstance(kind, list):
            entries = {f"{name}[{place}]": entry for place, entry in enumerate(value)}
            _check(path, entries, dict.fromkeys(entries, kind[0]), prefix)
