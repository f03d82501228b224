"""The best response to a player that is asked for its choices: beliefs about its hand, and values by `tree`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.beliefs.discards import DiscardModel
from deepcrib.exact.beliefs.plays import ANY_PLAY, SETS_4, kept_beliefs, seen_cards_of
from deepcrib.game.cards import NUM_CARDS, NUM_SUITS, rank_of
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import below
from deepcrib.game.rank_sets import rank_set_of_kept
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6, add_rank
from deepcrib.kernels import jit
from deepcrib.search.any_opponent.history import left_after, weigh_earlier_plays
from deepcrib.search.any_opponent.levels import COLUMNS, PLAYED, ROOT, START, THEIRS, Level, Table
from deepcrib.search.any_opponent.tree import PlayProbabilities, reply_values
from deepcrib.search.scripted_opponent.workspace import (
    ALL_SLOTS,
    COUNT,
    LAST,
    ME,
    NUM_LEFT,
    OPPONENT,
    OWN_LEFT,
    PLAYS,
    SERIES,
    TURN,
)

_TOGETHER = 8  # roots that are searched side by side: each comes to some hundred thousand hands


@dataclass(frozen=True)
class Deals:
    """R plays before their first card.

    kept [R, 4], discards [R, 2]: own cards, ids. starter, is_dealer: [R].
    weights: [R, 1820] of the opponent's kept hands.
    """

    kept: NDArray[np.int8]
    discards: NDArray[np.int8]
    starter: NDArray[np.int8]
    is_dealer: NDArray[np.bool_]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.kept)


def start_values_of(
    deals: Deals, opponent: PlayProbabilities, own: PlayProbabilities | None = None
) -> NDArray[np.float64]:
    """[R] mean own minus opponent's points of the whole play; own: a policy to follow instead of the best reply."""
    values = np.empty(len(deals))
    for low in range(0, len(deals), _TOGETHER):
        part = slice(low, low + _TOGETHER)
        n = len(deals.kept[part])
        leads = ~deals.is_dealer[part]
        frames = np.zeros((n, COLUMNS), dtype=np.int64)
        frames[:, TURN] = frames[:, LAST] = np.where(leads, ME, OPPONENT)
        frames[:, OWN_LEFT], frames[:, NUM_LEFT], frames[:, ROOT] = ALL_SLOTS, HAND_SIZE, np.arange(n)
        history = np.full((n, PLAYS), -1, dtype=np.int8)
        table = Table(
            kept=np.empty((0, HAND_SIZE), dtype=np.int8),
            thrown=np.empty((0, 2), dtype=np.int8),
            own=np.ascontiguousarray(deals.kept[part]),
            discards=deals.discards[part],
            starter=deals.starter[part],
            seat=np.zeros(n, dtype=np.int8),
            dealer=np.where(leads, 1, 0).astype(np.int8),
            scores=np.zeros((n, 2), dtype=np.int8),
        )
        seen = np.concatenate([deals.kept[part], deals.discards[part], deals.starter[part, None]], axis=1)
        level, table = _with_hands(frames, history, deals.weights[part], seen, table)
        values[part] = reply_values(level, table, opponent, own).roots / deals.weights[part].sum(axis=1)
    return values


def play_values_of(
    observation: PlayObservation, model: DiscardModel, opponent: PlayProbabilities
) -> NDArray[np.float64]:
    """[N, 4] mean own minus opponent's points from the play of each slot on; -inf for what may not be played."""
    values = np.full((len(observation), HAND_SIZE), -np.inf)
    for low in range(0, len(observation), _TOGETHER):
        rows = np.arange(low, min(low + _TOGETHER, len(observation)))
        o = observation.take(rows)
        weights = kept_beliefs(model.arrays, ANY_PLAY, o)
        frames, history, table = _positions(o)
        seen = seen_cards_of(o)
        level, full = _with_hands(frames, history, weights, seen, table)
        weigh_earlier_plays(level, full, o, opponent)
        totals = np.add.reduceat(level.weights, level.first[:-1])
        found = reply_values(level, full, opponent).slots / totals[:, None]
        values[rows] = _for_equal_ranks(np.where(np.isnan(found), -np.inf, found), o)
    return values


