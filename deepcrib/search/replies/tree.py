"""The tree of the play as one player knows it: own cards, and weighted hands that the opponent may hold.

At the player's own turn one card is played, the same against all of those hands; at the opponent's turn they part
company, each playing what its policy says, or its answer where it is asked (`asking`). A position is a frame, a row of
whole numbers; the frames from the root to the position in work stand one below the other, and each opponent's move
opens a level of hands. So the tree is walked without a function that calls itself, which Numba could not load from its
cache.
"""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import value_of_rank
from deepcrib.game.policies import liking
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, add_rank, play_points
from deepcrib.kernels import jit
from deepcrib.search.replies.asking import KNOWN, NEVER, Asking, note, take_answer
from deepcrib.search.replies.hands import end_value, find_moves, part_hands, playable, share_of
from deepcrib.search.replies.workspace import (
    ASKED,
    BEST,
    BEST_VALUE,
    CHOICES,
    COUNT,
    DECISION,
    GO,
    HANDS,
    LAST,
    LIKED,
    ME,
    NEXT,
    NUM_HANDS,
    NUM_LEFT,
    OPPONENT,
    OWN_LEFT,
    PASSED,
    PLAYED,
    POINTS,
    SERIES,
    START,
    THEIRS,
    TOTAL,
    TURN,
    VALUE,
    Players,
    Workspace,
    total_weight,
)


@jit(borrowed=True)
def search(workspace: Workspace, players: Players, asking: Asking) -> float:
    """Points from the position in frame 0 on, times the weights of its hands; no value while questions are open."""
    d = 0
    entering = True
    while True:
        if entering:
            entering = _open(workspace, players, asking, d)
        else:
            _close(workspace, players, d)
            entering = True
        if entering and _step(workspace, players, d):
            d += 1
            continue
        if entering and workspace.frames[d, TURN] == ME:
            choices = workspace.frames[d, CHOICES] if players.own_policy >= 0 else 1
            workspace.values[d, VALUE] += workspace.values[d, BEST_VALUE] / choices
        if d == 0:
            return workspace.values[0, VALUE]
        d -= 1
        entering = False


# --- positions ----------------------------------------------------------------------------------------------------


@jit(borrowed=True)
def new_series(frame: np.ndarray, last: int) -> None:
    """The series has ended with a card of `last`: the other one leads, if it has a card left."""
    frame[LAST], frame[PASSED], frame[SERIES], frame[COUNT], frame[START] = last, 0, 0, 0, frame[PLAYED]
    frame[TURN] = -1
    if frame[NUM_LEFT] > 0 and (last == ME or frame[OWN_LEFT] == 0):
        frame[TURN] = OPPONENT
    elif frame[OWN_LEFT]:
        frame[TURN] = ME


@jit(borrowed=True)
def _lay(workspace: Workspace, frame: np.ndarray, player: int, rank: int, card: int) -> int:
    """Lay a card, `card` in the history, on the series and pass the turn; returns its points."""
    series = add_rank(frame[SERIES], rank)
    count = frame[COUNT] + value_of_rank(rank)
    workspace.history[frame[PLAYED]] = card
    frame[PLAYED] += 1
    if count == COUNT_LIMIT:
        new_series(frame, player)
    else:
        frame[TURN], frame[LAST], frame[PASSED], frame[SERIES], frame[COUNT] = 1 - player, player, 0, series, count
    return play_points(series, count)


@jit(borrowed=True)
def play_slot(workspace: Workspace, players: Players, d: int, slot: int) -> None:
    """Play an own card, which may be played, in frame d."""
    frame = workspace.frames[d]
    frame[OWN_LEFT] &= ~(1 << slot)
    points = _lay(workspace, frame, ME, players.ranks[slot], players.cards[slot])
    workspace.values[d, POINTS] = workspace.values[d, TOTAL] * points


# --- the walk -----------------------------------------------------------------------------------------------------


@jit(borrowed=True)
def _open(workspace: Workspace, players: Players, asking: Asking, d: int) -> bool:
    """Prepare the position in frame d to be searched; False where its value is known, or an answer is not."""
    frame = workspace.frames[d]
    value = 0.0
    if frame[NUM_LEFT] <= (1 if players.policy == ASKED else 2) and not frame[OWN_LEFT] & (frame[OWN_LEFT] - 1):
        workspace.values[d, VALUE] = end_value(workspace, players, frame)
        frame[TURN] = -1
        return False
    if frame[TURN] == ME and not playable(players.ranks, frame[OWN_LEFT], frame[COUNT]):
        if frame[PASSED]:  # nobody can play: a go, or the last card
            value = workspace.values[d, TOTAL] * (1 if frame[LAST] == ME else -1)
            new_series(frame, frame[LAST])
        else:
            frame[TURN], frame[PASSED] = OPPONENT, 1
    workspace.values[d, VALUE] = value
    if frame[TURN] < 0:
        return False
    frame[NEXT], frame[LIKED], frame[CHOICES] = 0, 0, 0
    if frame[TURN] == OPPONENT:
        frame[NEXT] = find_moves(workspace, players, asking, frame)
        return frame[NEXT] > 0
    if players.own_policy == ASKED and not _ask_own(workspace, players, asking, d):
        return False
    for slot in range(HAND_SIZE):
        frame[LIKED] = max(frame[LIKED], _own_liking(workspace, players, d, slot))
    return True


