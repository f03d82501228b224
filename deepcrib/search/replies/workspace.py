"""Scratch buffers of a search of `tree`: frames of positions, and the opponent's hands level by level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.game.cards import NUM_RANKS
from deepcrib.game.rank_sets import NUM_RANK_SETS_4
from deepcrib.game.rules import HAND_SIZE
from deepcrib.kernels import jit

ME, OPPONENT = 0, 1
BEST, ASKED = -1, -2
"""In place of a policy: the best card (one's own), and a player that is asked for its probabilities (see `asking`)."""
GO = NUM_RANKS
"""Among the opponent's moves, which are 0..12 for its cards."""
ALL_SLOTS = (1 << HAND_SIZE) - 1
PLAYS = 2 * HAND_SIZE
DEPTH = 3 * PLAYS  # frames: each is a card, a go, or the end

# Columns of a frame. TURN: whose it is, -1 at the end; LAST: who played the last card; PASSED: 1 when the one whose
# turn it is not has nothing to play; SERIES: as in `rules`; COUNT: of it; OWN_LEFT: bits of the own slots that
# are left; NUM_LEFT: the opponent's cards; HANDS: the level of its hands, and NUM_HANDS of them; NEXT: the next own
# slot, or the bits of the opponent's moves that are still to be tried; LIKED, CHOICES: of the own policy, the highest
# liking, and the cards that were played with it. PLAYED: cards played in all, and START before the series. DECISION:
# those on the way here for which somebody was asked.
(TURN, LAST, PASSED, SERIES, COUNT, OWN_LEFT, NUM_LEFT, HANDS, NUM_HANDS, NEXT, LIKED, CHOICES) = range(12)
PLAYED, START, DECISION = range(12, 15)
COLUMNS = DECISION + 1
# VALUE: of the position, as far as it is known; BEST_VALUE: of the own cards tried; POINTS: of the move that led there;
# TOTAL: weight of its hands.
VALUE, BEST_VALUE, POINTS, TOTAL = range(4)
THEIRS = -2
"""An opponent's card in a search's history: THEIRS - rank."""


class Workspace(NamedTuple):
    """Scratch buffers of one search.

    frames: int64 [D, COLUMNS], values: float64 [D, 4], by the columns above. sets, left, weights: [D, 1820], the
    opponent's hands by level: numbers of rank multisets, bits of the slots that are left, and weights. chosen: int64
    [D, 1820], bits of the moves that each hand may make; answers: int64 [D, 1820], the number of the answer that says
    how likely, -1 for none. likings: int64 [13]. history: int64 [8], the cards on the way to the position in work, in
    the order played: own ids, or THEIRS - rank. chances: float64 [A, 4], the answers. shares: float64 [D, 4], the
    chances of the own player's slots, where it is asked.
    """

    frames: np.ndarray
    values: np.ndarray
    sets: np.ndarray
    left: np.ndarray
    weights: np.ndarray
    chosen: np.ndarray
    answers: np.ndarray
    likings: np.ndarray
    history: np.ndarray
    chances: np.ndarray
    shares: np.ndarray


class Players(NamedTuple):
    """Policy of the opponent, or ASKED; own policy, BEST or ASKED; own cards [4] (-1 once played), and ranks [4]."""

    policy: int
    own_policy: int
    cards: np.ndarray
    ranks: np.ndarray


@jit
def new_workspace(chances: np.ndarray) -> Workspace:
    """Workspace for searches, one after the other."""
    return Workspace(
        np.empty((DEPTH, COLUMNS), dtype=np.int64),
        np.empty((DEPTH, TOTAL + 1), dtype=np.float64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.int64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.int64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.float64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.int64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.int64),
        np.empty(NUM_RANKS, dtype=np.int64),
        np.empty(PLAYS, dtype=np.int64),
        chances,
        np.empty((DEPTH, HAND_SIZE), dtype=np.float64),
    )


@jit(borrowed=True)
def total_weight(weights: np.ndarray, n: int) -> float:
    """Sum of the first n."""
    total = 0.0
    for i in range(n):
        total += weights[i]
    return total
