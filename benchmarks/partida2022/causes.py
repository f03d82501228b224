"""Search by what Partida 2022 may do otherwise: python -m benchmarks.partida2022.causes --to FILE [--hands 20000].

The play alone against greedy, on the hands of docs/results/search.md, with N = 50 samples, by three things that the
paper may do otherwise: which hands of the opponent are sampled (SAMPLERS), which tree is searched (TREES), and whether
go and last card count in the measured difference, too (SCORES). FILE gets mean differences with their intervals over
pairs of hands, and differences of rows on the same cards. Rows that are beside FILE already are not played again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent
from deepcrib.agents.specs.registry import MINIMAX_NAMES
from deepcrib.evaluation.hands import BATCH, deal_table
from deepcrib.exact.beliefs.plays import SETS_4, count_played, hands_by_rules
from deepcrib.files import write_atomic
from deepcrib.game.cards import NUM_RANKS, rank_of, value_of_rank
from deepcrib.game.observations import PlayColumns, PlayObservation
from deepcrib.game.randomness import below
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, RANK_BITS, RANK_MASK, play_points, series_from
from deepcrib.intervals import mean_interval
from deepcrib.matches.games import batches, play_cards
from deepcrib.search.minimax import MinimaxAgent, _pack_hidden, has_choice, sample_hands
from deepcrib.search.play_tree import (
    NO_VALUE,
    NUM_ENDS,
    OPPONENT,
    PLAYER,
    STACK,
    _code,
    fill_play_values,
    join_hands,
    pack_hand,
)

SEED = 2022
SAMPLES = 50
SAMPLERS = ("consistent", "any", "whole")
"""Rank multisets, each as likely as another: those that agree with what was seen; any of as many cards as the opponent
has left; any of four cards, however many it has left (algorithm 5 to the letter, the paper's 1,820)."""
TREES = ("rules", "strict", "literal")
"""As in the rules, with go and last card; or turns that alternate strictly, and no points for either, the count
beginning anew at 31, or where none of a player's cards fits; or algorithms 3 and 6 to the letter: any card may be laid
down, and the count goes on beyond 31. In the last two a player who has no card left is passed over."""
SCORES = ("all", "cards")
"""Measured points: all; or those of the cards alone, without go and last card."""
BLOCK = 1024
_HAND = (1 << HAND_SIZE) - 1


class Variant(MinimaxAgent):
    """`minimax` or `greedy_minimax` with one of SAMPLERS and of TREES."""

    def __init__(self, name: str, sampler: str, tree: str) -> None:
        super().__init__(name, make_agent("expected_value"), greedy=name == "greedy_minimax", samples=SAMPLES)
        self.sampler, self.tree = SAMPLERS.index(sampler), TREES.index(tree)

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] sums over the samples by slot, as of `MinimaxAgent`."""
        o = observation
        values = np.where(o.legal, 0.0, -np.inf)
        chosen = np.flatnonzero(has_choice(o))
        for low in range(0, len(chosen), BLOCK):
            rows = chosen[low : low + BLOCK]
            part, found = o.take(rows), np.zeros((len(rows), HAND_SIZE))
            weights = np.sign(hands_by_rules(part))
            _fill_sums(part.columns, weights, self.sampler, self.tree, self.greedy, found)
            values[rows] += found
        return values


# --- what is measured -------------------------------------------------------------------------------------------


def margins(agent: Agent, hands: int, seed: int = SEED) -> NDArray[np.int64]:
    """[hands, 2] points more than greedy in the hands of `play_only`, by SCORES."""
    found = []
    for numbers in batches(hands, BATCH):
        table, seats = deal_table(numbers, seed), numbers % 2
        play_cards(table, [agent, make_agent("greedy")], (np.arange(2) != seats[:, None]).astype(np.int64))
        points = table.state.play_points.astype(np.int64)
        signs = np.where(table.state.history_seats == seats[:, None], 1, -1)
        cards = points_of_cards(table.state.history.astype(np.int64), points)
        found.append(np.stack([(points * signs).sum(axis=1), (cards * signs).sum(axis=1)], axis=1))
    return np.concatenate(found)


@numba.njit
def points_of_cards(history: np.ndarray, points: np.ndarray) -> np.ndarray:
    """[N, 8] points less those for go and last card; history [N, 8] cards, points [N, 8] with them."""
    cards = np.zeros_like(points)
    for row in range(len(history)):
        series, count = 0, 0
        for n in range(history.shape[1]):
            rank = rank_of(history[row, n])
            series, count = series << RANK_BITS | (rank + 1), count + value_of_rank(rank)
            cards[row, n] = play_points(series, count)
            if count == COUNT_LIMIT or points[row, n] > cards[row, n]:
                series, count = 0, 0
    return cards


def measure(folder: Path, hands: int) -> dict[str, NDArray[np.int64]]:
    """[hands, 2] margins of every row by name, played where its file is not in the folder."""
    found = {}
    for name in ("random", *map(".".join, product(MINIMAX_NAMES, SAMPLERS, TREES))):
        path = folder / f"{name}_{hands}.npy"
        if not path.exists():
            np.save(path, margins(Variant(*name.split(".")) if "." in name else make_agent(name), hands))
        found[name] = np.load(path)
        print(name, found[name].mean(axis=0), flush=True)
    return found


def figures(found: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
    """Of every row its margins, and how many more they are than by the rules, and than the other search's."""
    result: dict[str, Any] = {}
    for name, own in found.items():
        for number, score in enumerate(SCORES):
            result[f"{name}.{score}"] = interval(own[:, number])
        search, _, rest = name.partition(".")
        if rest:
            result[f"{name}.less_rules"] = interval((own - found[f"{search}.consistent.rules"])[:, 0])
        if search == MINIMAX_NAMES[1]:
            result[f"{name}.less_minimax"] = interval((own - found[f"{MINIMAX_NAMES[0]}.{rest}"])[:, 0])
    return result


