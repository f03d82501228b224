"""The best reply to a known way of playing with unknown cards, by the tree of what the player knows.

At the player's own turn the card of the highest value is taken, one choice for all hands that the opponent may hold
(`tree`). So a value is the exact mean, over the opponent's weighted hands, of own minus opponent's points from
here to the end of the play. Hands are rank multisets: no point of the play depends on suits.
"""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import NUM_SUITS, value_of_rank
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, add_rank
from deepcrib.kernels import jit
from deepcrib.search.scripted_opponent.tree import play_slot, search
from deepcrib.search.scripted_opponent.workspace import (
    ALL_SLOTS,
    COUNT,
    LAST,
    ME,
    NUM_HANDS,
    NUM_LEFT,
    OPPONENT,
    OWN_LEFT,
    POINTS,
    SERIES,
    TOTAL,
    TURN,
    Players,
    Workspace,
    total_weight,
)


@jit
def start_value(workspace: Workspace, players: Players, weights: np.ndarray, leads: bool) -> float:
    """Mean points of the whole play of own [4], against opponent's hands of weights [1820]; leads: as pone."""
    n = 0
    for number in range(len(weights)):
        if weights[number] > 0:
            workspace.sets[0, n] = number
            workspace.left[0, n] = ALL_SLOTS
            workspace.weights[0, n] = weights[number]
            n += 1
    frame = workspace.frames[0]
    frame[:] = 0
    frame[TURN] = ME if leads else OPPONENT
    frame[OWN_LEFT], frame[NUM_LEFT], frame[NUM_HANDS] = ALL_SLOTS, HAND_SIZE, n
    workspace.values[0, TOTAL] = total = total_weight(workspace.weights[0], n)
    return search(workspace, players) / total


@jit
def card_values(
    workspace: Workspace,
    players: Players,
    weights: np.ndarray,
    hand: np.ndarray,
    history: np.ndarray,
    seats: np.ndarray,
    seat: int,
    start: int,
    count: int,
    values: np.ndarray,
) -> None:
    """values [4]: mean own minus opponent's points from the play of each slot of hand [4] (ids, -1 once played) on.

    -inf where a slot may not be played. weights [1820] of the opponent's kept hands, all of which hold the cards that
    it has played. history, seats [8], start and count are those of a play observation; players.own are the ranks of the
    hand, played ones being of no account.
    """
    played = np.empty(HAND_SIZE, dtype=np.int64)
    num_played, series = 0, 0
    for k in range(len(history)):
        if history[k] >= 0:
            if seats[k] != seat:
                played[num_played] = history[k] // NUM_SUITS
                num_played += 1
            if k >= start:
                series = add_rank(series, history[k] // NUM_SUITS)
    n = 0
    for number in range(len(weights)):
        if weights[number] > 0:
            workspace.sets[0, n] = number
            workspace.left[0, n] = _without(players.sets[number], played, num_played)
            workspace.weights[0, n] = weights[number]
            n += 1
    workspace.values[0, TOTAL] = total = total_weight(workspace.weights[0], n)
    own_left = 0
    for slot in range(HAND_SIZE):
        own_left |= int(hand[slot] >= 0) << slot
    frame = workspace.frames[0]
    for slot in range(HAND_SIZE):
        values[slot] = -np.inf
        if own_left >> slot & 1 and count + value_of_rank(players.own[slot]) <= COUNT_LIMIT:
            frame[:] = 0
            frame[TURN], frame[LAST], frame[SERIES], frame[COUNT] = ME, OPPONENT, series, count
            frame[OWN_LEFT], frame[NUM_LEFT], frame[NUM_HANDS] = own_left, HAND_SIZE - num_played, n
            play_slot(workspace, players, 0, slot)
            points = workspace.values[0, POINTS]
            values[slot] = (points + search(workspace, players)) / total


@jit
def _without(ranks: np.ndarray, played: np.ndarray, num_played: int) -> int:
    """Bits of the slots of ranks [4] that are left after the played ranks, all of which it holds."""
    left = ALL_SLOTS
    for k in range(num_played):
        for slot in range(HAND_SIZE - 1, -1, -1):  # as in the tree: the last of equal ones
            if left >> slot & 1 and ranks[slot] == played[k]:
                left &= ~(1 << slot)
                break
    return left
