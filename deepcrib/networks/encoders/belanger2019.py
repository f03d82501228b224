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
from deepcrib.networks.encoders.columns import put_rank
from deepcrib.networks.encoders.spec import COUNT as COUNTS
from deepcrib.networks.encoders.spec import ONE_HOT, RANK_CHANNELS, SpecBuilder
from deepcrib.networks.encoders.states import (
    COUNT,
    DISCARD_RANKS,
    MAX_PLAYED,
    NUM_PLAYED,
    OPPONENT_PLAYED,
    OWN_RANKS,
    PLAYED_RANKS,
    SERIES_ROWS,
    SERIES_START,
    STARTER_RANK,
)

CNN_LSTM, FEED_FORWARD = "belanger2019_cnn_lstm", "belanger2019_mlp"
# 3 hand + 8 series + 7 played + 2 thrown; 4 hand + 7 played + 2 thrown + 1 starter + 7 series + 1 candidate.
CNN_LSTM_COLUMNS, FEED_FORWARD_COLUMNS = 20, 22


def add_cnn_lstm_blocks(builder: SpecBuilder) -> None:
    """143 channels of ConvLstm."""
    builder.add("hand", COUNTS, RANK_CHANNELS, "ranks in hand that may be played now, without the candidate")
    builder.add(
        "series",
        ONE_HOT,
        RANK_CHANNELS,
        "ranks of the current series in order, the candidate last, a card a row; empty rows are zero",
        rows=SERIES_ROWS,
    )
    for seat in (0, 1):
        meaning = (
            f"ranks that seat {seat} played in the hand's earlier series; one's own two thrown ones with one's own"
        )
        builder.add(f"seat_{seat}_played", COUNTS, RANK_CHANNELS, meaning)


def add_feed_forward_blocks(builder: SpecBuilder) -> None:
    """143 channels of DeeperFF."""
    builder.add("hand", COUNTS, RANK_CHANNELS, "ranks in hand that may be played now, with the candidate")
    builder.add("opponent_played", COUNTS, RANK_CHANNELS, "ranks that the opponent has played in this hand")
    builder.add("own_seen", COUNTS, RANK_CHANNELS, "ranks that one has played in this hand, the starter, own thrown")
    builder.add(
        "series_before",
        ONE_HOT,
        RANK_CHANNELS,
        "ranks of the current series before the candidate in order, a card a row; empty rows are zero",
        rows=MAX_PLAYED,
    )
    builder.add("candidate", ONE_HOT, RANK_CHANNELS, "rank of the candidate")


# --- kernels ------------------------------------------------------------------------------------------------


@jit
def _put_playable(row: np.ndarray, column: int, start: int, state: np.ndarray, without: int) -> int:
    """Four columns of the cards that may be played now, but for slot `without` (-1: none is left out)."""
    for slot in range(HAND_SIZE):
        rank = state[OWN_RANKS + slot]
        if slot == without or rank < 0 or state[COUNT] + value_of_rank(rank) > COUNT_LIMIT:
            rank = -1
        if slot != without:
            column = put_rank(row, column, start, rank)
    return column


@jit
def _put_series(row: np.ndarray, column: int, start: int, state: np.ndarray) -> int:
    """Seven columns of the series before the candidate, each card NUM_RANKS channels further than the last."""
    for k in range(MAX_PLAYED):
        played = state[SERIES_START] + k
        rank = state[PLAYED_RANKS + played] if played < state[NUM_PLAYED] else -1
        column = put_rank(row, column, start + k * NUM_RANKS, rank)
    return column


@jit
def _put_played(row: np.ndarray, column: int, own: int, other: int, state: np.ndarray, before: int) -> int:
    """Seven columns of the first `before` cards played in the hand, to the channels of whoever played them."""
    for k in range(MAX_PLAYED):
        start = other if state[OPPONENT_PLAYED] >> k & 1 else own
        column = put_rank(row, column, start, state[PLAYED_RANKS + k] if k < before else -1)
    return column


@jit
def _put_thrown(row: np.ndarray, column: int, start: int, state: np.ndarray) -> int:
    column = put_rank(row, column, start, state[DISCARD_RANKS])
    return put_rank(row, column, start, state[DISCARD_RANKS + 1])


@jit
def cnn_lstm_row(hand: int, series: int, own: int, other: int, state: np.ndarray, action: int, row: np.ndarray) -> int:
    """Write a row of ConvLstm's input; own and other: first channels of either player's cards. The next column."""
    column = _put_playable(row, 0, hand, state, action)
    column = _put_series(row, column, series, state)
    length = state[NUM_PLAYED] - state[SERIES_START]
    column = put_rank(row, column, series + length * NUM_RANKS, state[OWN_RANKS + action])
    column = _put_played(row, column, own, other, state, state[SERIES_START])
    return _put_thrown(row, column, own, state)


@jit
def feed_forward_row(
    hand: int, other: int, own: int, series: int, candidate: int, state: np.ndarray, action: int, row: np.ndarray
) -> int:
    """Write a row of DeeperFF's input, of blocks that begin at these channels. The next column."""
    column = _put_playable(row, 0, hand, state, -1)
    column = _put_played(row, column, own, other, state, state[NUM_PLAYED])
    column = _put_thrown(row, column, own, state)
    column = put_rank(row, column, own, state[STARTER_RANK])
    column = _put_series(row, column, series, state)
    return put_rank(row, column, candidate, state[OWN_RANKS + action])
