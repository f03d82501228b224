"""The metrics in a run's folder: `progress.csv`, a row each time that they are reported, with what matches found.

Columns are `step`, `seconds` (of the training so far, matches included; pretraining and what a stopped run lost are
not) and every TensorBoard tag, as they come. A cell is empty where there is no such metric. A resumed run goes on with
the file: rows after the step of the saved state go, those before it stay.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deepcrib.errors import RunError
from deepcrib.files import csv_text, write_atomic, writing

PROGRESS_FILE = "progress.csv"  # in a run folder
STEP, SECONDS = "step", "seconds"
Curve = tuple[NDArray[np.int64], NDArray[np.float64]]  # steps [T] and values [T] of a metric


class ProgressFile:
    """The file of a training that goes on after so many steps; one that begins loses what there was.

    A row is appended, since there may be thousands, and the file replaced as a whole only where a column comes. What a
    killed process wrote of a row has no line's end: readers leave it out, and the next process removes it.

    Attributes:
        seconds: of the row after these steps; None without one.

    Raises RunError where the file cannot be read or written.
    """

    def __init__(self, folder: Path, steps_done: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / PROGRESS_FILE
        self.columns, rows = _read(self.path) if steps_done and self.path.exists() else ([STEP, SECONDS], [])
        kept = [row for row in rows if int(row[0]) <= steps_done]
        self.seconds = float(kept[-1][1]) if kept and int(kept[-1][0]) == steps_done else None
        write_atomic(self.path, csv_text([self.columns, *kept]))

    def add(self, step: int, seconds: float, metrics: Mapping[str, float]) -> None:
        """Add a row. It survives the end of this process, and after `sync` that of the machine."""
        new = [tag for tag in metrics if tag not in self.columns]
        self.columns += new
        cells = {tag: f"{value:.10g}" for tag, value in metrics.items()} | {STEP: str(step), SECONDS: f"{seconds:.1f}"}
        row = [cells.get(column, "") for column in self.columns]
        if new:
            before = [[*one, *[""] * len(new)] for one in _read(self.path)[1]]
            write_atomic(self.path, csv_text([self.columns, *before, row]))
            return
        with writing(self.path), open(self.path, "ab") as file:
            file.write(csv_text([row]).encode())

    def sync(self) -> None:
        """Bring the rows to the disk."""
        with writing(self.path), open(self.path, "ab") as file:
            os.fsync(file.fileno())


def read_progress(folder: Path | str) -> dict[str, Curve]:
    """The curve of every column that has values but `step`. Raises RunError where there is no such file, or another."""
    path = Path(folder) / PROGRESS_FILE
    columns, rows = _read(path)
    # of Python's texts: as NumPy's, every cell would take the room of the longest
    cells = np.array(rows, dtype=object).reshape(len(rows), len(columns))  # [T, C]
    there = cells != ""
    with _reading(path):
        return {
            name: (cells[mask, 0].astype(np.int64), cells[mask, at].astype(np.float64))
            for at, (name, mask) in enumerate(zip(columns, there.T, strict=True))
            if at and mask.any()
        }


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Columns, and the rows that are whole."""
    with _reading(path):
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        columns, *rows = csv.reader(io.StringIO(text[: text.rfind("\n") + 1], newline=""), strict=True)
        if columns[:2] != [STEP, SECONDS] or any(len(row) != len(columns) for row in rows):
            raise ValueError
        for row in rows:
            int(row[0]), float(row[1])
    return columns, rows


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise RunError(
            f"{path}: not there: expected a run of deepcrib train, by this version or a later one"
        ) from error
    except (OSError, ValueError, OverflowError, csv.Error) as error:
        raise RunError(
            f"{path}: cannot be read: expected columns {STEP}, {SECONDS}, and numbers in all rows"
        ) from error