def interval(margins: NDArray[np.int64]) -> list[float]:
    """The mean with its interval over pairs of hands, one in each role."""
    return [round(value, 4) for value in mean_interval(margins.reshape(-1, 2).mean(axis=1))]


def main(words: Sequence[str] | None = None) -> None:
    """Play what is missing, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--to", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(words)
    found = measure(options.to.parent, options.hands)
    write_atomic(options.to, json.dumps({"hands": options.hands, "difference": figures(found)}))


# --- kernels: compiled anew in each process, since one calls itself -----------------------------------------------


@numba.njit(nogil=True, error_model="numpy")
def tree_value(cards: int, held: int, series: int, count: int, seat: int, greedy: bool, literal: bool) -> int:
    """Points that the player at turn still makes less the other's, in the trees without go."""
    mask = held >> (HAND_SIZE * seat) & _HAND
    if mask == 0:
        return 0 if held == 0 else -tree_value(cards, held, series, count, 1 - seat, greedy, literal)
    if not literal and count + min(_code(cards, seat, mask), 10) > COUNT_LIMIT:  # the lowest card: none fits
        series, count = 0, 0
    if greedy and seat == OPPONENT:
        mask = _greedy_of(cards, mask, series, count, literal)
    best, before = -100, 0
    while mask:
        code = _code(cards, seat, mask)
        total = count + min(code, 10)
        if total > COUNT_LIMIT and not literal:
            break
        rest = held & ~((mask & -mask) << (HAND_SIZE * seat))
        mask &= mask - 1
        if code != before:
            before = code
            best = max(best, _after(cards, rest, series, code, total, seat, greedy, literal))
    return best


@numba.njit(nogil=True, error_model="numpy")
def _greedy_of(cards: int, mask: int, series: int, count: int, literal: bool) -> int:
    """The bit of what the greedy opponent lays down: most points, then the highest rank."""
    best, choice = -1, 0
    while mask:
        code = _code(cards, OPPONENT, mask)
        total = count + min(code, 10)
        points = play_points(series << RANK_BITS | code, total)
        if points >= best and (literal or total <= COUNT_LIMIT):
            best, choice = points, mask & -mask
        mask &= mask - 1
    return choice


