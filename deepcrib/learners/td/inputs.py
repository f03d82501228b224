"""What a perceptron of the full game reads of the state that a move leads to (O'Connor 2000), compiled.

An input vector is a list of the entries that are not 0: their indices and values. `raw` is the paper's: 209 inputs of 0
or 1; `features` are those of `features`. A state is the one just after a discard or a card of one's own, before
anything that the opponent or the deck does next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.expected_value import expectations_of
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, rank_of
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6
from deepcrib.kernels import jit
from deepcrib.learners.td.features import FEATURE_WIDTH, PLAYS, Deal, State, fill_features

RAW, FEATURE = 0, 1
KINDS = {"raw": RAW, "features": FEATURE}
MOST_INPUTS = 80
"""Entries of an input vector that are not 0 are fewer."""

_HAND, _OTHERS, _PLAYED = 1, 1 + NUM_CARDS, 1 + 2 * NUM_CARDS
RAW_WIDTH = _PLAYED + PLAYS * NUM_RANKS
WIDTHS = {"raw": RAW_WIDTH, "features": FEATURE_WIDTH}


def discard_means(inputs: str, hands: NDArray[np.int64], is_dealer: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[N, 15, 3] of sorted hands [N, 6]: the means of hand, crib (negative for the pone) and play after each discard.

    0 for raw inputs, and of hands without two discards, as where the play alone is played: there is no crib then.
    """
    means = np.zeros((len(hands), NUM_DISCARDS, 3))
    whole = np.flatnonzero(hands[:, 0] >= 0)
    if inputs != "raw" and len(whole):
        means[whole] = np.stack(expectations_of(hands[whole], is_dealer[whole]), axis=2)
    return means


@jit
def new_deal(is_dealer: int) -> Deal:
    """Scratch for a discard of a dealer (1) or pone (0)."""
    return Deal(is_dealer, np.empty(HAND_SIZE, dtype=np.int64), np.empty(2, dtype=np.int64), np.empty(3))


@jit
def set_discard(hand: np.ndarray, action: int, means: np.ndarray, deal: Deal) -> None:
    """Fill kept, thrown and means for a discard of a sorted hand [6]; means [15, 3] by discard action."""
    for i in range(HAND_SIZE):
        deal.kept[i] = hand[KEPT_SLOTS_6[action, i]]
    for i in range(2):
        deal.thrown[i] = hand[DISCARD_SLOTS_6[action, i]]
    for i in range(3):  # not slices: copying one compiles an error message for seconds
        deal.means[i] = means[action, i]


@jit
def fill_entries(kind: int, s: State, index: np.ndarray, x: np.ndarray) -> int:
    """Write the inputs of a state into index, x [MOST_INPUTS] and return how many there are."""
    return _fill_raw(s, index, x) if kind == RAW else fill_features(s, index, x)


@jit
def _fill_raw(s: State, index: np.ndarray, x: np.ndarray) -> int:
    """The dealer, the hand (the four cards that will be shown), the other known cards, and the ranks played in order.

    Known are the two thrown cards, the starter and what the opponent has played.
    """
    x[:] = 1
    filled = 0
    if s.deal.is_dealer:
        index[0] = 0
        filled = 1
    for card in s.deal.kept:
        index[filled] = _HAND + card
        filled += 1
    for card in s.deal.thrown:
        index[filled] = _OTHERS + card
        filled += 1
    if s.starter >= 0:
        index[filled] = _OTHERS + s.starter
        filled += 1
    for k in range(s.n):
        if s.seats[k] != s.seat:
            index[filled] = _OTHERS + s.history[k]
            filled += 1
        index[filled] = _PLAYED + NUM_RANKS * k + rank_of(s.history[k])
        filled += 1
    return filled
