"""Exact statistics of a hand's discards and of sets in the play, as rows of plain values, and files of such rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from deepcrib.analysis.tables import Cell, table_of
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.exact.discards import CRIB_COMPLETIONS, HAND_STARTERS, crib_means, discard_statistics
from deepcrib.exact.experts import expert_sums
from deepcrib.exact.pegging import MEAN_GAINED, exact_records
from deepcrib.files import csv_text, write_atomic
from deepcrib.game.cards import NUM_SUITS, RANK_NAMES, format_cards
from deepcrib.game.rank_sets import rank_set_of_kept, rank_sets
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6

_PONE, _DEALER = 0, 1
OPPONENTS = ("experts", "uniform")
"""Whose discards a mean of the crib is against: those of `exact.experts`, or any two cards alike."""
PEGGING_COLUMNS = ("rank_set", "role", "mean_gained", "median_gained", "mean_given")


def discard_rows(hand: Sequence[int], opponent: str) -> list[dict[str, Any]]:
    """The 15 discards of a sorted hand of six, by action; opponent, of OPPONENTS, is whom the totals are against.

    Means are in points. hand_min, hand_mean, hand_median, hand_max: over the starters. crib_uniform: against any two
    cards alike; crib_dealer, crib_pone: against an expert, from the view of either role. total_dealer is hand plus
    crib, total_pone hand minus crib. play_dealer, play_pone: points of the kept cards in the play.
    """
    cards = np.array(hand)
    own = discard_statistics(cards)[0]
    keeps, tosses = cards[KEPT_SLOTS_6], cards[DISCARD_SLOTS_6]
    mean, uniform = own["hand_sum"] / HAND_STARTERS, own["crib_sum"] / CRIB_COMPLETIONS
    dealer, pone = (crib_means(cards, expert_sums(is_dealer))[0] for is_dealer in (True, False))
    pegged = exact_records().summary()[[rank_set_of_kept(keep) for keep in keeps], :, MEAN_GAINED]
    columns = {
        "keep": [format_cards(keep) for keep in keeps],
        "toss": [format_cards(toss) for toss in tosses],
        "hand_min": own["hand_min"].tolist(),
        "hand_mean": mean.tolist(),
        "hand_median": (own["hand_median_2"] / 2).tolist(),
        "hand_max": own["hand_max"].tolist(),
        "crib_uniform": uniform.tolist(),
        "crib_dealer": dealer.tolist(),
        "crib_pone": pone.tolist(),
        "total_dealer": (mean + (uniform if opponent == "uniform" else dealer)).tolist(),
        "total_pone": (mean - (uniform if opponent == "uniform" else pone)).tolist(),
        "play_dealer": pegged[:, _DEALER].tolist(),
        "play_pone": pegged[:, _PONE].tolist(),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def hand_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """One row a discard, in the order given; what does not fit on 80 columns stands in the summary alone."""
    columns: dict[str, Cell] = {
        "keep": "{0[keep]}",
        "toss": "{0[toss]}",
        "hand\nmean": "{0[hand_mean]:.2f}",
        "hand\nrange": "{0[hand_min]}-{0[hand_max]}",
        "crib,\nany\ncards": "{0[crib_uniform]:.2f}",
        "crib\nas\ndealer": "{0[crib_dealer]:.2f}",
        "crib\nas\npone": "{0[crib_pone]:.2f}",
        "hand\n+\ncrib": "{0[total_dealer]:.2f}",
        "hand\n-\ncrib": "{0[total_pone]:.2f}",
    }
    table = table_of(title, rows, columns)
    table.columns[0].no_wrap = True
    return table


def pegging_rows() -> list[dict[str, Any]]:
    """PEGGING_COLUMNS of all 1,820 rank multisets of four, each as pone and dealer: points between greedy players."""
    values = exact_records().summary().tolist()
    return [
        dict(zip(PEGGING_COLUMNS, (name, ROLES[role], *by_role[role]), strict=True))
        for name, by_role in zip(rank_set_names(HAND_SIZE), values, strict=True)
        for role in (_PONE, _DEALER)
    ]


def overall_pegging(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """By role the means gained and given over all sets, each as often as it is dealt: 270,725 hands."""
    dealt = {name: prod(comb(NUM_SUITS, name.count(rank)) for rank in set(name)) for name in rank_set_names(HAND_SIZE)}
    hands = sum(dealt.values())
    return {
        role: {
            mean: sum(dealt[row["rank_set"]] * row[mean] for row in rows if row["role"] == role) / hands
            for mean in ("mean_gained", "mean_given")
        }
        for role in ROLES
    }


def rank_set_names(size: int) -> list[str]:
    """`A2JK` for each multiset of ranks, in the order of their numbers."""
    return ["".join(RANK_NAMES[rank] for rank in row) for row in rank_sets(size).tolist()]


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A line a row: numbers with eight digits, an empty cell for None."""
    cells = [[f"{value:.8g}" if isinstance(value, float) else value for value in row] for row in rows]
    write_atomic(path, csv_text([columns, *cells]))
