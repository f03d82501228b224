"""Names of a person's own code: `package.module:name`, wherever the package has names of its own.

A module is found as `python -m` finds it: in the current folder first, then on PYTHONPATH, then among what is
installed. Whoever names one runs its code. So a file may not: what it names is held against `files.trust` first.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from deepcrib.errors import FailureError, OptionError, UserError, did_you_mean

if TYPE_CHECKING:
    from deepcrib.options import Check

Entry = TypeVar("Entry")
_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class Registry(dict[str, Entry]):
    """The package's things of one kind by name; `package.module:name` names one from outside the package.

    kind: as errors call one. check: what one from outside has to be.
    """

    def __init__(self, kind: str, entries: Mapping[str, Entry], check: Check) -> None:
        super().__init__(entries)
        self.kind, self.check = kind, check

    def find(self, name: str) -> Entry:
        """What a name stands for. Raises OptionError."""
        try:
            return self._find(name)
        except OptionError as error:
            raise OptionError(f"{'' if is_place(name) else 'unknown '}{self.kind} {name!r}: {error}") from error

    def problem(self, name: str) -> str | None:
        """A line on a name that stands for nothing, or for something else; else None."""
        try:
            self._find(name)
        except OptionError as error:
            return str(error)
        return None

    def _find(self, name: str) -> Any:
        if name in self:
            return self[name]
        if is_place(name):
            return checked_object(name, self.check)
        near = did_you_mean(str(name), self)
        raise OptionError(f"{near}expected one of {', '.join(self)}, or module:name of your own")


def array_of(what: str, name: str, function: Callable[..., Any], shape: tuple[int, ...], *arguments: Any) -> Any:
    """What the function of a name makes of arguments; from outside the package it is looked at.

    Raises OptionError for an array of another shape, or of what is not finite; FailureError where it raises an error.
    """
    if not is_place(name):
        return function(*arguments)
    with blamed(f"{what} {name}", name.partition(":")[0]):
        found = np.asarray(function(*arguments))
    if found.shape != shape or not np.isfinite(found).all():
        given = f"{found.dtype} {list(found.shape)}{' with nan or inf' * (found.shape == shape)}"
        raise OptionError(f"{what} {name} gave {given}, expected finite numbers {list(shape)}")
    return found


@contextmanager
def blamed(what: str, module: str) -> Iterator[None]:
    """Let the errors of code from outside this package name it, and the line of its code. Raises FailureError."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if module.split(".")[0] == __name__.split(".")[0]:
            raise
        frames, own = traceback.extract_tb(error.__traceback__), getattr(sys.modules.get(module), "__file__", None)
        frame = ([frame for frame in frames if frame.filename == own] or frames)[-1]
        where = f"{frame.filename}, line {frame.lineno}; DEEPCRIB_TRACEBACK=1 shows the way there"
        raise FailureError(f"{what} raised {type(error).__name__}: {error} ({where})") from error


def subclass_of(*bases: type) -> Check:
    """A class that derives from one of these."""
    expected = f"expected a subclass of {' or '.join(f'{base.__module__}.{base.__qualname__}' for base in bases)}"
    return lambda found: None if isinstance(found, type) and issubclass(found, bases) else expected


def function_of(*arguments: str) -> Check:
    """What can be called with these arguments, and is no class."""
    expected = f"expected a function of {', '.join(arguments)}"
    return lambda found: None if callable(found) and not isinstance(found, type) else expected


def is_place(text: Any) -> bool:
    """Whether it is a text such as `package.module:name`."""
    return isinstance(text, str) and _PLACE.fullmatch(text) is not None


def checked_object(place: str, check: Check) -> Any:
    """What `package.module:name` from outside the package is. Raises OptionError, in a line without the place."""
    module, name = module_of(place), place.partition(":")[2]
    where = f"module {module.__name__} ({getattr(module, '__file__', 'built in')})"
    if not hasattr(module, name):
        near = did_you_mean(name, vars(module)).strip()
        raise OptionError(f"{where} has no {name}{near and f': {near}'}")
    found = getattr(module, name)
    if problem := check(found):
        raise OptionError(f"{name} in {where}: {problem}")
    return found


def module_of(place: str) -> ModuleType:
    """The module that a place names, imported. Raises OptionError, as `checked_object` does."""
    name, folder = place.partition(":")[0], os.getcwd()
    if folder not in sys.path:  # a console script's own folder stands there instead
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            expected = f"expected one in {folder}, on PYTHONPATH or installed"
            raise OptionError(f"there is no module {error.name} ({expected})") from error
        raise OptionError(f"{name} cannot be imported: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """An error of code from outside, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
