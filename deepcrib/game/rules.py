"""The rulebook of cribbage (American Cribbage Congress) as small scalar functions, compiled by Numba.

Points are defined here and nowhere else. Functions take card ids or ranks (see `cards`) and can be called from
Python as they are or from other compiled code. What ranks alone score at the show is counted by NumPy, of many hands at
once, into tables that compiled code reads.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import JACK, NO_CARD, NUM_RANKS, NUM_SUITS, VALUES, rank_of, suit_of, value_of_rank
from deepcrib.kernels import jit

MAX_SCORE = 121
SKUNK_MARGIN = 31  # points: a loser with 90 or fewer is skunked
WIN_GAME_POINTS, SKUNK_GAME_POINTS = 2, 3
COUNT_LIMIT = 31
HEELS_POINTS = 2
HAND_SIZE = 4
MAX_PLAYERS = 4
HEELS, PLAY, HAND, CRIB = 0, 1, 2, 3
KINDS = ("heels", "play", "hand", "crib")
_Points = NDArray[np.int64]


def _slots(num_dealt: int) -> tuple[np.ndarray, np.ndarray]:
    thrown = list(combinations(range(num_dealt), num_dealt - HAND_SIZE))
    kept = [[slot for slot in range(num_dealt) if slot not in pair] for pair in thrown]
    return np.array(thrown, dtype=np.int8), np.array(kept, dtype=np.int8)


# Row a of these tables is discard action a: the slots of the sorted dealt hand that are thrown, and kept.
DISCARD_SLOTS_6, KEPT_SLOTS_6 = _slots(6)
DISCARD_SLOTS_5, KEPT_SLOTS_5 = _slots(5)


def num_dealt(num_players: int) -> int:
    """Cards dealt to each player: 6 for two players, 5 for three and four."""
    return 6 if num_players == 2 else 5


def discard_slots(dealt: int) -> np.ndarray:
    """int8 [15, 2] for 6 dealt cards, [5, 1] for 5: the thrown slots of every discard action."""
    return DISCARD_SLOTS_6 if dealt == 6 else DISCARD_SLOTS_5


# --- the show -------------------------------------------------------------------------------------------------


def fifteen_points(ranks: np.ndarray) -> _Points:
    """2 for every combination of cards whose values add up to 15: [...] of hands of n ranks, [..., n]."""
    n = ranks.shape[-1]
    subsets = (np.arange(1 << n) >> np.arange(n)[:, None] & 1).astype(np.float32)  # [n, 2^n], for a quick product
    return 2 * (VALUES[ranks].astype(np.float32) @ subsets == 15).sum(axis=-1)


def pair_points(ranks: np.ndarray) -> _Points:
    """2 for every pair: 6 for a pair royal, 12 for a double pair royal; [...] of ranks [..., n]."""
    return (ranks[..., :, None] == ranks[..., None, :]).sum(axis=(-2, -1)) - ranks.shape[-1]


def run_points(ranks: np.ndarray) -> _Points:
    """A point for each card of every longest run of three or more: [...] of ranks [..., n].

    A pair in a run makes the run count twice.
    """
    counts = (ranks[..., None] == np.arange(NUM_RANKS + 1)).sum(axis=-2)
    points = np.zeros(ranks.shape[:-1], dtype=np.int64)
    length, ways = np.zeros_like(points), np.ones_like(points)
    for rank in range(NUM_RANKS + 1):  # the extra rank, always empty, ends a run that reaches the king
        held = counts[..., rank]
        points += np.where((held == 0) & (length >= 3), length * ways, 0)
        length = np.where(held > 0, length + 1, 0)
        ways = np.where(held > 0, ways * held, 1)
    return points


def rank_points(ranks: np.ndarray) -> _Points:
    """Fifteens, pairs and runs of four or five ranks: all of the show that suits do not touch; [...] of [..., n]."""
    return fifteen_points(ranks) + pair_points(ranks) + run_points(ranks)


def _rank_table(size: int) -> np.ndarray:
    ascending = np.array(list(combinations_with_replacement(range(NUM_RANKS), size)))
    table = np.zeros((NUM_RANKS,) * size, dtype=np.int8)
    table[tuple(ascending.T)] = rank_points(ascending)
    for last in range(size - 1, 0, -1):  # swaps of neighbours, as in a bubble sort, make every order of the ranks
        for place in range(last):
            table = np.maximum(table, table.swapaxes(place, place + 1))
    return table.ravel()


# rank_points of every ordered tuple of four and five ranks; the index is the ranks read as digits in base 13.
# Made by NumPy in some milliseconds: a kernel that runs at import time would be compiled before anything is seen.
RANK_POINTS_4 = _rank_table(4)
RANK_POINTS_5 = _rank_table(5)


@jit
def rank_index(a: int, b: int, c: int, d: int) -> int:
    """Index of four cards in RANK_POINTS_4."""
    return ((rank_of(a) * NUM_RANKS + rank_of(b)) * NUM_RANKS + rank_of(c)) * NUM_RANKS + rank_of(d)


@jit
def flush_points(hand: np.ndarray, starter: int, is_crib: bool) -> int:
    """5 when all five cards share a suit, 4 when only the hand's four do; a crib counts five alone."""
    suit = suit_of(hand[0])
    if suit_of(hand[1]) != suit or suit_of(hand[2]) != suit or suit_of(hand[3]) != suit:
        return 0
    if suit_of(starter) == suit:
        return 5
    return 0 if is_crib else 4