@jit(borrowed=True)
def _ask_own(workspace: Workspace, players: Players, asking: Asking, d: int) -> bool:
    """Set the own shares, 1 where there is but one card to play; False where they are not known yet."""
    frame, ranks, shares = workspace.frames[d], players.ranks, workspace.shares[d]
    shares[:] = 1.0
    legal, decision, level = playable(ranks, frame[OWN_LEFT], frame[COUNT]), frame[DECISION], frame[HANDS]
    if legal & (legal - 1) == 0:
        return True
    if decision >= asking.state[KNOWN]:
        note(asking, frame, workspace.history, players.cards, workspace.sets[level, 0], workspace.left[level, 0])
        return False
    answer = asking.answers[take_answer(asking, decision)]
    for slot in range(HAND_SIZE):
        shares[slot] = share_of(answer, ranks, frame[OWN_LEFT], ranks[slot])
    frame[DECISION] += 1
    return True


@jit(borrowed=True)
def _own_liking(workspace: Workspace, players: Players, d: int, slot: int) -> int:
    """How much the own policy likes a slot (the best reply looks at every rank); -1 for one not to be played."""
    frame, rank = workspace.frames[d], players.ranks[slot]
    own_left = frame[OWN_LEFT]
    count = frame[COUNT] + value_of_rank(rank)
    if not own_left >> slot & 1 or count > COUNT_LIMIT:
        return -1
    if players.own_policy >= 0:
        return liking(players.own_policy, rank, play_points(add_rank(frame[SERIES], rank), count), count)
    for earlier in range(slot):
        if own_left >> earlier & 1 and players.ranks[earlier] == rank:
            return -1
    if players.own_policy == ASKED and workspace.shares[d, slot] <= NEVER:
        return -1
    return 0


@jit(borrowed=True)
def _copy(frame: np.ndarray, child: np.ndarray) -> None:
    for column in range(len(frame)):
        child[column] = frame[column]


@jit(borrowed=True)
def _step(workspace: Workspace, players: Players, d: int) -> bool:
    """Put the next position that can follow frame d into frame d + 1; False when there is none left."""
    frame, child = workspace.frames[d], workspace.frames[d + 1]
    if frame[TURN] == ME:
        while frame[NEXT] < HAND_SIZE:
            slot = frame[NEXT]
            frame[NEXT] += 1
            if _own_liking(workspace, players, d, slot) == frame[LIKED]:
                _copy(frame, child)
                workspace.values[d + 1, TOTAL] = workspace.values[d, TOTAL]
                play_slot(workspace, players, d + 1, slot)
                return True
        return False
    if frame[NEXT] == 0:
        return False
    move = 0
    while not frame[NEXT] >> move & 1:
        move += 1
    frame[NEXT] &= ~(1 << move)
    _copy(frame, child)
    child[HANDS] = d + 1
    child[NUM_HANDS] = part_hands(workspace, frame, d + 1, move, players.policy == ASKED)
    total = total_weight(workspace.weights[d + 1], child[NUM_HANDS])
    workspace.values[d + 1, TOTAL] = total
    workspace.values[d + 1, POINTS] = 0.0
    if move != GO:
        child[NUM_LEFT] -= 1
        workspace.values[d + 1, POINTS] = -total * _lay(workspace, child, OPPONENT, move, THEIRS - move)
    elif frame[PASSED]:
        workspace.values[d + 1, POINTS] = total if frame[LAST] == ME else -total
        new_series(child, frame[LAST])
    else:
        child[TURN], child[PASSED] = ME, 1
    return True


@jit(borrowed=True)
def _close(workspace: Workspace, players: Players, d: int) -> None:
    """Frame d + 1 has its value: take it into account in frame d."""
    frame, values = workspace.frames[d], workspace.values[d]
    value = workspace.values[d + 1, POINTS] + workspace.values[d + 1, VALUE]
    if frame[TURN] == OPPONENT:
        values[VALUE] += value
        return
    if players.own_policy == ASKED:
        value *= workspace.shares[d, frame[NEXT] - 1]
    frame[CHOICES] += 1
    if frame[CHOICES] == 1:
        values[BEST_VALUE] = value
    elif players.own_policy == BEST:
        values[BEST_VALUE] = max(values[BEST_VALUE], value)
    else:
        values[BEST_VALUE] += value