@numba.njit(nogil=True, error_model="numpy")
def _after(cards: int, rest: int, series: int, code: int, total: int, seat: int, greedy: bool, literal: bool) -> int:
    longer = series << RANK_BITS | code
    points = play_points(longer, total)
    if total == COUNT_LIMIT and not literal:
        longer, total = 0, 0
    return points - tree_value(cards, rest, longer, total, 1 - seat, greedy, literal)


@numba.njit(nogil=True, error_model="numpy")
def _tree_values(cards: int, series: int, count: int, greedy: bool, literal: bool, values: np.ndarray) -> None:
    """values [4] as of `fill_play_values`."""
    held = 0
    for place in range(2 * HAND_SIZE):
        if cards >> (RANK_BITS * place) & RANK_MASK:
            held |= 1 << place
    for slot in range(HAND_SIZE):
        code = cards >> (RANK_BITS * slot) & RANK_MASK
        total = count + min(code, 10)
        values[slot] = NO_VALUE
        if code and total <= COUNT_LIMIT:
            values[slot] = _after(cards, held & ~(1 << slot), series, code, total, PLAYER, greedy, literal)


@numba.njit(nogil=True, error_model="numpy")
def any_hand(key: int, number: int, size: int) -> int:
    """The bits of a hand of so many cards, every rank multiset as likely as another (stars and bars)."""
    taken, bits, cards = 0, NUM_RANKS + size - 1, 0
    left = size
    for place in range(bits):  # each set of `size` places of `bits` is as likely as another
        if left and below(key, HAND_SIZE * 64 * number + place, bits - place) < left:
            left -= 1
            cards |= (place - taken + 1) << (RANK_BITS * taken)
            taken += 1
    return cards


@numba.njit(nogil=True, error_model="numpy")
def _fill_sums(o: PlayColumns, weights: np.ndarray, sampler: int, tree: int, greedy: bool, sums: np.ndarray) -> None:
    """sums [N, 4] by slot over the samples; weights [N, 1820] are used up."""
    stack, ends = np.empty(STACK, dtype=np.int64), np.empty(NUM_ENDS, dtype=np.int8)
    values, played = np.empty(HAND_SIZE, dtype=np.int64), np.zeros(NUM_RANKS, dtype=np.int64)
    drawn = np.empty(SAMPLES, dtype=np.int64)
    for r in range(len(sums)):
        played[:] = 0
        count_played(o.history[r], o.history_seats[r], o.seat[r], played)
        own, series = pack_hand(o.hand[r]), series_from(o.history[r], o.series_start[r])
        _draw(o.key[r], sampler, weights[r], played, drawn)
        for i in range(SAMPLES):
            cards = join_hands(own, drawn[i])
            if tree:
                _tree_values(cards, series, o.counts[r], greedy, tree == 2, values)
            else:
                fill_play_values(cards, series, o.counts[r], greedy, stack, ends, values)
            for slot in range(HAND_SIZE):
                if values[slot] != NO_VALUE:
                    sums[r, slot] += values[slot]


@numba.njit(nogil=True, error_model="numpy")
def _draw(key: int, sampler: int, weights: np.ndarray, played: np.ndarray, drawn: np.ndarray) -> None:
    """drawn [samples]: the bits of the opponent's cards in each; played [13] by rank."""
    if sampler > 0:
        size = HAND_SIZE if sampler == 2 else HAND_SIZE - played.sum()
        for i in range(len(drawn)):
            drawn[i] = any_hand(key, i, size)
        return
    sample_hands(key, len(drawn), weights)
    n = 0
    for number in range(len(SETS_4)):
        for _ in range(int(weights[number])):
            drawn[n] = _pack_hidden(SETS_4[number], played)
            n += 1


if __name__ == "__main__":
    main()
