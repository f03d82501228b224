"""Positions of the play as the small network of Partida 2022 (sections 2.1 to 2.3) sees them, compiled.

A position is what lies on the table after a card has been played: int8 [STATE], the ranks 1..13 left in the player's
hand (4, in ascending order, 0 for none behind them), in the opponent's (4, likewise), those of the whole play in the
order played (8, likewise), and how many of the latter belong to series that were over before the card. The network of
16 inputs reads both hands, that of 12 the player's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.game.cards import NUM_RANKS, rank_of
from deepcrib.game.rules import HAND_SIZE
from deepcrib.kernels import jit

PLAYS = 2 * HAND_SIZE
_OWN, _OTHER, HISTORY, EARLIER = 0, HAND_SIZE, 2 * HAND_SIZE, 2 * HAND_SIZE + PLAYS
STATE = EARLIER + 1
INPUTS = (12, 16)
NUMBERS, _ONE_HOT = 0, 1
ENCODINGS = {"numbers": NUMBERS, "one_hot": _ONE_HOT}


@jit
def input_width(inputs: int, encoding: int) -> int:
    """Inputs of the network: 12 or 16 numbers, or as indicators 130 or 143."""
    if encoding == NUMBERS:
        return inputs
    return NUM_RANKS * ((inputs - PLAYS) // HAND_SIZE + PLAYS + 1)


class Turn(NamedTuple):
    """What a player plays its card on.

    own, other: hands [4], card ids in ascending order and NO_CARD once played; none in `other` where it is hidden.
    history [8]: ranks 0..12 of the `played` cards before, the first `start` of which are of series that are over.
    series_count: the points of the cards of the series.
    """

    own: np.ndarray
    other: np.ndarray
    history: np.ndarray
    played: int
    start: int
    series_count: int


@jit
def fill_state(turn: Turn, slot: int, state: np.ndarray) -> None:
    """The position after the card in a slot of one's own hand."""
    state[:] = 0
    n = 0
    for i in range(HAND_SIZE):
        if turn.own[i] >= 0 and i != slot:
            state[_OWN + n] = rank_of(turn.own[i]) + 1
            n += 1
    n = 0
    for i in range(HAND_SIZE):
        if turn.other[i] >= 0:
            state[_OTHER + n] = rank_of(turn.other[i]) + 1
            n += 1
    for i in range(turn.played):
        state[HISTORY + i] = turn.history[i] + 1
    state[HISTORY + turn.played] = rank_of(turn.own[slot]) + 1
    state[EARLIER] = turn.start


@jit
def fill_position(state: np.ndarray, inputs: int, encoding: int, x: np.ndarray) -> None:
    """The network's input x [input_width] of a position.

    `numbers` is the paper's: hand or hands, then the history, as they stand. `one_hot`: how many of each rank a hand
    holds (13 each), an indicator of the rank of each card of the series by its distance from the last one (8 times 13),
    and how many of each rank were played in earlier series (13).
    """
    x[:] = 0
    hands = inputs - PLAYS
    if encoding == NUMBERS:
        x[:hands] = state[:hands]
        x[hands:] = state[HISTORY:EARLIER]
        return
    for i in range(hands):
        if state[i] > 0:
            x[i // HAND_SIZE * NUM_RANKS + state[i] - 1] += 1
    played = 0
    while played < PLAYS and state[HISTORY + played] > 0:
        played += 1
    series = hands // HAND_SIZE * NUM_RANKS
    for i in range(played):
        distance = PLAYS if i < state[EARLIER] else played - 1 - i  # earlier series share the last block
        x[series + distance * NUM_RANKS + state[HISTORY + i] - 1] += 1
