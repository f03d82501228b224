"""Errors that `deepcrib` ends with one line: of a wrong call with exit code 2, of what failed beyond it with 1."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class UserError(ValueError):
    """A request that cannot be carried out; its message names the value and says what was expected."""


class FailureError(RuntimeError):
    """What failed beyond the call, in one line; the command ends with exit code 1."""


class OptionError(UserError):
    """An option that does not exist, is missing, or has a value outside of its range."""


class MissingExtraError(OptionError):
    """A package that only an extra of deepcrib installs.

    user: what needs it. package: as its authors write it. extra: its name in `pyproject.toml`.
    """

    def __init__(self, user: str, package: str, extra: str) -> None:
        advice = f"pip install 'deepcrib[{extra}]'"
        if not (Path(__file__).parent / "conf").is_dir():  # a checkout, where it lies beside the package
            advice = f"pip install -e '.[{extra}]' in the repository of deepcrib"
        super().__init__(f"{user}: expected {package}, which is not installed: {advice}")


class RunError(UserError):
    """A run folder that cannot be written, is taken, or does not hold a run."""


class StatisticsError(UserError):
    """Cards that have no statistics."""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """`did you mean quick?` for the nearest of the names, with a space behind; nothing where none is near."""
    near = get_close_matches(word, list(names), n=1)
    return f"did you mean {near[0]}? " if near else ""
