"""What is remembered of self-play: the newest of it, or a fair sample of all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.networks.encoders.states import Bounds

Rows = dict[str, NDArray[Any]]
"""Items of any columns: arrays [E, ...] by name."""


class Memory:
    """At most `capacity` items: the newest, or with `fair` a reservoir, in which any item ever seen is as likely.

    The reservoir is algorithm R of Vitter 1985. seen: items that were ever added.
    """

    def __init__(self, capacity: int, *, fair: bool = False) -> None:
        self.capacity, self.fair, self.seen = capacity, fair, 0
        self._rows: Rows = {}

    def __len__(self) -> int:
        return min(self.seen, self.capacity)

    def add(self, rows: Rows, generator: np.random.Generator) -> None:
        """Take items in, in their order."""
        count = len(next(iter(rows.values())))
        if not self._rows:
            self._rows = {
                name: np.zeros((self.capacity, *array.shape[1:]), array.dtype) for name, array in rows.items()
            }
        numbers = self.seen + np.arange(count)
        places = numbers % self.capacity
        if self.fair:
            places = np.where(numbers < self.capacity, numbers, generator.integers(numbers + 1))
        kept = places < self.capacity
        for name, array in rows.items():
            self._rows[name][places[kept]] = array[kept]  # where a place comes twice the later item stays
        self.seen += count

    def draw(self, count: int, generator: np.random.Generator) -> Rows:
        """So many items, uniformly and with replacement."""
        chosen = generator.integers(len(self), size=count)
        return {name: array[chosen] for name, array in self._rows.items()}

    def state(self) -> dict[str, Any]:
        """What `load` needs."""
        return {"seen": self.seen, "rows": {name: array[: len(self)] for name, array in self._rows.items()}}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over a saved memory (tensors or arrays). Raises ValueError for one of more items than there is room."""
        self.seen, self._rows = state["seen"], {}
        for name, saved in state["rows"].items():
            if len(saved) != len(self):
                raise ValueError(f"it remembers {len(saved):,} decisions, expected {len(self):,}")
            self._rows[name] = np.zeros((self.capacity, *saved.shape[1:]), np.asarray(saved).dtype)
            self._rows[name][: len(saved)] = np.asarray(saved)

    def require_within(self, bounds: Mapping[str, Bounds]) -> None:
        """Refuse other columns than these, of other types or shapes, and items out of bounds. Raises ValueError."""
        for name in {*bounds, *self._rows} if self.seen or self._rows else ():
            low, high = bounds[name]
            array = self._rows[name][: len(self)]
            fits = (array.dtype, array.shape[1:]) == (low.dtype, low.shape) and len(array) == len(self)
            if not fits or not ((low <= array) & (array <= high)).all():
                raise ValueError(f"it remembers {name} that cannot be")
