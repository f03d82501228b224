"""Values of discards and cards against a scripted player, for the best response to it."""

from __future__ import annotations

import numpy as np

from deepcrib.exact.beliefs.cribs import fill_crib_means
from deepcrib.exact.beliefs.discards import DiscardArrays, fill_kept
from deepcrib.exact.beliefs.plays import fill_beliefs
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.game.cards import NUM_SUITS, rank_of
from deepcrib.game.rank_sets import NUM_RANK_SETS_4, rank_set_4
from deepcrib.game.rules import HAND_SIZE, KEPT_SLOTS_6
from deepcrib.kernels import Part, jit
from deepcrib.search.scripted_opponent.expectimax import card_values, start_value
from deepcrib.search.scripted_opponent.workspace import BEST, Players, Workspace, new_workspace


@jit
def add_crib_means(
    part: Part, rows: np.ndarray, hands: np.ndarray, is_dealer: bool, model: DiscardArrays, values: np.ndarray
) -> None:
    """Add to values [N, 15] of the rows the mean points of the crib, negative to the pone."""
    for i in range(*part):
        means = np.empty(NUM_DISCARDS)
        fill_crib_means(hands[rows[i]], model, means)
        for action in range(NUM_DISCARDS):
            values[rows[i], action] += means[action] if is_dealer else -means[action]


@jit
def kept_ranks(hand: np.ndarray, action: int) -> np.ndarray:
    """Ranks [4], ascending, that a discard of a sorted hand [6] keeps."""
    ranks = np.empty(HAND_SIZE, dtype=np.int64)
    for slot in range(HAND_SIZE):
        ranks[slot] = rank_of(hand[KEPT_SLOTS_6[action, slot]])
    return ranks


@jit
def add_play_values(
    part: Part,
    rows: np.ndarray,
    policy: int,
    sets: np.ndarray,
    hands: np.ndarray,
    is_dealer: bool,
    model: DiscardArrays,
    table: np.ndarray,
    within: float,
    values: np.ndarray,
) -> None:
    """Add to values [N, 15] what the four kept cards are worth in the play, before the starter is known."""
    for i in range(*part):
        hand, own_values = hands[rows[i]], values[rows[i]]
        searched = np.ones(NUM_DISCARDS, dtype=np.bool_)
        if len(table) > 0:
            _choose_searched(hand, table, within, own_values, searched)
            if searched.sum() == 1:
                continue
        workspace = new_workspace()
        weights = np.zeros(NUM_RANK_SETS_4)
        fill_kept(hand, model, weights)
        pegged = np.full(NUM_DISCARDS, -np.inf)
        numbers = np.full(NUM_DISCARDS, -1)
        for action in range(NUM_DISCARDS):
            if searched[action]:
                kept = kept_ranks(hand, action)
                numbers[action] = kept_set(kept)
                for other in range(action):
                    if numbers[other] == numbers[action]:
                        pegged[action] = pegged[other]
                if pegged[action] == -np.inf:
                    pegged[action] = start_value(workspace, Players(policy, BEST, sets, kept), weights, not is_dealer)
                if len(table) > 0:
                    own_values[action] -= table[numbers[action]]
        for action in range(NUM_DISCARDS):
            own_values[action] += pegged[action]


@jit
def pegged_with(
    workspace: Workspace,
    hand: np.ndarray,
    action: int,
    policy: int,
    own_policy: int,
    sets: np.ndarray,
    weights: np.ndarray,
    is_dealer: bool,
) -> float:
    """Mean points of the play, own minus the opponent's, with the cards that a discard of a sorted hand keeps."""
    return start_value(workspace, Players(policy, own_policy, sets, kept_ranks(hand, action)), weights, not is_dealer)


@jit
def kept_set(kept: np.ndarray) -> int:
    """Number of the rank multiset of ascending ranks [4]."""
    return rank_set_4(kept[0], kept[1], kept[2], kept[3])


@jit
def _choose_searched(
    hand: np.ndarray, table: np.ndarray, within: float, values: np.ndarray, searched: np.ndarray
) -> None:
    """Add the table's values to values [15], and leave in searched [15] those near the best; the others get -inf."""
    for action in range(NUM_DISCARDS):
        values[action] += table[kept_set(kept_ranks(hand, action))]
    best = values.max()
    for action in range(NUM_DISCARDS):
        searched[action] = values[action] >= best - within
        if not searched[action]:
            values[action] = -np.inf


@jit
def fill_play_table(
    part: Part, policy: int, sets: np.ndarray, is_dealer: bool, model: DiscardArrays, table: np.ndarray
) -> None:
    """table [1820]: value of the play of each rank multiset, in the first suits that make it."""
    for number in range(*part):
        cards = np.empty(HAND_SIZE, dtype=np.int8)
        ranks = np.empty(HAND_SIZE, dtype=np.int64)
        for slot in range(HAND_SIZE):
            ranks[slot] = sets[number, slot]
            cards[slot] = NUM_SUITS * ranks[slot]
            for earlier in range(slot):
                cards[slot] += ranks[earlier] == ranks[slot]
        weights = np.zeros(NUM_RANK_SETS_4)
        fill_kept(cards, model, weights)
        table[number] = start_value(new_workspace(), Players(policy, BEST, sets, ranks), weights, not is_dealer)


@jit
def fill_play_values(
    part: Part,
    rows: np.ndarray,
    policy: int,
    sets: np.ndarray,
    model: DiscardArrays,
    seen: np.ndarray,
    own: np.ndarray,
    hands: np.ndarray,
    history: np.ndarray,
    seats: np.ndarray,
    seat: np.ndarray,
    starts: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
) -> None:
    """values [N, 4] of the rows: `expectimax.card_values`, by the beliefs of each decision."""
    for i in range(*part):
        r = rows[i]
        workspace = new_workspace()
        weights = np.empty(NUM_RANK_SETS_4)
        fill_beliefs(model, policy, sets, seen[r], own[r], history[r], seats[r], seat[r], weights)
        ranks = np.empty(HAND_SIZE, dtype=np.int64)
        for slot in range(HAND_SIZE):
            ranks[slot] = rank_of(max(hands[r, slot], 0))  # of a card that is gone it is of no account
        players = Players(policy, BEST, sets, ranks)
        card_values(
            workspace, players, weights, hands[r], history[r], seats[r], seat[r], starts[r], counts[r], values[r]
        )
