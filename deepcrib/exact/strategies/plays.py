"""Strategies of the play (Lang 2018, section 5.1, proposes them): attack and defence, weighted like the others."""

from __future__ import annotations

import numpy as np

from deepcrib.exact.strategies.discards import best_choices
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, rank_of, value_of_rank
from deepcrib.game.randomness import below, uniform
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, add_rank, is_legal_play, play_points
from deepcrib.kernels import jit

PLAY_STRATEGIES = ("offensive", "defensive")
_OFFENSIVE, _DEFENSIVE = 0, 1
_EXPLORE_CHOICE, _EXPLORE_VALUE = 1, 2


@jit
def count_unseen(unseen: np.ndarray, cards: np.ndarray) -> None:
    """Take cards (ids, -1 for none) from unseen [13], the cards of each rank that a player has not seen."""
    for i in range(len(cards)):
        if cards[i] >= 0:
            unseen[rank_of(cards[i])] -= 1


@jit
def _reply_points(series: int, count: int, unseen: np.ndarray) -> float:
    """Mean points of an unseen card played next; 0 for one that may not be played, or after 31."""
    if count == COUNT_LIMIT:
        return 0.0
    points = 0
    cards = 0
    for rank in range(NUM_RANKS):
        cards += unseen[rank]
        if unseen[rank] > 0 and count + value_of_rank(rank) <= COUNT_LIMIT:
            points += unseen[rank] * play_points(add_rank(series, rank), count + value_of_rank(rank))
    return points / max(cards, 1)


@jit
def fill_play_matrix(hand: np.ndarray, series: int, count: int, unseen: np.ndarray, matrix: np.ndarray) -> None:
    """matrix [2, 4]: desirability, 0 to 1, of the card in each slot of hand [4]; -1 for what may not be played.

    offensive: the points of the card. defensive: few points, on average over the unseen cards [13], of the opponent's
    answer. Where all cards are alike to a strategy it is 0.
    """
    values = np.zeros((2, HAND_SIZE))
    for slot in range(HAND_SIZE):
        card = hand[slot]
        if not is_legal_play(count, card):
            continue
        longer, total = add_rank(series, rank_of(card)), count + value_of_rank(rank_of(card))
        values[_OFFENSIVE, slot] = play_points(longer, total)
        values[_DEFENSIVE, slot] = -_reply_points(longer, total, unseen)
    for i in range(2):
        worst = np.inf
        best = -np.inf
        for slot in range(HAND_SIZE):
            if is_legal_play(count, hand[slot]):
                worst = min(worst, values[i, slot])
                best = max(best, values[i, slot])
        for slot in range(HAND_SIZE):
            matrix[i, slot] = -1.0
            if is_legal_play(count, hand[slot]):
                matrix[i, slot] = (values[i, slot] - worst) / (best - worst) if best > worst else 0.0


@jit
def choose_play(hand: np.ndarray, count: int, preference: np.ndarray, epsilon: float, key: int) -> int:
    """The slot with the highest preference [4], ties to the highest rank; with chance epsilon any legal one."""
    if epsilon > 0 and uniform(key, _EXPLORE_CHOICE) < epsilon:
        legal = 0
        for slot in range(HAND_SIZE):
            legal += is_legal_play(count, hand[slot])
        skip = int(np.int64(below(key, _EXPLORE_VALUE, legal)))
        for slot in range(HAND_SIZE):
            if is_legal_play(count, hand[slot]):
                if skip == 0:
                    return slot
                skip -= 1
    mask = best_choices(preference)
    slot = HAND_SIZE - 1
    while not mask >> slot & 1:
        slot -= 1
    return slot


@jit
def new_unseen() -> np.ndarray:
    """[13]: no card seen yet."""
    return np.full(NUM_RANKS, NUM_SUITS, dtype=np.int64)
