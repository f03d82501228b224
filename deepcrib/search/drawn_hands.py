"""The cards that looking ahead draws: all that is unseen, or a hand by the weights of what the opponent may hold."""

from __future__ import annotations

import numpy as np

from deepcrib.exact.beliefs.plays import SETS_4
from deepcrib.game.cards import NUM_CARDS, NUM_SUITS, card_set, rank_of
from deepcrib.game.engine.state import Game, draw_card
from deepcrib.game.randomness import Word, below, uniform, word
from deepcrib.game.rules import HAND_SIZE, series_from
from deepcrib.kernels import Part, jit


@jit
def draw_unseen(part: Part, hands: np.ndarray, keys: np.ndarray, numbers: np.ndarray, cards: np.ndarray) -> None:
    """cards [N, K, 8]: cards that are not in hands [N, 6], in a random order; the draws of these numbers [K]."""
    deck = np.empty(NUM_CARDS, dtype=np.int64)
    for r in range(*part):
        held = card_set(hands[r])
        for k in range(cards.shape[1]):
            size = 0
            for card in range(NUM_CARDS):
                if not held >> card & 1:
                    deck[size] = card
                    size += 1
            for i in range(cards.shape[2]):
                other = i + below(word(keys[r], numbers[k]), i, size - i)
                deck[i], deck[other] = deck[other], deck[i]
                cards[r, k, i] = deck[i]


@jit
def draw_hands(
    part: Part, keys: np.ndarray, weights: np.ndarray, hands: int, numbers: np.ndarray, games: np.ndarray
) -> None:
    """Complete games [N * K], K alike for each decision, by hands of the opponent drawn by their weights [N, 1820].

    The hands of these numbers [K], in ascending order, of so many at equal distances along the sum of the weights,
    which is more even than draws of their own (systematic sampling). games: of `games_seen`. keys: [N].
    """
    for r in range(*part):
        step = weights[r].sum() / hands
        first, number, end = uniform(keys[r], 0) * step, 0, weights[r, 0]
        for k in range(len(numbers)):
            place = first + numbers[k] * step
            while end <= place and number < len(SETS_4) - 1:
                number += 1
                end += weights[r, number]
            while weights[r, number] == 0:  # rounding has led beyond the last one
                number -= 1
            _deal_hidden(SETS_4[number], word(keys[r], 1 + numbers[k]), games[r * len(numbers) + k])


@jit
def _deal_hidden(ranks: np.ndarray, key: Word, g: Game) -> None:
    """Give the opponent, whose turn it is not, kept cards of ranks [4], and any other two for the crib."""
    me, other = g.turn, 1 - g.turn
    g.game = np.int64(key >> np.uint64(1))
    g.series = series_from(g.history[:], g.series_start)
    seen = card_set(g.kept[me]) | card_set(g.discards[me]) | 1 << g.starter
    left = ranks.copy()
    theirs = 0
    for n in range(g.num_played):
        if g.history_seats[n] == other:
            g.kept[other, theirs] = g.history[n]
            theirs += 1
            place = HAND_SIZE - 1
            while left[place] != rank_of(g.history[n]):
                place -= 1
            left[place] = -1
            seen |= 1 << g.history[n]
    counter = 0
    for slot in range(HAND_SIZE):
        if left[slot] >= 0:
            card = NUM_SUITS * int(left[slot]) + below(key, counter, NUM_SUITS)
            while seen >> card & 1:
                counter += 1
                card = NUM_SUITS * int(left[slot]) + below(key, counter, NUM_SUITS)
            seen |= 1 << card
            g.left[other, slot] = g.kept[other, theirs] = card
            theirs += 1
    for i in range(2):
        card, counter = draw_card(key, seen, counter)
        seen |= 1 << card
        g.discards[other, i] = card
        g.crib[i], g.crib[2 + i] = g.discards[me, i], card
