"""How a player discards, in a form in which sums over all hands that it may have been dealt are quick and exact.

What is wanted is the chance of each rank multiset of four that the opponent keeps (or of the two ranks it throws), over
the 8.1 or 9.4 million hands that it may hold beside the cards one has seen. Suits seldom matter to a discard. So for
every rank multiset of six there is one usual choice, that of most of its hands, to be weighted by the ways in which
the unseen cards make it; and a list of the exceptions, suit classes of hands with the difference that they make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.beliefs.suit_orders import class_ways, free_suits
from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, rank_of
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.randomness import Word
from deepcrib.game.rank_sets import (
    NUM_RANK_SETS_4,
    NUM_RANK_SETS_6,
    rank_set_2,
    rank_set_4,
    rank_sets,
)
from deepcrib.game.rules import DISCARD_SLOTS_6, KEPT_SLOTS_6
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

DiscardProbabilities = Callable[[DiscardObservation], NDArray[np.float64]]
NUM_ACTIONS = len(DISCARD_SLOTS_6)
_SAME = 1e-9  # probabilities that differ by less are the same choice
_CHUNK = 65_536  # hands that an agent is asked about at once
_WAYS = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], dtype=np.int64)


class DiscardArrays(NamedTuple):
    """A `DiscardModel` as compiled code reads it: choices one after the other, each with what it keeps and throws.

    sets: int8 [18564, 6], the rank multisets. Choices usual_starts[m]:usual_starts[m + 1] are the usual ones of set
    m: usual_kept, int16, and usual_thrown, int8, number of the rank multiset of four that is kept and of the pair of
    ranks that is thrown (actions that differ only by equal ranks are one choice); usual, float64, its chance.
    hands: int64 [E], the multiset of each exceptional class. keys: uint64 [E], its ranks suit by suit, 13 bits each.
    sizes: int64 [E], its hands. Choices starts[e]:starts[e + 1] are where it differs: kept, thrown as above; changes,
    float64, what to add to the usual chance.
    """

    sets: NDArray[np.int8]
    usual_starts: NDArray[np.int64]
    usual_kept: NDArray[np.int16]
    usual_thrown: NDArray[np.int8]
    usual: NDArray[np.float64]
    hands: NDArray[np.int64]
    keys: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    kept: NDArray[np.int16]
    thrown: NDArray[np.int8]
    changes: NDArray[np.float64]


@dataclass(frozen=True)
class DiscardModel:
    """How one player discards as pone and as dealer, at the score 0-0: arrays[0] and arrays[1]."""

    arrays: tuple[DiscardArrays, DiscardArrays]

    def kept_weights(self, seen: NDArray[np.int8], is_dealer: NDArray[np.bool_]) -> NDArray[np.float64]:
        """[N, 1820]: how many hands, with their chances, keep each rank multiset of four.

        seen: [N, S] card ids that the player cannot hold, -1 for none. is_dealer: [N], whether that player deals.
        A row's sum is the number of six-card hands of the unseen cards.
        """
        weights = np.zeros((len(seen), NUM_RANK_SETS_4))
        run_rows(_fill_kept_rows, len(seen), np.ascontiguousarray(seen), self.arrays, is_dealer, weights, piece=4)
        return weights


def discard_model(probabilities: DiscardProbabilities) -> DiscardModel:
    """The model of a player who can say how likely its discards are: `Agent.discard_probabilities`.

    It is asked about each of the 962,988 suit classes, as pone and as dealer, at 0-0: what it would do at other scores
    is not looked at. Raises ValueError where a row is no distribution.
    """
    pone, dealer = (_model_arrays(probabilities, bool(role)) for role in range(2))
    return DiscardModel((pone, dealer))


def _model_arrays(probabilities: DiscardProbabilities, is_dealer: bool) -> DiscardArrays:
    classes = suit_classes()
    hands, sizes = class_hands(classes.keys), class_sizes(classes.keys)
    sets = rank_sets(6)
    kept, thrown, first = _action_sets(sets)
    chances = np.empty((len(hands), NUM_ACTIONS))
    for low in range(0, len(hands), _CHUNK):
        part = slice(low, low + _CHUNK)
        chances[part] = _checked(probabilities(_observe(hands[part], is_dealer)))
    usual = np.zeros((NUM_RANK_SETS_6, NUM_ACTIONS))
    run_rows(_merge_equal, len(first), classes.starts, first, chances, piece=64)
    run_rows(_find_usual, len(usual), classes.starts, chances, sizes, usual, piece=16)
    differs, changes_of = np.zeros(len(hands), dtype=np.bool_), np.zeros(len(hands), dtype=np.int64)
    run_rows(_count_changes, len(usual), classes.starts, chances, usual, differs, changes_of, piece=64)
    numbers = np.repeat(np.arange(NUM_RANK_SETS_6), np.diff(classes.starts))
    rows = np.flatnonzero(differs)
    starts = np.concatenate(([0], np.cumsum(changes_of[rows])))
    actions, changes = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    run_rows(_fill_changes, len(rows), rows, numbers, chances, usual, starts, actions, changes)
    multisets, choices = np.nonzero(usual)
    changed = np.repeat(numbers[rows], changes_of[rows])
    return DiscardArrays(
        sets=sets,
        usual_starts=np.searchsorted(multisets, np.arange(NUM_RANK_SETS_6 + 1)),
        usual_kept=kept[multisets, choices].astype(np.int16),
        usual_thrown=thrown[multisets, choices].astype(np.int8),
        usual=usual[multisets, choices],
        hands=numbers[rows],
        keys=classes.keys[rows],
        sizes=sizes[rows],
        starts=starts,
        kept=kept[changed, actions].astype(np.int16),
        thrown=thrown[changed, actions].astype(np.int8),
        changes=changes,
    )


def _observe(hands: NDArray[np.int8], is_dealer: bool) -> DiscardObservation:
    n = len(hands)
    return DiscardObservation(
        hand=hands,
        seat=np.zeros(n, dtype=np.int8),
        dealer=np.full(n, 0 if is_dealer else 1, dtype=np.int8),
        scores=np.zeros((n, 2), dtype=np.int8),
        key=np.zeros(n, dtype=np.uint64),
    )


def _checked(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    if not (chances >= -_SAME).all() or not np.allclose(chances.sum(axis=1), 1):
        raise ValueError("discard_probabilities: expected rows of chances that add up to 1")
    return chances


def _action_sets(sets: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """[18564, 15] each: rank multiset kept, pair of ranks thrown, and the first action that throws the same ranks."""
    shape = (NUM_RANK_SETS_6, NUM_ACTIONS)
    kept, thrown, first = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    run_rows(_fill_action_sets, len(sets), sets, kept, thrown, first, piece=256)
    return kept, thrown, first


@jit
def _fill_action_sets(part: Part, sets: np.ndarray, kept: np.ndarray, thrown: np.ndarray, first: np.ndarray) -> None:
    for m in range(*part):
        for action in range(NUM_ACTIONS):
            a, b, c, d = KEPT_SLOTS_6[action]
            kept[m, action] = rank_set_4(sets[m, a], sets[m, b], sets[m, c], sets[m, d])
            a, b = DISCARD_SLOTS_6[action]
            thrown[m, action] = rank_set_2(sets[m, a], sets[m, b])
            first[m, action] = action
            for other in range(action):
                if thrown[m, other] == thrown[m, action]:
                    first[m, action] = other
                    break


@jit
def _merge_equal(part: Part, starts: np.ndarray, first: np.ndarray, chances: np.ndarray) -> None:
    """Give the chances [C, 15] of actions that throw the same ranks to the first of them."""
    for m in range(*part):
        for c in range(starts[m], starts[m + 1]):
            for action in range(NUM_ACTIONS):
                if first[m, action] != action:
                    chances[c, first[m, action]] += chances[c, action]
                    chances[c, action] = 0.0


@jit
def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    for action in range(NUM_ACTIONS):
        if abs(one[action] - other[action]) > _SAME:
            return False
    return True


@jit
def _find_usual(part: Part, starts: np.ndarray, chances: np.ndarray, sizes: np.ndarray, usual: np.ndarray) -> None:
    """usual [18564, 15]: the row of chances [C, 15] that most hands of each multiset share."""
    for m in range(*part):
        first = np.empty(starts[m + 1] - starts[m], dtype=np.int64)  # class of each row that has been met
        hands = np.empty(len(first), dtype=np.int64)
        hands[:] = 0
        met = 0
        for c in range(starts[m], starts[m + 1]):
            row = 0
            while row < met and not _is_same(chances[first[row]], chances[c]):
                row += 1
            if row == met:
                first[met] = c
                met += 1
            hands[row] += sizes[c]
        most = 0
        for row in range(met):
            if hands[row] > most:
                most = hands[row]
                for action in range(
                    NUM_ACTIONS
                ):  # no row at once: what is said of shapes would take seconds to compile
                    usual[m, action] = chances[first[row], action]


@jit
def _count_changes(
    part: Part, starts: np.ndarray, chances: np.ndarray, usual: np.ndarray, differs: np.ndarray, changes: np.ndarray
) -> None:
    for m in range(*part):
        for c in range(starts[m], starts[m + 1]):
            for action in range(NUM_ACTIONS):
                changes[c] += abs(chances[c, action] - usual[m, action]) > _SAME
            differs[c] = changes[c] > 0


@jit
def _fill_changes(
    part: Part,
    rows: np.ndarray,
    numbers: np.ndarray,
    chances: np.ndarray,
    usual: np.ndarray,
    starts: np.ndarray,
    actions: np.ndarray,
    changes: np.ndarray,
) -> None:
    for e in range(*part):
        c = rows[e]
        n = starts[e]
        for action in range(NUM_ACTIONS):
            change = chances[c, action] - usual[numbers[c], action]
            if abs(change) > _SAME:
                actions[n] = action
                changes[n] = change
                n += 1


# --- sums over hands ----------------------------------------------------------------------------------------------


@jit
def unseen_of(seen: np.ndarray, unseen: np.ndarray) -> Word:
    """Fill unseen [13] with the cards of each rank that are not in seen [S] (-1: none); returns these as bits."""
    mask = np.uint64(0)
    unseen[:] = NUM_SUITS
    for i in range(len(seen)):
        if seen[i] >= 0:
            mask |= np.uint64(1) << np.uint64(seen[i])
            unseen[rank_of(seen[i])] -= 1
    return mask


@jit
def hand_ways(ranks: np.ndarray, unseen: np.ndarray) -> int:
    """In how many ways unseen [13] cards of each rank make an ascending rank multiset."""
    ways = 1
    i = 0
    while i < len(ranks) and ways > 0:
        n = 1
        while i + n < len(ranks) and ranks[i + n] == ranks[i]:
            n += 1
        ways *= _WAYS[unseen[ranks[i]], n] if n <= NUM_SUITS else 0
        i += n
    return ways


@jit
def fill_kept(seen: np.ndarray, model: DiscardArrays, kept: np.ndarray) -> None:
    """Add to kept [1820] the hands, with their chances, of unseen cards that keep each rank multiset."""
    unseen = np.empty(NUM_RANKS, dtype=np.int64)
    unseen_of(seen, unseen)
    free = free_suits(seen)
    for m in range(len(model.sets)):
        ways = hand_ways(model.sets[m], unseen)
        if ways > 0:
            for i in range(model.usual_starts[m], model.usual_starts[m + 1]):
                kept[model.usual_kept[i]] += ways * model.usual[i]
    for e in range(len(model.hands)):
        ways = class_ways(model.keys[e], model.sizes[e], free)
        if ways > 0:
            for i in range(model.starts[e], model.starts[e + 1]):
                kept[model.kept[i]] += ways * model.changes[i]


@jit
def fill_thrown(seen: np.ndarray, model: DiscardArrays, thrown: np.ndarray, beside: np.ndarray) -> None:
    """Add to thrown [91] the hands, with their chances, that throw each pair of ranks.

    beside [91, 13] receives the same times the number of cards of each rank in the hand: they cannot be turned up.
    """
    unseen = np.empty(NUM_RANKS, dtype=np.int64)
    unseen_of(seen, unseen)
    free = free_suits(seen)
    for m in range(len(model.sets)):
        ways = hand_ways(model.sets[m], unseen)
        if ways > 0:
            for i in range(model.usual_starts[m], model.usual_starts[m + 1]):
                _add_thrown(model.sets[m], model.usual_thrown[i], ways * model.usual[i], thrown, beside)
    for e in range(len(model.hands)):
        ways = class_ways(model.keys[e], model.sizes[e], free)
        if ways > 0:
            for i in range(model.starts[e], model.starts[e + 1]):
                _add_thrown(model.sets[model.hands[e]], model.thrown[i], ways * model.changes[i], thrown, beside)


@jit
def _add_thrown(ranks: np.ndarray, pair: int, weight: float, thrown: np.ndarray, beside: np.ndarray) -> None:
    thrown[pair] += weight
    for rank in ranks:
        beside[pair, rank] += weight


@jit
def _fill_kept_rows(
    part: Part,
    seen: np.ndarray,
    models: tuple[DiscardArrays, DiscardArrays],
    dealers: np.ndarray,
    weights: np.ndarray,
) -> None:
    for r in range(*part):
        fill_kept(seen[r], models[1 if dealers[r] else 0], weights[r])
