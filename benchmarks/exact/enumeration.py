"""Statistics of discards held against the rules: python -m benchmarks.exact.enumeration [--hands 100].

Statistics of discards the slow way, every starter and every crib counted by the rules: 15 * (46 + 45,540) shows a hand,
about 50 ms on one core. `exact.discards` must agree with it to the point.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepcrib.errors import StatisticsError
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.discards import DISCARD_DTYPE, HAND_STARTERS, checked_hands, discard_statistics
from deepcrib.game.cards import NUM_CARDS, card_set, format_cards
from deepcrib.game.randomness import below, hash_key
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

VERIFY_DEAL = 1101  # what a hash is for, beside those of `game.randomness`
_SIZE = 6
_CHUNK = 8  # hands between two reports of progress


def enumerate_discards(hands: ArrayLike) -> NDArray[np.void]:
    """DISCARD_DTYPE [N, 15] of sorted hands [N, 6], by discard action. Raises StatisticsError as `discards` does."""
    checked = checked_hands(hands)
    rows = np.empty((len(checked), NUM_DISCARDS), dtype=DISCARD_DTYPE)
    run_rows(_enumerate_all, rows.size, checked, rows, piece=1)
    return rows


def random_hands(num_hands: int, seed: int) -> NDArray[np.int8]:
    """Sorted hands [N, 6], all as likely."""
    hands = np.empty((num_hands, _SIZE), dtype=np.int8)
    run_rows(_deal, len(hands), seed, hands, piece=512)
    return hands


def verify(num_hands: int, seed: int, progress: Callable[[int], None] | None = None) -> None:
    """Hold statistics of random hands against the rules. Raises StatisticsError on the first discard that differs.

    progress is called with each number of hands done since its last call.
    """
    hands = random_hands(num_hands, seed)
    for start in range(0, num_hands, _CHUNK):
        chunk = hands[start : start + _CHUNK]
        found, expected = discard_statistics(chunk), enumerate_discards(chunk)
        wrong = np.argwhere(found != expected)
        if len(wrong):
            row, action = wrong[0]
            thrown = chunk[row][DISCARD_SLOTS_6[action]]
            raise StatisticsError(
                f"there are {found[row, action]} of {format_cards(chunk[row])} with {format_cards(thrown)} "
                f"tossed, expected {expected[row, action]} by the rules"
            )
        if progress is not None:
            progress(len(chunk))


@jit
def _deal(part: Part, seed: int, hands: np.ndarray) -> None:
    for row in range(*part):
        key = hash_key(seed, row, 0, -1, VERIFY_DEAL)
        deck = np.arange(NUM_CARDS)
        for i in range(_SIZE):
            j = i + below(key, i, NUM_CARDS - i)
            deck[i], deck[j] = deck[j], deck[i]
        hands[row] = np.sort(deck[:_SIZE])


@jit
def _enumerate_all(part: Part, hands: np.ndarray, rows: np.ndarray) -> None:
    for number in range(*part):
        hand = hands[number // NUM_DISCARDS]
        action = number % NUM_DISCARDS
        row = rows[number // NUM_DISCARDS]
        _enumerate_hand(hand, action, row)
        row[action].crib_sum = _enumerate_crib(hand, action)


@jit
def _enumerate_hand(hand: np.ndarray, action: int, row: np.ndarray) -> None:
    """Fill row[action] but for the crib."""
    seen = card_set(hand)
    kept = np.empty(HAND_SIZE, dtype=np.int64)
    for i in range(HAND_SIZE):
        kept[i] = hand[KEPT_SLOTS_6[action, i]]
    points = np.empty(HAND_STARTERS, dtype=np.int64)
    n = 0
    for starter in range(NUM_CARDS):
        if not seen >> starter & 1:
            points[n] = show_points(kept, starter, False)
            n += 1
    points.sort()
    row[action].hand_sum = points.sum()
    row[action].hand_min = points[0]
    row[action].hand_median_2 = points[HAND_STARTERS // 2 - 1] + points[HAND_STARTERS // 2]
    row[action].hand_max = points[-1]


@jit
def _enumerate_crib(hand: np.ndarray, action: int) -> int:
    """Points of the crib over the opponent's two cards and the starter."""
    seen = card_set(hand)
    crib = np.empty(HAND_SIZE, dtype=np.int64)
    crib[0] = hand[DISCARD_SLOTS_6[action, 0]]
    crib[1] = hand[DISCARD_SLOTS_6[action, 1]]
    total = 0
    for first in range(NUM_CARDS):
        for second in range(first):
            if (seen >> first | seen >> second) & 1:
                continue
            crib[2], crib[3] = first, second
            for starter in range(NUM_CARDS):
                if not seen >> starter & 1 and starter not in (first, second):
                    total += show_points(crib, starter, True)
    return total


def main(words: Sequence[str] | None = None) -> None:
    """Compare, and say so."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    try:
        verify(options.hands, options.seed)
    except StatisticsError as error:
        parser.error(str(error))
    print(f"{options.hands:,} hands, all discards equal")


if __name__ == "__main__":
    main()
