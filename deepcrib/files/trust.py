"""What a file may lead to that anybody may have written: weights, a run's options, a game record.

It may say which agents and other parts of the package take part, and which files beside it. It runs no code, and leads
nowhere else, unless whoever reads it says `trust=true`, or names that code too. `agents.specs.travel.spec_of_file`
decides about agents, `plain_of_file` about all else.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yaml import AliasEvent, CollectionEndEvent, CollectionStartEvent, SafeLoader, parse  # type: ignore[import-untyped]

from deepcrib.errors import RunError, UserError
from deepcrib.plugins import is_place

DEEPEST = 64  # levels of nested values in a file of options; our own have a tenth of them

_trusting: ContextVar[bool | Collection[str]] = ContextVar("trusting", default=False)


class UntrustedError(UserError):
    """A file names what is neither of the package nor a file beside it."""


@dataclass(frozen=True)
class FromFile:
    """A spec of an agent, or another value, that stands in a file, where a person's own is plain.

    spec: as it stands there. file: which one. part: where in it, as `discards_by` or `evaluation.opponents`.
    """

    spec: Any
    file: Path
    part: str


@contextmanager
def trusting(trust: bool | Collection[str] = True) -> Iterator[None]:
    """While files are read whose writers may do here what the reader may: run code, and lead anywhere.

    trust: or the names of code, `module:name`, that they may name, and nothing else.
    """
    token = _trusting.set((trust,) if isinstance(trust, str) else trust)
    try:
        yield
    finally:
        _trusting.reset(token)


def is_trusting(code: str = "") -> bool:
    """Whether what files say, or that they name this code, is taken as if a person had written it here."""
    trust = _trusting.get()
    return trust if isinstance(trust, bool) else code in trust


def plain_of_file(said: FromFile, allowing: str = "naming it yourself") -> Any:
    """A value that a file holds and that is no spec of an agent; it names no code. Raises UntrustedError.

    allowing: what else allows it, for the error.
    """
    code = [text for text in _texts(said.spec) if is_place(text) and not is_trusting(text)]
    if code:
        raise refused(said, f"{', '.join(code)}, which is code from outside of deepcrib", allowing)
    return said.spec


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def refused(said: FromFile, what: str, allowing: str = "naming it yourself") -> UntrustedError:
    """About what a file may not name; allowing: as in `plain_of_file`."""
    expected = f"expected a name of deepcrib's or a file beside it (trust=true allows it, as does {allowing})"
    return UntrustedError(f"{said.file}: {said.part} names {what}: {expected}")


def lies_in(folder: Path, path: Path) -> bool:
    """Whether a path leads to what lies in a folder, or below it, links followed."""
    try:
        real, root = (Path(os.path.realpath(place)) for place in (path, folder))  # not `resolve`: links may be a circle
    except ValueError:  # a name with a NUL, which no file has
        return False
    return real.is_relative_to(root)


def require_no_way_out(folder: Path) -> None:
    """Refuse a run folder with a link to elsewhere, which would be written through, or a pipe. Raises RunError."""
    if is_trusting():
        return
    for place, folders, files in os.walk(folder, onerror=_refuse_unread):
        for path in (Path(place, name) for name in (*folders, *files)):
            if path.is_symlink() and not lies_in(folder, path):
                expected = "expected a file of its own (trust=true follows it)"
                raise RunError(f"{path} is a link to {os.readlink(path)}, outside of the run folder: {expected}")
            if os.path.exists(path) and not (path.is_file() or path.is_dir()):  # nobody may ever write to it
                raise RunError(f"{path} is neither a file nor a folder (trust=true reads it)")


def _refuse_unread(error: OSError) -> None:
    if isinstance(error, FileNotFoundError):  # whoever asked says so better
        return
    raise RunError(f"cannot read {error.filename}: {error.strerror}") from error


def require_small_yaml(text: str) -> None:
    """Refuse YAML that takes far longer to read than it is long. Raises ValueError.

    An alias may stand for billions of values, and the time for nested brackets grows with the square of their number.
    """
    depth = 0
    for event in parse(text, SafeLoader):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if isinstance(event, AliasEvent):
            raise ValueError("expected every value where it stands, found an alias (*)")
        if depth > DEEPEST:
            raise ValueError(f"nested too deeply: expected at most {DEEPEST} levels")
