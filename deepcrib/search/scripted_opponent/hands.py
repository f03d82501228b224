"""The opponent's hands in a search of `tree`: which cards they play, how they part, and how the play ends."""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import value_of_rank
from deepcrib.game.policies import liking
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, add_rank, play_points
from deepcrib.kernels import jit
from deepcrib.search.scripted_opponent.workspace import (
    COUNT,
    GO,
    HANDS,
    LAST,
    ME,
    NUM_HANDS,
    OPPONENT,
    OWN_LEFT,
    SERIES,
    TURN,
    Players,
    Workspace,
)


@jit
def find_moves(workspace: Workspace, players: Players, frame: np.ndarray) -> int:
    """Fill `chosen` of the hands of a frame with the bits of what each may play, or of GO; returns all bits."""
    level, series, count, policy = frame[HANDS], frame[SERIES], frame[COUNT], players.policy
    sets, left, chosen = workspace.sets[level], workspace.left[level], workspace.chosen[level]
    likings, all_sets = workspace.likings, players.sets
    known = 0
    moves = 0
    for i in range(frame[NUM_HANDS]):
        number, slots, most, ranks = sets[i], left[i], -1, 0
        for slot in range(HAND_SIZE):
            rank = all_sets[number, slot]
            total = count + value_of_rank(rank)
            if slots >> slot & 1 and total <= COUNT_LIMIT:
                if not known >> rank & 1:
                    points = play_points(add_rank(series, rank), total)
                    likings[rank] = liking(policy, rank, points, total)
                    known |= 1 << rank
                if likings[rank] > most:
                    most = likings[rank]
                    ranks = 0
                if likings[rank] == most:
                    ranks |= 1 << rank
        if ranks == 0:
            ranks = 1 << GO
        chosen[i] = ranks
        moves |= ranks
    return moves


@jit
def part_hands(workspace: Workspace, all_sets: np.ndarray, frame: np.ndarray, to: int, move: int) -> int:
    """Fill level `to` with the hands of a frame that may make a move, less the card; returns their number."""
    level = frame[HANDS]
    sets, left, weights, chosen = (
        workspace.sets[level],
        workspace.left[level],
        workspace.weights[level],
        workspace.chosen[level],
    )
    new_sets, new_left, new_weights = workspace.sets[to], workspace.left[to], workspace.weights[to]
    hands = 0
    for i in range(frame[NUM_HANDS]):
        if not chosen[i] >> move & 1:
            continue
        number, slots = sets[i], left[i]
        new_sets[hands] = number
        new_weights[hands] = weights[i]
        if move != GO:
            of_rank, choices, last = 0, 0, 0
            for slot in range(HAND_SIZE):
                rank = all_sets[number, slot]
                if slots >> slot & 1 and chosen[i] >> rank & 1:
                    choices += 1
                    if rank == move:
                        of_rank += 1
                        last = slot
            slots &= ~(1 << last)
            if of_rank != choices:
                new_weights[hands] *= of_rank / choices
        new_left[hands] = slots
        hands += 1
    return hands


# --- the end, where the player has no choice left -----------------------------------------------------------------


@jit
def end_value(workspace: Workspace, players: Players, frame: np.ndarray) -> float:
    """Mean points of `_line` for every hand of a frame, times its weight."""
    own = -1
    for slot in range(HAND_SIZE):
        if frame[OWN_LEFT] >> slot & 1:
            own = players.own[slot]
    level, all_sets, policy = frame[HANDS], players.sets, players.policy
    sets, left, weights = workspace.sets[level], workspace.left[level], workspace.weights[level]
    turn, last, series, count = frame[TURN], frame[LAST], frame[SERIES], frame[COUNT]
    value = 0.0
    for i in range(frame[NUM_HANDS]):
        first, second = -1, -1
        for slot in range(HAND_SIZE):
            if left[i] >> slot & 1:
                first, second = all_sets[sets[i], slot], first
        chance, points = _line(policy, turn, last, series, count, own, first, second)
        value += weights[i] * chance * points
        if chance < 1.0:
            chance, points = _line(policy, turn, last, series, count, own, second, first)
            value += weights[i] * chance * points
    return value


@jit
def _line(
    policy: int, turn: int, last: int, series: int, count: int, own: int, first: int, second: int
) -> tuple[float, int]:
    """The rest of the play with at most one own card and two of the opponent's, ranks or -1, laid in that order.

    Returns the chance that the opponent lays its cards so, and the points.
    """
    chance, points = 1.0, 0
    while own >= 0 or first >= 0:
        own_fits = own >= 0 and count + value_of_rank(own) <= COUNT_LIMIT
        first_fits = first >= 0 and count + value_of_rank(first) <= COUNT_LIMIT
        second_fits = second >= 0 and second != first and count + value_of_rank(second) <= COUNT_LIMIT
        if not own_fits and not first_fits and not second_fits:
            points += 1 if last == ME else -1
            series, count, turn = 0, 0, 1 - last
            continue
        if own_fits and (turn == ME or not (first_fits or second_fits)):
            rank, last, own = own, ME, -1
        else:
            if second_fits:
                chance *= _preference(policy, series, count, first, second) if first_fits else 0.0
                if chance == 0.0:
                    return 0.0, 0
            rank, last, first, second = first, OPPONENT, second, -1
        series = add_rank(series, rank)
        count += value_of_rank(rank)
        scored = play_points(series, count)
        points += scored if last == ME else -scored
        turn = 1 - last
        if count == COUNT_LIMIT:
            series, count = 0, 0
    if series:
        points += 1 if last == ME else -1
    return chance, points


@jit
def _preference(policy: int, series: int, count: int, first: int, second: int) -> float:
    """Chance that a policy lays the first of two ranks, both of which fit."""
    one, other = count + value_of_rank(first), count + value_of_rank(second)
    likes_one = liking(policy, first, play_points(add_rank(series, first), one), one)
    likes_other = liking(policy, second, play_points(add_rank(series, second), other), other)
    if likes_one == likes_other:
        return 0.5
    return 1.0 if likes_one > likes_other else 0.0
