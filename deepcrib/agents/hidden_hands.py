"""What the opponent may hold in the two-player play: rank multisets consistent with all that has been seen, weighted.

Seen are one's own four cards, discards and starter, what the opponent played, and its goes: whoever could not play on a
count holds nothing that fits it. A multiset's weight is the number of ways to take it from the unseen cards (by_ways),
or 1; times the weight of the whole kept hand, what was played included, in a table by rank multiset.
"""

from __future__ import annotations

import numpy as np

from deepcrib.agents.play_tree import pack_ranks
from deepcrib.cards import NO_CARD, NUM_RANKS, NUM_SUITS, rank_of, value_of_rank
from deepcrib.kernels import jit
from deepcrib.randomness import uniform
from deepcrib.rules import COUNT_LIMIT, HAND_SIZE
from deepcrib.statistics.ranks import NUM_RANK_SETS_4, rank_set_4, rank_sets

_NUMBERS = np.array([1] + [len(rank_sets(size)) for size in range(1, HAND_SIZE + 1)])
"""Multisets by their size."""
_SETS = np.zeros((HAND_SIZE + 1, NUM_RANK_SETS_4, HAND_SIZE), dtype=np.int8)
for _size in range(1, HAND_SIZE + 1):
    _SETS[_size, : _NUMBERS[_size], :_size] = rank_sets(_size)


@jit
def _lowest_value(seat: int, history: np.ndarray, seats: np.ndarray, start: int) -> int:
    """The least that any card of the opponent counts: more than fits on the highest count on which it could not play.

    It could not where `seat` played twice running in a series, nor at the end of any series. A series ends before the
    card that would exceed 31, and the last one before `start`, where the present one begins.
    """
    count = 0
    lowest = 1
    n = 0
    for k in range(len(history)):
        if history[k] == NO_CARD:
            break
        value = value_of_rank(rank_of(history[k]))
        if count + value > COUNT_LIMIT:
            lowest = max(lowest, COUNT_LIMIT + 1 - count)
            count = 0
        elif count > 0 and seats[k] == seat and seats[k - 1] == seat:
            lowest = max(lowest, COUNT_LIMIT + 1 - count)
        count += value
        n = k + 1
    if n > 0 and (start == n or seats[n - 1] == seat):
        lowest = max(lowest, COUNT_LIMIT + 1 - count)
    return lowest


@jit
def hidden_ranks(
    hand: np.ndarray,
    seat: int,
    discards: np.ndarray,
    starter: int,
    history: np.ndarray,
    seats: np.ndarray,
    start: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """(unseen, played, size) as the one to play knows it, from one row of a `PlayObservation` of two players.

    unseen: [13], how many cards of each rank the opponent's `size` hidden ones may come from, 0 where its goes exclude
    the rank. played: [13], how many of each rank it has played.
    """
    unseen = np.full(NUM_RANKS, NUM_SUITS, dtype=np.int64)
    played = np.zeros(NUM_RANKS, dtype=np.int64)
    for cards in (hand, discards, history):
        for card in cards:
            if card != NO_CARD:
                unseen[rank_of(card)] -= 1
    if starter != NO_CARD:
        unseen[rank_of(starter)] -= 1
    size = HAND_SIZE
    for k in range(len(history)):
        if history[k] != NO_CARD and seats[k] != seat:
            played[rank_of(history[k])] += 1
            size -= 1
    lowest = _lowest_value(seat, history, seats, start)
    for rank in range(NUM_RANKS):
        if value_of_rank(rank) < lowest:
            unseen[rank] = 0
    return unseen, played, size


@jit
def _ways(ranks: np.ndarray, size: int, unseen: np.ndarray) -> int:
    """Ways to take a multiset of ascending ranks from the unseen cards."""
    ways = 1
    same = 0
    for i in range(size):
        same = same + 1 if i > 0 and ranks[i] == ranks[i - 1] else 0
        ways = ways * (unseen[ranks[i]] - same) // (same + 1)
        if ways <= 0:
            return 0
    return ways


@jit
def set_ways() -> np.ndarray:
    """[1820]: in how many ways a full deck makes each rank multiset of four."""
    full = np.full(NUM_RANKS, NUM_SUITS, dtype=np.int64)
    ways = np.empty(NUM_RANK_SETS_4, dtype=np.int64)
    for row in range(NUM_RANK_SETS_4):
        ways[row] = _ways(_SETS[HAND_SIZE, row], HAND_SIZE, full)
    return ways


@jit
def _whole_set(ranks: np.ndarray, size: int, played: np.ndarray) -> int:
    """Number of the rank multiset of the whole kept hand, hidden and played cards."""
    whole = np.empty(HAND_SIZE, dtype=np.int64)
    n = 0
    i = 0
    for rank in range(NUM_RANKS):
        for _ in range(played[rank]):
            whole[n] = rank
            n += 1
        while i < size and ranks[i] == rank:
            whole[n] = rank
            n += 1
            i += 1
    return rank_set_4(whole[0], whole[1], whole[2], whole[3])


@jit
def fill_hidden(
    unseen: np.ndarray,
    played: np.ndarray,
    size: int,
    prior: np.ndarray,
    by_ways: bool,
    hidden: np.ndarray,
    weights: np.ndarray,
) -> int:
    """Fill hidden and weights [1820] with the packed hands (`play_tree`) that are possible; returns their number.

    prior: [1820], by rank multiset of the four kept cards. Where it excludes all that is possible, it is left out.
    """
    for use_prior in (True, False):
        n = 0
        for row in range(_NUMBERS[size]):
            ranks = _SETS[size, row]
            ways = _ways(ranks, size, unseen)
            if ways == 0:
                continue
            weight = float(ways) if by_ways else 1.0
            if use_prior:
                weight *= prior[_whole_set(ranks, size, played)]
            if weight > 0:
                hidden[n] = pack_ranks(ranks, size)
                weights[n] = weight
                n += 1
        if n > 0:
            return n
    return 0


@jit
def draw_hidden(key: int, samples: int, weights: np.ndarray, n: int) -> None:
    """Draw `samples` of the n hands by their weights, which are replaced by how often each was drawn."""
    bounds = np.cumsum(weights[:n])
    weights[:n] = 0
    for i in range(samples):
        found = np.searchsorted(bounds, uniform(key, i) * bounds[n - 1], side="right")
        weights[min(found, n - 1)] += 1
