"""Encoders of a play: the hand and the table as they are after the candidate card is laid."""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import NUM_RANKS, value_of_rank
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, MAX_SCORE, add_rank, play_points, series_count
from deepcrib.kernels import Part, jit
from deepcrib.networks.encoders.belanger2019 import (
    CNN_LSTM,
    CNN_LSTM_COLUMNS,
    FEED_FORWARD,
    FEED_FORWARD_COLUMNS,
    add_cnn_lstm_blocks,
    add_feed_forward_blocks,
    cnn_lstm_row,
    feed_forward_row,
)
from deepcrib.networks.encoders.columns import put_flag, put_rank
from deepcrib.networks.encoders.encoder import Encoder
from deepcrib.networks.encoders.legal import legal_plays
from deepcrib.networks.encoders.spec import COUNT as COUNTS
from deepcrib.networks.encoders.spec import FLAG, ONE_HOT, RANK_CHANNELS, SCALAR, Spec, SpecBuilder
from deepcrib.networks.encoders.states import (
    COUNT,
    DISCARD_RANKS,
    IS_DEALER,
    MAX_PLAYED,
    NUM_PLAYED,
    OPPONENT_CARDS,
    OPPONENT_GO,
    OPPONENT_SCORE,
    OWN_RANKS,
    OWN_SCORE,
    PLAYED_RANKS,
    SEAT,
    SERIES_ROWS,
    SERIES_START,
    STARTER_RANK,
)

PLAY_ENCODERS = ("basic", "full", "afterstate", CNN_LSTM, FEED_FORWARD)
_BASIC, _FULL, _AFTERSTATE, _CNN_LSTM, _FEED_FORWARD = range(5)
# Blocks in the order of the `starts` that kernels receive; -1 marks a block that the encoder lacks.
_BLOCKS = (
    "hand",
    "series",
    "played",
    "discards",
    "starter",
    "own_left",
    "candidate",
    "series_before",
    "count",
    "seen",
    "opponent_cards",
    "opponent_go",
    "dealer",
    "points",
    "own_score",
    "seat_0_played",
    "seat_1_played",
    "opponent_played",
    "own_seen",
)
(
    _HAND,
    _SERIES,
    _PLAYED,
    _DISCARDS,
    _STARTER,
    _OWN_LEFT,
    _CANDIDATE,
    _SERIES_BEFORE,
    _COUNT,
    _SEEN,
    _OPPONENT_CARDS,
    _OPPONENT_GO,
    _DEALER,
    _POINTS,
    _OWN_SCORE,
    _SEAT_0_PLAYED,
    _SEAT_1_PLAYED,
    _OPPONENT_PLAYED,
    _OWN_SEEN,
) = range(len(_BLOCKS))
# Index columns without options: 3 hand + 8 series; + 7 played + 2 discards + 1 starter; see _afterstate_row.
_COLUMNS = (11, 21, 29, CNN_LSTM_COLUMNS, FEED_FORWARD_COLUMNS)


class PlayEncoder(Encoder):
    """Turns compact play states and candidate slots into network input; see `spec` for the channels."""

    def __init__(self, name: str, dealer: bool = False, scores: bool = False) -> None:
        """`name` is one of PLAY_ENCODERS; `dealer` and `scores` add their channels."""
        if name not in PLAY_ENCODERS:
            raise ValueError(f"unknown play encoder {name!r} (expected one of {', '.join(PLAY_ENCODERS)})")
        spec = _play_spec(name, dealer, scores)
        kind = PLAY_ENCODERS.index(name)
        has_dealer_column = "dealer" in spec and name != "afterstate"
        super().__init__(spec, _BLOCKS, kind, _COLUMNS[kind] + has_dealer_column, _encode_rows)

    def legal(self, states: np.ndarray) -> np.ndarray:
        """bool [M, 4] of compact states int8 [M, 24]: the slots that may be played."""
        return legal_plays(states)


def make_play_encoder(name: str, dealer: bool = False, scores: bool = False) -> PlayEncoder:
    """An encoder of PLAY_ENCODERS.

    `basic` and `full` of Bélanger et al. 2019 (section 3.7.4), the two of their published code, or our `afterstate`
    (with dealer flag).
    """
    return PlayEncoder(name, dealer, scores)


