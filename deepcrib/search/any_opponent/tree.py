"""The best reply to an opponent that must be asked for its choices, such as a network: `levels` from the root.

The opponent's hands are rank multisets, as everywhere; one hand of cards stands for each, with two cards that it may
have thrown. For a player whose cards do not depend on suits or on its own discards the values are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NUM_SUITS
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rules import HAND_SIZE
from deepcrib.kernels.workers import run_rows
from deepcrib.search.any_opponent.levels import (
    COLUMNS,
    ROOT,
    START,
    Level,
    Table,
    close_level,
    count_children,
    fill_children,
    legal_slots,
    observe,
    settle,
)
from deepcrib.search.scripted_opponent.workspace import COUNT, ME, OPPONENT, PASSED, PLAYS, TURN

PlayProbabilities = Callable[[PlayObservation], NDArray[np.float64]]
_ASKED = 32_768  # positions that a player is asked about at once


class Values(NamedTuple):
    """Points times the weight of a root's hands, the best cards being played, or the own policy's.

    roots: float64 [R], from the root on. slots: float64 [R, 4], from the play of each own slot on; nan where the root
    is not one's turn, and for what may not be played or is of the rank of an earlier slot.
    """

    roots: NDArray[np.float64]
    slots: NDArray[np.float64]


def reply_values(
    roots: Level, table: Table, opponent: PlayProbabilities, own: PlayProbabilities | None = None
) -> Values:
    """Values of positions against an opponent; own: the player's own policy instead of the best reply."""
    levels, slots, shares = [roots], [np.full(len(roots.frames), -1, dtype=np.int8)], [np.ones(len(roots.frames))]
    while True:
        level = levels[-1]
        settle(level, table.own)
        if (level.frames[:, TURN] < 0).all():
            break
        child, child_slots = _next_level(level, table, opponent)
        levels.append(child)
        slots.append(child_slots)
        shares.append(_own_shares(level, child, child_slots, table, own))
    values = np.zeros(len(levels[-1].frames))  # of a position once it is settled, without the points that led there
    by_slot = np.full((len(roots.frames), HAND_SIZE), np.nan)
    for depth in range(len(levels) - 2, -1, -1):
        level, child = levels[depth], levels[depth + 1]
        if depth == 0:
            mine = slots[1] >= 0
            by_slot[child.parents[mine], slots[1][mine]] = child.points[mine] + values[mine]
        closed = np.zeros(len(level.frames))
        close_level(level, child, values, shares[depth + 1], own is None, closed)
        values = closed
    return Values(values + roots.points, by_slot)


def _next_level(level: Level, table: Table, opponent: PlayProbabilities) -> tuple[Level, NDArray[np.int8]]:
    """The level that follows, and the own slot that led to each of its positions (-1: a move of the opponent's)."""
    theirs = np.flatnonzero(level.frames[:, TURN] == OPPONENT)
    legal = np.zeros(len(level.types), dtype=np.int64)
    run_rows(legal_slots, len(theirs), level, theirs, table.kept, legal)
    probabilities = ((legal[:, None] >> np.arange(HAND_SIZE)) & 1).astype(np.float64)
    choices = probabilities.sum(axis=1)
    asked = np.flatnonzero(choices > 1)  # a single card is played without asking
    positions = np.searchsorted(level.first, asked, side="right") - 1
    for low in range(0, len(asked), _ASKED):
        part = slice(low, low + _ASKED)
        probabilities[asked[part]] = opponent(_observation(level, positions[part], asked[part], table, OPPONENT))
    moves = np.zeros(len(level.frames), dtype=np.int64)
    num_children, num_hands = count_children(level, table.kept, table.own, legal, probabilities, moves)
    child = Level(
        np.empty((num_children, COLUMNS), dtype=np.int64),
        np.empty((num_children, PLAYS), dtype=np.int8),
        np.zeros(num_children),
        np.empty(num_children, dtype=np.int64),
        np.empty(num_children + 1, dtype=np.int64),
        np.empty(num_hands, dtype=np.int64),
        np.empty(num_hands, dtype=np.int64),
        np.empty(num_hands),
    )
    slots = np.empty(num_children, dtype=np.int8)
    fill_children(level, table.kept, table.own, legal, probabilities, moves, child, slots)
    return child, slots


