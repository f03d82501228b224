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
from deepcrib.search.replies import workspace as at
from deepcrib.search.replies.asking import KNOWN, NEVER, Asking, note, take_answer
from deepcrib.search.replies.hands import end_value, find_moves, part_hands, playable, share_of
from deepcrib.search.replies.workspace import Players, Workspace, total_weight


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
        if entering and workspace.frames[d, at.TURN] == at.ME:
            choices = workspace.frames[d, at.CHOICES] if players.own_policy >= 0 else 1
            workspace.values[d, at.VALUE] += workspace.values[d, at.BEST_VALUE] / choices
        if d == 0:
            return workspace.values[0, at.VALUE]
        d -= 1
        entering = False


# --- positions ----------------------------------------------------------------------------------------------------


@jit(borrowed=True)
def new_series(frame: np.ndarray, last: int) -> None:
    """The series has ended with a card of `last`: the other one leads, if it has a card left."""
    frame[at.LAST], frame[at.PASSED], frame[at.START] = last, 0, frame[at.PLAYED]
    frame[at.SERIES], frame[at.COUNT] = 0, 0
    frame[at.TURN] = -1
    if frame[at.NUM_LEFT] > 0 and (last == at.ME or frame[at.OWN_LEFT] == 0):
        frame[at.TURN] = at.OPPONENT
    elif frame[at.OWN_LEFT]:
        frame[at.TURN] = at.ME


@jit(borrowed=True)
def _lay(workspace: Workspace, frame: np.ndarray, player: int, rank: int, card: int) -> int:
    """Lay a card, `card` in the history, on the series and pass the turn; returns its points."""
    series = add_rank(frame[at.SERIES], rank)
    count = frame[at.COUNT] + value_of_rank(rank)
    workspace.history[frame[at.PLAYED]] = card
    frame[at.PLAYED] += 1
    if count == COUNT_LIMIT:
        new_series(frame, player)
    else:
        frame[at.TURN], frame[at.LAST], frame[at.PASSED] = 1 - player, player, 0
        frame[at.SERIES], frame[at.COUNT] = series, count
    return play_points(series, count)


@jit(borrowed=True)
def play_slot(workspace: Workspace, players: Players, d: int, slot: int) -> None:
    """Play an own card, which may be played, in frame d."""
    frame = workspace.frames[d]
    frame[at.OWN_LEFT] &= ~(1 << slot)
    points = _lay(workspace, frame, at.ME, players.ranks[slot], players.cards[slot])
    workspace.values[d, at.POINTS] = workspace.values[d, at.TOTAL] * points


# --- the walk -----------------------------------------------------------------------------------------------------


@jit(borrowed=True)
def _open(workspace: Workspace, players: Players, asking: Asking, d: int) -> bool:
    """Prepare the position in frame d to be searched; False where its value is known, or an answer is not."""
    frame = workspace.frames[d]
    value = 0.0
    own_left, most = frame[at.OWN_LEFT], 1 if players.policy == at.ASKED else 2
    if frame[at.NUM_LEFT] <= most and not own_left & (own_left - 1):
        workspace.values[d, at.VALUE] = end_value(workspace, players, frame)
        frame[at.TURN] = -1
        return False
    if frame[at.TURN] == at.ME and not playable(players.ranks, frame[at.OWN_LEFT], frame[at.COUNT]):
        if frame[at.PASSED]:  # nobody can play: a go, or the last card
            value = workspace.values[d, at.TOTAL] * (1 if frame[at.LAST] == at.ME else -1)
            new_series(frame, frame[at.LAST])
        else:
            frame[at.TURN], frame[at.PASSED] = at.OPPONENT, 1
    workspace.values[d, at.VALUE] = value
    if frame[at.TURN] < 0:
        return False
    frame[at.NEXT], frame[at.LIKED], frame[at.CHOICES] = 0, 0, 0
    if frame[at.TURN] == at.OPPONENT:
        frame[at.NEXT] = find_moves(workspace, players, asking, frame)
        return frame[at.NEXT] > 0
    if players.own_policy == at.ASKED and not _ask_own(workspace, players, asking, d):
        return False
    for slot in range(HAND_SIZE):
        frame[at.LIKED] = max(frame[at.LIKED], _own_liking(workspace, players, d, slot))
    return True


