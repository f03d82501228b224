"""The statistics of every discard of every hand in one table by suit class: 962,988 x 15 x 9 bytes = 130 MB.

It stands in the place of the 20 GB database of Lang 2018 (section 3.1), and is looked up by cards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from deepcrib.errors import RunError, StatisticsError
from deepcrib.exact.classes import NUM_CLASSES, SuitClasses, class_hands, find_class, suit_classes
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.discards import DISCARD_DTYPE, checked_hands, discard_statistics
from deepcrib.files import write_atomic, writing
from deepcrib.kernels import Part, jit
from deepcrib.kernels.cache import cache_folder
from deepcrib.kernels.workers import run_rows

TABLE_FILE = "discards.npy"
# What NumPy raises for a file that is no sound .npy.
_DAMAGE = (ValueError, EOFError, TypeError, OverflowError, SyntaxError, TokenError)


@dataclass(frozen=True)
class DiscardTable:
    """rows: DISCARD_DTYPE [962988, 15] by suit class and the discard actions of the class's own hand."""

    rows: NDArray[np.void]
    classes: SuitClasses

    def lookup(self, hands: ArrayLike) -> NDArray[np.void]:
        """Statistics of sorted hands [N, 6] by their own discard actions: DISCARD_DTYPE [N, 15]."""
        checked = checked_hands(hands)
        found = np.empty((len(checked), NUM_DISCARDS), dtype=DISCARD_DTYPE)
        run_rows(_look_up, len(checked), checked, self.classes.keys, self.classes.starts, self.rows, found, piece=512)
        return found


def build_table() -> DiscardTable:
    """Compute the whole table in memory: seconds."""
    classes = suit_classes()
    return DiscardTable(discard_statistics(class_hands(classes.keys)), classes)


def save_table(table: DiscardTable, path: Path) -> None:
    """Write the table, whole or not at all. Raises RunError."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    _save_array(table.rows, path)


def load_table(path: Path | str) -> DiscardTable:
    """Map a table into memory: nothing is read before it is looked up. Raises StatisticsError."""
    path = Path(path)
    try:
        rows = npy.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise StatisticsError(f"no table at {path}: deepcrib statistics build writes one") from None
    except OSError as error:
        raise StatisticsError(f"cannot read {path}: {error.strerror or error}") from error
    except _DAMAGE as error:
        raise StatisticsError(f"{path} is truncated or not a table of statistics: build it anew") from error
    if rows.shape != (NUM_CLASSES, NUM_DISCARDS) or rows.dtype != DISCARD_DTYPE:
        raise StatisticsError(
            f"{path} holds {rows.shape} of {rows.dtype}, expected {(NUM_CLASSES, NUM_DISCARDS)} of statistics"
        )
    return DiscardTable(rows, suit_classes())


@cache
def cached_table() -> DiscardTable:
    """The table, kept beside this module's compiled code (`kept_array`): computed in seconds."""
    return DiscardTable(kept_array(__file__, TABLE_FILE, lambda: build_table().rows), suit_classes())


def kept_array(module: str, name: str, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """What follows from a module's sources alone, kept in a file of that name beside its compiled code.

    Computed by the first process that asks for it, and anew after any change of the sources. Where nothing can be
    written it stays in memory. module: its `__file__`.
    """
    folder = cache_folder(Path(module))
    if folder is None:
        return compute()
    with contextlib.suppress(OSError, *_DAMAGE):
        return npy.open_memmap(folder / name, mode="r")
    array = compute()
    with contextlib.suppress(RunError):
        _save_array(array, folder / name)
    return array


def _save_array(array: NDArray[Any], path: Path) -> None:
    content = BytesIO()
    npy.write_array(content, array, allow_pickle=False)
    write_atomic(path, content.getbuffer())


@jit
def _look_up(
    part: Part, hands: np.ndarray, keys: np.ndarray, starts: np.ndarray, rows: np.ndarray, found: np.ndarray
) -> None:
    for r in range(*part):
        actions = np.empty(NUM_DISCARDS, dtype=np.int64)
        number = find_class(hands[r], keys, starts, actions)
        for action in range(NUM_DISCARDS):
            found[r, action] = rows[number, actions[action]]
