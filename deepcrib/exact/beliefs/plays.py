"""What the opponent may hold once it has played: its kept hand as a rank multiset, weighted by all that was seen.

A weight is the chance that the opponent was dealt and kept such a hand (`discards`). Cards that it played are in its
hand; where it said go it had no card to play.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.beliefs.discards import DiscardModel, hand_ways, unseen_ranks
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, rank_of
from deepcrib.game.observations import PlayColumns, PlayObservation
from deepcrib.game.rank_sets import NUM_RANK_SETS_4, rank_sets
from deepcrib.game.rules import HAND_SIZE, is_legal_play, play_step
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

SETS_4 = rank_sets(HAND_SIZE)


def seen_cards_of(observation: PlayObservation) -> NDArray[np.int8]:
    """[N, 15] ids of the cards that the opponent cannot have kept unplayed or thrown, -1 for none.

    Own cards (left, played and thrown) and the starter, not the opponent's own.
    """
    mine = np.where(observation.history_seats == observation.seat[:, None], observation.history, np.int8(-1))
    return np.concatenate([observation.hand, observation.discards, observation.starter[:, None], mine], axis=1)


@jit(borrowed=True)
def slot_of(cards: np.ndarray, rank: int) -> int:
    """The first slot of cards [4] (NO_CARD once played) that holds a rank; 4 where none does."""
    slot = 0
    while slot < HAND_SIZE and (cards[slot] < 0 or rank_of(cards[slot]) != rank):
        slot += 1
    return slot


@jit
def may_have_played(own: np.ndarray, ranks: np.ndarray, history: np.ndarray, seats: np.ndarray, seat: int) -> bool:
    """Whether an opponent with a hand of ranks [4] may have played as it did, up to now, when it is `seat`'s turn.

    own [4]: the cards that seat kept, ids. history, seats [8]: the cards played, ids, and by whom, -1 after the last.
    Not so with a hand without a card that was played, or with one that could be played where it said go.
    """
    left = np.empty((2, HAND_SIZE), dtype=np.int8)
    for slot in range(HAND_SIZE):
        left[seat, slot] = own[slot]
        left[1 - seat, slot] = NUM_SUITS * ranks[slot]  # whose suits do not matter
    goes = np.empty(2, dtype=np.int8)
    goes[:] = 0
    turn, series, count = int(seats[0]), 0, 0  # the pone leads: whoever played first
    for k in range(len(history)):
        if history[k] < 0:
            break
        if turn != seats[k]:
            return False
        slot = slot_of(left[turn], rank_of(history[k]))
        if slot == HAND_SIZE or not is_legal_play(count, left[turn, slot]):
            return False
        _, _, turn, series, count = play_step(left, goes, series, count, turn, slot)
    return turn == seat or history[0] < 0


@jit
def count_played(history: np.ndarray, seats: np.ndarray, seat: int, played: np.ndarray) -> None:
    """Add to played [13] the cards of each rank that others than `seat` have played."""
    for k in range(len(history)):
        if history[k] >= 0 and seats[k] != seat:
            played[rank_of(history[k])] += 1


@jit(borrowed=True)
def holds_all(ranks: np.ndarray, played: np.ndarray) -> bool:
    """Whether a multiset of ranks [4] holds the played cards of each rank, [13]."""
    for rank in range(NUM_RANKS):
        held = 0
        for slot in range(HAND_SIZE):
            held += ranks[slot] == rank
        if held < played[rank]:
            return False
    return True


@jit
def keep_possible(own: np.ndarray, history: np.ndarray, seats: np.ndarray, seat: int, weights: np.ndarray) -> float:
    """Set weights [1820] of hands with which the opponent may not have played so to 0; returns the sum of the rest."""
    played = np.empty(NUM_RANKS, dtype=np.int64)
    played[:] = 0
    count_played(history, seats, seat, played)
    total = 0.0
    for number in range(len(weights)):
        if weights[number] > 0:
            if history[0] >= 0:
                ranks = SETS_4[number]
                weights[number] *= holds_all(ranks, played) and may_have_played(own, ranks, history, seats, seat)
            total += weights[number]
    return total


def hands_by_rules(o: PlayObservation) -> NDArray[np.float64]:
    """[N, 1820]: in how many ways the unseen cards make each hand that the opponent may hold by the rules."""
    weights = np.empty((len(o), NUM_RANK_SETS_4))
    run_rows(_fill_by_rules, len(o), o.columns, seen_cards_of(o), o.kept, weights, piece=16)
    return weights


@jit
def _fill_by_rules(part: Part, o: PlayColumns, seen: np.ndarray, own: np.ndarray, weights: np.ndarray) -> None:
    """weights [N, 1820] by the ways to make each multiset of the unseen cards, 0 where the play contradicts it."""
    for r in range(*part):
        unseen = unseen_ranks(seen[r])
        for number in range(len(SETS_4)):
            weights[r, number] = hand_ways(SETS_4[number], unseen)
        keep_possible(own[r], o.history[r], o.history_seats[r], o.seat[r], weights[r])


def kept_beliefs(model: DiscardModel, observation: PlayObservation) -> NDArray[np.float64]:
    """[N, 1820] weights of the rank multisets that the opponent may have kept, given its discards and goes.

    Rows are not normalised. Its plays only show what it holds (`weigh_earlier_plays` of `search` asks how likely they
    were). Where the opponent cannot have discarded as its model does, its discard is taken to be anything that the
    rules allow, so that a row never sums to 0. For two players.
    """
    o, seen = observation, seen_cards_of(observation)
    weights = model.kept_weights(seen, ~o.is_dealer)
    run_rows(_keep_rows, len(o), o.columns, seen, o.kept, weights, piece=16)
    return weights


@jit
def _keep_rows(part: Part, o: PlayColumns, seen: np.ndarray, own: np.ndarray, weights: np.ndarray) -> None:
    for r in range(*part):
        if keep_possible(own[r], o.history[r], o.history_seats[r], o.seat[r], weights[r]) <= 1e-6:
            _fill_by_rules((r, r + 1), o, seen, own, weights)
