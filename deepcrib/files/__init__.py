"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from deepcrib.errors import RunError

TEMPORARY = ".tmp"  # the end of the name of a file that is not complete; it begins with a dot


def write_atomic(path: Path, content: str | bytes | memoryview) -> None:
    """Write a file so that `path` holds either all of it or what it held before. Raises RunError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    with writing(path):
        try:
            temporary.unlink(missing_ok=True)
            with open(temporary, "xb") as file:  # never through a link
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            with contextlib.suppress(OSError):  # a system that lets no folder be opened
                folder = os.open(path.parent, os.O_RDONLY)
                os.fsync(folder)  # so that the new name outlasts a power cut
                os.close(folder)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn what the system refuses while a file, or its folder, is written into a RunError that names the file."""
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
