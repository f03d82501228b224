"""What a perceptron of the full game reads of the state that a move leads to (O'Connor 2000), compiled.

An input vector is a list of the entries that are not 0: their indices and values. `raw` is the paper's: 209 inputs of 0
or 1; `features` are those of `features`. A state is the one just after a discard or a card of one's own, before
anything that the opponent or the deck does next.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from deepcrib.agents.expected_value import play_means
from deepcrib.exact.classes import find_class
from deepcrib.exact.cribs import NUM_DISCARDS, CribSums, fill_crib_sums
from deepcrib.exact.discards import DISCARD_DTYPE, HAND_STARTERS
from deepcrib.exact.experts import expert_sums
from deepcrib.exact.table import cached_table
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, rank_of
from deepcrib.game.rank_sets import rank_set_of_kept
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


class DealTables(NamedTuple):
    """What features are looked up in while a perceptron learns; all empty for raw inputs, which need nothing.

    rows, keys, starts: the table of discard statistics and its classes. cribs: tables against an expert, by own role (0
    pone, 1 dealer). pegging [1820, 2]: points gained less points given by four ranks, by role.
    """

    rows: np.ndarray
    keys: np.ndarray
    starts: np.ndarray
    cribs: tuple[CribSums, CribSums]
    pegging: np.ndarray


@cache
def deal_tables(inputs: str) -> DealTables:
    """The tables of `raw` or `features`; seconds for the first features on a machine, which a file then keeps."""
    if inputs == "raw":
        no_rows = np.zeros((0, NUM_DISCARDS), dtype=DISCARD_DTYPE)
        no_rows.setflags(write=False)  # as the mapped file is: one type for compiled code
        none, number = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
        no_cribs = CribSums(none, none, none, np.zeros(0))
        return DealTables(no_rows, number.astype(np.uint64), number, (no_cribs, no_cribs), np.zeros((0, 2)))
    table = cached_table()
    rows = np.asarray(table.rows).view()
    rows.setflags(write=False)
    return DealTables(rows, *table.classes, (expert_sums(False), expert_sums(True)), play_means())


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
def discard_means(kind: int, hand: np.ndarray, is_dealer: int, t: DealTables, means: np.ndarray) -> None:
    """means [15, 3]: of hand, crib (negative for the pone) and play after each discard of a sorted hand [6].

    They are those of `expected_value.expectations_of`, looked up. Left alone for raw inputs.
    """
    if kind == RAW:
        return
    actions, cribs = np.empty(NUM_DISCARDS, dtype=np.int64), np.empty(NUM_DISCARDS)
    kept = np.empty(HAND_SIZE, dtype=np.int64)
    row = t.rows[find_class(hand, t.keys, t.starts, actions)]
    total = fill_crib_sums(hand, t.cribs[is_dealer], cribs)
    sign = 1 if is_dealer else -1
    for action in range(NUM_DISCARDS):
        for i in range(HAND_SIZE):
            kept[i] = hand[KEPT_SLOTS_6[action, i]]
        means[action, 0] = row[actions[action]].hand_sum / HAND_STARTERS
        means[action, 1] = sign * cribs[action] / total
        means[action, 2] = t.pegging[rank_set_of_kept(kept), is_dealer]


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