def add_play_values_of(
    observation: DiscardObservation,
    model: DiscardModel,
    opponent: PlayProbabilities,
    table: NDArray[np.float64] | None,
    within: float,
    values: NDArray[np.float64],
) -> None:
    """Add to values [N, 15] of hand and crib what the kept cards are worth in the play, with one starter drawn for all.

    With a table [2, 1820] of rough values only discards within so many points of the best are searched; a single one
    gets the rough value, the others -inf.
    """
    hands, dealers = observation.hand, observation.is_dealer
    kept = hands[:, KEPT_SLOTS_6.astype(np.int64)]  # [N, 15, 4]
    searched = np.ones(values.shape, dtype=np.bool_)
    if table is not None:
        rough = values + table[dealers.astype(np.int64)[:, None], set_numbers(kept)]
        searched = rough >= rough.max(axis=1, keepdims=True) - within
        alone = searched.sum(axis=1) == 1
        values[:] = np.where(searched, np.where(alone[:, None], rough, values), -np.inf)
        searched &= ~alone[:, None]
    rows, actions = np.nonzero(searched)
    starters = np.empty(len(hands), dtype=np.int8)  # a player may need to see one
    _draw_starters(hands, observation.key, starters)
    seen = np.concatenate([hands, starters[:, None]], axis=1)
    deals = Deals(
        kept[rows, actions],
        np.take_along_axis(hands[rows], DISCARD_SLOTS_6[actions].astype(np.int64), axis=1),
        starters[rows],
        dealers[rows],
        model.kept_weights(seen, ~dealers)[rows],
    )
    values[rows, actions] += start_values_of(deals, opponent)


@jit
def _draw_starters(hands: np.ndarray, keys: np.ndarray, starters: np.ndarray) -> None:
    """starters [N]: a card that is not in the hand, by the decision's key."""
    for r in range(len(hands)):
        counter = 0
        starters[r] = hands[r, 0]
        while (hands[r] == starters[r]).any():
            starters[r] = below(keys[r], counter, NUM_CARDS)
            counter += 1


def set_numbers(kept: NDArray[np.int8]) -> NDArray[np.int64]:
    """Numbers [...] of the rank multisets of sorted cards [..., 4]."""
    numbers = np.empty(kept.shape[:-1], dtype=np.int64)
    _fill_numbers(kept.reshape(-1, HAND_SIZE), numbers.reshape(-1))
    return numbers


@jit
def _fill_numbers(kept: np.ndarray, numbers: np.ndarray) -> None:
    for i in range(len(kept)):
        numbers[i] = rank_set_of_kept(kept[i])


