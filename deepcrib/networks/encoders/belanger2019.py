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
from deepcrib.networks.encoders.fills import candidate, discards, series
from deepcrib.networks.encoders.spec import COUNT as COUNTS
from deepcrib.networks.encoders.spec import ONE_HOT, RANK_CHANNELS, Block
from deepcrib.networks.encoders.states import (
    COUNT,
    MAX_PLAYED,
    NUM_PLAYED,
    OPPONENT_PLAYED,
    OWN_RANKS,
    PLAYED_RANKS,
    SEAT,
    SERIES_ROWS,
    SERIES_START,
    STARTER_RANK,
)

_THROWN = 2


@jit
def _put_playable(state: np.ndarray, without: int, start: int, row: np.ndarray) -> None:
    """The cards that may be played now, but for slot `without` (-1: none is left out)."""
    k = 0
    for slot in range(HAND_SIZE):
        rank = state[OWN_RANKS + slot]
        if slot != without and rank >= 0 and state[COUNT] + value_of_rank(rank) <= COUNT_LIMIT:
            row[k] = start + rank
            k += 1


@jit
def _put_played(state: np.ndarray, by_opponent: int, before: int, start: int, row: np.ndarray) -> None:
    """What one of the players laid among the first `before` cards of the hand."""
    column = 0
    for k in range(before):
        if state[OPPONENT_PLAYED] >> k & 1 == by_opponent and column < len(row):
            row[column] = start + state[PLAYED_RANKS + k]
            column += 1


@jit
def _other_playable(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    _put_playable(state, action, start, row)


@jit
def _playable(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    _put_playable(state, -1, start, row)


@jit
def _series_before(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    first = state[SERIES_START]
    for k in range(state[NUM_PLAYED] - first):
        row[k] = start + k * NUM_RANKS + state[PLAYED_RANKS + first + k]


@jit
def _put_seat(state: np.ndarray, seat: int, start: int, row: np.ndarray) -> None:
    own = state[SEAT] == seat
    if own:
        discards(state, 0, start, row)
    _put_played(state, not own, state[SERIES_START], start, row[_THROWN:] if own else row)


@jit
def _seat_0_played(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    _put_seat(state, 0, start, row)


@jit
def _seat_1_played(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    _put_seat(state, 1, start, row)


@jit
def _opponent_played(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    _put_played(state, 1, state[NUM_PLAYED], start, row)


@jit
def _own_seen(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    discards(state, 0, start, row)
    row[_THROWN] = start + state[STARTER_RANK]
    _put_played(state, 0, state[NUM_PLAYED], start, row[_THROWN + 1 :])


_SERIES = "ranks of the current series"
_EMPTY = "a card a row; empty rows are zero"
_PLAYED = "ranks that seat {} played in the hand's earlier series; one's own two thrown ones with one's own"
_OWN = HAND_SIZE - 1  # cards that one has played before, or holds besides the candidate

CNN_LSTM_BLOCKS = (
    Block(
        "hand",
        COUNTS,
        RANK_CHANNELS,
        "ranks in hand that may be played now, without the candidate",
        _other_playable,
        ones=_OWN,
    ),
    Block(
        "series", ONE_HOT, RANK_CHANNELS, f"{_SERIES} in order, the candidate last, {_EMPTY}", series, rows=SERIES_ROWS
    ),
    Block("seat_0_played", COUNTS, RANK_CHANNELS, _PLAYED.format(0), _seat_0_played, ones=_OWN + _THROWN),
    Block("seat_1_played", COUNTS, RANK_CHANNELS, _PLAYED.format(1), _seat_1_played, ones=_OWN + _THROWN),
)
"""143 channels of ConvLstm."""

FEED_FORWARD_BLOCKS = (
    Block("hand", COUNTS, RANK_CHANNELS, "ranks in hand that may be played now, with the candidate", _playable, ones=4),
    Block(
        "opponent_played",
        COUNTS,
        RANK_CHANNELS,
        "ranks that the opponent has played in this hand",
        _opponent_played,
        ones=HAND_SIZE,
    ),
    Block(
        "own_seen",
        COUNTS,
        RANK_CHANNELS,
        "ranks that one has played in this hand, the starter, own thrown",
        _own_seen,
        ones=_OWN + _THROWN + 1,
    ),
    Block(
        "series_before",
        ONE_HOT,
        RANK_CHANNELS,
        f"{_SERIES} before the candidate in order, {_EMPTY}",
        _series_before,
        rows=MAX_PLAYED,
    ),
    Block("candidate", ONE_HOT, RANK_CHANNELS, "rank of the candidate", candidate),
)
"""143 channels of DeeperFF."""
