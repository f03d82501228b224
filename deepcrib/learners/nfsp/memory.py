"""What is remembered of self-play: the newest of it, or a fair sample of all of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.networks.encoders.states import Bounds

Rows = dict[str, NDArray[Any]]
"""Items of any columns: arrays [E, ...] by name."""


class Memory(ABC):
    """At most `capacity` items. `seen`: those that were ever added."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.seen = capacity, 0
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
        places = self._places(numbers, generator)
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

    @abstractmethod
    def _places(self, numbers: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """Where the items of these numbers, counted from the first ever seen, go; beyond the capacity: nowhere."""


class Circular(Memory):
    """The newest items."""

    def _places(self, numbers: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        return numbers % self.capacity


class Reservoir(Memory):
    """Every item ever seen is in it with the same chance (Vitter 1985, algorithm R)."""

    def _places(self, numbers: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        drawn = generator.integers(numbers + 1)
        return np.where(numbers < self.capacity, numbers, drawn)