@jit
def nobs_points(hand: np.ndarray, starter: int) -> int:
    """1 for the jack of the starter's suit in hand (or crib)."""
    nobs = JACK * NUM_SUITS + suit_of(starter)
    held = False
    for i in range(HAND_SIZE):  # all four, without a branch, which is quicker
        held |= hand[i] == nobs
    return 1 if held else 0


@jit
def show_points(hand: np.ndarray, starter: int, is_crib: bool) -> int:
    """Points of four cards (ids, any order) with the starter, at the show."""
    four = rank_index(hand[0], hand[1], hand[2], hand[3])
    points = RANK_POINTS_5[four * NUM_RANKS + rank_of(starter)]
    return points + flush_points(hand, starter, is_crib) + nobs_points(hand, starter)


@jit
def hand_points(hand: np.ndarray) -> int:
    """Points of four cards by themselves: fifteens, pairs, runs and the four-card flush (no starter, no nobs)."""
    return four_card_points(hand[0], hand[1], hand[2], hand[3])


@jit
def four_card_points(a: int, b: int, c: int, d: int) -> int:
    """`hand_points` of four card ids that stand in no array."""
    suit = suit_of(a)
    flush = suit_of(b) == suit and suit_of(c) == suit and suit_of(d) == suit
    return int(RANK_POINTS_4[rank_index(a, b, c, d)]) + (4 if flush else 0)


@jit
def heels_points(starter: int) -> int:
    """2 for the dealer when the starter is a jack."""
    return HEELS_POINTS if rank_of(starter) == JACK else 0


# --- the play -------------------------------------------------------------------------------------------------


NONE_OF_BYTE = NO_CARD & 0xFF

# A series is one whole number: four bits a rank, plus 1, the last one in the lowest. No series is longer than 13 cards.
RANK_BITS = 4
RANK_MASK = (1 << RANK_BITS) - 1


@jit
def add_rank(series: int, rank: int) -> int:
    """The series with one more rank 0..12; that of no card is 0."""
    return series << RANK_BITS | (rank + 1)


@jit
def pack_series(ranks: np.ndarray, n: int) -> int:
    """The series of the first n ranks."""
    series = 0
    for i in range(n):
        series = add_rank(series, int(ranks[i]))
    return series


@jit
def series_from(history: np.ndarray, start: int) -> int:
    """The series of the cards of a history (ids, NO_CARD behind the last) from `start` on."""
    series = 0
    for n in range(start, len(history)):
        if history[n] >= 0:
            series = add_rank(series, rank_of(history[n]))
    return series


@jit
def series_count(series: int) -> int:
    """Sum of the values of the cards of a series."""
    total = 0
    while series > 0:
        total += value_of_rank((series & RANK_MASK) - 1)
        series >>= RANK_BITS
    return total


@jit
def play_pair_points(series: int) -> int:
    """2, 6 or 12 when the last card of a series ends two, three or four equal ones."""
    same = 1
    while same < NUM_SUITS and series >> RANK_BITS * same & RANK_MASK == series & RANK_MASK:
        same += 1
    return same * (same - 1)


@jit
def play_run_points(series: int) -> int:
    """Length of the longest run, in any order, that the last cards of a series form; else 0."""
    longest = 0
    seen = 0
    length = 0
    while series > 0 and not seen >> (series & RANK_MASK) & 1:
        seen |= 1 << (series & RANK_MASK)
        length += 1
        if length >= 3 and seen == (seen & -seen) * ((1 << length) - 1):
            longest = length
        series >>= RANK_BITS
    return longest


