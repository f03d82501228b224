"""The tables of the encoders of a play: the hand and the table as they are after the candidate card is laid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deepcrib.game.cards import NUM_RANKS, value_of_rank
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, add_rank, play_points, series_count
from deepcrib.kernels import jit
from deepcrib.networks.encoders.belanger2019 import CNN_LSTM_BLOCKS, FEED_FORWARD_BLOCKS
from deepcrib.networks.encoders.fills import (
    CANDIDATE,
    EMPTY,
    SERIES,
    Fill,
    candidate,
    discards,
    flag_of,
    score_blocks,
    value_of,
)
from deepcrib.networks.encoders.spec import FLAG, ONE_HOT, SCALAR, Block, is_table, ranks
from deepcrib.networks.encoders.states import (
    COUNT,
    IS_DEALER,
    MAX_PLAYED,
    NUM_PLAYED,
    OPPONENT_CARDS,
    OPPONENT_GO,
    OPPONENT_PLAYED,
    OPPONENT_SCORE,
    OWN_RANKS,
    OWN_SCORE,
    PLAYED_RANKS,
    SERIES_START,
    STARTER_RANK,
)
from deepcrib.plugins import Registry

_LEFT = HAND_SIZE - 1  # cards in hand besides the candidate, at most


def _besides(step: int) -> Fill:
    """The cards left besides the candidate, each `step` channels further than the last."""

    @jit
    def fill(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
        k = 0
        for slot in range(HAND_SIZE):
            rank = state[OWN_RANKS + slot]
            if slot != action and rank >= 0:
                row[k] = start + k * step + rank
                k += 1

    return fill


_own_left = _besides(0)


@jit
def _series_before(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    last = state[NUM_PLAYED] - 1
    for back in range(last + 1 - state[SERIES_START]):
        row[back] = start + back * NUM_RANKS + state[PLAYED_RANKS + last - back]


@jit
def _played(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    for k in range(state[NUM_PLAYED]):
        row[k] = start + state[PLAYED_RANKS + k]


@jit
def _seen(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    candidate(state, action, start, row)
    _own_left(state, action, start, row[1:])
    discards(state, action, start, row[1 + _LEFT :])
    row[3 + _LEFT] = start + state[STARTER_RANK]
    _played(state, action, start, row[4 + _LEFT :])


@jit
def _count(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    row[0] = start + state[COUNT] + value_of_rank(state[OWN_RANKS + action])


@jit
def _points(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    series = 0
    for k in range(state[SERIES_START], state[NUM_PLAYED]):
        series = add_rank(series, int(state[PLAYED_RANKS + k]))
    series = add_rank(series, int(state[OWN_RANKS + action]))
    row[0] = play_points(series, series_count(series))


def _in_order(theirs: bool) -> Fill:
    """The cards that one player has played, each NUM_RANKS channels further than the last."""

    @jit
    def fill(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
        k = 0
        for n in range(state[NUM_PLAYED]):
            if (state[OPPONENT_PLAYED] >> n & 1) == theirs and k < len(row):
                row[k] = start + k * NUM_RANKS + state[PLAYED_RANKS + n]
                k += 1

    return fill


@jit
def _passed(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    """A series ends below 31 where neither can play, and a card that fits must be played."""
    lowest, count, last = COUNT_LIMIT, 0, 0
    for n in range(state[NUM_PLAYED]):
        theirs, value = state[OPPONENT_PLAYED] >> n & 1, value_of_rank(state[PLAYED_RANKS + n])
        if count + value > COUNT_LIMIT or (count > 0 and not theirs and not last):
            lowest = min(lowest, count)
        count = value if count + value > COUNT_LIMIT else count + value
        last = theirs
    if state[OPPONENT_GO]:
        lowest = min(lowest, count)
    if lowest < COUNT_LIMIT:
        row[0] = start + lowest


_HAND = ranks(
    "hand",
    f"ranks left in hand without the candidate, sorted, {EMPTY}",
    _besides(NUM_RANKS),
    rows=HAND_SIZE,
    ones=_LEFT,
)
_BEFORE = "ranks of the current series before the candidate, the latest first, a card a row"
_SEEN = "ranks one has seen: own four kept and two thrown, starter, the opponent's played cards"
_ORDER = "ranks that {} has played, in order, a card a row"
_PASSED = "the lowest count at which the opponent could not play"
_DEALER = Block("dealer", FLAG, ("dealer",), "one is the dealer", flag_of(IS_DEALER))
_SCORES = score_blocks(OWN_SCORE, OPPONENT_SCORE)
_OPTIONAL = (replace(_DEALER, option="dealer"), *_SCORES)

_AFTERSTATE = (
    ranks("own_left", "ranks left in hand without the candidate", _own_left, ones=_LEFT),
    CANDIDATE,
    ranks("series_before", _BEFORE, _series_before, rows=MAX_PLAYED),
    Block("count", ONE_HOT, tuple(map(str, range(COUNT_LIMIT + 1))), "the count with the candidate", _count),
    ranks("seen", _SEEN, _seen, ones=4 + _LEFT + MAX_PLAYED),
    Block(
        "opponent_cards",
        ONE_HOT,
        tuple(map(str, range(HAND_SIZE + 1))),
        "number of cards that the opponent still holds",
        value_of(OPPONENT_CARDS),
    ),
    Block("opponent_go", FLAG, ("go",), "the opponent said go in this series", flag_of(OPPONENT_GO)),
    _DEALER,
    Block("points", SCALAR, ("points",), "points that the candidate makes (go and last card apart)", _points),
    *_SCORES,
)

_TABLES: dict[str, tuple[Block, ...]] = {
    # Bélanger et al. 2019, section 3.7.4.
    "basic": (_HAND, SERIES, *_OPTIONAL),
    "full": (
        _HAND,
        SERIES,
        ranks("played", "ranks of all cards played before, by both players", _played, ones=7),
        ranks("discards", "ranks of one's own two discards", discards, ones=2),
        ranks("starter", "rank of the starter", value_of(STARTER_RANK)),
        *_OPTIONAL,
    ),
    "afterstate": _AFTERSTATE,
    "history": (
        *_AFTERSTATE,
        ranks("opponent_played", _ORDER.format("the opponent"), _in_order(True), rows=HAND_SIZE),
        ranks("own_played", _ORDER.format("oneself"), _in_order(False), rows=_LEFT),
        Block("passed", ONE_HOT, tuple(map(str, range(COUNT_LIMIT))), _PASSED, _passed),
    ),
    "belanger2019_cnn_lstm": (*CNN_LSTM_BLOCKS, *_OPTIONAL),
    "belanger2019_mlp": (*FEED_FORWARD_BLOCKS, *_OPTIONAL),
}
PLAY_ENCODERS = Registry("play encoder", _TABLES, is_table)
"""By name, as in `state.play`. A channel is its fill and a Block: in a new table, where others' weights are to stay."""
