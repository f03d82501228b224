"""`deepcrib statistics`: rows and files against points counted card by card, and one line for every wrong call."""

import csv
import json
import shlex
from io import StringIO
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.exact.martin2000 import rank_pair_bounds
from deepcrib.analysis.statistics import rank_set_names
from deepcrib.cli import main
from deepcrib.exact.experts import experts
from deepcrib.exact.pegging import exact_records
from deepcrib.files import runs
from tests.support import brute_force
from tests.support.reference import cards

HAND = "5H 5S JD 2C 3C KH"
RANKS = "A23456789TJQK"
PAIRS = list(combinations_with_replacement(range(13), 2))
OTHERS = comb(48, 4)
"""Hands of four that an opponent may hold."""


@pytest.fixture(autouse=True)
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "outputs"
    monkeypatch.setattr(runs, "outputs_folder", lambda: folder)
    return folder


def call(command: str) -> int:
    return main(["statistics", *shlex.split(command)])


def summary_of(command: str, folder: Path) -> dict[str, Any]:
    assert call(f"{command} hydra.run.dir={folder}") == 0
    return json.loads((folder / "summary.json").read_text())


def table_in(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(path.read_text())))


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().err
    assert len(text.splitlines()) == 1 and text.startswith("deepcrib: ") and "Traceback" not in text, text
    return text


# --- a hand -------------------------------------------------------------------------------------------------


def test_every_figure_of_a_hand(tmp_path: Path) -> None:
    """Hand and crib counted card by card; each role meets the other's discards."""
    rows = {row["toss"]: row for row in summary_of(HAND, tmp_path / "run")["discards"]}
    held = sorted(cards(HAND))
    points = brute_force.hand_points(held)
    weights = {"crib_uniform": np.ones((13, 13)), "crib_dealer": experts().pone, "crib_pone": experts().dealer}
    cribs = {name: np.divide(*brute_force.crib_sums(held, theirs)) for name, theirs in weights.items()}
    assert len(rows) == 15
    for action, (first, second) in enumerate(combinations(held, 2)):
        (row,) = (row for toss, row in rows.items() if sorted(cards(toss)) == [first, second])
        kept = [card for card in held if card not in (first, second)]
        assert sorted(cards(row["keep"])) == kept
        assert row["hand_mean"] == pytest.approx(points[action].mean(), abs=1e-12)
        own = [row["hand_min"], row["hand_median"], row["hand_max"]]
        assert own == [points[action].min(), np.median(points[action]), points[action].max()]
        for name, means in cribs.items():
            assert row[name] == pytest.approx(means[action], abs=1e-9), name
        assert row["total_dealer"] == pytest.approx(row["hand_mean"] + row["crib_dealer"], abs=1e-12)
        assert row["total_pone"] == pytest.approx(row["hand_mean"] - row["crib_pone"], abs=1e-12)