def _for_equal_ranks(values: NDArray[np.float64], o: PlayObservation) -> NDArray[np.float64]:
    """Give slots of equal ranks, of which the tree tries the first, the same value."""
    ranks = np.where(o.hand >= 0, o.hand // NUM_SUITS, -1 - np.arange(HAND_SIZE))
    for slot in range(1, HAND_SIZE):
        for earlier in range(slot):
            same = ranks[:, slot] == ranks[:, earlier]
            values[same, slot] = np.maximum(values[same, slot], values[same, earlier])
    return values


# --- roots --------------------------------------------------------------------------------------------------------


def _positions(o: PlayObservation) -> tuple[NDArray[np.int64], NDArray[np.int8], Table]:
    """Frames, histories and what they have in common, of observed decisions; the table's hands are still to come."""
    n = len(o)
    frames, history = np.zeros((n, COLUMNS), dtype=np.int64), np.full((n, PLAYS), -1, dtype=np.int8)
    _fill_positions(o.hand, o.history, o.history_seats, o.seat, o.series_start, frames, history)
    frames[:, COUNT], frames[:, START], frames[:, ROOT] = o.count, o.series_start, np.arange(n)
    table = Table(
        kept=np.empty((0, HAND_SIZE), dtype=np.int8),
        thrown=np.empty((0, 2), dtype=np.int8),
        own=o.kept,
        discards=o.discards,
        starter=o.starter,
        seat=o.seat,
        dealer=o.dealer,
        scores=o.scores,
    )
    return frames, history, table


@jit
def _fill_positions(
    hands: np.ndarray,
    histories: np.ndarray,
    seats: np.ndarray,
    seat: np.ndarray,
    starts: np.ndarray,
    frames: np.ndarray,
    history: np.ndarray,
) -> None:
    for r in range(len(frames)):
        frame = frames[r]
        frame[TURN], frame[LAST], frame[NUM_LEFT] = ME, OPPONENT, HAND_SIZE
        for slot in range(HAND_SIZE):
            frame[OWN_LEFT] |= int(hands[r, slot] >= 0) << slot
        for k in range(PLAYS):
            card = histories[r, k]
            if card < 0:
                break
            frame[PLAYED] += 1
            if seats[r, k] == seat[r]:
                history[r, k] = card
            else:
                history[r, k] = THEIRS - rank_of(card)
                frame[NUM_LEFT] -= 1
            if k >= starts[r]:
                frame[SERIES] = add_rank(frame[SERIES], rank_of(card))


def _with_hands(
    frames: NDArray[np.int64],
    history: NDArray[np.int8],
    weights: NDArray[np.float64],
    seen: NDArray[np.int8],
    table: Table,
) -> tuple[Level, Table]:
    """The level of the roots, and the table with a hand of cards for each rank multiset of some weight [R, 1820]."""
    roots, numbers = np.nonzero(weights > 0)
    first = np.searchsorted(roots, np.arange(len(frames) + 1))
    kept, thrown = np.empty((len(roots), HAND_SIZE), dtype=np.int8), np.empty((len(roots), 2), dtype=np.int8)
    left = np.empty(len(roots), dtype=np.int64)
    _fill_hands(roots, numbers, SETS_4, seen, history, kept, thrown, left)
    level = Level(
        frames,
        history,
        np.zeros(len(frames)),
        np.zeros(len(frames), dtype=np.int64),
        first,
        np.arange(len(roots)),
        left,
        weights[roots, numbers],
    )
    return level, table._replace(kept=kept, thrown=thrown)


@jit
def _fill_hands(
    roots: np.ndarray,
    numbers: np.ndarray,
    sets: np.ndarray,
    seen: np.ndarray,
    history: np.ndarray,
    kept: np.ndarray,
    thrown: np.ndarray,
    left: np.ndarray,
) -> None:
    """A hand of unseen cards for each rank multiset, two other cards that it may have thrown, and what it has left."""
    for e in range(len(roots)):
        root = roots[e]
        taken = np.uint64(0)
        for k in range(seen.shape[1]):
            if seen[root, k] >= 0:
                taken |= np.uint64(1) << np.uint64(seen[root, k])
        for slot in range(HAND_SIZE):
            card = NUM_SUITS * int(sets[numbers[e], slot])
            while taken >> np.uint64(card) & np.uint64(1):
                card += 1
            kept[e, slot] = card
            taken |= np.uint64(1) << np.uint64(card)
        counter = 0
        for i in range(2):
            card = below(numbers[e], counter, NUM_CARDS)
            while taken >> np.uint64(card) & np.uint64(1):
                counter += 1
                card = below(numbers[e], counter, NUM_CARDS)
            thrown[e, i] = card
            taken |= np.uint64(1) << np.uint64(card)
        left[e] = left_after(kept[e], history[root], PLAYS)
