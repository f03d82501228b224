"""Upper bounds above the best response to greedy: python -m benchmarks.equilibrium.ceiling [--deals 2000] [--seed 7].

How near the best response is to the most that anybody could gain on greedy, in points a hand.

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

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import interval
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.evaluation.exploit import over_deals, play_after, with_starters
from deepcrib.exact.beliefs.cribs import flush_weight
from deepcrib.exact.beliefs.discards import DiscardArrays, fill_thrown, unseen_ranks
from deepcrib.exact.beliefs.plays import SETS_4
from deepcrib.exact.cribs import FLUSH, NUM_DISCARDS
from deepcrib.files.runs import write_json
from deepcrib.game.cards import NUM_RANKS, RANKS, SUITS, card_set, suit_of
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.policies import GREEDY
from deepcrib.game.rank_sets import NUM_RANK_PAIRS, NUM_RANK_SETS_4, rank_set_numbers
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6, RANK_BITS
from deepcrib.intervals import Interval, mean_interval
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.play_tree import NUM_ENDS, STACK, fill_play_values, join_hands

PLAYERS = {
    "by_ranks": (
        "goes by the ranks that greedy plays; knows the starter before its discard, for its play, and whether the crib "
        "will be a flush",
        "every player that does not look at the suits of the cards that greedy plays",
    ),
    "with_sight": ("sees greedy's hand from the first lead on, and whether the crib will be a flush", "every player"),
}
"""Those of this module, and whom they bound, in the words of docs/results/best_response.md."""


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


def table(runs: Mapping[str, Any]) -> list[dict[str, str]]:
    """Rows of docs/results/best_response.md, from what `long_runs.py` keeps of this script."""
    rows = []
    for name, (player, bounded) in PLAYERS.items():
        found = Interval(*(runs["all"]["figures"][f"{name}.{end}"] for end in Interval._fields))
        cells = interval("at most more than the best response", found, ".3f")
        rows.append({"player": player, **cells, "whom it bounds": bounded})
    return rows


def rests(responder: BestResponseAgent, ids: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """[N, 2] points that `by_ranks` and `with_sight` have beyond the responder; even ids are dealt to the pone."""
    table = Games(ids, seed, first_dealer=((ids + 1) % 2).astype(np.int8), stop_at_121=False)
    rows = table.deal()
    own, other = (table.discard_observation(rows, np.full(len(rows), seat, dtype=np.int8)) for seat in (0, 1))
    starters = table.state.hidden[:, 0].astype(np.int8)
    shown = responder.show_values(own)
    best = responder.discard_values(own, shown).argmax(axis=1)
    shown += np.where(own.is_dealer, 1, -1)[:, None] * surprise_of_flushes(responder, own, other, starters)
    weights = [responder.model.kept_weights(seen, ~own.is_dealer) for seen in (own.hand, with_starters(own, starters))]
    seen_first, seen_then = (shown + _mean_sights(own, known) for known in weights)
    values = play_after(own, starters, weights[1], rows, best, GREEDY) + shown[rows, best]
    most = values.copy()
    seen_then[rows, best] = -np.inf
    tried, actions = np.nonzero(seen_then > values[:, None])  # else not even sight would make it better
    np.maximum.at(most, tried, shown[tried, actions] + play_after(own, starters, weights[1], tried, actions, GREEDY))
    return np.stack([most, seen_first.max(axis=1)], axis=1) - values[:, None]


def _mean_sights(own: DiscardObservation, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """[N, 15] mean points of the sighted play after each discard, over the opponent's hands of weights [N, 1820]."""
    means = np.empty((len(own), NUM_DISCARDS))
    numbers = rank_set_numbers(RANKS[own.hand[:, KEPT_SLOTS_6]])
    run_rows(_fill_sights, len(own), (sight(False), sight(True)), own.is_dealer, numbers, weights, means, piece=1)
    return means


def surprise_of_flushes(
    responder: BestResponseAgent, own: DiscardObservation, other: DiscardObservation, starters: NDArray[np.int8]
) -> NDArray[np.float64]:
    """[N, 15] points for the crib's flush with the opponent's real cards, less those that the best response expects.

    Its means of the crib take the opponent's suits to be spread evenly; everything else in them is exact.
    """
    expected = np.empty((len(own), NUM_DISCARDS))
    run_rows(_fill_flushes, len(own), own.hand, responder.model.arrays, own.is_dealer, expected, piece=16)
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
def _fill_flush_means(hand: np.ndarray, model: DiscardArrays, means: np.ndarray) -> None:
    """means [15]: points of flushes in the crib after each discard, the part of `fill_crib_means` that is not exact."""
    unseen = unseen_ranks(hand)
    mask = card_set(hand)
    thrown = np.zeros(NUM_RANK_PAIRS)
    fill_thrown(hand, model, thrown, np.zeros((NUM_RANK_PAIRS, NUM_RANKS)))
    for action in range(NUM_DISCARDS):
        suit = suit_of(hand[DISCARD_SLOTS_6[action, 0]])
        means[action] = 0.0
        if suit == suit_of(hand[DISCARD_SLOTS_6[action, 1]]):
            means[action] = FLUSH * flush_weight(suit, mask, unseen, thrown) / thrown.sum()


@jit
def _fill_flushes(
    part: Part, hands: np.ndarray, models: tuple[DiscardArrays, DiscardArrays], dealers: np.ndarray, means: np.ndarray
) -> None:
    for r in range(*part):
        _fill_flush_means(hands[r], models[0 if dealers[r] else 1], means[r])


@jit
def _fill_sights(
    part: Part,
    sights: tuple[np.ndarray, np.ndarray],
    dealers: np.ndarray,
    numbers: np.ndarray,
    weights: np.ndarray,
    means: np.ndarray,
) -> None:
    """means [N, 15] of the sighted play of each discard's kept ranks, numbers [N, 15]."""
    for r in range(*part):
        sight, total = sights[1 if dealers[r] else 0], weights[r].sum()
        for action in range(NUM_DISCARDS):
            points = 0.0
            for other in range(len(sight)):
                points += weights[r, other] * sight[numbers[r, action], other]
            means[r, action] = points / total


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deals", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--to", type=Path, help="JSON")
    arguments = parser.parse_args()
    start, done = time.perf_counter(), 0

    def progress(deals: int) -> None:
        nonlocal done
        done += deals
        print(f"\r{done} of {arguments.deals} deals", end="", flush=True)

    found = ceiling(arguments.deals, arguments.seed, progress)
    print(f"\n{found.deals} deals, {time.perf_counter() - start:,.0f} s; points a hand at most above the best response")
    for name, bound in (("by ranks", found.by_ranks), ("with sight", found.with_sight)):
        print(f"{name:10} {bound.estimate:.4f} [{bound.low:.4f}, {bound.high:.4f}]")
    if arguments.to is not None:
        write_json(arguments.to, {name: getattr(found, name)._asdict() for name in PLAYERS})


if __name__ == "__main__":
    main()
