"""What a crib is worth on average to who holds six cards and knows how the opponent discards.

Ranks are exact: the opponent's two cards come from the hands that it may hold beside one's own, and the starter from
what such a hand leaves. The few points of suits (nobs and flush, a tenth of a point) take a card's suit to be any of
the unseen ones of its rank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.beliefs.discards import DiscardArrays, DiscardModel, fill_thrown, unseen_ranks
from deepcrib.exact.cribs import FLUSH, NUM_DISCARDS
from deepcrib.game.cards import JACK, NUM_CARDS, NUM_RANKS, NUM_SUITS, RANKS, card_set, rank_of, suit_of
from deepcrib.game.rank_sets import NUM_RANK_PAIRS, rank_set_2, rank_sets
from deepcrib.game.rules import DISCARD_SLOTS_6, KEPT_SLOTS_6, RANK_POINTS_5, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

_DEALT = 6
UNSEEN = NUM_CARDS - _DEALT
TURNED = UNSEEN - _DEALT
"""Cards of which one is turned up: neither player holds them."""


def expected_cribs(model: DiscardModel, hands: NDArray[np.int8], is_dealer: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[N, 15] mean points of the crib after each discard of hands [N, 6], negative to the pone.

    model: how the opponent discards. is_dealer: [N], whether it is the own crib.
    """
    means = np.empty((len(hands), NUM_DISCARDS))
    run_rows(_fill_rows, len(hands), model.arrays, hands, is_dealer, means, piece=16)
    return np.where(is_dealer[:, None], means, -means)


def values_by_starter(hand: Sequence[int], is_dealer: bool, model: DiscardModel) -> NDArray[np.float64]:
    """[15, 13] mean points of hand and crib with a starter of each rank, nan of a rank that is not left.

    Ranks are exact; the crib's points of suits (nobs and flush, a tenth of a point) are their mean over all starters.
    """
    held, arrays = np.array(hand, dtype=np.int8), model.arrays[0 if is_dealer else 1]
    unseen, thrown = unseen_ranks(held), np.zeros(NUM_RANK_PAIRS)
    beside, cribs = np.zeros((NUM_RANK_PAIRS, NUM_RANKS)), np.empty(NUM_DISCARDS)
    fill_thrown(held, arrays, thrown, beside)
    fill_crib_means(held, arrays, cribs)
    weights = thrown[:, None] * unseen - beside  # [91, 13] of the opponent's pair with a starter
    left = [card for card in range(NUM_CARDS) if card not in hand]
    found = np.full((len(cribs), NUM_RANKS), np.nan)
    for action, slots in enumerate(DISCARD_SLOTS_6):
        first, second = RANKS[held[slots]]
        table = RANK_POINTS_5.reshape((NUM_RANKS,) * 5)[first, second]
        sums = (weights * table[tuple(rank_sets(2).T)]).sum(axis=0)
        suits = cribs[action] - sums.sum() / weights.sum()
        kept = held[KEPT_SLOTS_6[action]]
        for rank in np.flatnonzero(weights.sum(axis=0) > 0):
            own = np.mean([show_points(kept, card, False) for card in left if RANKS[card] == rank])
            crib = sums[rank] / weights[:, rank].sum() + suits
            found[action, rank] = own + (crib if is_dealer else -crib)
    return found


@jit
def _fill_rows(
    part: Part, models: tuple[DiscardArrays, DiscardArrays], hands: np.ndarray, dealers: np.ndarray, means: np.ndarray
) -> None:
    for r in range(*part):
        fill_crib_means(hands[r], models[0 if dealers[r] else 1], means[r])


