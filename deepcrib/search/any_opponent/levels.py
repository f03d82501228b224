"""One level after another of the tree of replies to a player that must be asked for its choices.

The same tree as `scripted_opponent.tree`'s, but broad instead of deep: all positions after so many moves, and in each
the hands that the opponent may hold there, so that the opponent can be asked about all of them at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.game.cards import NO_CARD, NUM_RANKS, rank_of, value_of_rank
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE
from deepcrib.kernels import Part, jit
from deepcrib.search.scripted_opponent.tree import can_play, lay, new_series
from deepcrib.search.scripted_opponent.workspace import (
    COUNT,
    GO,
    LAST,
    ME,
    NUM_LEFT,
    OPPONENT,
    OWN_LEFT,
    PASSED,
    PLAYS,
    SERIES,
    TURN,
)

# Columns of a position beyond those of `scripted_opponent.workspace`. START: how many cards were played before the
# series; PLAYED: how many were played in all; ROOT: the position from which the search began.
START, PLAYED, ROOT = NUM_LEFT + 1, NUM_LEFT + 2, NUM_LEFT + 3
COLUMNS = ROOT + 1
THEIRS = -2
"""An opponent's card in a history: THEIRS - rank."""
NEVER = 1e-12  # chances below it are rounding


class Level(NamedTuple):
    """N positions and M hands.

    frames: int64 [N, 10], by the columns. history: int8 [N, 8], cards in the order played: own ids, THEIRS - rank, -1.
    points: float64 [N], own minus the opponent's, of the move that led there times the weight of its hands. parents:
    int64 [N], rows of the level before. first: int64 [N + 1], the hands of position i are first[i]:first[i + 1]. types:
    int64 [M], which hand; left: int64 [M], bits of its slots; weights: float64 [M].
    """

    frames: np.ndarray
    history: np.ndarray
    points: np.ndarray
    parents: np.ndarray
    first: np.ndarray
    types: np.ndarray
    left: np.ndarray
    weights: np.ndarray


class Table(NamedTuple):
    """What the positions of a search have in common.

    kept: int8 [T, 4], thrown: int8 [T, 2], the cards of each hand that the opponent may hold. own: int8 [R, 4], the own
    kept cards by root, sorted; discards: int8 [R, 2]; starter, seat, dealer: int8 [R]; scores: int8 [R, 2].
    """

    kept: np.ndarray
    thrown: np.ndarray
    own: np.ndarray
    discards: np.ndarray
    starter: np.ndarray
    seat: np.ndarray
    dealer: np.ndarray
    scores: np.ndarray


@jit
def own_ranks(cards: np.ndarray) -> np.ndarray:
    """Ranks [4] of cards [4]."""
    ranks = np.empty(HAND_SIZE, dtype=np.int64)
    for slot in range(HAND_SIZE):
        ranks[slot] = rank_of(cards[slot])
    return ranks


@jit
def settle(level: Level, own: np.ndarray) -> None:
    """Say go for the player wherever it has nothing to play, and end the series that this ends."""
    for i in range(len(level.frames)):
        frame = level.frames[i]
        if frame[TURN] != ME or can_play(own_ranks(own[frame[ROOT]]), frame[OWN_LEFT], frame[COUNT]):
            continue
        if frame[PASSED]:
            level.points[i] += level.weights[level.first[i] : level.first[i + 1]].sum() * (
                1 if frame[LAST] == ME else -1
            )
            new_series(frame, frame[LAST])
            frame[START] = frame[PLAYED]
        else:
            frame[TURN], frame[PASSED] = OPPONENT, 1


@jit
def _play(frame: np.ndarray, history: np.ndarray, player: int, rank: int, entry: int) -> int:
    """Lay a card; `entry` is what the history says of it. Returns its points."""
    points = lay(frame, player, rank)
    history[frame[PLAYED]] = entry
    frame[PLAYED] += 1
    if frame[SERIES] == 0:
        frame[START] = frame[PLAYED]
    return points


@jit
def legal_slots(part: Part, level: Level, positions: np.ndarray, kept: np.ndarray, legal: np.ndarray) -> None:
    """legal int64 [M]: bits of the slots that each hand may play in its position, where it is the opponent's turn."""
    for k in range(*part):
        i = positions[k]
        for e in range(level.first[i], level.first[i + 1]):
            for slot in range(HAND_SIZE):
                value = value_of_rank(rank_of(kept[level.types[e], slot]))
                if level.left[e] >> slot & 1 and level.frames[i, COUNT] + value <= COUNT_LIMIT:
                    legal[e] |= 1 << slot


@jit
def _share(probabilities: np.ndarray, legal: int, kept: np.ndarray, move: int) -> tuple[float, int]:
    """Chance of a move of the opponent's, and the slot that is played."""
    if move == GO:
        return (1.0 if legal == 0 else 0.0), -1
    share, last = 0.0, -1
    for slot in range(HAND_SIZE):
        if legal >> slot & 1 and rank_of(kept[slot]) == move:
            share += probabilities[slot]
            last = slot
    return (share if share > NEVER else 0.0), last


