"""Martin's matrix and the first dealer's advantage: python -m benchmarks.exact.martin2000 [--games N] [--to FOLDER].

Martin (2000), as Lang 2018 reviews him in section 2.2: what a crib is worth by the pairs that make it, and what it is
worth to deal first, in games and in points (docs/statistics.md). Writes martin_matrix.csv and martin_bounds.csv.

Pairs of cards have the numbers of `card_pairs`. As with Martin, what else the players hold is forgotten: given both
pairs, the starter is any of the other 48 cards, and the opponent throws any two of the other 50.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich import print as show
from rich.table import Table

from benchmarks.exact.tables import rank_set_names
from benchmarks.pages import write_csv
from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.tables import percent, plain_table
from deepcrib.errors import UserError
from deepcrib.evaluation.evaluate import check_games
from deepcrib.game.cards import NUM_CARDS, NUM_SUITS, RANKS
from deepcrib.game.rank_sets import NUM_RANK_PAIRS, rank_set_2
from deepcrib.game.rules import HAND_SIZE, show_points
from deepcrib.intervals import LEVEL, wilson
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.matches import MatchResult, play_match

NUM_CARD_PAIRS = comb(NUM_CARDS, 2)
"""1,326 pairs of cards."""
STARTERS = NUM_CARDS - HAND_SIZE
"""48 cards that may be turned up once the four of the crib are known."""
IMPOSSIBLE = -1


def card_pairs() -> NDArray[np.int8]:
    """All pairs of cards in the order of `itertools.combinations`: int8 [1326, 2]."""
    return np.array(list(combinations(range(NUM_CARDS), 2)), dtype=np.int8)


def pair_number(a: int, b: int) -> int:
    """Number 0..1325 of the pair of cards a < b."""
    return a * (2 * NUM_CARDS - a - 1) // 2 + b - a - 1


@cache
def crib_totals() -> NDArray[np.int16]:
    """[1326, 1326] points of the crib of two pairs, summed over its 48 starters; IMPOSSIBLE where they share a card.

    Symmetric: it does not matter who threw which pair. Takes a second, once a process; it cannot be written.
    """
    totals = np.full((NUM_CARD_PAIRS, NUM_CARD_PAIRS), IMPOSSIBLE, dtype=np.int16)
    run_rows(_fill_totals, len(totals), card_pairs(), totals, piece=1)
    totals = np.maximum(totals, totals.T)  # the lower half is still IMPOSSIBLE
    totals.flags.writeable = False
    return totals


def crib_matrix() -> NDArray[np.float32]:
    """[1326, 1326] mean points of the crib of two pairs; nan where they share a card."""
    totals = crib_totals()
    return np.where(totals == IMPOSSIBLE, np.nan, totals / STARTERS).astype(np.float32)


def rank_pair_matrix() -> NDArray[np.float64]:
    """[91, 91] mean points of the crib of two pairs of ranks (`ranks.rank_set_2`), over all cards of these ranks."""
    ranks = RANKS[card_pairs()]
    numbers = np.array([rank_set_2(a, b) for a, b in ranks.tolist()])
    member = (numbers[:, None] == np.arange(NUM_RANK_PAIRS)).astype(np.float64)  # [1326, 91]
    totals = crib_totals()
    possible = totals != IMPOSSIBLE
    return (member.T @ np.where(possible, totals, 0) @ member) / (STARTERS * (member.T @ possible @ member))


def crib_bounds() -> NDArray[np.float64]:
    """[1326, 3] lowest, mean and highest mean points of the crib that a pair may become.

    Over the 1,225 pairs that the opponent may throw, all as likely for the mean. Whatever the opponent does, the crib
    lies between the bounds on average. So for the pone throwing `a` rather than `b` is provably wrong where it adds
    less to the own hand than lowest(a) - highest(b); for the dealer, where it adds less than lowest(b) - highest(a).
    """
    totals = crib_totals()
    possible = totals != IMPOSSIBLE
    lowest = np.where(possible, totals, np.iinfo(np.int16).max).min(axis=1)
    mean = np.where(possible, totals, 0).sum(axis=1) / possible.sum(axis=1)
    return np.stack([lowest, mean, totals.max(axis=1)], axis=1) / STARTERS


def rank_pair_bounds() -> NDArray[np.float64]:
    """[91, 3] Martin's bounds by pair of ranks: the lowest, the mean and the highest over its pairs of cards."""
    numbers = np.array([rank_set_2(a, b) for a, b in (card_pairs() // NUM_SUITS).tolist()])
    bounds = crib_bounds()
    found = np.empty((NUM_RANK_PAIRS, 3))
    for number in range(NUM_RANK_PAIRS):
        own = bounds[numbers == number]
        found[number] = own[:, 0].min(), own[:, 1].mean(), own[:, 2].max()
    return found


@jit
def _fill_totals(part: Part, pairs: np.ndarray, totals: np.ndarray) -> None:
    """Fill the upper half of totals."""
    for row in range(*part):
        crib = np.empty(HAND_SIZE, dtype=np.int64)
        crib[0], crib[1] = pairs[row, 0], pairs[row, 1]
        for column in range(row + 1, len(pairs)):
            crib[2], crib[3] = pairs[column, 0], pairs[column, 1]
            if crib[2] == crib[0] or crib[2] == crib[1] or crib[3] == crib[0] or crib[3] == crib[1]:
                continue
            points = 0
            for starter in range(NUM_CARDS):
                if starter != crib[0] and starter != crib[1] and starter != crib[2] and starter != crib[3]:
                    points += show_points(crib, starter, True)
            totals[row, column] = points


# --- the first dealer -------------------------------------------------------------------------------------------

PONE, DEALER = 0, 1


@dataclass
class FirstDealer:
    """The dealer's advantage between two equal players, in games to 121; every figure with its 95% interval.

    win_rate: share of games won by the first dealer (interval Wilson's). margin: points by which the first dealer is
    ahead when the game ends. hand_margin: points a hand, the dealer's minus the pone's; dealer_points and pone_points
    are the two. Points a hand are the sum of the means of heels, play, hand and crib, each over the times that it was
    counted to its end. For greedy that is 0.05 points less than over hands that are all played out, since it leaves
    out what ended a game; the difference of the two roles is the same.
    """

    games: int
    wins: int
    win_rate: float
    ci_low: float
    ci_high: float
    margin: float
    margin_low: float
    margin_high: float
    hand_margin: float
    hand_margin_low: float
    hand_margin_high: float
    dealer_points: float
    pone_points: float


def first_dealer_advantage(agent: Agent, games: int, seed: int, *, dealing: str = "acc") -> FirstDealer:
    """Let an agent play itself, each seat dealing first in half of the games. Raises OptionError for games < 1."""
    check_games(games, duplicate=False)
    return summarise_first_dealer(play_match([agent, agent], games, seed, dealing=dealing))


def summarise_first_dealer(result: MatchResult) -> FirstDealer:
    """Figures of a match of two equal players whose games do not share deals; with one game no interval is known."""
    games = len(result.winner)
    first = result.first_dealer.astype(np.int64)
    wins = int((result.winner == first).sum())
    share = wilson(wins, games)
    rows = np.arange(games)
    lead = result.scores[rows, first].astype(np.int64) - result.scores[rows, 1 - first]
    margin = float(lead.mean())
    half = _half_width(lead)
    by_role, deviations = _points_a_hand(result)
    hand_margin = float(by_role[DEALER] - by_role[PONE])
    hand_half = _half_width(deviations)
    return FirstDealer(
        games=games,
        wins=wins,
        win_rate=share.estimate,
        ci_low=share.low,
        ci_high=share.high,
        margin=margin,
        margin_low=margin - half,
        margin_high=margin + half,
        hand_margin=hand_margin,
        hand_margin_low=hand_margin - hand_half,
        hand_margin_high=hand_margin + hand_half,
        dealer_points=float(by_role[DEALER]),
        pone_points=float(by_role[PONE]),
    )


def _points_a_hand(result: MatchResult) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[2] points a hand by role, and what each game [G] adds to the error of their difference (dealer minus pone).

    The means are ratios of sums over games; their error is that of the ratios' linearisation (the delta method).
    """
    points = result.points.sum(axis=1, dtype=np.float64)  # [G, 2 roles, 4 kinds]
    counts = result.counts.sum(axis=1, dtype=np.float64)
    counted = np.maximum(counts.sum(axis=0), 1.0)  # the pone has no heels and no crib
    means = points.sum(axis=0) / counted
    deviations = (points - means * counts) * (len(points) / counted)
    return means.sum(axis=1), deviations[:, DEALER].sum(axis=1) - deviations[:, PONE].sum(axis=1)


def _half_width(values: NDArray[Any]) -> float:
    """Half the width of the 95% interval of a mean over independent games [G], normal; nan for a single game."""
    if len(values) < 2:
        return math.nan
    return NormalDist().inv_cdf(0.5 + LEVEL / 2) * float(values.std(ddof=1)) / math.sqrt(len(values))


# --- tables -----------------------------------------------------------------------------------------------------

BLOCKS = 3  # of the rank pairs, side by side
PUBLISHED_ADVANTAGES = {
    "Cribbage\nPro": {"win_rate": "55.5%"},
    "ACC\ntips": {"win_rate": "56%", "dealer_points": "16.2", "pone_points": "10.2", "hand_margin": "+6.0"},
    "Martin\n2000": {"margin": "about 5"},
}
"""What others found of dealing first: people's games on Cribbage Pro, several million of them; the tips of the American
Cribbage Congress (Colvert, Chambers); Martin 2000 as Lang 2018 (section 2.2) quotes him."""


def bounds_table(title: str, names: Sequence[str], bounds: NDArray) -> Table:
    """Rank pairs with the lowest, mean and highest crib, [n, 3] points: the richest mean first, down three blocks."""
    order = (-bounds[:, 1]).argsort(kind="stable")
    cells = [(names[number], *(f"{value:.2f}" for value in bounds[number])) for number in order]
    height = -(-len(cells) // BLOCKS)
    cells += [("", "", "", "")] * (height * BLOCKS - len(cells))
    rows = [sum((cells[block * height + line] for block in range(BLOCKS)), ()) for line in range(height)]
    table = plain_table(title, ("toss", "low", "mean", "high") * BLOCKS, rows)
    table.box, table.padding, table.pad_edge = box.SIMPLE_HEAD, (0, 1, 0, 0), False
    return table


def first_dealer_table(title: str, name: str, figures: FirstDealer) -> Table:
    """The dealer's advantage in one agent's games beside what others found."""
    own = {
        "win_rate": ("first dealer wins", percent(figures.win_rate, figures.ci_low, figures.ci_high)),
        "margin": ("points ahead at the end", _signed(figures.margin, figures.margin_low, figures.margin_high)),
        "dealer_points": ("points a hand, dealer", f"{figures.dealer_points:.2f}"),
        "pone_points": ("points a hand, pone", f"{figures.pone_points:.2f}"),
        "hand_margin": (
            "dealer minus pone",
            _signed(figures.hand_margin, figures.hand_margin_low, figures.hand_margin_high),
        ),
    }
    rows = [
        (label, value, *(others.get(key, "-") for others in PUBLISHED_ADVANTAGES.values()))
        for key, (label, value) in own.items()
    ]
    return plain_table(title, ("figure [95%]", f"{name},\n{figures.games:,} games", *PUBLISHED_ADVANTAGES), rows)


def _signed(value: float, low: float, high: float) -> str:
    return f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


def main(words: Sequence[str] | None = None) -> None:
    """Write the matrix and the bounds, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100_000, help="greedy against itself")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, default=Path("."), help="the folder of the CSV files")
    options = parser.parse_args(words)
    names, bounds = rank_set_names(2), rank_pair_bounds()
    try:
        found = first_dealer_advantage(make_agent("greedy"), options.games, options.seed)
        options.to.mkdir(parents=True, exist_ok=True)
        for file, columns, matrix in (
            ("martin_matrix.csv", names, rank_pair_matrix()),
            ("martin_bounds.csv", ("lowest", "mean", "highest"), bounds),
        ):
            rows = [[name, *row] for name, row in zip(names, matrix.tolist(), strict=True)]
            write_csv(options.to / file, ("pair", *columns), rows)
    except UserError as error:
        parser.error(str(error))
    mean = float(crib_bounds()[:, 1].mean())
    show(
        bounds_table(f"points of the crib by what one throws, whatever the other does; mean {mean:.3f}", names, bounds)
    )
    show(first_dealer_table("what it is worth to deal first", "greedy v. itself", found))


if __name__ == "__main__":
    main()
