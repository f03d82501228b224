"""The learning curve in a run's folder: `curve.csv`, what the matches between iterations found, a row an opponent.

A resumed run goes on with it: rows after the iteration of the saved state go, those before it stay.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from deepcrib.errors import RunError
from deepcrib.files import write_atomic

CURVE_FILE = "curve.csv"
"""In a run folder."""
_FIGURES = {  # column: the end of its TensorBoard tag
    "win_rate": "win_rate",
    "ci_low": "win_rate_low",
    "ci_high": "win_rate_high",
    "hand_margin": "hand_margin",
    "hand_margin_low": "hand_margin_low",
    "hand_margin_high": "hand_margin_high",
}
COLUMNS = ("iteration", "opponent", "games", *_FIGURES, "seconds")
"""seconds: those of the training so far, matches included, pretraining and the time before a resumption not."""


def add_matches(
    folder: Path, iteration: int, opponents: Iterable[str], games: int, seconds: float, figures: Mapping[str, float]
) -> None:
    """Add a row for each opponent met after this iteration; figures by TensorBoard tag, one that there is not is empty.

    The file is replaced as a whole, so that it never holds half a row. Raises RunError.
    """
    rows = []
    for name in opponents:
        if f"{name}/win_rate" in figures:
            found = {column: figures.get(f"{name}/{tag}") for column, tag in _FIGURES.items()}
            cells = {column: "" if value is None else f"{value:.6g}" for column, value in found.items()}
            rows.append({"iteration": str(iteration), "opponent": name, "games": str(games), **cells})
            rows[-1]["seconds"] = f"{seconds:.1f}"
    if rows:
        _write(folder, [*_rows_until(folder, iteration - 1), *rows])


def seconds_at(folder: Path, iteration: int) -> float | None:
    """Seconds of the training when its matches after this iteration were over; None without any. Raises RunError."""
    rows = [row for row in _rows_until(folder, iteration) if int(row["iteration"]) == iteration]
    return float(rows[0]["seconds"]) if rows else None


def forget_after(folder: Path, iteration: int) -> None:
    """Drop what a run wrote after the iteration that it now goes on from. Raises RunError."""
    if (folder / CURVE_FILE).exists():
        _write(folder, _rows_until(folder, iteration))


def _rows_until(folder: Path, iteration: int) -> list[dict[str, str]]:
    path = folder / CURVE_FILE
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file, strict=True) if int(row["iteration"]) <= iteration]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise RunError(f"{path}: cannot be read: expected the columns {', '.join(COLUMNS)}") from error


def _write(folder: Path, rows: Iterable[Mapping[str, str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    table.writerows(rows)
    write_atomic(folder / CURVE_FILE, text.getvalue())
