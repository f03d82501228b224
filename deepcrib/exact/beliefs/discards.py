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

from deepcrib.exact.classes import SuitClasses, class_hands, class_sizes, suit_classes
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, rank_of, suit_of
from deepcrib.game.observations import DiscardObservation, dealt
from deepcrib.game.rank_sets import NUM_RANK_SETS_4, NUM_RANK_SETS_6, rank_set_numbers, rank_sets
from deepcrib.game.rules import DISCARD_SLOTS_6, KEPT_SLOTS_6
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

_RANKS = (1 << NUM_RANKS) - 1  # all of a suit
_ORDERS = np.array(
    [[a, b, c, 6 - a - b - c] for a in range(4) for b in range(4) for c in range(4) if len({a, b, c}) == 3],
    dtype=np.int64,
)  # of the four suits


def _count_orders() -> np.ndarray:
    """int8 [65536]: in how many orders four suits can take four places; bit 4 i + j: suit i may be at place j."""
    bits = np.arange(1 << (NUM_SUITS * NUM_SUITS), dtype=np.uint16)
    counts = np.zeros(len(bits), dtype=np.int8)
    for order in _ORDERS:
        wanted = np.uint16((1 << (NUM_SUITS * np.arange(NUM_SUITS) + order)).sum())
        counts += bits & wanted == wanted
    return counts


_ORDERS_LEFT = _count_orders()


@jit
def free_suits(seen: np.ndarray) -> np.ndarray:
    """uint8 [8192] for a set of ranks (13 bits): bit j where no card of these ranks and suit j is in seen [S].

    seen: card ids, -1: none.
    """
    taken = np.empty(NUM_SUITS, dtype=np.int64)
    taken[:] = 0
    for i in range(len(seen)):
        if seen[i] >= 0:
            taken[suit_of(seen[i])] |= 1 << rank_of(seen[i])
    free = np.empty(1 << NUM_RANKS, dtype=np.uint8)
    for ranks in range(len(free)):
        suits = 0
        for suit in range(NUM_SUITS):
            suits |= (ranks & taken[suit] == 0) << suit
        free[ranks] = suits
    return free


@jit(borrowed=True)
def class_ways(key: int, size: int, free: np.ndarray) -> int:
    """Hands of a suit class that have no seen card; free: of `free_suits`.

    key: the ranks of one of its hands, suit by suit, 13 bits each. size: its hands. These are what the 24 orders of the
    suits make of that one, each equally often, so those orders are counted that bring every suit to where its ranks are
    free.
    """
    bits = 0
    for suit in range(NUM_SUITS):
        ranks = key >> np.uint64(NUM_RANKS * suit) & np.uint64(_RANKS)
        bits |= int(free[ranks]) << (NUM_SUITS * suit)
    return _ORDERS_LEFT[bits] * size // len(_ORDERS)


DiscardProbabilities = Callable[[DiscardObservation], NDArray[np.float64]]
NUM_ACTIONS = len(DISCARD_SLOTS_6)
_SAME = 1e-9  # probabilities that differ by less are the same choice
_CHUNK = 65_536  # hands that an agent is asked about at once
_WAYS = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], dtype=np.int64)


class DiscardArrays(NamedTuple):
    """A `DiscardModel` as compiled code reads it: rows of choices, the multisets' usual ones and then the exceptions.

    sets: int8 [18564, 6], the rank multisets, of which the first rows are, in their order. keys: uint64 [E], the ranks
    of each exceptional class suit by suit, 13 bits each. sizes: int64 [E], its hands. numbers: int64 [18564 + E], the
    multiset of each row. Choices starts[r]:starts[r + 1] are those of row r: kept, int16, and thrown, int8, number of
    the rank multiset of four that is kept and of the pair of ranks that is thrown (actions that differ only by equal
    ranks are one choice); chances, float64, of a usual choice, or what to add to it for an exception.
    """

    sets: NDArray[np.int8]
    keys: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    starts: NDArray[np.int64]
    kept: NDArray[np.int16]
    thrown: NDArray[np.int8]
    chances: NDArray[np.float64]


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


def discard_model(probabilities: DiscardProbabilities, suits: bool = True) -> DiscardModel:
    """The model of a player who can say how likely its discards are: `Agent.discard_probabilities`.

    It is asked about each of the 962,988 suit classes, as pone and as dealer, at 0-0: what it would do at other scores
    is not looked at. Without suits, about one hand of each rank multiset, with no three cards of a suit, that stands
    for all of them: in a fiftieth of the time. Raises ValueError where a row is no distribution.
    """
    pone, dealer = (_model_arrays(probabilities, bool(role), suits) for role in range(2))
    return DiscardModel((pone, dealer))


