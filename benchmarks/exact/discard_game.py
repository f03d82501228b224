"""The simple discard game of O'Connor 2000: six cards, two thrown, four counted with a starter from the other 46.

There is no play, no crib and no opponent. Players are functions of hands; a network learns the game from its points.

    python -m benchmarks.exact.discard_game players --to FILE
    python -m benchmarks.exact.discard_game network --hidden 20 --seed 1 --to FILE

`players`: means of the three players, over hands, exactly, and without flush or nobs. `network`: mean points of a
network by the number of hands that it has learned.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.masks import best_masks, pick_rows
from deepcrib.errors import OptionError
from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.discards import HAND_STARTERS, discard_statistics
from deepcrib.exact.strategies.discards import best_choices
from deepcrib.files import write_atomic
from deepcrib.game.cards import JACK, NUM_CARDS, NUM_SUITS, card_set
from deepcrib.game.policies import pick
from deepcrib.game.randomness import NETWORKS, below, derive, hash_key, uniform
from deepcrib.game.rules import HAND_SIZE, KEPT_SLOTS_6, show_points
from deepcrib.intervals import mean_interval
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.td.perceptron import add_gradient, backward, forward, layer_sizes, new_weights

PLAYERS = ("random", "ideal", "cheating")
DEALT = 6
MEASURED = 20_000  # hands, as in the paper
MEASURE_SEED = 2000
COUNTED = 100_000  # hands, of which parts of the points are counted apart
COUNTED_SEED = 777
STEPS = (0, 10_000, 25_000, 50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000, 1_000_000, 2_000_000)
"""Hands learned, at which a network is measured."""
DISCARD_GAME, DISCARD_GAME_CHOICE = 3000, 3001  # what a hash of `hash_key` is for: deals, and choices
_EXPLORE = 3002  # counter of the chance to explore, in the numbers of a choice
Player = Callable[[NDArray[np.int8], NDArray[np.int8], NDArray[np.uint64]], NDArray[np.int8]]
"""(hands [N, 6] sorted, starters [N], keys [N]) -> discard actions [N]; only the cheating one looks at the starters."""


@dataclass
class Points:
    """Mean points a hand with its 95% interval, and how many hands."""

    hands: int
    mean: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return asdict(self)


def deal_hands(seed: int, hands: int, first: int = 0) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.uint64]]:
    """Hands first..first + hands - 1 of a seed: sorted cards [N, 6], starters [N], keys of the decisions [N]."""
    cards, starters = np.empty((hands, DEALT), dtype=np.int8), np.empty(hands, dtype=np.int8)
    keys = np.empty(hands, dtype=np.uint64)
    run_rows(_deal_all, len(cards), seed, first, cards, starters, keys, piece=1024)
    return cards, starters, keys


def mean_points(player: Player, hands: int, seed: int) -> Points:
    """What a player scores on average. Raises OptionError for hands < 2: no interval is known."""
    if hands < 2:
        raise OptionError(f"hands={hands}: expected 2 or more hands")
    cards, starters, keys = deal_hands(seed, hands)
    chosen = player(cards, starters, keys).astype(np.int64)
    return Points(hands, *mean_interval(np.take_along_axis(_points_of(cards, starters), chosen[:, None], 1)[:, 0]))


def random_player(hands: NDArray[np.int8], starters: NDArray[np.int8], keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """Any of the 15 discards."""
    return pick_rows(best_masks(np.zeros((len(hands), NUM_DISCARDS))), keys)


def ideal_player(hands: NDArray[np.int8], starters: NDArray[np.int8], keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """The highest mean over the 46 starters, ties uniform."""
    return pick_rows(best_masks(discard_statistics(hands)["hand_sum"].astype(np.float64)), keys)


def cheating_player(hands: NDArray[np.int8], starters: NDArray[np.int8], keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """The most points with the very starter. No agent: it sees what none may see."""
    return pick_rows(best_masks(_points_of(hands, starters)), keys)


def _points_of(hands: NDArray[np.int8], starters: NDArray[np.int8]) -> NDArray[np.float64]:
    """[N, 15] points of the four cards that each discard keeps, with the starter."""
    points = np.empty((len(hands), NUM_DISCARDS))
    run_rows(_points_with, len(hands), hands, starters, points, piece=256)
    return points


@cache
def exact_means() -> dict[str, float]:
    """Expected points of the three players, by name: all 20,358,520 hands and 46 starters, by suit class. Seconds."""
    keys = suit_classes().keys
    hands, sizes = class_hands(keys), class_sizes(keys)
    sums = discard_statistics(hands)["hand_sum"].astype(np.int64)
    best = np.empty(len(hands), dtype=np.int64)
    run_rows(_sum_best_points, len(hands), hands, best, piece=16)
    total = int(sizes.sum()) * HAND_STARTERS
    totals = ((sizes * sums.sum(axis=1)).sum() / NUM_DISCARDS, (sizes * sums.max(axis=1)).sum(), (sizes * best).sum())
    return {name: float(points / total) for name, points in zip(PLAYERS, totals, strict=True)}


WAYS = {"everything": (), "no nobs": ("nobs",), "no flush": ("flush",), "neither": ("flush", "nobs")}
"""How a hand may be counted: what is left out."""


def counted_means(hands: int, seed: int) -> dict[str, dict[str, Points]]:
    """Means of the three players by each of WAYS, of players that choose by what is counted."""
    cards, starters, _ = deal_hands(seed, hands)
    shown = {way: _counted(cards, starters, left_out) for way, left_out in WAYS.items()}
    sums = {way: np.zeros((hands, NUM_DISCARDS)) for way in WAYS}
    for starter in range(NUM_CARDS):
        rows = np.flatnonzero((cards != starter).all(axis=1))
        same = np.full(len(rows), starter, dtype=np.int8)
        for way, left_out in WAYS.items():
            sums[way][rows] += _counted(cards[rows], same, left_out)
    return {way: _means(shown[way], sums[way]) for way in WAYS}


def _means(shown: NDArray[np.float64], sums: NDArray[np.float64]) -> dict[str, Points]:
    """By player, of the points [N, 15] with the starter and those with all 46; ties take their mean."""
    best = sums == sums.max(axis=1, keepdims=True)
    by_player = shown.mean(axis=1), (shown * best).sum(axis=1) / best.sum(axis=1), shown.max(axis=1)
    return {name: Points(len(shown), *mean_interval(points)) for name, points in zip(PLAYERS, by_player, strict=True)}


def _counted(hands: NDArray[np.int8], starters: NDArray[np.int8], left_out: Sequence[str]) -> NDArray[np.float64]:
    """[N, 15] points of the kept cards less those that are left out."""
    kept = hands[:, np.asarray(KEPT_SLOTS_6)]
    suits, suit = kept % NUM_SUITS, (starters % NUM_SUITS)[:, None]
    flush = (suits == suits[:, :, :1]).all(axis=2)
    parts = {
        "flush": flush * (4 + (suits[:, :, 0] == suit)),
        "nobs": ((kept // NUM_SUITS == JACK) & (suits == suit[:, :, None])).any(axis=2),
    }
    points = _points_of(hands, starters)
    for name in left_out:
        points -= parts[name]
    return points


# --- the network ----------------------------------------------------------------------------------------------------


class DiscardNetwork:
    """The network of this game: 52 inputs, one a card kept, hidden units, and the points of the four cards.

    The paper's input is "the hand". It is the hand after the discard, the four cards: the network values the state that
    a move leads to, as in the full game, and the two thrown cards count for nothing here.
    """

    def __init__(self, hidden: Sequence[int], seed: int) -> None:
        """Raises OptionError on no hidden layer, or one without units."""
        if not hidden or min(hidden) < 1:
            raise OptionError(f"hidden={list(hidden)}: expected one or more layers of 1 or more units")
        self.sizes = layer_sizes(NUM_CARDS, hidden)
        self.weights = new_weights(self.sizes, derive(seed, NETWORKS))
        self.seed, self.hands = seed, 0

    def learn(self, hands: int, lr: float = 0.01, epsilon: float = 0.0) -> None:
        """Play so many more hands, each learned from as soon as it is counted.

        The discard is that of the highest value (with chance epsilon any; the paper names no exploration). The value of
        the four cards kept, and of no others, moves along its gradient: w += lr (points - value) grad value.
        """
        last = self.hands + hands
        _learn_hands(self.seed, self.hands, last, self.weights, self.sizes, lr, epsilon)
        self.hands = last
        if not np.isfinite(self.weights).all():
            raise OptionError(f"lr={lr:g}: the network's weights are no longer finite; lower it")

    def values(self, hands: NDArray[np.int8]) -> NDArray[np.float64]:
        """[N, 15] points that the network expects of the four cards left by each discard."""
        values = np.empty((len(hands), NUM_DISCARDS))
        run_rows(_value_hands, len(hands), hands, self.weights, self.sizes, values, piece=128)
        return values

    def __call__(
        self, hands: NDArray[np.int8], starters: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int8]:
        """Its choices: a `Player`."""
        return pick_rows(best_masks(self.values(hands)), keys)


def learning_curve(hidden: Sequence[int], seed: int) -> dict[int, Points]:
    """Points of a network after each of STEPS hands, over the same hands."""
    network, curve = DiscardNetwork(hidden, seed), {}
    for hands in STEPS:
        network.learn(hands - network.hands)
        curve[hands] = mean_points(network, MEASURED, MEASURE_SEED)
    return curve


# --- the command ----------------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> None:
    """Measure the players, or a network, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("players", "network"))
    parser.add_argument("--hidden", type=int, default=20, help="units of a network")
    parser.add_argument("--seed", type=int, default=1, help="of a network")
    parser.add_argument("--to", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(words)
    found = (
        measure_players() if options.what == "players" else {"curve": learning_curve([options.hidden], options.seed)}
    )
    write_atomic(options.to, json.dumps(found, default=Points.to_dict))


def measure_players() -> dict[str, Any]:
    """Means of the three players over hands, exactly, and by what is counted."""
    players = {"random": random_player, "ideal": ideal_player, "cheating": cheating_player}
    return {
        "measured": {name: mean_points(player, MEASURED, MEASURE_SEED) for name, player in players.items()},
        "exact": exact_means(),
        "counted": counted_means(COUNTED, COUNTED_SEED),
    }


# --- kernels --------------------------------------------------------------------------------------------------------


@jit
def _deal_hand(seed: int, number: int, hand: np.ndarray) -> int:
    """Deal a sorted hand [6] and return its starter."""
    key = hash_key(seed, number, 0, -1, DISCARD_GAME)
    drawn, counter, n = 0, 0, 0
    while True:
        card = below(key, counter, NUM_CARDS)
        counter += 1
        if drawn >> card & 1:
            continue
        if n == DEALT:
            hand.sort()
            return card
        drawn |= 1 << card
        hand[n] = card
        n += 1


@jit
def _deal_all(part: Part, seed: int, first: int, cards: np.ndarray, starters: np.ndarray, keys: np.ndarray) -> None:
    for r in range(*part):
        starters[r] = _deal_hand(seed, first + r, cards[r])
        keys[r] = hash_key(seed, first + r, 0, 0, DISCARD_GAME_CHOICE)


@jit
def _keep(hand: np.ndarray, action: int, kept: np.ndarray) -> None:
    for i in range(HAND_SIZE):
        kept[i] = hand[KEPT_SLOTS_6[action, i]]


@jit
def _points_with(part: Part, hands: np.ndarray, starters: np.ndarray, points: np.ndarray) -> None:
    for r in range(*part):
        kept = np.empty(HAND_SIZE, dtype=np.int64)
        for action in range(NUM_DISCARDS):
            _keep(hands[r], action, kept)
            points[r, action] = show_points(kept, starters[r], False)


@jit
def _sum_best_points(part: Part, hands: np.ndarray, sums: np.ndarray) -> None:
    """sums [N]: over the 46 starters, the most points that any discard makes with each."""
    for r in range(*part):
        kept = np.empty(HAND_SIZE, dtype=np.int64)
        seen = card_set(hands[r])
        best = np.zeros(NUM_CARDS, dtype=np.int64)
        for action in range(NUM_DISCARDS):
            _keep(hands[r], action, kept)
            for starter in range(NUM_CARDS):
                if not seen >> starter & 1:
                    best[starter] = max(best[starter], show_points(kept, starter, False))
        sums[r] = best.sum()


@jit
def _fill_values(
    hand: np.ndarray, weights: np.ndarray, sizes: np.ndarray, kept: np.ndarray, units: np.ndarray, values: np.ndarray
) -> None:
    ones = np.ones(HAND_SIZE)
    for action in range(NUM_DISCARDS):
        _keep(hand, action, kept)
        values[action] = forward(weights, sizes, kept, ones, HAND_SIZE, units)


@jit
def _value_hands(part: Part, hands: np.ndarray, weights: np.ndarray, sizes: np.ndarray, values: np.ndarray) -> None:
    for r in range(*part):
        kept, units = np.empty(HAND_SIZE, dtype=np.int64), np.empty(sizes[1:-1].sum())
        _fill_values(hands[r], weights, sizes, kept, units, values[r])


@jit
def _learn_hands(
    seed: int, first: int, last: int, weights: np.ndarray, sizes: np.ndarray, lr: float, epsilon: float
) -> None:
    hand, kept, ones = np.empty(DEALT, dtype=np.int64), np.empty(HAND_SIZE, dtype=np.int64), np.ones(HAND_SIZE)
    units, slopes = np.empty(sizes[1:-1].sum()), np.empty(sizes[1:-1].sum())
    values = np.empty(NUM_DISCARDS)
    for number in range(first, last):
        starter = _deal_hand(seed, number, hand)
        _fill_values(hand, weights, sizes, kept, units, values)
        key = hash_key(seed, number, 0, 0, DISCARD_GAME_CHOICE)
        if np.isnan(values.sum()) or (epsilon > 0 and uniform(key, _EXPLORE) < epsilon):
            values[:] = 0  # all alike
        _keep(hand, pick(best_choices(values), key), kept)
        error = show_points(kept, starter, False) - forward(weights, sizes, kept, ones, HAND_SIZE, units)
        backward(weights, sizes, units, slopes)
        add_gradient(weights, sizes, kept, ones, HAND_SIZE, units, slopes, lr * error)


if __name__ == "__main__":
    main()
