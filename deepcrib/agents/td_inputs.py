"""What a perceptron of the full game reads of the state that a move leads to (O'Connor 2000), compiled.

An input vector is a list of the entries that are not 0: their indices and values. `raw` is the paper's: 209 inputs of 0
or 1; `features` are those of `td_features`. A state is the one just after a discard or a card of one's own, before
anything that the opponent or the deck does next.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from deepcrib.agents.td_features import FEATURE_WIDTH, PLAYS, Deal, fill_features
from deepcrib.cards import NUM_CARDS, NUM_RANKS, rank_of
from deepcrib.kernels import jit
from deepcrib.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6, show_points
from deepcrib.statistics.cribs import NUM_DISCARDS, STARTERS, fill_crib_sums, seen_cards
from deepcrib.statistics.discards import HAND_STARTERS
from deepcrib.statistics.experts import expert_sums
from deepcrib.statistics.pegging import MEAN_GAINED, MEAN_GIVEN, exact_records
from deepcrib.statistics.ranks import rank_set_6, rank_set_of_kept

RAW, FEATURE = 0, 1
KINDS = {"raw": RAW, "features": FEATURE}
MOST_INPUTS = 80
"""Entries of an input vector that are not 0 are fewer."""

_HAND, _OTHERS, _PLAYED = 1, 1 + NUM_CARDS, 1 + 2 * NUM_CARDS
RAW_WIDTH = _PLAYED + PLAYS * NUM_RANKS
WIDTHS = {"raw": RAW_WIDTH, "features": FEATURE_WIDTH}


class Tables(NamedTuple):
    """Crib tables against an expert pone and dealer (by own role, 0 pone, 1 dealer), and pegging records' means.

    weights [2, 13, 13], points [2, 18564, 15], by_rank [2, 18564, 13], total [2, 18564], pegging [1820, 2]: gained less
    given. Empty for raw inputs, which need none.
    """

    weights: np.ndarray
    points: np.ndarray
    by_rank: np.ndarray
    total: np.ndarray
    pegging: np.ndarray


@cache
def tables(inputs: str) -> Tables:
    """What the inputs of a kind are computed from; a second for `features`."""
    if inputs == "raw":
        none = np.zeros((2, 0, 0))
        return Tables(none, none, none, np.zeros((2, 0)), np.zeros((0, 2)))
    sums = [expert_sums(is_dealer) for is_dealer in (False, True)]
    stacked = [np.stack(parts) for parts in zip(*sums, strict=True)]
    summary = exact_records().summary()
    return Tables(*stacked, np.ascontiguousarray(summary[..., MEAN_GAINED] - summary[..., MEAN_GIVEN]))


@jit
def new_deal(is_dealer: int) -> Deal:
    """Room for a discard of a dealer (1) or pone (0)."""
    return Deal(is_dealer, np.zeros(HAND_SIZE, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(3))


@jit
def set_discard(kind: int, hand: np.ndarray, action: int, cribs: np.ndarray, t: Tables, deal: Deal) -> None:
    """Fill kept, thrown and means for a discard of a sorted hand [6]; cribs [15] are those of `crib_means`."""
    for i in range(HAND_SIZE):
        deal.kept[i] = hand[KEPT_SLOTS_6[action, i]]
    for i in range(2):
        deal.thrown[i] = hand[DISCARD_SLOTS_6[action, i]]
    if kind == RAW:
        return
    seen = seen_cards(hand)
    points = 0
    for starter in range(NUM_CARDS):
        if not seen >> starter & 1:
            points += show_points(deal.kept, starter, False)
    deal.means[0] = points / HAND_STARTERS
    deal.means[1] = cribs[action] if deal.is_dealer else -cribs[action]
    deal.means[2] = t.pegging[rank_set_of_kept(deal.kept), deal.is_dealer]


@jit
def crib_means(kind: int, hand: np.ndarray, is_dealer: int, t: Tables, cribs: np.ndarray) -> None:
    """cribs [15]: mean points of the crib after each discard of a sorted hand [6]; left alone for raw inputs."""
    if kind == RAW:
        return
    number = rank_set_6(hand)
    total = t.total[is_dealer, number]
    fill_crib_sums(hand, t.weights[is_dealer], t.points[is_dealer, number], t.by_rank[is_dealer, number], total, cribs)
    for action in range(NUM_DISCARDS):
        cribs[action] /= STARTERS * total


@jit
def fill_inputs(
    kind: int,
    deal: Deal,
    starter: int,
    history: np.ndarray,
    seats: np.ndarray,
    n: int,
    seat: int,
    index: np.ndarray,
    x: np.ndarray,
) -> int:
    """Write the inputs of a state into index, x [MOST_INPUTS] and return how many there are.

    history, seats [8] hold the n cards played, the last one by `seat`; starter is -1 (and n is 0) after the discard.
    """
    if kind == RAW:
        return _fill_raw(deal, starter, history, seats, n, seat, index, x)
    return fill_features(deal, starter, history, seats, n, seat, index, x)


@jit
def _fill_raw(
    deal: Deal,
    starter: int,
    history: np.ndarray,
    seats: np.ndarray,
    n: int,
    seat: int,
    index: np.ndarray,
    x: np.ndarray,
) -> int:
    """The dealer, the hand (the four cards that will be shown), the other known cards, and the ranks played in order.

    Known are the two thrown cards, the starter and what the opponent has played.
    """
    x[:] = 1
    filled = 0
    if deal.is_dealer:
        index[0] = 0
        filled = 1
    for card in deal.kept:
        index[filled] = _HAND + card
        filled += 1
    for card in deal.thrown:
        index[filled] = _OTHERS + card
        filled += 1
    if starter >= 0:
        index[filled] = _OTHERS + starter
        filled += 1
    for k in range(n):
        if seats[k] != seat:
            index[filled] = _OTHERS + history[k]
            filled += 1
        index[filled] = _PLAYED + NUM_RANKS * k + rank_of(history[k])
        filled += 1
    return filled