def _play_spec(name: str, dealer: bool, scores: bool) -> Spec:
    builder = SpecBuilder()
    if name == "afterstate":
        _add_afterstate_blocks(builder)
    elif name == CNN_LSTM:
        add_cnn_lstm_blocks(builder)
    elif name == FEED_FORWARD:
        add_feed_forward_blocks(builder)
    else:
        _add_paper_blocks(builder, name == "full")
    if dealer and "dealer" not in [block.name for block in builder.blocks]:
        builder.add("dealer", FLAG, ("dealer",), "one is the dealer")
    if name == "afterstate":
        builder.add("points", SCALAR, ("points",), "points that the candidate makes (go and last card apart)")
    if scores:
        factor = 1.0 / MAX_SCORE
        builder.add("own_score", SCALAR, ("own",), "own score, points of 121", scale=factor)
        builder.add("opponent_score", SCALAR, ("opponent",), "opponent's score, points of 121", scale=factor)
    return builder.build(name, dealer, scores)


def _add_paper_blocks(builder: SpecBuilder, full: bool) -> None:
    builder.add(
        "hand",
        ONE_HOT,
        RANK_CHANNELS,
        "ranks left in hand without the candidate, sorted, a card a row; empty rows are zero",
        rows=HAND_SIZE,
    )
    builder.add(
        "series",
        ONE_HOT,
        RANK_CHANNELS,
        "ranks of the current series in order, the candidate last, a card a row; empty rows are zero",
        rows=SERIES_ROWS,
    )
    if full:
        builder.add("played", COUNTS, RANK_CHANNELS, "ranks of all cards played before, by both players")
        builder.add("discards", COUNTS, RANK_CHANNELS, "ranks of one's own two discards")
        builder.add("starter", ONE_HOT, RANK_CHANNELS, "rank of the starter")


def _add_afterstate_blocks(builder: SpecBuilder) -> None:
    builder.add("own_left", COUNTS, RANK_CHANNELS, "ranks left in hand without the candidate")
    builder.add("candidate", ONE_HOT, RANK_CHANNELS, "rank of the candidate")
    builder.add(
        "series_before",
        ONE_HOT,
        RANK_CHANNELS,
        "ranks of the current series before the candidate, the latest first, a card a row",
        rows=MAX_PLAYED,
    )
    counts = tuple(str(count) for count in range(COUNT_LIMIT + 1))
    builder.add("count", ONE_HOT, counts, "the count with the candidate")
    builder.add(
        "seen",
        COUNTS,
        RANK_CHANNELS,
        "ranks one has seen: own four kept and two thrown, starter, the opponent's played cards",
    )
    cards = tuple(str(number) for number in range(HAND_SIZE + 1))
    builder.add("opponent_cards", ONE_HOT, cards, "number of cards that the opponent still holds")
    builder.add("opponent_go", FLAG, ("go",), "the opponent said go in this series")
    builder.add("dealer", FLAG, ("dealer",), "one is the dealer")


# --- kernels ------------------------------------------------------------------------------------------------


@jit
def _put_played_before(row: np.ndarray, column: int, start: int, state: np.ndarray) -> int:
    for k in range(MAX_PLAYED):
        column = put_rank(row, column, start, state[PLAYED_RANKS + k])
    return column


@jit
def _put_thrown_and_starter(row: np.ndarray, column: int, discards: int, starter: int, state: np.ndarray) -> int:
    column = put_rank(row, column, discards, state[DISCARD_RANKS])
    column = put_rank(row, column, discards, state[DISCARD_RANKS + 1])
    return put_rank(row, column, starter, state[STARTER_RANK])


@jit
def _put_hand(row: np.ndarray, column: int, start: int, step: int, state: np.ndarray, action: int) -> int:
    """Write the up to three cards left besides the candidate, each `step` channels further than the last."""
    end = column + HAND_SIZE - 1
    for slot in range(HAND_SIZE):
        rank = state[OWN_RANKS + slot]
        if slot != action and rank >= 0:
            column = put_rank(row, column, start, rank)
            start += step
    while column < end:
        column = put_rank(row, column, start, -1)
    return column


