"""How many hands of a suit class are possible beside the cards that have been seen, without listing them."""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, rank_of, suit_of
from deepcrib.kernels import jit

_RANKS = (1 << NUM_RANKS) - 1  # all of a suit
_ORDERS = np.array(
    [[a, b, c, 6 - a - b - c] for a in range(4) for b in range(4) for c in range(4) if len({a, b, c}) == 3],
    dtype=np.int64,
)  # of the four suits


def _count_orders() -> np.ndarray:
    """int8 [65536]: in how many orders four suits can take four places; bit 4 i + j: suit i may be at place j."""
    bits = np.arange(1 << (NUM_SUITS * NUM_SUITS), dtype=np.uint16)
    counts = np.zeros(len(bits), dtype=np.int8)
    for order in _ORDERS:
        wanted = np.uint16((1 << (NUM_SUITS * np.arange(NUM_SUITS) + order)).sum())
        counts += bits & wanted == wanted
    return counts


_ORDERS_LEFT = _count_orders()


@jit
def free_suits(seen: np.ndarray) -> np.ndarray:
    """uint8 [8192] for a set of ranks (13 bits): bit j where no card of these ranks and suit j is in seen [S].

    seen: card ids, -1: none.
    """
    taken = np.empty(NUM_SUITS, dtype=np.int64)
    taken[:] = 0
    for i in range(len(seen)):
        if seen[i] >= 0:
            taken[suit_of(seen[i])] |= 1 << rank_of(seen[i])
    free = np.empty(1 << NUM_RANKS, dtype=np.uint8)
    for ranks in range(len(free)):
        suits = 0
        for suit in range(NUM_SUITS):
            suits |= (ranks & taken[suit] == 0) << suit
        free[ranks] = suits
    return free


@jit(borrowed=True)
def class_ways(key: int, size: int, free: np.ndarray) -> int:
    """Hands of a suit class that have no seen card; free: of `free_suits`.

    key: the ranks of one of its hands, suit by suit, 13 bits each. size: its hands. These are what the 24 orders of the
    suits make of that one, each equally often, so those orders are counted that bring every suit to where its ranks are
    free.
    """
    bits = 0
    for suit in range(NUM_SUITS):
        ranks = key >> np.uint64(NUM_RANKS * suit) & np.uint64(_RANKS)
        bits |= int(free[ranks]) << (NUM_SUITS * suit)
    ways: int = _ORDERS_LEFT[bits] * size // len(_ORDERS)
    return ways