_TAIL_BITS = 4 * RANK_BITS  # of as many ranks as a pair, or one of its royals, can have


def _tail_table() -> NDArray[np.int8]:
    """[65536]: `play_pair_points` and `play_run_points` of the last of up to four ranks, by their bits in a series."""
    fourth, third, second, last = np.ogrid[(slice(1 << RANK_BITS),) * 4]
    same = (second == last) * (1 + (third == last) * (1 + (fourth == last)))
    runs = np.where(_is_run(last, second, third, fourth), 4, 3 * _is_run(last, second, third))
    return np.asarray((last > 0) * same * (same + 1) + runs, dtype=np.int8).ravel()


def _is_run(*codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether these are ranks (each plus 1; 0: no card) that follow one another, in any order."""
    held = reduce(np.bitwise_or, (1 << code for code in codes))
    lowest = held & -held
    return np.asarray((lowest > 1) & (held == lowest * ((1 << len(codes)) - 1)))


TAIL_POINTS = _tail_table()


@jit(inlined=True)
def play_points(series: int, count: int) -> int:
    """Points of the last card of a series that counts `count`: fifteen, thirty-one, pairs and run, no go or last card.

    The last four ranks decide, unless five or more make a run, of which the last four or three are a part, or none.
    """
    points = int(TAIL_POINTS[series & ((1 << _TAIL_BITS) - 1)])
    if series >> _TAIL_BITS > 0 and (points == 0 or points == 3 or points == 4):
        points = play_run_points(series)
    return points + 2 if count == 15 or count == COUNT_LIMIT else points


@jit
def is_legal_play(count: int, card: int) -> bool:
    """Whether a card (not NO_CARD) may be played on a count: the sum is at most 31."""
    return card >= 0 and count + value_of_rank(rank_of(card)) <= COUNT_LIMIT


@jit
def next_seat(seat: int, num_players: int) -> int:
    """Seat to the left."""
    return seat + 1 if seat + 1 < num_players else 0


@jit(inlined=True)
def lowest_card(hands: np.ndarray, player: int) -> int:
    """The lowest card that a player of hands [P, 4] holds: if it may not be played, none may. NO_CARD without cards."""
    lowest = NONE_OF_BYTE
    for slot in range(HAND_SIZE):  # all four, without a branch, which is quicker
        lowest = min(lowest, hands[player, slot] & NONE_OF_BYTE)  # NO_CARD becomes the highest byte
    return lowest if lowest < NONE_OF_BYTE else NO_CARD


@jit(inlined=True)
def next_in_series(hands: np.ndarray, goes: np.ndarray, seat: int, count: int) -> int:
    """Seat that plays next in the series after `seat` played, or -1 when nobody can (go, last card or 31).

    hands is [P, 4]. Whoever holds cards but has none to play says go, which is marked in goes [P].
    """
    if count == COUNT_LIMIT:
        return -1
    player = seat
    for _ in range(len(hands)):
        player = next_seat(player, len(hands))
        lowest = lowest_card(hands, player)
        if is_legal_play(count, lowest):
            return player
        if lowest >= 0:
            goes[player] = 1
    return -1


@jit(inlined=True)
def next_lead(hands: np.ndarray, seat: int) -> int:
    """Seat that leads the next series after `seat` played last: the first after it with cards, or -1."""
    player = seat
    for _ in range(len(hands)):
        player = next_seat(player, len(hands))
        if lowest_card(hands, player) >= 0:
            return player
    return -1


@jit(inlined=True)
def play_step(
    left: np.ndarray, goes: np.ndarray, series: int, count: int, seat: int, slot: int
) -> tuple[int, int, int, int, int]:
    """Play a card that may be played, and pass the turn.

    left [P, 4] holds the cards not yet played, goes [P] who has said go in the series; both are changed. Returns
    (points, last, following, series, count): the points of the card, 1 for a go or last card (which a thirty-one has
    not), the seat that plays next (-1: the play is over), and the series that goes on with its count, both 0 when it
    has ended.
    """
    rank = rank_of(left[seat, slot])
    left[seat, slot] = NO_CARD
    series = add_rank(series, rank)
    count += value_of_rank(rank)
    points = play_points(series, count)
    following = next_in_series(left, goes, seat, count)
    if following >= 0:
        return points, 0, following, series, count
    goes[:] = 0
    return points, 0 if count == COUNT_LIMIT else 1, next_lead(left, seat), 0, 0
