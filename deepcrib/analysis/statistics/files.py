"""Statistics as CSV files, and what may stand in the place of a file to be written."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.analysis.statistics.rows import PeggingRow
from deepcrib.errors import RunError, StatisticsError
from deepcrib.exact.experts import Experts
from deepcrib.exact.table import load_table
from deepcrib.files import csv_text, write_atomic
from deepcrib.game.cards import NUM_RANKS, RANK_NAMES

CRIB_COLUMNS = ("rank_1", "rank_2", "own_crib", "opponent_crib")
WEIGHT_COLUMNS = ("rank_1", "rank_2", "dealer", "pone")


def write_crib_table(path: Path, cells: Iterable[tuple[str, str, float, float]]) -> None:
    """The rows of `experts.crib_table`."""
    _write(path, CRIB_COLUMNS, [(a, b, _figure(own), _figure(other)) for a, b, own, other in cells])


def write_weights(path: Path, found: Experts) -> None:
    """How both throw, as `statistics/experts.csv` has it."""
    rows = [
        (RANK_NAMES[a], RANK_NAMES[b], _figure(found.dealer[a, b]), _figure(found.pone[a, b]))
        for a in range(NUM_RANKS)
        for b in range(a, NUM_RANKS)
    ]
    _write(path, WEIGHT_COLUMNS, rows)


def write_matrix(path: Path, names: Sequence[str], columns: Sequence[str], matrix: NDArray[np.float64]) -> None:
    """One line a pair of ranks: its name, then matrix [91, columns]."""
    rows = [[name, *map(_figure, row)] for name, row in zip(names, matrix.tolist(), strict=True)]
    _write(path, ("pair", *columns), rows)


def write_pegging(path: Path, rows: Sequence[PeggingRow]) -> None:
    """One line a set and role; a figure that is not known is an empty cell."""
    plain = [row.to_dict() for row in rows]
    cells = [[_figure(value) if isinstance(value, float) else value for value in row.values()] for row in plain]
    _write(path, list(plain[0]), cells)


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    write_atomic(path, csv_text([columns, *rows]))


def _figure(value: float) -> str:
    return f"{value:.8g}"


# --- before writing -----------------------------------------------------------------------------------------


def target(path: Path, what: str, is_ours: Callable[[Path], bool]) -> Path:
    """A file to write. Raises RunError where it cannot be written, or where something else stands in its place."""
    try:
        if path.exists() and not (path.is_file() and is_ours(path)):
            raise RunError(f"path={path}: exists and is no {what}; delete it, or name another file")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def is_discard_table(path: Path) -> bool:
    """Whether a file is a whole table of all discards."""
    try:
        load_table(path)
    except StatisticsError:
        return False
    return True


def is_crib_table(path: Path) -> bool:
    """Whether a file begins as a crib table does."""
    with open(path, "rb") as file:
        return file.readline(100).strip() == ",".join(CRIB_COLUMNS).encode()
