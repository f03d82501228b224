"""Features of the state after a move that a perceptron may read in place of raw cards, compiled.

O'Connor 2000 proposes for further work to show the network what players look at. FEATURES lists ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.game.cards import NUM_RANKS, rank_of, value_of_rank
from deepcrib.game.rules import (
    COUNT_LIMIT,
    HAND_SIZE,
    RANK_BITS,
    RANK_MASK,
    add_rank,
    play_pair_points,
    play_points,
    play_run_points,
    show_points,
)
from deepcrib.kernels import jit

PLAYS = 2 * HAND_SIZE
MOST_REPLY = 16
"""Points of one card in reply; a rarer one counts as so many."""

FEATURES = (
    ("dealer", 1, "1 for the dealer"),
    ("discarded", 1, "1 in the state after the discard, before the starter"),
    ("hand", 1, "points of the kept hand / 10: with the starter, or before it the exact mean over the 46 others"),
    ("crib", 1, "exact mean of the crib against experts' discards / 5, negative for the pone"),
    ("pegging", 1, "after the discard: what the four ranks gain less what they give when greedy meets greedy / 4"),
    ("points", 1, "points of the card just played (fifteen, thirty-one, pairs, runs) / 4"),
    ("go", 1, "chance that the opponent's cards all are too high for the count"),
    ("reply", 1, "mean of the most points that any of the opponent's cards makes in reply / 4"),
    ("reply_chance", 1, "chance that it makes any"),
    ("fifteens", 1, "mean points for fifteen or thirty-one of one unseen card in reply / 2"),
    ("pairs", 1, "likewise for pairs"),
    ("runs", 1, "likewise for runs"),
    ("answer", 1, "mean of the most points of one's own answer to one unseen card / 4"),
    ("said_go", 1, "1 when the opponent has said go (or has no cards left) in this series"),
    ("floor", 1, "the opponent's cards all count more than this, by its goes / 10"),
    ("playable", 1, "own cards that the count leaves playable / 4"),
    ("left", NUM_RANKS, "own cards left, by rank"),
    ("unseen", NUM_RANKS, "cards of each rank not seen / 4"),
    ("own_cards", HAND_SIZE + 1, "number of own cards left"),
    ("their_cards", HAND_SIZE + 1, "number of the opponent's cards left"),
    ("count", COUNT_LIMIT + 1, "the count, after a card"),
    ("last", NUM_RANKS, "rank of the card just played"),
    ("before", NUM_RANKS, "rank of the card before it in the series"),
)
"""(name, width, meaning) of the inputs `features`. Chances take the cards not seen as equally likely to be held, but
for those that a go rules out."""
_START = {name: sum(width for _, width, _ in FEATURES[:i]) for i, (name, _, _) in enumerate(FEATURES)}
FEATURE_WIDTH = sum(width for _, width, _ in FEATURES)
(_DEALER, _DISCARDED, _SHOW, _CRIB, _PEGGING, _POINTS, _GO, _REPLY, _CHANCE, _FIFTEENS, _PAIRS, _RUNS) = range(12)
(_ANSWER, _SAID_GO, _FLOOR, _PLAYABLE) = range(12, 16)
_LEFT, _UNSEEN, _OWN, _THEIRS = (_START[name] for name in ("left", "unseen", "own_cards", "their_cards"))
_COUNT, _LAST, _BEFORE = (_START[name] for name in ("count", "last", "before"))


class Deal(NamedTuple):
    """What a player knows of its own six cards.

    is_dealer: 0 or 1. kept: int64 [4]. thrown: int64 [2]. means [3]: of the hand, of the crib (negative for the
    pone), and of pegging; 0 for raw inputs.
    """

    is_dealer: int
    kept: np.ndarray
    thrown: np.ndarray
    means: np.ndarray


class State(NamedTuple):
    """The state after a player's move: its deal, the starter (-1 after the discard), and the play.

    history, seats: int64 [8], the n cards played and by whom, the last one by `seat`; n is 0 after the discard.
    """

    deal: Deal
    starter: int
    history: np.ndarray
    seats: np.ndarray
    n: int
    seat: int


@jit
def read_plays(history: np.ndarray, seats: np.ndarray, n: int, seat: int) -> tuple[int, int, int, int]:
    """What the n cards played so far tell: (series, count, floor, said go).

    A card begins a new series when the count was 31 or it would have passed it: else its player would have been able to
    play it. floor: the other player's cards left all count more. said go: 1 when it has passed in this series.
    """
    series, count, floor, said_go, theirs = 0, 0, 0, 0, HAND_SIZE
    for k in range(n):
        rank = rank_of(history[k])
        over = count + value_of_rank(rank) > COUNT_LIMIT
        passed = k > 0 and seats[k] == seat and seats[k - 1] == seat and count < COUNT_LIMIT
        if (over or passed) and theirs > 0:  # it could not play on this count, or the series would have gone on
            floor = max(floor, COUNT_LIMIT - count)
        if over or count == COUNT_LIMIT:
            series, count, said_go = 0, 0, 0
        elif passed:
            said_go = 1
        series = add_rank(series, rank)
        count += value_of_rank(rank)
        theirs -= seats[k] != seat
    return series, count, floor, said_go


@jit
def _put(place: int, value: float, index: np.ndarray, x: np.ndarray, filled: int) -> int:
    """Append an entry unless it is 0."""
    if value == 0:
        return filled
    index[filled] = place
    x[filled] = value
    return filled + 1


@jit
def _count_cards(s: State, left: np.ndarray, unseen: np.ndarray) -> None:
    """left, unseen [13]: own cards still to play and cards not seen, by rank."""
    left[:] = 0
    unseen[:] = 4
    for card in s.deal.kept:
        left[rank_of(card)] += 1
        unseen[rank_of(card)] -= 1
    for card in s.deal.thrown:
        unseen[rank_of(card)] -= 1
    if s.starter >= 0:
        unseen[rank_of(s.starter)] -= 1
    for k in range(s.n):
        if s.seats[k] == s.seat:
            left[rank_of(s.history[k])] -= 1
        else:
            unseen[rank_of(s.history[k])] -= 1


@jit
def fill_features(s: State, index: np.ndarray, x: np.ndarray) -> int:
    """Write the features of a state and return how many are not 0; arguments as of `inputs.fill_entries`."""
    deal, starter, n = s.deal, s.starter, s.n
    left, unseen = np.empty(NUM_RANKS, dtype=np.int64), np.empty(NUM_RANKS, dtype=np.int64)
    _count_cards(s, left, unseen)
    mine = 0
    for k in range(n):
        mine += s.seats[k] == s.seat
    theirs = HAND_SIZE - (n - mine)
    hand = deal.means[0] if starter < 0 else float(show_points(deal.kept, starter, False))
    filled = _put(_DEALER, deal.is_dealer, index, x, 0)
    filled = _put(_DISCARDED, 1 if starter < 0 else 0, index, x, filled)
    filled = _put(_SHOW, hand / 10, index, x, filled)
    filled = _put(_CRIB, deal.means[1] / 5, index, x, filled)
    filled = _put(_OWN + HAND_SIZE - mine, 1, index, x, filled)
    filled = _put(_THEIRS + theirs, 1, index, x, filled)
    for rank in range(NUM_RANKS):
        filled = _put(_LEFT + rank, left[rank], index, x, filled)
        filled = _put(_UNSEEN + rank, unseen[rank] / 4, index, x, filled)
    if starter < 0:
        return _put(_PEGGING, deal.means[2] / 4, index, x, filled)
    series, count, floor, said_go = read_plays(s.history, s.seats, n, s.seat)
    passed = said_go or theirs == 0
    filled = _put(_POINTS, play_points(series, count) / 4, index, x, filled)
    filled = _put(_SAID_GO, 1 if passed else 0, index, x, filled)
    filled = _put(_FLOOR, floor / 10, index, x, filled)
    filled = _put(_COUNT + count, 1, index, x, filled)
    filled = _put(_LAST + (series & RANK_MASK) - 1, 1, index, x, filled)
    before = series >> RANK_BITS & RANK_MASK
    if before > 0:
        filled = _put(_BEFORE + before - 1, 1, index, x, filled)
    playable = 0
    for rank in range(NUM_RANKS):
        if count + value_of_rank(rank) <= COUNT_LIMIT:
            playable += left[rank]
    filled = _put(_PLAYABLE, playable / 4, index, x, filled)
    if passed or count == COUNT_LIMIT:
        return filled
    return _fill_replies(left, unseen, series, count, floor, theirs, index, x, filled)


@jit
def _chance_none(cards: int, total: int, held: int) -> float:
    """Chance that none of `cards` among `total` is among `held` drawn at random."""
    chance = 1.0
    for i in range(held):
        if total - cards - i <= 0:
            return 0.0
        chance *= (total - cards - i) / (total - i)
    return chance


@jit
def _fill_replies(
    left: np.ndarray,
    unseen: np.ndarray,
    series: int,
    count: int,
    floor: int,
    theirs: int,
    index: np.ndarray,
    x: np.ndarray,
    filled: int,
) -> int:
    """What the opponent, holding `theirs` of the unseen cards that count more than `floor`, may reply to a series."""
    by_points = np.empty(MOST_REPLY + 1, dtype=np.int64)
    by_points[:] = 0
    total, playable = 0, 0
    fifteens, pairs, runs, answers = 0.0, 0.0, 0.0, 0.0
    for rank in range(NUM_RANKS):
        value = value_of_rank(rank)
        if unseen[rank] == 0 or value <= floor:
            continue
        total += unseen[rank]
        if count + value > COUNT_LIMIT:
            continue
        playable += unseen[rank]
        longer = add_rank(series, rank)
        points, pair, run = play_points(longer, count + value), play_pair_points(longer), play_run_points(longer)
        by_points[min(points, MOST_REPLY)] += unseen[rank]
        fifteens += unseen[rank] * (points - pair - run)
        pairs += unseen[rank] * pair
        runs += unseen[rank] * run
        answers += unseen[rank] * _best_answer(left, longer, count + value)
    if total == 0:
        return filled
    scoring, mean_most = 0, 0.0
    for points in range(MOST_REPLY, 0, -1):  # the mean is the sum of the chances to make 1 or more, 2 or more, ...
        scoring += by_points[points]
        mean_most += 1 - _chance_none(scoring, total, theirs)
    filled = _put(_GO, _chance_none(playable, total, theirs), index, x, filled)
    filled = _put(_REPLY, mean_most / 4, index, x, filled)
    filled = _put(_CHANCE, 1 - _chance_none(scoring, total, theirs), index, x, filled)
    filled = _put(_FIFTEENS, fifteens / total / 2, index, x, filled)
    filled = _put(_PAIRS, pairs / total / 2, index, x, filled)
    filled = _put(_RUNS, runs / total / 2, index, x, filled)
    return _put(_ANSWER, answers / total / 4, index, x, filled)


@jit
def _best_answer(left: np.ndarray, series: int, count: int) -> int:
    """Most points of one of the cards left [13], by rank, on a series of this count; 0 if none fits."""
    best = 0
    for rank in range(NUM_RANKS):
        if left[rank] > 0 and count + value_of_rank(rank) <= COUNT_LIMIT:
            best = max(best, play_points(add_rank(series, rank), count + value_of_rank(rank)))
    return best
