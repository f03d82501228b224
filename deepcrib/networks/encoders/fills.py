"""Fills and blocks that several tables share: of one column of a state, of the candidate card and the series."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deepcrib.game.cards import NUM_RANKS
from deepcrib.game.rules import MAX_SCORE
from deepcrib.kernels import jit
from deepcrib.networks.encoders.spec import SCALAR, Block, ranks
from deepcrib.networks.encoders.states import (
    DISCARD_RANKS,
    NUM_PLAYED,
    OWN_RANKS,
    PLAYED_RANKS,
    SERIES_ROWS,
    SERIES_START,
)

Fill = Callable[..., None]


def value_of(column: int, is_scalar: bool = False) -> Fill:
    """The value in a column of the states is the number of the channel, or a scalar."""

    def fill(states: np.ndarray, actions: np.ndarray, start: int, columns: np.ndarray) -> None:
        columns[:, 0] = states[:, column]
        columns[:, 0] += 0 if is_scalar else start

    return fill


def flag_of(column: int) -> Fill:
    """The channel is 1 where a column of the states is not 0."""

    def fill(states: np.ndarray, actions: np.ndarray, start: int, columns: np.ndarray) -> None:
        columns[states[:, column] != 0, 0] = start

    return fill


def score_blocks(own: int, opponent: int) -> tuple[Block, ...]:
    """Both scores, which stand in these columns of the states."""
    scores = (("own", "own", own), ("opponent", "opponent's", opponent))
    return tuple(
        Block(
            f"{player}_score",
            SCALAR,
            (player,),
            f"{whose} score, points of 121",
            value_of(column, is_scalar=True),
            scale=1 / MAX_SCORE,
            option="scores",
        )
        for player, whose, column in scores
    )


@jit
def candidate(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    """The rank of the card that may be laid."""
    row[0] = start + state[OWN_RANKS + action]


@jit
def series(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    """Ranks of the current series in order, the candidate last, each NUM_RANKS channels further than the last."""
    first = state[SERIES_START]
    length = state[NUM_PLAYED] - first
    for k in range(length):
        row[k] = start + k * NUM_RANKS + state[PLAYED_RANKS + first + k]
    candidate(state, action, start + length * NUM_RANKS, row[length:])


@jit
def discards(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    """Ranks of one's own two discards."""
    row[0] = start + state[DISCARD_RANKS]
    row[1] = start + state[DISCARD_RANKS + 1]


EMPTY = "a card a row; empty rows are zero"
CANDIDATE = ranks("candidate", "rank of the candidate", candidate)
SERIES = ranks("series", f"ranks of the current series in order, the candidate last, {EMPTY}", series, rows=SERIES_ROWS)