def test_what_the_kept_cards_peg(tmp_path: Path) -> None:
    """By role, and by the ranks kept: the first set of all, four aces, and one that the suits do not change."""
    rows = {row["keep"]: row for row in summary_of("AC AD AH AS KC KD", tmp_path / "run")["discards"]}
    points = np.arange(exact_records().gained.shape[2])
    expected = [histogram @ points / OTHERS for histogram in exact_records().gained[0]]
    aces = rows["AC AD AH AS"]
    assert [aces["play_pone"], aces["play_dealer"]] == pytest.approx(expected, abs=1e-12)
    alike = [row for keep, row in rows.items() if keep.count("A") == 3]
    assert len(alike) == 8 and len({(row["play_pone"], row["play_dealer"]) for row in alike}) == 1


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ("", lambda row: row["hand_mean"] + row["crib_dealer"]),
        ("dealer=true", lambda row: row["hand_mean"] + row["crib_dealer"]),
        ("dealer=false", lambda row: row["hand_mean"] - row["crib_pone"]),
        ("weights=uniform", lambda row: row["hand_mean"] + row["crib_uniform"]),
        ("weights=uniform dealer=false", lambda row: row["hand_mean"] - row["crib_uniform"]),
    ],
)
def test_the_best_comes_first(options: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = summary_of(f"8C 8D 7H 5S KC QC {options}", tmp_path / "run")
    values = [value(row) for row in found["discards"]]
    assert values == pytest.approx(sorted(values, reverse=True), abs=1e-12) and len(set(values)) > 10
    text = capsys.readouterr().out
    shown = [text.index(f"{row['keep']} │ {row['toss']}") for row in found["discards"]]
    assert shown == sorted(shown)
    assert f"best first as {'pone' if 'dealer=false' in options else 'dealer'}" in text


@pytest.mark.parametrize(
    "words", ["5H 5S JD 2C 3C KH", "'5H 5S JD 2C 3C KH'", "kh 3c,2c jd 5s 5h", "hand='5H 5S JD 2C 3C KH'"]
)
def test_bare_cards_are_the_hand(words: str, tmp_path: Path) -> None:
    found = summary_of(f"{words} dealer=true", tmp_path / "run")
    assert found["hand"] == "2C 3C 5H 5S JD KH"
    assert (found["discards"][0]["keep"], found["discards"][0]["toss"]) == ("5H 5S JD KH", "2C 3C")


# --- cribs --------------------------------------------------------------------------------------------------


def pair_mean(a: int, b: int, weights: np.ndarray) -> float:
    """Mean crib of two ranks over their pairs of cards; a quarter of those of two ranks are of one suit."""
    apart = brute_force.crib_mean([4 * a, 4 * b + 1], weights)
    return apart if a == b else (brute_force.crib_mean([4 * a, 4 * b], weights) + 3 * apart) / 4


def test_the_crib_table(tmp_path: Path) -> None:
    found = summary_of("crib_table", tmp_path / "run")
    path = tmp_path / "run" / "crib_table.csv"
    assert path.read_text().splitlines()[0] == "rank_1,rank_2,own_crib,opponent_crib"
    rows = table_in(path)
    assert [row["rank_1"] + row["rank_2"] for row in rows] == [RANKS[a] + RANKS[b] for a, b in PAIRS]
    assert len(rows) == 91 and found["path"] == str(path)
    for (a, b), row, pair in zip(PAIRS, rows, found["pairs"], strict=True):
        assert float(row["own_crib"]) == pytest.approx(pair_mean(a, b, experts().pone), rel=1e-7)
        assert float(row["opponent_crib"]) == pytest.approx(pair_mean(a, b, experts().dealer), rel=1e-7)
        assert pair["own_crib"] == pytest.approx(float(row["own_crib"]), rel=1e-7)


def test_against_any_two_cards_the_crib_table_is_martins_mean(tmp_path: Path) -> None:
    """Two computations that share the rules alone; and it does not matter whose crib it is."""
    summary_of("crib_table opponent=uniform", tmp_path / "run")
    bounds = dict(zip(rank_set_names(2), rank_pair_bounds()[:, 1], strict=True))
    for row in table_in(tmp_path / "run" / "crib_table.csv"):
        assert row["own_crib"] == row["opponent_crib"]
        assert float(row["own_crib"]) == pytest.approx(bounds[row["rank_1"] + row["rank_2"]], rel=1e-7)


# --- the play -----------------------------------------------------------------------------------------------


def times_dealt(name: str) -> int:
    return prod(comb(4, name.count(rank)) for rank in set(name))


def test_the_pegging_of_every_set(tmp_path: Path) -> None:
    found = summary_of("pegging", tmp_path / "run")
    rows = table_in(tmp_path / "run" / "pegging.csv")
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
        assert [found["overall"][role][name] for name in means] == pytest.approx(overall[role], abs=1e-6)
    assert overall["pone"] == pytest.approx(overall["dealer"][::-1], abs=1e-6)  # what one gains the other gives


# --- calls --------------------------------------------------------------------------------------------------


def test_help_says_that_cards_are_taken_bare(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--help") == 0
    assert "[HAND | crib_table | pegging]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", "option hand is missing: expected six cards, or one of the tasks crib_table, pegging"),
        ("5H 5S JD 2C 3C", "hand=5H 5S JD 2C 3C: expected six cards, found 5"),
        ("hand=", "expected six cards, found 0"),
        ("5H 5S JD 2C 3C 3C", "the card 3C stands twice"),
        ("5H 5S JD 2C 3C KX", "not a card: 'KX'"),
        ("hand=5H,5S", "Ambiguous value for argument 'hand=5H,5S'"),
        ("peging", "cannot read 'peging': expected a hand or one of the tasks crib_table, pegging"),
        ("pegging 5H", "cannot read '5H'"),
        ("task=all", "task=all: expected one of hand, crib_table, pegging"),
        (f"{HAND} dealer=perhaps", "dealer=perhaps: expected true or false or null"),
        (f"{HAND} weights=expert", "weights=expert: did you mean experts? expected one of experts, uniform"),
        ("pegging hand=5H", "hand=5H: only for hand, not for pegging"),
        ("crib_table opponent=nobody", "opponent=nobody: expected one of experts, uniform"),
        ("pegging opponent=uniform", "opponent=uniform: only for crib_table, not for pegging"),
    ],
)
def test_wrong_calls(command: str, expected: str, outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(command) == 2
    assert expected in one_line(capsys)
    assert not list(outputs.glob("statistics/*/*"))