def _model_arrays(probabilities: DiscardProbabilities, is_dealer: bool, suits: bool) -> DiscardArrays:
    sets = rank_sets(6)
    classes = suit_classes() if suits else _one_each(sets)
    hands, sizes = class_hands(classes.keys), class_sizes(classes.keys)
    thrown = rank_set_numbers(sets[:, DISCARD_SLOTS_6])  # [18564, 15]
    first = (thrown[:, :, None] == thrown[:, None, :]).argmax(axis=2)  # action that throws the same ranks
    chances = np.empty((len(hands), NUM_ACTIONS))
    for low in range(0, len(hands), _CHUNK):
        part = slice(low, low + _CHUNK)
        chances[part] = _checked(probabilities(dealt(hands[part], np.full(len(hands[part]), is_dealer))))
    usual = np.zeros((NUM_RANK_SETS_6, NUM_ACTIONS))
    run_rows(_merge_equal, len(first), classes.starts, first, chances, piece=64)
    run_rows(_find_usual, len(usual), classes.starts, chances, sizes, usual, piece=16)
    multisets = np.repeat(np.arange(NUM_RANK_SETS_6), np.diff(classes.starts))
    chances -= usual[multisets]
    differing, changed = np.nonzero(np.abs(chances) > _SAME)
    exceptions, lengths = np.unique(differing, return_counts=True)
    sets_of, actions = np.nonzero(usual)
    numbers = np.concatenate([sets_of, multisets[differing]]), np.concatenate([actions, changed])
    lengths = np.concatenate([np.bincount(sets_of, minlength=NUM_RANK_SETS_6), lengths])
    return DiscardArrays(
        sets=sets,
        keys=classes.keys[exceptions],
        sizes=sizes[exceptions],
        numbers=np.concatenate([np.arange(NUM_RANK_SETS_6), multisets[exceptions]]),
        starts=np.concatenate(([0], np.cumsum(lengths))),
        kept=rank_set_numbers(sets[:, KEPT_SLOTS_6])[numbers].astype(np.int16),
        thrown=thrown[numbers].astype(np.int8),
        chances=np.concatenate([usual[sets_of, actions], chances[differing, changed]]),
    )


def _one_each(sets: NDArray[np.int8]) -> SuitClasses:
    """The suit class of one hand of each rank multiset [M, 6] that has any; its suits are two, two, one and one."""
    possible = (sets[:, NUM_SUITS:] != sets[:, :-NUM_SUITS]).all(axis=1)
    masks = np.zeros((len(sets), NUM_SUITS), dtype=np.int64)
    for card in range(sets.shape[1]):  # in order of their ranks: equal ones, which are neighbours, differ in suit
        masks[:, card % NUM_SUITS] |= 1 << sets[:, card].astype(np.int64)
    places = NUM_RANKS * np.arange(NUM_SUITS)
    keys = (-np.sort(-masks, axis=1) << places).sum(axis=1).astype(np.uint64)
    return SuitClasses(keys[possible], np.concatenate(([0], np.cumsum(possible))))


def _checked(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    if not (chances >= -_SAME).all() or not np.allclose(chances.sum(axis=1), 1):
        raise ValueError("discard_probabilities: expected rows of chances that add up to 1")
    return chances


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
                # No row at once: what is said of shapes would take seconds to compile.
                for action in range(NUM_ACTIONS):
                    usual[m, action] = chances[first[row], action]


# --- sums over hands ----------------------------------------------------------------------------------------------


@jit
def unseen_ranks(seen: np.ndarray) -> np.ndarray:
    """int64 [13]: the number of cards of each rank that are not in seen [S] (-1: none)."""
    unseen = np.full(NUM_RANKS, NUM_SUITS)
    for i in range(len(seen)):
        if seen[i] >= 0:
            unseen[rank_of(seen[i])] -= 1
    return unseen


@jit(borrowed=True)
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


@jit(borrowed=True)
def _row_ways(model: DiscardArrays, row: int, unseen: np.ndarray, free: np.ndarray) -> int:
    """Hands of a row that the unseen cards make."""
    exception = row - len(model.sets)
    if exception < 0:
        return hand_ways(model.sets[row], unseen)
    return class_ways(model.keys[exception], model.sizes[exception], free)


@jit
def fill_kept(seen: np.ndarray, model: DiscardArrays, kept: np.ndarray) -> None:
    """Add to kept [1820] the hands, with their chances, of unseen cards that keep each rank multiset."""
    unseen, free = unseen_ranks(seen), free_suits(seen)
    for row in range(len(model.numbers)):
        ways = _row_ways(model, row, unseen, free)
        if ways > 0:
            for i in range(model.starts[row], model.starts[row + 1]):
                kept[model.kept[i]] += ways * model.chances[i]


@jit
def fill_thrown(seen: np.ndarray, model: DiscardArrays, thrown: np.ndarray, beside: np.ndarray) -> None:
    """Add to thrown [91] the hands, with their chances, that throw each pair of ranks.

    beside [91, 13] receives the same times the number of cards of each rank in the hand: they cannot be turned up.
    """
    unseen, free = unseen_ranks(seen), free_suits(seen)
    for row in range(len(model.numbers)):
        ways = _row_ways(model, row, unseen, free)
        if ways > 0:
            for i in range(model.starts[row], model.starts[row + 1]):
                weight = ways * model.chances[i]
                thrown[model.thrown[i]] += weight
                for slot in range(model.sets.shape[1]):
                    beside[model.thrown[i], model.sets[model.numbers[row], slot]] += weight


@jit
def _fill_kept_rows(
    part: Part, seen: np.ndarray, models: tuple[DiscardArrays, DiscardArrays], dealers: np.ndarray, weights: np.ndarray
) -> None:
    for r in range(*part):
        fill_kept(seen[r], models[1 if dealers[r] else 0], weights[r])