@jit(borrowed=True)
def _ask_own(workspace: Workspace, players: Players, asking: Asking, d: int) -> bool:
    """Set the own shares, 1 where there is but one card to play; False where they are not known yet."""
    frame, ranks, shares = workspace.frames[d], players.ranks, workspace.shares[d]
    shares[:] = 1.0
    legal, decision, level = playable(ranks, frame[at.OWN_LEFT], frame[at.COUNT]), frame[at.DECISION], frame[at.HANDS]
    if legal & (legal - 1) == 0:
        return True
    if decision >= asking.state[KNOWN]:
        note(asking, frame, workspace.history, players.cards, workspace.sets[level, 0], workspace.left[level, 0])
        return False
    answer = asking.answers[take_answer(asking, decision)]
    for slot in range(HAND_SIZE):
        shares[slot] = share_of(answer, ranks, frame[at.OWN_LEFT], ranks[slot])
    frame[at.DECISION] += 1
    return True


@jit(borrowed=True)
def _own_liking(workspace: Workspace, players: Players, d: int, slot: int) -> int:
    """How much the own policy likes a slot (the best reply looks at every rank); -1 for one not to be played."""
    frame, rank = workspace.frames[d], players.ranks[slot]
    own_left = frame[at.OWN_LEFT]
    count = frame[at.COUNT] + value_of_rank(rank)
    if not own_left >> slot & 1 or count > COUNT_LIMIT:
        return -1
    if players.own_policy >= 0:
        return liking(players.own_policy, rank, play_points(add_rank(frame[at.SERIES], rank), count), count)
    for earlier in range(slot):
        if own_left >> earlier & 1 and players.ranks[earlier] == rank:
            return -1
    if players.own_policy == at.ASKED and workspace.shares[d, slot] <= NEVER:
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
    if frame[at.TURN] == at.ME:
        while frame[at.NEXT] < HAND_SIZE:
            slot = frame[at.NEXT]
            frame[at.NEXT] += 1
            if _own_liking(workspace, players, d, slot) == frame[at.LIKED]:
                _copy(frame, child)
                workspace.values[d + 1, at.TOTAL] = workspace.values[d, at.TOTAL]
                play_slot(workspace, players, d + 1, slot)
                return True
        return False
    if frame[at.NEXT] == 0:
        return False
    move = 0
    while not frame[at.NEXT] >> move & 1:
        move += 1
    frame[at.NEXT] &= ~(1 << move)
    _copy(frame, child)
    child[at.HANDS] = d + 1
    child[at.NUM_HANDS] = part_hands(workspace, frame, d + 1, move, players.policy == at.ASKED)
    total = total_weight(workspace.weights[d + 1], child[at.NUM_HANDS])
    workspace.values[d + 1, at.TOTAL] = total
    workspace.values[d + 1, at.POINTS] = 0.0
    if move != at.GO:
        child[at.NUM_LEFT] -= 1
        workspace.values[d + 1, at.POINTS] = -total * _lay(workspace, child, at.OPPONENT, move, at.THEIRS - move)
    elif frame[at.PASSED]:
        workspace.values[d + 1, at.POINTS] = total if frame[at.LAST] == at.ME else -total
        new_series(child, frame[at.LAST])
    else:
        child[at.TURN], child[at.PASSED] = at.ME, 1
    return True


@jit(borrowed=True)
def _close(workspace: Workspace, players: Players, d: int) -> None:
    """Frame d + 1 has its value: take it into account in frame d."""
    frame, values = workspace.frames[d], workspace.values[d]
    value = workspace.values[d + 1, at.POINTS] + workspace.values[d + 1, at.VALUE]
    if frame[at.TURN] == at.OPPONENT:
        values[at.VALUE] += value
        return
    if players.own_policy == at.ASKED:
        value *= workspace.shares[d, frame[at.NEXT] - 1]
    frame[at.CHOICES] += 1
    if frame[at.CHOICES] == 1:
        values[at.BEST_VALUE] = value
    elif players.own_policy == at.BEST:
        values[at.BEST_VALUE] = max(values[at.BEST_VALUE], value)
    else:
        values[at.BEST_VALUE] += value
