"""Many numbers with their sum, any of which may change, and from which to draw in proportion to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels import jit

Rows = NDArray[np.int64]


class SumTree:
    """N positive numbers and the sums of their halves, quarters and so on: a number is found, or changed, in log N.

    A node k is the sum of its children 2k and 2k + 1; the numbers are the last nodes. (Schaul et al., appendix B.2.1)
    """

    def __init__(self, numbers: NDArray[np.float64]) -> None:
        """numbers: [N]."""
        self._size = 1 << max(0, len(numbers) - 1).bit_length()
        self._nodes = np.zeros(2 * self._size)
        self.leaves = self._nodes[self._size : self._size + len(numbers)]
        self.leaves[:] = numbers
        start = self._size // 2
        while start:
            self._nodes[start : 2 * start] = self._nodes[2 * start : 4 * start].reshape(-1, 2).sum(axis=1)
            start //= 2

    @property
    def total(self) -> float:
        """The sum of all numbers."""
        return float(self._nodes[1])

    def update(self, rows: Rows, numbers: NDArray[np.float64]) -> None:
        """Put numbers [B] in the place of those at rows [B]; of a row that comes twice the last one counts."""
        _update(self._nodes, self._size, rows, numbers)

    def find(self, points: NDArray[np.float64]) -> Rows:
        """The rows [B] where points [B] from 0 to the total lie when the numbers are laid end to end."""
        rows = np.empty(len(points), dtype=np.int64)
        _find(self._nodes, self._size, points, rows)
        return rows


@jit
def _update(nodes: np.ndarray, size: int, rows: np.ndarray, numbers: np.ndarray) -> None:
    for i in range(len(rows)):
        node = size + rows[i]
        nodes[node] = numbers[i]
        while node > 1:
            node //= 2
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]


@jit
def _find(nodes: np.ndarray, size: int, points: np.ndarray, rows: np.ndarray) -> None:
    for i in range(len(points)):
        node, point = 1, points[i]
        while node < size:
            node *= 2
            # Sums are rounded: a point may lie beyond its node's end, and must not slip to where there is nothing.
            if point >= nodes[node] and nodes[node + 1] > 0:
                point -= nodes[node]
                node += 1
        rows[i] = node - size
