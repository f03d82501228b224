"""The opponent's hands in a search of `tree`: which cards they play, how they part, and how the play ends."""

from __future__ import annotations

import numpy as np

from deepcrib.exact.beliefs.plays import SETS_4
from deepcrib.game.cards import value_of_rank
from deepcrib.game.policies import liking
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, add_rank, play_points
from deepcrib.kernels import jit
from deepcrib.search.replies import workspace as at
from deepcrib.search.replies.asking import KNOWN, NEVER, Asking, note, take_answer
from deepcrib.search.replies.workspace import Players, Workspace


@jit(borrowed=True)
def find_moves(workspace: Workspace, players: Players, asking: Asking, frame: np.ndarray) -> int:
    """Fill `chosen` of the hands of a frame with the bits of what each may play, or of GO; returns all bits.

    0 where the opponent is asked and has not answered yet.
    """
    if players.policy == at.ASKED:
        return _find_answered(workspace, players, asking, frame)
    level, series, count, policy = frame[at.HANDS], frame[at.SERIES], frame[at.COUNT], players.policy
    sets, left, chosen = workspace.sets[level], workspace.left[level], workspace.chosen[level]
    likings = workspace.likings
    known = 0
    moves = 0
    for i in range(frame[at.NUM_HANDS]):
        number, slots, most, ranks = sets[i], left[i], -1, 0
        for slot in range(HAND_SIZE):
            rank = SETS_4[number, slot]
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
            ranks = 1 << at.GO
        chosen[i] = ranks
        moves |= ranks
    return moves


@jit(borrowed=True)
def _find_answered(workspace: Workspace, players: Players, asking: Asking, frame: np.ndarray) -> int:
    """`find_moves` of an opponent that is asked wherever it may play more than one card."""
    level, decision = frame[at.HANDS], frame[at.DECISION]
    sets, left = workspace.sets[level], workspace.left[level]
    chosen, answers = workspace.chosen[level], workspace.answers[level]
    asked = 0
    for i in range(frame[at.NUM_HANDS]):
        legal = playable(SETS_4[sets[i]], left[i], frame[at.COUNT])
        chosen[i] = legal
        answers[i] = -1
        if legal & (legal - 1):
            asked += 1
            if decision >= asking.state[KNOWN]:
                note(asking, frame, workspace.history, players.cards, sets[i], left[i])
            else:
                answers[i] = take_answer(asking, decision)
    if asked:
        frame[at.DECISION] += 1
        if decision >= asking.state[KNOWN]:
            return 0
    moves = 0
    for i in range(frame[at.NUM_HANDS]):
        legal, ranks = chosen[i], 0
        for slot in range(HAND_SIZE):
            rank = SETS_4[sets[i], slot]
            if legal >> slot & 1 and (
                answers[i] < 0 or share_of(asking.answers[answers[i]], SETS_4[sets[i]], legal, rank) > NEVER
            ):
                ranks |= 1 << rank
        chosen[i] = ranks if legal else 1 << at.GO
        moves |= chosen[i]
    return moves


@jit(borrowed=True)
def playable(ranks: np.ndarray, left: int, count: int) -> int:
    """Bits of the slots of ranks [4] that are left and may be played."""
    legal = 0
    for slot in range(HAND_SIZE):
        if left >> slot & 1 and count + value_of_rank(ranks[slot]) <= COUNT_LIMIT:
            legal |= 1 << slot
    return legal


@jit(borrowed=True)
def share_of(chances: np.ndarray, ranks: np.ndarray, left: int, rank: int) -> float:
    """Sum of the chances [4] of the slots that are left of one rank."""
    share = 0.0
    for slot in range(HAND_SIZE):
        if left >> slot & 1 and ranks[slot] == rank:
            share += chances[slot]
    return share


@jit(borrowed=True)
def part_hands(workspace: Workspace, frame: np.ndarray, to: int, move: int, asked: bool) -> int:
    """Fill level `to` with the hands of a frame that may make a move, less the card; returns their number."""
    level = frame[at.HANDS]
    sets, left = workspace.sets[level], workspace.left[level]
    weights, chosen = workspace.weights[level], workspace.chosen[level]
    new_sets, new_left, new_weights = workspace.sets[to], workspace.left[to], workspace.weights[to]
    hands = 0
    for i in range(frame[at.NUM_HANDS]):
        if not chosen[i] >> move & 1:
            continue
        number, slots = sets[i], left[i]
        new_sets[hands] = number
        new_weights[hands] = weights[i]
        if move != at.GO:
            of_rank, choices, last = 0, 0, 0
            for slot in range(HAND_SIZE):
                rank = SETS_4[number, slot]
                if slots >> slot & 1 and chosen[i] >> rank & 1:
                    choices += 1
                    if rank == move:
                        of_rank += 1
                        last = slot
            if asked and workspace.answers[level, i] >= 0:
                answer = workspace.chances[workspace.answers[level, i]]
                new_weights[hands] *= share_of(answer, SETS_4[number], slots, move)
            elif of_rank != choices:
                new_weights[hands] *= of_rank / choices
            slots &= ~(1 << last)
        new_left[hands] = slots
        hands += 1
    return hands


# --- the end, where the player has no choice left -----------------------------------------------------------------


@jit(borrowed=True)
def end_value(workspace: Workspace, players: Players, frame: np.ndarray) -> float:
    """Mean points of `_line` for every hand of a frame, times its weight."""
    own = -1
    for slot in range(HAND_SIZE):
        if frame[at.OWN_LEFT] >> slot & 1:
            own = players.ranks[slot]
    level, policy = frame[at.HANDS], players.policy
    sets, left, weights = workspace.sets[level], workspace.left[level], workspace.weights[level]
    turn, last, series, count = frame[at.TURN], frame[at.LAST], frame[at.SERIES], frame[at.COUNT]
    value = 0.0
    for i in range(frame[at.NUM_HANDS]):
        first, second = -1, -1
        for slot in range(HAND_SIZE):
            if left[i] >> slot & 1:
                first, second = SETS_4[sets[i], slot], first
        chance, points = _line(policy, turn, last, series, count, own, first, second)
        value += weights[i] * chance * points
        if chance < 1.0:
            chance, points = _line(policy, turn, last, series, count, own, second, first)
            value += weights[i] * chance * points
    return value


@jit(borrowed=True)
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
            points += 1 if last == at.ME else -1
            series, count, turn = 0, 0, 1 - last
            continue
        if own_fits and (turn == at.ME or not (first_fits or second_fits)):
            rank, last, own = own, at.ME, -1
        else:
            if second_fits:
                chance *= _preference(policy, series, count, first, second) if first_fits else 0.0
                if chance == 0.0:
                    return 0.0, 0
            rank, last, first, second = first, at.OPPONENT, second, -1
        series = add_rank(series, rank)
        count += value_of_rank(rank)
        scored = play_points(series, count)
        points += scored if last == at.ME else -scored
        turn = 1 - last
        if count == COUNT_LIMIT:
            series, count = 0, 0
    if series:
        points += 1 if last == at.ME else -1
    return chance, points


@jit(borrowed=True)
def _preference(policy: int, series: int, count: int, first: int, second: int) -> float:
    """Chance that a policy lays the first of two ranks, both of which fit."""
    one, other = count + value_of_rank(first), count + value_of_rank(second)
    likes_one = liking(policy, first, play_points(add_rank(series, first), one), one)
    likes_other = liking(policy, second, play_points(add_rank(series, second), other), other)
    if likes_one == likes_other:
        return 0.5
    return 1.0 if likes_one > likes_other else 0.0
