"""Tables of cribs and of the play, against points counted card by card."""

import csv
from io import StringIO
from itertools import combinations_with_replacement
from math import comb, prod
from pathlib import Path

import numpy as np
import pytest

from benchmarks.exact.martin2000 import rank_pair_bounds
from benchmarks.exact.tables import main, rank_set_names
from deepcrib.exact.experts import experts
from deepcrib.exact.pegging import exact_records
from tests.support import brute_force

RANKS = "A23456789TJQK"
PAIRS = list(combinations_with_replacement(range(13), 2))
OTHERS = comb(48, 4)
"""Hands of four that an opponent may hold."""


def table_in(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(path.read_text())))


def pair_mean(a: int, b: int, weights: np.ndarray) -> float:
    """Mean crib of two ranks over their pairs of cards; a quarter of those of two ranks are of one suit."""
    apart = brute_force.crib_mean([4 * a, 4 * b + 1], weights)
    return apart if a == b else (brute_force.crib_mean([4 * a, 4 * b], weights) + 3 * apart) / 4


def test_the_crib_table(tmp_path: Path) -> None:
    path = tmp_path / "cribs.csv"
    main(["cribs", "--to", str(path)])
    assert path.read_text().splitlines()[0] == "rank_1,rank_2,own_crib,opponent_crib"
    rows = table_in(path)
    assert [row["rank_1"] + row["rank_2"] for row in rows] == [RANKS[a] + RANKS[b] for a, b in PAIRS]
    for (a, b), row in zip(PAIRS, rows, strict=True):
        assert float(row["own_crib"]) == pytest.approx(pair_mean(a, b, experts().pone), rel=1e-7)
        assert float(row["opponent_crib"]) == pytest.approx(pair_mean(a, b, experts().dealer), rel=1e-7)


def test_against_any_two_cards_the_crib_table_is_martins_mean(tmp_path: Path) -> None:
    """Two computations that share the rules alone; and it does not matter whose crib it is."""
    main(["cribs", "--uniform", "--to", str(tmp_path / "cribs.csv")])
    bounds = dict(zip(rank_set_names(2), rank_pair_bounds()[:, 1], strict=True))
    for row in table_in(tmp_path / "cribs.csv"):
        assert row["own_crib"] == row["opponent_crib"]
        assert float(row["own_crib"]) == pytest.approx(bounds[row["rank_1"] + row["rank_2"]], rel=1e-7)


# --- the play -----------------------------------------------------------------------------------------------


def times_dealt(name: str) -> int:
    return prod(comb(4, name.count(rank)) for rank in set(name))


def test_the_pegging_of_every_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["pegging", "--to", str(tmp_path / "pegging.csv")])
    rows, printed = table_in(tmp_path / "pegging.csv"), capsys.readouterr().out
    assert list(rows[0]) == ["rank_set", "role", "mean_gained", "median_gained", "mean_given"]
    assert len(rows) == 2 * 1_820
    points = np.arange(exact_records().gained.shape[2])
    for role, row in zip((0, 1), rows, strict=False):  # of four aces
        gained = exact_records().gained[0, role] @ points / OTHERS
        assert (row["rank_set"], float(row["mean_gained"])) == ("AAAA", pytest.approx(gained, rel=1e-7))
    overall = {}
    for role in ("pone", "dealer"):
        own = [row for row in rows if row["role"] == role]
        ways = np.array([times_dealt(row["rank_set"]) for row in own])
        assert ways.sum() == comb(52, 4)
        means = ("mean_gained", "mean_given")
        overall[role] = [float(ways @ [float(row[name]) for row in own]) / ways.sum() for name in means]
        assert "{}: {:.3f} gained, {:.3f} given".format(role, *overall[role]) in printed
    assert overall["pone"] == pytest.approx(overall["dealer"][::-1], abs=1e-6)  # what one gains the other gives
