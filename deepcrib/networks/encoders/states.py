"""Compact states: observations as a few int8 columns, the form in which experience is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NO_CARD, VALUES, rank_of
from deepcrib.game.observations import DiscardObservation, PlayColumns, PlayObservation
from deepcrib.game.rules import COUNT_LIMIT, DISCARD_SLOTS_6, HAND_SIZE, MAX_SCORE
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

MAX_PLAYED = 7
"""Cards that can lie on the table before one's own play, with two players."""
SERIES_ROWS = MAX_PLAYED + 1
"""Cards of the longest series, one's own play included."""

# Columns of a compact play state.
OWN_RANKS = 0  # 4: own ranks in slot order, -1 once played
PLAYED_RANKS = 4  # 7: ranks of all cards played in this hand in order, -1 padded
SERIES_START = 11  # index among the played cards of the first of the current series
DISCARD_RANKS = 12  # 2: own discards
STARTER_RANK = 14
IS_DEALER = 15
OWN_SCORE = 16  # points, at most 121: learning games are played out past the win
OPPONENT_SCORE = 17
OPPONENT_CARDS = 18  # cards the opponent still holds
COUNT = 19
OPPONENT_GO = 20  # 1: the opponent said go in this series
NUM_PLAYED = 21
SEAT = 22  # one's own: 0 or 1
OPPONENT_PLAYED = 23  # bit k: the k-th card played is the opponent's
PLAY_COLUMNS = 24

# Columns of a compact discard state.
HAND = 0  # 6: card ids, sorted
DISCARD_IS_DEALER = 6
DISCARD_OWN_SCORE = 7
DISCARD_OPPONENT_SCORE = 8
DISCARD_COLUMNS = 9

Bounds = tuple[NDArray[Any], NDArray[Any]]
"""Lowest and highest values of an array's rows."""
_PLAY_RANGES = (
    *((-1, 12),) * 11,  # own and played ranks
    (0, MAX_PLAYED),
    *((0, 12),) * 3,  # the discards and the starter
    (0, 1),
    *((0, 127),) * 2,
    (0, HAND_SIZE),
    (0, COUNT_LIMIT),
    (0, 1),
    (0, MAX_PLAYED),
    (0, 1),
    (0, 127),
)
PLAY_BOUNDS: Bounds = (np.array(_PLAY_RANGES, np.int8)[:, 0], np.array(_PLAY_RANGES, np.int8)[:, 1])
"""Lowest and highest values [24] of a compact play state."""
_DISCARD_RANGES = (*((0, 51),) * 6, (0, 1), *((0, 127),) * 2)
DISCARD_BOUNDS: Bounds = (np.array(_DISCARD_RANGES, np.int8)[:, 0], np.array(_DISCARD_RANGES, np.int8)[:, 1])
"""Lowest and highest values [9] of a compact discard state."""


def compact_play(observation: PlayObservation) -> np.ndarray:
    """int8 [N, 24] compact play states (columns above) of a two-player observation of N rows."""
    _require_two_players(observation.scores)
    states = np.empty((len(observation.hand), PLAY_COLUMNS), dtype=np.int8)
    run_rows(_compact_play, len(states), observation.columns, states)
    return states


def compact_discard(observation: DiscardObservation) -> np.ndarray:
    """int8 [N, 9] compact discard states (columns above) of a two-player observation of N rows."""
    _require_two_players(observation.scores)
    rows = np.arange(len(observation.seat))
    states = np.empty((len(rows), DISCARD_COLUMNS), dtype=np.int8)
    states[:, HAND:DISCARD_IS_DEALER] = observation.hand
    states[:, DISCARD_IS_DEALER] = observation.seat == observation.dealer
    scores = np.minimum(observation.scores, MAX_SCORE)
    states[:, DISCARD_OWN_SCORE] = scores[rows, observation.seat]
    states[:, DISCARD_OPPONENT_SCORE] = scores[rows, 1 - observation.seat]
    return states


def legal_plays(states: NDArray[np.int8]) -> NDArray[np.bool_]:
    """bool [..., 4] of compact play states [..., 24]: the slots that could be played."""
    ranks = states[..., OWN_RANKS : OWN_RANKS + HAND_SIZE]
    counts = states[..., COUNT, None].astype(np.int64) + VALUES[np.maximum(ranks, 0)]
    return (ranks >= 0) & (counts <= COUNT_LIMIT)


def legal_discards(states: NDArray[np.int8]) -> NDArray[np.bool_]:
    """bool [..., 15] of compact discard states [..., 9]: any two of the six cards."""
    return np.ones((*states.shape[:-1], len(DISCARD_SLOTS_6)), dtype=bool)


def _require_two_players(scores: np.ndarray) -> None:
    if scores.shape[1] != 2:
        raise ValueError(f"the encoders are for two players, not {scores.shape[1]}")


@jit
def _compact_play(part: Part, o: PlayColumns, states: np.ndarray) -> None:
    for i in range(*part):
        own = o.seat[i]
        other = 1 - own
        for slot in range(HAND_SIZE):
            card = o.hand[i, slot]
            states[i, OWN_RANKS + slot] = rank_of(card) if card != NO_CARD else -1
        num_played = 0
        opponent_cards = HAND_SIZE
        opponent_played = 0
        for k in range(MAX_PLAYED):
            card = o.history[i, k]
            states[i, PLAYED_RANKS + k] = rank_of(card) if card != NO_CARD else -1
            if card != NO_CARD:
                num_played += 1
                if o.history_seats[i, k] == other:
                    opponent_cards -= 1
                    opponent_played |= 1 << k
        states[i, SERIES_START] = o.series_start[i]
        states[i, DISCARD_RANKS] = rank_of(o.discards[i, 0])
        states[i, DISCARD_RANKS + 1] = rank_of(o.discards[i, 1])
        states[i, STARTER_RANK] = rank_of(o.starter[i])
        states[i, IS_DEALER] = 1 if own == o.dealer[i] else 0
        states[i, OWN_SCORE] = min(o.scores[i, own], MAX_SCORE)
        states[i, OPPONENT_SCORE] = min(o.scores[i, other], MAX_SCORE)
        states[i, OPPONENT_CARDS] = opponent_cards
        states[i, COUNT] = o.counts[i]
        states[i, OPPONENT_GO] = o.goes[i, other]
        states[i, NUM_PLAYED] = num_played
        states[i, SEAT] = own
        states[i, OPPONENT_PLAYED] = opponent_played
