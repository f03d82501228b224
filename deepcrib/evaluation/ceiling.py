"""How near the best response to greedy is to the most that anybody could gain on it, in points a hand: upper bounds.

A player is given something that it cannot know, and then takes the best of all choices: nobody who lacks it does
better on average. What it has then beyond the best response, over the same deals, is the most that is left to gain
(an information relaxation; Brown, Smith and Sun 2010, *Information Relaxations and Duality in Stochastic Dynamic
Programs*, with no penalty). Two players are measured:

- `by_ranks` goes by the ranks of the cards that the opponent plays, as the best response's search does, and knows
  before its discard which card will be turned up, for its play, and whether the crib will be a flush;
- `with_sight` sees the opponent's hand from the first lead on.

The second bounds every player there is. What the first does not bound is the worth of the suits that the opponent shows
in the play: they tell something of its hand where it kept a flush.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.evaluation.exploit import over_deals
from deepcrib.exact.beliefs.cribs import fill_flush_means
from deepcrib.exact.beliefs.discards import DiscardArrays, fill_kept
from deepcrib.exact.beliefs.plays import SETS_4
from deepcrib.exact.cribs import FLUSH, NUM_DISCARDS
from deepcrib.game.cards import SUITS
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.policies import GREEDY
from deepcrib.game.rank_sets import NUM_RANK_SETS_4
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, RANK_BITS
from deepcrib.intervals import Interval, mean_interval
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.play_tree import NUM_ENDS, STACK, fill_play_values, join_hands
from deepcrib.search.scripted_opponent.values import kept_ranks, kept_set, pegged_with
from deepcrib.search.scripted_opponent.workspace import BEST, new_workspace


@dataclass
class Ceiling:
    """The most points a hand that are left above the best response to greedy, with 95% intervals (Student's t).

    deals: half of them as pone, half as dealer. by_ranks, with_sight: of the players of this module.
    """

    deals: int
    by_ranks: Interval
    with_sight: Interval


def ceiling(deals: int, seed: int, progress: Callable[[int], None] | None = None) -> Ceiling:
    """Measure both bounds over random deals at 0-0. Raises OptionError for an odd number of deals."""
    found = over_deals(ScriptedAgent("greedy"), deals, seed, rests, progress)
    pairs = (found[0::2] + found[1::2]) / 2  # roles are strata, as in `exploit`
    return Ceiling(deals, mean_interval(pairs[:, 0]), mean_interval(pairs[:, 1]))


def rests(responder: BestResponseAgent, ids: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """[N, 2] points that `by_ranks` and `with_sight` have beyond the responder; even ids are dealt to the pone."""
    table = Games(ids, seed, first_dealer=((ids + 1) % 2).astype(np.int8), stop_at_121=False)
    rows = table.deal()
    own, other = (table.discard_observation(rows, np.full(len(rows), seat, dtype=np.int8)) for seat in (0, 1))
    starters = table.state.hidden[:, 0].astype(np.int8)
    shown = responder.show_values(own)
    best = responder.discard_values(own, shown).argmax(axis=1)
    shown += np.where(own.is_dealer, 1, -1)[:, None] * surprise_of_flushes(responder, own, other, starters)
    hands = np.ascontiguousarray(np.concatenate([own.hand, starters[:, None]], axis=1))
    found = np.empty((len(rows), 2))
    for is_dealer in (False, True):
        which = np.flatnonzero(own.is_dealer == is_dealer)
        run_rows(
            _fill_rests,
            len(which),
            which,
            SETS_4,
            hands,
            is_dealer,
            responder.against(is_dealer),
            shown,
            best,
            sight(is_dealer),
            found,
            piece=1,
        )
    return found


def surprise_of_flushes(
    responder: BestResponseAgent, own: DiscardObservation, other: DiscardObservation, starters: NDArray[np.int8]
) -> NDArray[np.float64]:
    """[N, 15] points for the crib's flush with the opponent's real cards, less those that the best response expects.

    Its means of the crib take the opponent's suits to be spread evenly; everything else in them is exact.
    """
    expected = np.empty((len(own), NUM_DISCARDS))
    for is_dealer in (False, True):
        rows = np.flatnonzero(own.is_dealer == is_dealer)
        run_rows(_fill_flushes, len(rows), rows, own.hand, responder.against(is_dealer), expected, piece=16)
    mine, theirs = (_thrown_suits(seen.hand) for seen in (own, other))
    flush = (mine[:, :, None] == theirs[:, None, :]) & (mine == SUITS[starters][:, None])[:, :, None]
    chances = np.einsum("nij,nj->ni", flush.astype(np.float64), responder.discards_of(other))
    real: NDArray[np.float64] = FLUSH * chances - expected
    return real


def _thrown_suits(hands: NDArray[np.int8]) -> NDArray[np.int64]:
    """[N, 15] suit of both cards of a discard, one that no other has where they differ."""
    suits = SUITS[hands[:, DISCARD_SLOTS_6]].astype(np.int64)  # [N, 15, 2]
    return np.where(suits[..., 0] == suits[..., 1], suits[..., 0], -1)


@cache
def sight(is_dealer: bool) -> NDArray[np.int8]:
    """[1820, 1820] own minus greedy's points of the play of each own rank multiset against each of greedy's.

    Of the best play of one who sees both hands, as pone or as dealer.
    """
    table = np.empty((NUM_RANK_SETS_4, NUM_RANK_SETS_4), dtype=np.int8)
    run_rows(_fill_sight, len(SETS_4), SETS_4, is_dealer, table, piece=1)
    return table


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def _packed(ranks: np.ndarray, cards: int) -> int:
    """The first `cards` ranks of ascending ones [4], as `play_tree` packs a hand."""
    bits = 0
    for slot in range(cards):
        bits |= (int(ranks[slot]) + 1) << (RANK_BITS * slot)
    return bits


@jit
def _fill_sight(part: Part, sets: np.ndarray, is_dealer: bool, table: np.ndarray) -> None:
    for own in range(*part):
        stack = np.empty(STACK, dtype=np.int64)
        ends = np.empty(NUM_ENDS, dtype=np.int8)
        values = np.empty(HAND_SIZE)
        mine = _packed(sets[own], HAND_SIZE)
        for other in range(len(sets)):
            theirs, lead = _packed(sets[other], HAND_SIZE), 0
            if is_dealer:  # greedy leads its highest card: no lead makes points
                theirs, lead = _packed(sets[other], HAND_SIZE - 1), int(sets[other, HAND_SIZE - 1]) + 1
            fill_play_values(join_hands(mine, theirs), lead, min(lead, 10), True, stack, ends, values)
            table[own, other] = values.max()


@jit
def _fill_flushes(part: Part, rows: np.ndarray, hands: np.ndarray, model: DiscardArrays, means: np.ndarray) -> None:
    for i in range(*part):
        fill_flush_means(hands[rows[i]], model, means[rows[i]])


@jit
def _mean_sight(sight: np.ndarray, numbers: np.ndarray, weights: np.ndarray, means: np.ndarray) -> None:
    """means [15] of the sighted play of each discard's kept ranks, numbers [15], over hands of weights [1820]."""
    total = weights.sum()
    for action in range(NUM_DISCARDS):
        points = 0.0
        for other in range(len(weights)):
            points += weights[other] * sight[numbers[action], other]
        means[action] = points / total


@jit
def _fill_rests(
    part: Part,
    rows: np.ndarray,
    sets: np.ndarray,
    hands: np.ndarray,
    is_dealer: bool,
    model: DiscardArrays,
    shown: np.ndarray,
    best: np.ndarray,
    sight: np.ndarray,
    found: np.ndarray,
) -> None:
    """found [N, 2] of deals hands [N, 7], the starter last; shown [N, 15]: points of hand and crib."""
    for i in range(*part):
        r = rows[i]
        workspace, numbers = new_workspace(), np.empty(NUM_DISCARDS, dtype=np.int64)
        for action in range(NUM_DISCARDS):
            numbers[action] = kept_set(kept_ranks(hands[r], action))
        weights, sighted = np.zeros(NUM_RANK_SETS_4), np.empty(NUM_DISCARDS)
        fill_kept(hands[r, : len(hands[r]) - 1], model, weights)
        _mean_sight(sight, numbers, weights, sighted)
        most_seen = (shown[r] + sighted).max()
        weights[:] = 0
        fill_kept(hands[r], model, weights)
        _mean_sight(sight, numbers, weights, sighted)
        own = shown[r, best[r]] + pegged_with(workspace, hands[r], best[r], GREEDY, BEST, sets, weights, is_dealer)
        most = own
        for action in range(NUM_DISCARDS):
            if shown[r, action] + sighted[action] > most:  # else not even sight would make it better
                pegged = pegged_with(workspace, hands[r], action, GREEDY, BEST, sets, weights, is_dealer)
                most = max(most, shown[r, action] + pegged)
        found[r, 0] = most - own
        found[r, 1] = most_seen - own
