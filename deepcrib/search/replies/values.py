"""Values of positions by the best reply in `tree`, or by an own way of playing, against players of any kind.

A value is the exact mean, over the opponent's weighted hands, of own minus opponent's points from a position to the end
of the play. At the player's own turn one card is taken for all hands that the opponent may hold. Hands are rank
multisets: no point of the play depends on suits.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.beliefs.plays import SETS_4
from deepcrib.game.cards import rank_of
from deepcrib.game.observations import PlayColumns, PlayObservation, opening
from deepcrib.game.rank_sets import NUM_RANK_SETS_4
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6, series_from
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.search.replies import workspace as at
from deepcrib.search.replies.asking import NOBODY, ROW, Asking, PlayProbabilities, ask_through, fill_way, left_after
from deepcrib.search.replies.hands import playable
from deepcrib.search.replies.tree import play_slot, search
from deepcrib.search.replies.workspace import Players, Workspace, new_workspace, total_weight

Ways = int | PlayProbabilities
"""How a player plays its cards: a policy of `policies`, BEST, or its probabilities, for which it is asked."""
_TOGETHER = 16  # rows that are searched side by side where somebody is asked, some ten thousand questions each


def after_discards(
    hands: NDArray[np.int8],
    is_dealer: NDArray[np.bool_],
    starters: NDArray[np.int8],
    rows: NDArray[np.intp],
    actions: NDArray[np.intp],
) -> PlayObservation:
    """`opening` after discards [D] of rows [D] of hands [N, 6]."""
    kept, thrown = (hands[rows[:, None], slots[actions]] for slots in (KEPT_SLOTS_6, DISCARD_SLOTS_6))
    return opening(kept, thrown, starters[rows], is_dealer[rows])


def start_values(
    o: PlayObservation, weights: NDArray[np.float64], hands: NDArray[np.intp], opponent: Ways, own: Ways = at.BEST
) -> NDArray[np.float64]:
    """[N] values of whole plays (`opening`); the opponent's hands of row i have the weights [1820] of row hands[i]."""
    return _values(o, weights, hands, opponent, own, np.empty((len(o), 1)))[:, 0]


def reply_values(o: PlayObservation, weights: NDArray[np.float64], opponent: Ways) -> NDArray[np.float64]:
    """[N, 4] values from the play of each slot on; -inf for what may not be played.

    weights: [N, 1820] of the opponent's kept hands, all of which hold the cards that it has played.
    """
    return _values(o, weights, np.arange(len(o)), opponent, at.BEST, np.empty((len(o), HAND_SIZE)))


def _values(
    o: PlayObservation,
    weights: NDArray[np.float64],
    hands: NDArray[np.intp],
    opponent: Ways,
    own: Ways,
    values: NDArray[np.float64],
) -> NDArray[np.float64]:
    if not callable(opponent):
        run_rows(_fill_values, len(o), o.columns, weights, hands, opponent, own, values, NOBODY, piece=1)
        return values
    policy = at.ASKED if callable(own) else own
    for low in range(0, len(o), _TOGETHER):
        rows = slice(low, low + _TOGETHER)
        part, which = o.take(rows), weights[hands[rows]]
        every = (0, len(part)), part.columns, which, np.arange(len(part))
        walk = partial(_fill_values, *every, at.ASKED, policy, values[rows])
        ask_through(walk, part, which > 0, opponent, own if callable(own) else opponent)
    return values


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def _fill_values(
    part: Part,
    o: PlayColumns,
    weights: np.ndarray,
    hands: np.ndarray,
    policy: int,
    own_policy: int,
    values: np.ndarray,
    asking: Asking,
) -> None:
    """values [N, 1] of the positions, or [N, 4] from the play of each slot on."""
    workspace = new_workspace(asking.answers)
    for r in range(*part):
        players = _players(policy, own_policy, o.hand[r])
        values[r] = -np.inf
        for slot in range(values.shape[1]):
            total = _set_root(workspace, asking, o, r, weights[hands[r]])
            points = 0.0
            if values.shape[1] > 1:
                frame = workspace.frames[0]
                if not playable(players.ranks, frame[at.OWN_LEFT], frame[at.COUNT]) >> slot & 1:
                    continue
                if slot > 0 and o.hand[r, slot - 1] >= 0 and players.ranks[slot] == players.ranks[slot - 1]:
                    values[r, slot] = values[r, slot - 1]
                    continue
                play_slot(workspace, players, 0, slot)
                points = workspace.values[0, at.POINTS]
            values[r, slot] = (points + search(workspace, players, asking)) / total


@jit
def _players(policy: int, own_policy: int, hand: np.ndarray) -> Players:
    cards, ranks = np.empty(HAND_SIZE, dtype=np.int64), np.empty(HAND_SIZE, dtype=np.int64)
    for slot in range(HAND_SIZE):
        cards[slot], ranks[slot] = hand[slot], rank_of(max(hand[slot], 0))  # of a card that is gone it is of no account
    return Players(policy, own_policy, cards, ranks)


@jit
def _set_root(workspace: Workspace, asking: Asking, o: PlayColumns, r: int, weights: np.ndarray) -> float:
    """Make frame 0 the position of a row, with the opponent's hands of some weight [1820]; returns their weight."""
    if len(asking.kept):
        asking.state[ROW] = r
    frame = workspace.frames[0]
    frame[:] = 0
    frame[at.PLAYED] = played = fill_way(o, r, workspace.history)
    frame[at.TURN] = at.ME if played or o.seat[r] != o.dealer[r] else at.OPPONENT
    frame[at.LAST], frame[at.NUM_LEFT] = 1 - frame[at.TURN], HAND_SIZE
    frame[at.SERIES] = series_from(o.history[r], o.series_start[r])
    frame[at.COUNT], frame[at.START] = o.counts[r], o.series_start[r]
    for slot in range(HAND_SIZE):
        frame[at.OWN_LEFT] |= int(o.hand[r, slot] >= 0) << slot
    for k in range(played):
        frame[at.NUM_LEFT] -= workspace.history[k] <= at.THEIRS
    n = 0
    for number in range(NUM_RANK_SETS_4):
        if weights[number] > 0:
            workspace.sets[0, n] = number
            workspace.left[0, n] = left_after(SETS_4[number], workspace.history, played)
            workspace.weights[0, n] = weights[number]
            n += 1
    frame[at.NUM_HANDS] = n
    workspace.values[0, at.TOTAL] = total_weight(workspace.weights[0], n)
    return float(workspace.values[0, at.TOTAL])
