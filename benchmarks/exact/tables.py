"""Exact tables of cribs and of the play as CSV: python -m benchmarks.exact.tables cribs|pegging --to FILE.csv.

`cribs` (or `cribs --uniform`, against any two cards) has the mean crib by the two ranks thrown, `pegging` what four
cards gain and give in the play between greedy players; docs/statistics.md describes both.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from math import comb, prod
from pathlib import Path
from typing import Any

from benchmarks.exact.solve_experts import rank_pair_means
from benchmarks.pages import write_csv
from deepcrib.errors import UserError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.exact.cribs import uniform_weights
from deepcrib.exact.experts import Experts, experts
from deepcrib.exact.pegging import DEALER, PONE, exact_records
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, RANK_NAMES
from deepcrib.game.rank_sets import rank_sets
from deepcrib.game.rules import HAND_SIZE

CRIB_COLUMNS = ("rank_1", "rank_2", "own_crib", "opponent_crib")
PEGGING_COLUMNS = ("rank_set", "role", "mean_gained", "median_gained", "mean_given")


def crib_table(found: Experts) -> list[tuple[str, str, float, float]]:
    """91 rows of CRIB_COLUMNS: mean points of the crib by the two ranks thrown into it.

    Over the other player's discards and the starter, nothing else of the hand being known; two ranks are an average
    over their suits. The weights are the same whatever one throws, but a player whose cards' mates are gone throws them
    more readily, and does not see its kept cards turned up: between experts that play, the same cribs are worth 0.09
    points more on average to the dealer's two cards (0.03 to 0.24) and 0.17 more to the pone's (0.07 to 0.36).
    """
    own, other = rank_pair_means(found.pone), rank_pair_means(found.dealer)
    return [
        (RANK_NAMES[a], RANK_NAMES[b], float(own[a, b]), float(other[a, b]))
        for a, b in combinations_with_replacement(range(NUM_RANKS), 2)
    ]


def pegging_rows() -> list[dict[str, Any]]:
    """PEGGING_COLUMNS of all 1,820 rank multisets of four, each as pone and dealer: points between greedy players."""
    values = exact_records().summary().tolist()
    return [
        dict(zip(PEGGING_COLUMNS, (name, ROLES[role], *by_role[role]), strict=True))
        for name, by_role in zip(rank_set_names(HAND_SIZE), values, strict=True)
        for role in (PONE, DEALER)
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


def main(words: Sequence[str] | None = None) -> None:
    """Write a table, and print the means of the play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("cribs", "pegging"))
    parser.add_argument("--uniform", action="store_true", help="cribs: any two cards are thrown into it")
    parser.add_argument("--to", type=Path, required=True, help="a CSV file")
    options = parser.parse_args(words)
    try:
        if options.table == "cribs":
            found = Experts(uniform_weights(), uniform_weights()) if options.uniform else experts()
            write_csv(options.to, CRIB_COLUMNS, crib_table(found))
        else:
            rows = pegging_rows()
            write_csv(options.to, PEGGING_COLUMNS, [list(row.values()) for row in rows])
            for role, means in overall_pegging(rows).items():
                print(f"{role}: {means['mean_gained']:.3f} gained, {means['mean_given']:.3f} given")
    except UserError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
