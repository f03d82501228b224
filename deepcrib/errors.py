"""Errors that `deepcrib` ends with one line: of a wrong call with exit code 2, of what failed beyond it with 1."""

from __future__ import annotations


class UserError(ValueError):
    """A request that cannot be carried out; its message names the value and says what was expected."""


class FailureError(RuntimeError):
    """What failed beyond the call, in one line; the command ends with exit code 1."""


class OptionError(UserError):
    """An option that does not exist, is missing, or has a value outside of its range."""


class RunError(UserError):
    """A run folder that cannot be written, is taken, or does not hold a run."""


class StatisticsError(UserError):
    """A table of statistics that cannot be read or written, or cards that it holds nothing about."""
