"""What the play networks of Bélanger et al. 2019 were shown by their authors' code (atremblay/agent-cribbage, c022dc5).

It differs from the paper's `basic` (section 3.7.4): of the hand only cards that may be played now are shown, summed by
rank; the cards played before are there, and one's own two thrown ones. The CNN + LSTM sees them by seat, 0 before 1,
not own before opponent's: which seat is one's own shows by the thrown cards alone.
"""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import NUM_RANKS, value_of_rank
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE
from deepcrib.kernels import jit
from deepcrib.networks.encoders.fills import CANDIDATE, EMPTY, SERIES, Fill, discards
from deepcrib.networks.encoders.spec import ranks
from deepcrib.networks.encoders.states import (
    COUNT,
    MAX_PLAYED,
    NUM_PLAYED,
    OPPONENT_PLAYED,
    OWN_RANKS,
    PLAYED_RANKS,
    SEAT,
    SERIES_START,
    STARTER_RANK,
)

_THROWN = 2


def _playable(candidate_too: bool) -> Fill:
    """The cards that may be played now, with the candidate or without it."""

    @jit
    def fill(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
        k = 0
        for slot in range(HAND_SIZE):
            rank = state[OWN_RANKS + slot]
            if (candidate_too or slot != action) and rank >= 0 and state[COUNT] + value_of_rank(rank) <= COUNT_LIMIT:
                row[k] = start + rank
                k += 1

    return fill


@jit
def _put_played(state: np.ndarray, by_opponent: int, before: int, start: int, row: np.ndarray) -> None:
    """What one of the players laid among the first `before` cards of the hand."""
    column = 0
    for k in range(before):
        if state[OPPONENT_PLAYED] >> k & 1 == by_opponent and column < len(row):
            row[column] = start + state[PLAYED_RANKS + k]
            column += 1


@jit
def _series_before(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    first = state[SERIES_START]
    for k in range(state[NUM_PLAYED] - first):
        row[k] = start + k * NUM_RANKS + state[PLAYED_RANKS + first + k]


def _played_by(seat: int) -> Fill:
    """What a seat played in earlier series, after the two thrown cards where it is one's own."""

    @jit
    def fill(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
        own = state[SEAT] == seat
        if own:
            discards(state, 0, start, row)
        _put_played(state, not own, state[SERIES_START], start, row[_THROWN:] if own else row)

    return fill


@jit
def _opponent_played(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    _put_played(state, 1, state[NUM_PLAYED], start, row)


@jit
def _own_seen(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    discards(state, 0, start, row)
    row[_THROWN] = start + state[STARTER_RANK]
    _put_played(state, 0, state[NUM_PLAYED], start, row[_THROWN + 1 :])


_PLAYED = "ranks that seat {} played in the hand's earlier series; one's own two thrown ones with one's own"
_OWN = HAND_SIZE - 1  # cards that one has played before, or holds besides the candidate

CNN_LSTM_BLOCKS = (
    ranks("hand", "ranks in hand that may be played now, without the candidate", _playable(False), ones=_OWN),
    SERIES,
    ranks("seat_0_played", _PLAYED.format(0), _played_by(0), ones=_OWN + _THROWN),
    ranks("seat_1_played", _PLAYED.format(1), _played_by(1), ones=_OWN + _THROWN),
)
"""143 channels of ConvLstm."""

FEED_FORWARD_BLOCKS = (
    ranks("hand", "ranks in hand that may be played now, with the candidate", _playable(True), ones=4),
    ranks("opponent_played", "ranks that the opponent has played in this hand", _opponent_played, ones=HAND_SIZE),
    ranks(
        "own_seen",
        "ranks that one has played in this hand, the starter, own thrown",
        _own_seen,
        ones=_OWN + _THROWN + 1,
    ),
    ranks(
        "series_before",
        f"ranks of the current series before the candidate in order, {EMPTY}",
        _series_before,
        rows=MAX_PLAYED,
    ),
    CANDIDATE,
)
"""143 channels of DeeperFF."""
