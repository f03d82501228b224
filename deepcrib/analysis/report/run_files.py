"""The files of a run folder as a report reads them; one that it could not use is refused in a line that names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from deepcrib.errors import RunError
from deepcrib.files.runs import flat, is_number

_LONGEST = 60  # characters of a wrong value that are shown


@dataclass(frozen=True)
class Kind:
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
    **dict.fromkeys(("learner.replacement",), SHARE),
    **dict.fromkeys(("learner.play_lr", "learner.lr_decay", "learner.epsilon_decay"), NUMBER),
    **dict.fromkeys(("algorithm.name", "play_network.name", "discard_network.name"), NAME),
    **dict.fromkeys(("discard_network.head", "reward.play", "state.play"), NAME),
}
_ENVIRONMENT = {"time": TIME, "command": WORDS, "overrides": WORDS, "seconds": NUMBER}
_ENVIRONMENT |= {"versions": MAPPING, "machine": MAPPING, "earlier": LIST}
_MATCH = {"games": TRIALS, "wins": NUMBER, "win_rate": SHARE}
_HANDS = {"hands": TRIALS, "wins": NUMBER, "win_rate": SHARE}
_PRETRAINED = {"mean_absolute_error": NUMBER, "sample_error": NUMBER}


def read_options(path: Path) -> dict[str, Any]:
    """The options of `config.yaml` by dotted name; none where there is no such file. Raises RunError."""
    if not path.exists():
        return {}
    try:
        content = OmegaConf.to_container(OmegaConf.load(path))
    except (OSError, ValueError, RecursionError, YAMLError, OmegaConfBaseException) as error:
        raise _cannot_be_read(path, error) from error
    if not isinstance(content, dict):
        raise RunError(f"{path}: expected options by name")
    options = dict(flat(content))
    _check(path, {name: value for name, value in options.items() if value is not None}, _OPTIONS)
    return options


def read_json(path: Path) -> dict[str, Any] | None:
    """The mapping in a JSON file, without what is null; None where there is no such file. Raises RunError."""
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _cannot_be_read(path, error) from error
    if not isinstance(content, dict):
        raise RunError(f"{path}: expected a mapping")
    return {name: value for name, value in content.items() if value is not None}


def read_environment(path: Path) -> dict[str, Any] | None:
    """`environment.json`, or what `error.json` tells of it; None where there is no such file. Raises RunError."""
    found = read_json(path)
    if found is not None:
        _check(path, found, _ENVIRONMENT)
        for place, start in enumerate(found.get("earlier", ())):
            _check(path, {f"earlier[{place}]": start}, {f"earlier[{place}]": MAPPING})
            _check(path, start, {"command": WORDS}, f"earlier[{place}].")
        if found.get("machine", {}).get("gpus") is not None:
            _check(path, found["machine"], {"gpus": WORDS}, "machine.")
    return found


def check_pretrained(path: Path, summary: Mapping[str, Any]) -> None:
    """Raise RunError where the summary of `deepcrib pretrain` lacks an error, or has another value there."""
    _check(path, summary, _PRETRAINED, needed=True)
    _check(path, summary, {"exact_share": SHARE})


def check_matches(path: Path, summary: Mapping[str, Any], opponents: Sequence[Any]) -> None:
    """Raise RunError where figures of matches in the summary of `deepcrib train` are none."""
    for name, figures in summary.items():
        if name in opponents:
            _check(path, summary, {name: MAPPING})
        if not isinstance(figures, dict):
            continue
        if "win_rate" in figures:
            _check_wins(path, figures, _MATCH, f"{name}.")
        if figures.get("hands_won") is not None:
            _check(path, figures, {"hands_won": MAPPING}, f"{name}.")
            _check_wins(path, figures["hands_won"], _HANDS, f"{name}.hands_won.")


def _check_wins(path: Path, figures: Mapping[str, Any], kinds: Mapping[str, Kind], prefix: str) -> None:
    _check(path, figures, kinds, prefix, needed=True)
    trials = figures[next(iter(kinds))]
    within = Kind(f"0 to {trials:,}", lambda wins: 0 <= wins <= trials)
    _check(path, figures, {"wins": within}, prefix)


def _check(
    path: Path, content: Mapping[str, Any], kinds: Mapping[str, Kind], prefix: str = "", needed: bool = False
) -> None:
    """Raise RunError for the first value that is not of its kind, and with `needed` for one that is not there."""
    for name, kind in kinds.items():
        if name not in content:
            if needed:
                raise RunError(f"{path}: {prefix}{name} is missing: expected {kind.words}")
        elif not kind.fits(content[name]):
            raise RunError(f"{path}: {prefix}{name}={_shown(content[name])}: expected {kind.words}")


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _cannot_be_read(path: Path, error: Exception) -> RunError:
    reason = " ".join(str(getattr(error, "strerror", None) or error).split())
    return RunError(f"{path}: cannot be read: {reason[:120]}")