@jit
def _paper_row(starts: np.ndarray, full: bool, state: np.ndarray, action: int, row: np.ndarray) -> int:
    column = _put_hand(row, 0, starts[_HAND], NUM_RANKS, state, action)
    start = starts[_SERIES]
    end = column + SERIES_ROWS
    for k in range(state[SERIES_START], state[NUM_PLAYED]):
        column = put_rank(row, column, start, state[PLAYED_RANKS + k])
        start += NUM_RANKS
    column = put_rank(row, column, start, state[OWN_RANKS + action])
    while column < end:
        column = put_rank(row, column, start, -1)
    if full:
        column = _put_played_before(row, column, starts[_PLAYED], state)
        column = _put_thrown_and_starter(row, column, starts[_DISCARDS], starts[_STARTER], state)
    return column


@jit
def _points_of(state: np.ndarray, action: int) -> int:
    """Points of the play of a slot on the current series."""
    series = 0
    for k in range(state[SERIES_START], state[NUM_PLAYED]):
        series = add_rank(series, int(state[PLAYED_RANKS + k]))
    series = add_rank(series, int(state[OWN_RANKS + action]))
    return play_points(series, series_count(series))


@jit
def _afterstate_row(starts: np.ndarray, state: np.ndarray, action: int, row: np.ndarray) -> int:
    rank = state[OWN_RANKS + action]
    column = _put_hand(row, 0, starts[_OWN_LEFT], 0, state, action)
    column = put_rank(row, column, starts[_CANDIDATE], rank)
    for back in range(MAX_PLAYED):
        k = state[NUM_PLAYED] - 1 - back
        before = state[PLAYED_RANKS + k] if k >= state[SERIES_START] else -1
        column = put_rank(row, column, starts[_SERIES_BEFORE] + back * NUM_RANKS, before)
    row[column] = starts[_COUNT] + state[COUNT] + value_of_rank(rank)
    seen = starts[_SEEN]
    column = put_rank(row, column + 1, seen, rank)
    column = _put_hand(row, column, seen, 0, state, action)
    column = _put_played_before(row, column, seen, state)
    column = _put_thrown_and_starter(row, column, seen, seen, state)
    row[column] = starts[_OPPONENT_CARDS] + state[OPPONENT_CARDS]
    column = put_flag(row, column + 1, starts[_OPPONENT_GO], state[OPPONENT_GO])
    column = put_flag(row, column, starts[_DEALER], state[IS_DEALER])
    row[column] = _points_of(state, action)
    return column + 1


@jit
def _row(kind: int, starts: np.ndarray, state: np.ndarray, action: int, row: np.ndarray) -> int:
    """Write the columns of an encoding without its options; returns the next column."""
    if kind == _AFTERSTATE:
        return _afterstate_row(starts, state, action, row)
    if kind == _CNN_LSTM:
        own, other = starts[_SEAT_0_PLAYED], starts[_SEAT_1_PLAYED]
        if state[SEAT] == 1:
            own, other = other, own
        return cnn_lstm_row(starts[_HAND], starts[_SERIES], own, other, state, action, row)
    if kind == _FEED_FORWARD:
        return feed_forward_row(
            starts[_HAND],
            starts[_OPPONENT_PLAYED],
            starts[_OWN_SEEN],
            starts[_SERIES_BEFORE],
            starts[_CANDIDATE],
            state,
            action,
            row,
        )
    return _paper_row(starts, kind == _FULL, state, action, row)


@jit
def _encode_rows(
    part: Part, kind: int, starts: np.ndarray, states: np.ndarray, actions: np.ndarray, columns: np.ndarray
) -> None:
    for i in range(*part):
        column = _row(kind, starts, states[i], actions[i], columns[i])
        if kind != _AFTERSTATE and starts[_DEALER] >= 0:
            column = put_flag(columns[i], column, starts[_DEALER], states[i, IS_DEALER])
        if starts[_OWN_SCORE] >= 0:
            columns[i, column] = states[i, OWN_SCORE]
            columns[i, column + 1] = states[i, OPPONENT_SCORE]
