"""What the opponent's earlier cards say of its hand, when it must be asked how likely it would have played them."""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import NUM_SUITS, rank_of
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rules import HAND_SIZE, play_step
from deepcrib.kernels import jit
from deepcrib.search.any_opponent.levels import PLAYED, START, THEIRS, Level, Table
from deepcrib.search.any_opponent.tree import PlayProbabilities, chances_of_ranks
from deepcrib.search.scripted_opponent.workspace import ALL_SLOTS, COUNT, OPPONENT, PASSED, PLAYS, TURN


@jit
def left_after(kept: np.ndarray, history: np.ndarray, plays: int) -> int:
    """Bits of the slots that are left of a hand after the opponent's cards among the first plays of a history."""
    left = ALL_SLOTS
    for k in range(plays):
        if history[k] <= THEIRS:
            for slot in range(HAND_SIZE - 1, -1, -1):
                if left >> slot & 1 and rank_of(kept[slot]) == THEIRS - history[k]:
                    left &= ~(1 << slot)
                    break
    return left


def weigh_earlier_plays(level: Level, table: Table, o: PlayObservation, opponent: PlayProbabilities) -> None:
    """Multiply the roots' weights by the chance of each card that the opponent has played.

    Where no hand is left of a root, its weights stay as they were: the opponent is not who it is taken for.
    """
    chances = np.ones(len(level.weights))
    for k in range(PLAYS):
        roots = np.flatnonzero((o.history[:, k] >= 0) & (o.history_seats[:, k] != o.seat))
        if not len(roots):
            continue
        frames, history = level.frames[roots].copy(), level.history[roots].copy()
        history[:, k:] = -1
        entries = np.concatenate([np.arange(level.first[r], level.first[r + 1]) for r in roots])
        sizes = np.diff(level.first)[roots]
        _fill_earlier(level, table, roots, k, o.history, o.history_seats, frames)
        left = np.empty(len(entries), dtype=np.int64)
        _fill_left(table.kept, entries, np.repeat(np.arange(len(roots)), sizes), history, left)
        first = np.concatenate(([0], np.cumsum(sizes)))
        before = Level(
            frames, history, np.zeros(len(roots)), roots, first, level.types[entries], left, level.weights[entries]
        )
        ranks = np.repeat(o.history[roots, k] // NUM_SUITS, sizes)
        chances[entries] *= chances_of_ranks(before, table, opponent, ranks)
    for r in range(len(level.frames)):
        part = slice(level.first[r], level.first[r + 1])
        weighed = level.weights[part] * chances[part]
        if weighed.sum() > 0:
            level.weights[part] = weighed


@jit
def _fill_left(
    kept: np.ndarray, entries: np.ndarray, positions: np.ndarray, history: np.ndarray, left: np.ndarray
) -> None:
    for i in range(len(entries)):
        left[i] = left_after(kept[entries[i]], history[positions[i]], PLAYS)


@jit
def _fill_earlier(
    level: Level,
    table: Table,
    roots: np.ndarray,
    k: int,
    histories: np.ndarray,
    seats: np.ndarray,
    frames: np.ndarray,
) -> None:
    """Turn the roots' frames back to the opponent's decision before play k: count, series and goes are seen by both."""
    for i in range(len(roots)):
        r = roots[i]
        seat = table.seat[r]
        kept = table.kept[level.types[level.first[r]]]  # any possible hand: it has said go where the opponent did
        left = np.empty((2, HAND_SIZE), dtype=np.int8)
        left[seat], left[1 - seat] = table.own[r], kept
        goes = np.zeros(2, dtype=np.int8)
        turn, series, count, start = int(seats[r, 0]), 0, 0, 0
        for n in range(k):
            slot = 0
            while left[turn, slot] < 0 or rank_of(left[turn, slot]) != rank_of(histories[r, n]):
                slot += 1
            _, _, turn, series, count = play_step(left, goes, series, count, turn, slot)
            start = n + 1 if series == 0 else start
        frame = frames[i]
        frame[TURN], frame[COUNT], frame[START], frame[PLAYED] = OPPONENT, count, start, k
        frame[PASSED] = goes[seat]