def chances_of_ranks(
    level: Level, table: Table, opponent: PlayProbabilities, ranks: NDArray[np.int64]
) -> NDArray[np.float64]:
    """[M] chance that each hand of a level plays the rank in ranks [M]; it is the opponent's turn in all positions."""
    positions = np.repeat(np.arange(len(level.frames)), np.diff(level.first))
    chances = np.zeros(len(level.types))
    for low in range(0, len(chances), _ASKED):
        part = np.arange(low, min(low + _ASKED, len(chances)))
        observation = _observation(level, positions[part], part, table, OPPONENT)
        held = (observation.hand >= 0) & (observation.hand // NUM_SUITS == ranks[part, None]) & observation.legal
        able = np.flatnonzero(held.any(axis=1))
        played = np.zeros(len(part))
        if len(able):
            played[able] = (opponent(observation.take(able)) * held[able]).sum(axis=1)
        chances[part] = played
    return chances


def _own_shares(
    level: Level, child: Level, slots: NDArray[np.int8], table: Table, own: PlayProbabilities | None
) -> NDArray[np.float64]:
    """Chance [N'] that the own policy leads to each position of a level; 1 where it was not its move."""
    shares = np.ones(len(child.frames))
    mine = np.flatnonzero(level.frames[:, TURN] == ME)
    if own is None or not len(mine):
        return shares
    chances = np.zeros((len(level.frames), HAND_SIZE))
    for low in range(0, len(mine), _ASKED):
        part = mine[low : low + _ASKED]
        observation = _observation(level, part, level.first[part], table, ME)
        chances[part] = _by_rank(observation, own(observation))
    led = slots >= 0
    shares[led] = chances[child.parents[led], slots[led]]
    return shares


def _by_rank(observation: PlayObservation, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chances [N, 4] with those of equal ranks put on the first slot that may be played, which the tree tries."""
    merged = chances.copy()
    ranks = np.where(observation.legal, observation.hand // NUM_SUITS, -1 - np.arange(HAND_SIZE))
    for slot in range(1, HAND_SIZE):
        for earlier in range(slot):
            same = (ranks[:, slot] == ranks[:, earlier]) & (merged[:, slot] > 0)
            merged[same, earlier] += merged[same, slot]
            merged[same, slot] = 0.0
    return merged


def _observation(
    level: Level, positions: NDArray[np.int64], entries: NDArray[np.int64], table: Table, player: int
) -> PlayObservation:
    """What a player sees in positions [K], the opponent holding the hands of `entries` [K]."""
    n = len(positions)
    hand = np.empty((n, HAND_SIZE), dtype=np.int8)
    history, seats = np.empty((n, PLAYS), dtype=np.int8), np.empty((n, PLAYS), dtype=np.int8)
    run_rows(observe, len(entries), level, positions, entries, table, player, hand, history, seats, piece=512)
    frames = level.frames[positions]
    roots = frames[:, ROOT]
    seat = table.seat[roots] if player == ME else 1 - table.seat[roots]
    goes = np.zeros((n, 2), dtype=np.int8)
    goes[np.arange(n), 1 - seat] = frames[:, PASSED]
    return PlayObservation(
        hand=hand,
        seat=seat.astype(np.int8),
        dealer=table.dealer[roots],
        scores=table.scores[roots],
        key=np.zeros(n, dtype=np.uint64),
        discards=table.discards[roots] if player == ME else table.thrown[level.types[entries]],
        starter=table.starter[roots],
        history=history,
        history_seats=seats,
        series_start=frames[:, START].astype(np.int8),
        goes=goes,
        count=frames[:, COUNT].astype(np.int8),
    )