@jit
def count_children(
    level: Level, kept: np.ndarray, own: np.ndarray, legal: np.ndarray, probabilities: np.ndarray, moves: np.ndarray
) -> tuple[int, int]:
    """moves int64 [N]: bits of what can follow, own slots, or the opponent's ranks and GO. Returns children, hands."""
    children = 0
    hands = 0
    for i in range(len(level.frames)):
        frame = level.frames[i]
        if frame[TURN] == ME:
            ranks = own_ranks(own[frame[ROOT]])
            for slot in range(HAND_SIZE):
                fits = frame[OWN_LEFT] >> slot & 1 and frame[COUNT] + value_of_rank(ranks[slot]) <= COUNT_LIMIT
                for earlier in range(slot):
                    fits = fits and not (moves[i] >> earlier & 1 and ranks[earlier] == ranks[slot])
                if fits:
                    moves[i] |= 1 << slot
                    children += 1
                    hands += level.first[i + 1] - level.first[i]
        elif frame[TURN] == OPPONENT:
            for move in range(NUM_RANKS + 1):
                takers = 0
                for e in range(level.first[i], level.first[i + 1]):
                    takers += _share(probabilities[e], legal[e], kept[level.types[e]], move)[0] > 0
                if takers:
                    moves[i] |= 1 << move
                    children += 1
                    hands += takers
    return children, hands


@jit
def fill_children(
    level: Level,
    kept: np.ndarray,
    own: np.ndarray,
    legal: np.ndarray,
    probabilities: np.ndarray,
    moves: np.ndarray,
    child: Level,
    slots: np.ndarray,
) -> None:
    """Fill the level that follows; slots int8 [N']: the own slot that led to each of its positions, or -1."""
    c = 0
    m = 0
    for i in range(len(level.frames)):
        mine = level.frames[i, TURN] == ME
        for move in range(NUM_RANKS + 1):
            if not moves[i] >> move & 1:
                continue
            frame, history = child.frames[c], child.history[c]
            frame[:] = level.frames[i]
            history[:] = level.history[i]
            child.parents[c], child.first[c], slots[c] = i, m, move if mine else -1
            weight = 0.0
            for e in range(level.first[i], level.first[i + 1]):
                share, slot = 1.0, -1
                if not mine:
                    share, slot = _share(probabilities[e], legal[e], kept[level.types[e]], move)
                if share > 0:
                    child.types[m] = level.types[e]
                    child.left[m] = level.left[e] if slot < 0 else level.left[e] & ~(1 << slot)
                    child.weights[m] = level.weights[e] * share
                    weight += child.weights[m]
                    m += 1
            if mine:
                frame[OWN_LEFT] &= ~(1 << move)
                card = own[frame[ROOT], move]
                child.points[c] = weight * _play(frame, history, ME, rank_of(card), card)
            elif move != GO:
                frame[NUM_LEFT] -= 1
                child.points[c] = -weight * _play(frame, history, OPPONENT, move, THEIRS - move)
            elif frame[PASSED]:
                child.points[c] = weight if frame[LAST] == ME else -weight
                new_series(frame, frame[LAST])
                frame[START] = frame[PLAYED]
            else:
                child.points[c] = 0.0
                frame[TURN], frame[PASSED] = ME, 1
            c += 1
    child.first[c] = m


@jit
def observe(
    part: Part,
    level: Level,
    positions: np.ndarray,
    entries: np.ndarray,
    table: Table,
    player: int,
    hand: np.ndarray,
    history: np.ndarray,
    seats: np.ndarray,
) -> None:
    """What `player` (ME or OPPONENT) sees in a position with one of its hands: hand [K, 4], history, seats [K, 8]."""
    for k in range(*part):
        frame, e = level.frames[positions[k]], entries[k]
        root, kept = frame[ROOT], table.kept[level.types[entries[k]]]
        for slot in range(HAND_SIZE):
            if player == ME:
                hand[k, slot] = table.own[root, slot] if frame[OWN_LEFT] >> slot & 1 else NO_CARD
            else:
                hand[k, slot] = kept[slot] if level.left[e] >> slot & 1 else NO_CARD
        shown = level.left[e]  # bits of the opponent's cards that are left or stand in the history already
        for n in range(PLAYS):
            card = level.history[positions[k], n]
            history[k, n], seats[k, n] = card, NO_CARD
            if card >= 0:
                seats[k, n] = table.seat[root]
            elif card <= THEIRS:
                seats[k, n] = 1 - table.seat[root]
                for slot in range(HAND_SIZE):
                    if not shown >> slot & 1 and rank_of(kept[slot]) == THEIRS - card:
                        history[k, n] = kept[slot]
                        shown |= 1 << slot
                        break


@jit
def close_level(
    level: Level, child: Level, values: np.ndarray, shares: np.ndarray, best: bool, out: np.ndarray
) -> None:
    """out [N]: the value of each position by those of its children, values [N'], move points included.

    At the player's turn the highest of them, or with best=False the sum by the shares [N'] of its own choices.
    """
    tried = np.zeros(len(out), dtype=np.bool_)
    for c in range(len(values)):
        i = child.parents[c]
        value = child.points[c] + values[c]
        if level.frames[i, TURN] == ME and best:
            out[i] = max(out[i], value) if tried[i] else value
        elif level.frames[i, TURN] == ME:
            out[i] += shares[c] * value
        else:
            out[i] += value
        tried[i] = True