@jit
def fill_crib_means(hand: np.ndarray, model: DiscardArrays, means: np.ndarray) -> None:
    """means [15]: points of the crib after each discard of a sorted hand [6] (ids), whoever counts it.

    model: how the opponent discards in its role.
    """
    unseen, mask = unseen_ranks(hand), card_set(hand)
    thrown = np.zeros(NUM_RANK_PAIRS)
    beside = np.zeros((NUM_RANK_PAIRS, NUM_RANKS))
    fill_thrown(hand, model, thrown, beside)
    total = thrown.sum()
    starters = np.zeros(NUM_RANKS)  # chance that a given unseen card of a rank is turned up
    for rank in range(NUM_RANKS):
        if unseen[rank] > 0:
            starters[rank] = (1 - beside[:, rank].sum() / (total * unseen[rank])) / TURNED
    theirs = _their_nobs(mask, unseen, thrown) / total
    for action in range(NUM_DISCARDS):
        first, second = hand[DISCARD_SLOTS_6[action, 0]], hand[DISCARD_SLOTS_6[action, 1]]
        points = _rank_sum(rank_of(first), rank_of(second), unseen, thrown, beside) / (total * TURNED)
        points += theirs + _own_nobs(first, mask, starters) + _own_nobs(second, mask, starters)
        if suit_of(first) == suit_of(second):
            points += FLUSH * flush_weight(suit_of(first), mask, unseen, thrown) / total
        means[action] = points


@jit
def _is_unseen(mask: int, rank: int, suit: int) -> bool:
    return not mask >> (NUM_SUITS * rank + suit) & 1


@jit
def _rank_sum(first: int, second: int, unseen: np.ndarray, thrown: np.ndarray, beside: np.ndarray) -> float:
    """Rank points of all cribs with two thrown ranks, by the weight of the opponent's pair and a starter beside it."""
    total = 0.0
    for b in range(NUM_RANKS):
        for a in range(b + 1):
            pair = rank_set_2(a, b)
            if thrown[pair] == 0:
                continue
            row = (((first * NUM_RANKS + second) * NUM_RANKS + a) * NUM_RANKS + b) * NUM_RANKS
            for starter in range(NUM_RANKS):
                total += (thrown[pair] * unseen[starter] - beside[pair, starter]) * RANK_POINTS_5[row + starter]
    return total


@jit
def _own_nobs(card: int, mask: int, starters: np.ndarray) -> float:
    """Chance that the starter has the suit of a thrown jack."""
    chance = 0.0
    if rank_of(card) == JACK:
        for rank in range(NUM_RANKS):
            if _is_unseen(mask, rank, suit_of(card)):
                chance += starters[rank]
    return chance


@jit
def _num_unseen(mask: int, suit: int) -> int:
    cards = 0
    for rank in range(NUM_RANKS):
        cards += _is_unseen(mask, rank, suit)
    return cards


@jit
def _their_nobs(mask: int, unseen: np.ndarray, thrown: np.ndarray) -> float:
    """Weight of the opponent's discards with the jack of the starter's suit."""
    if unseen[JACK] == 0:
        return 0.0
    chance = 0.0  # that the starter has the suit of one of its jacks
    for suit in range(NUM_SUITS):
        if _is_unseen(mask, JACK, suit):
            chance += (_num_unseen(mask, suit) - 1) / (UNSEEN - 1) / unseen[JACK]
    jacks = 0.0
    for rank in range(NUM_RANKS):
        pair = rank_set_2(min(rank, JACK), max(rank, JACK))
        jacks += thrown[pair] * (2 if rank == JACK else 1)
    return jacks * chance


@jit
def flush_weight(suit: int, mask: int, unseen: np.ndarray, thrown: np.ndarray) -> float:
    """Weight of the opponent's discards of a suit with a starter of that suit."""
    weight = 0.0
    for b in range(NUM_RANKS):
        for a in range(b):
            if _is_unseen(mask, a, suit) and _is_unseen(mask, b, suit):
                weight += thrown[rank_set_2(a, b)] / (unseen[a] * unseen[b])
    return weight * max(_num_unseen(mask, suit) - 2, 0) / (UNSEEN - 2)
