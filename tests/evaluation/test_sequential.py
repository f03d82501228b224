"""Matches that stop when decided: capitals that are martingales, error rates, coverage under peeking, prefixes."""

import json
import math
from dataclasses import asdict, fields, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.agents import make_agent
from deepcrib.cli import main
from deepcrib.evaluation import sequential
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.luck import beyond_cards
from deepcrib.evaluation.sequential import (
    StoppingRule,
    always_valid,
    evaluate_until,
    first_stop,
    free_intervals,
    log_capital,
    pair_counts,
)
from deepcrib.intervals import pairs_interval
from deepcrib.matches import MatchResult, play_match

# Chances that a pair comes to 0, 0.5 and 1: of equals in independent games, and of 52% where the cards decide most.
EQUALS, DUPLICATE = (0.25, 0.5, 0.25), (0.18, 0.6, 0.22)


def pairs(chances: tuple[float, ...], matches: int, num_pairs: int, seed: int) -> np.ndarray:
    """Pair means [matches, num_pairs] drawn from the chances."""
    return np.random.default_rng(seed).choice([0.0, 0.5, 1.0], size=(matches, num_pairs), p=chances)


# --- the capitals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chances", [(0.25, 0.5, 0.25), (0.1, 0.0, 0.9), (0.7, 0.2, 0.1), (0.0, 0.96, 0.04)])
def test_a_bet_against_the_truth_wins_nothing(chances: tuple[float, ...]) -> None:
    """Over all 3^7 outcomes of seven pairs, the mean of the capital that bets against the true mean is 1."""
    true = chances[1] / 2 + chances[2]
    total = reverse = 0.0
    for outcome in product((0, 1, 2), repeat=7):
        chance = math.prod(chances[x] for x in outcome)
        counts = np.bincount(outcome, minlength=3)
        total += chance * math.exp(log_capital(counts, true))
        reverse += chance * math.exp(log_capital(counts[::-1], 1 - true))
    assert total == pytest.approx(1, abs=1e-9)
    assert reverse == pytest.approx(1, abs=1e-9)


@given(st.tuples(*[st.integers(0, 40)] * 3).filter(any))
def test_the_interval_is_all_that_the_capital_does_not_refute(counts: tuple[int, int, int]) -> None:
    estimate, low, high = always_valid(counts)
    assert estimate == pytest.approx((counts[1] / 2 + counts[2]) / sum(counts))
    assert 0 <= low <= estimate <= high <= 1
    for mean in np.linspace(0.005, 0.995, 67):
        assert (log_capital(counts, mean) < math.log(20)) == (low < mean < high)


def test_an_interval_turned_round_is_the_opponents() -> None:
    ours, theirs = always_valid([30, 50, 90]), always_valid([90, 50, 30])
    assert (1 - ours.high, 1 - ours.low) == pytest.approx(theirs[1:])


# --- error rates, by simulation -------------------------------------------------------------------------------

CHANCE = 3.1  # standard errors: each of these tests fails by chance once in a thousand seeds; the seeds are fixed


@pytest.mark.parametrize("chances", [EQUALS, DUPLICATE, (0.9, 0.09, 0.01)])
def test_the_interval_holds_wherever_one_looks(chances: tuple[float, ...]) -> None:
    """1,000 matches, each looked at after every one of 2,000 pairs: the interval misses the truth in 5% at most."""
    true = chances[1] / 2 + chances[2]
    matches = pairs(chances, 1000, 2000, seed=3)
    missed = np.mean([(log_capital(pair_counts(match), true) >= math.log(20)).any() for match in matches])
    assert missed <= 0.05 + CHANCE * math.sqrt(0.05 * 0.95 / 1000)
    # the interval for a fixed number of games, looked at a hundred times, misses it in many more
    looks = range(20, 2001, 20)
    usual = [
        any(not i.low <= true <= i.high for i in map(pairs_interval, (m[:n] for n in looks))) for m in matches[:100]
    ]
    assert np.mean(usual) > 0.2


def test_a_match_of_equals_is_rarely_called_unequal() -> None:
    found = [first_stop(match, StoppingRule()) for match in pairs(EQUALS, 200, 9000, seed=4)]
    verdicts = [stop[1] if stop else "undecided" for stop in found]
    assert sum(verdict in ("better", "worse") for verdict in verdicts) <= 17  # 10 expected at most, 3.1 sd = 2.2 * 3.1
    assert verdicts.count("equal") > 150


@cache
def free_pairs() -> np.ndarray:
    """Pair means of a match of equals without the luck of the cards, their mean 1/2."""
    match = play_match([make_agent("greedy")] * 2, 10_000, 33, measure=beyond_cards)
    values = sequential._pair_means(match, luck=True)
    return values - values.mean() + 0.5


def test_without_luck_a_match_of_equals_is_rarely_called_unequal() -> None:
    """500 matches of 2,000 pairs drawn from a real match: the asymptotic interval leaves 1/2 out in 5% at most."""
    matches = np.random.default_rng(6).choice(free_pairs(), size=(500, 2000))
    missed = np.mean([(np.abs(mean - 0.5) > half).any() for mean, half in (free_intervals(m, 0.05) for m in matches)])
    assert 0 < missed <= 0.05 + CHANCE * math.sqrt(0.05 * 0.95 / 500)


@pytest.mark.parametrize("values", [np.full(400, 0.5), np.full(400, 0.5) + 1e-15])
def test_pairs_that_are_all_alike_are_no_proof(values: np.ndarray) -> None:
    stop = first_stop(values, StoppingRule(), luck=True)
    assert stop is not None and stop[1] == "equal" and stop[0] >= 64


def test_without_luck_a_match_is_decided_sooner() -> None:
    stops = [
        evaluate_until("greedy", "deterministic", 20_000, seed, StoppingRule(0.01), luck=luck).games
        for luck in (True, False)
        for seed in (1, 2, 3)
    ]
    assert sum(stops[:3]) < 0.6 * sum(stops[3:])


def test_unequal_players_are_told_apart() -> None:
    found = [first_stop(match, StoppingRule()) for match in pairs((0.16, 0.48, 0.36), 100, 3000, seed=5)]
    assert all(stop is not None and stop[1] == "better" for stop in found)  # a win rate of 0.6


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=30, max_size=120), st.integers(1, 29))
def test_the_first_stop_does_not_depend_on_where_one_starts_to_look(match: list[float], start: int) -> None:
    rule, means = StoppingRule(difference=0.2, alpha=0.3), np.array(match)
    whole = first_stop(means, rule)
    if whole is None or whole[0] > start:
        assert first_stop(means, rule, start) == whole
    # what decided it is seen from the pairs up to there alone
    assert whole is None or first_stop(means[: whole[0]], rule) == whole
    assert whole is None or first_stop(means[: whole[0] - 1], rule) is None


# --- matches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [False, True])
def test_parts_of_a_match_are_the_match(duplicate: bool) -> None:
    agents = [make_agent(name) for name in ("greedy", "expected_value")]
    whole = play_match(agents, 44, 7, duplicate=duplicate)
    parts = [
        play_match(agents, games, 7, duplicate=duplicate, first_game=first // 2 if duplicate else first)
        for first, games in ((0, 12), (12, 8), (20, 24))
    ]
    joined = MatchResult.concatenate(parts)
    for column in fields(MatchResult):
        if column.name != "seconds":
            np.testing.assert_array_equal(getattr(joined, column.name), getattr(whole, column.name))


def comparable(figures: object) -> dict[str, object]:
    """Figures without those that a stop changes."""
    left_out = {"seconds", "ci_low", "ci_high", "normal_low", "normal_high", "hand_margin_low", "hand_margin_high"}
    left_out |= {"verdict", "rule", "max_games"}  # which a match of a fixed length has not
    return {name: value for name, value in asdict(figures).items() if name not in left_out}  # type: ignore[call-overload]


@pytest.mark.parametrize("duplicate", [False, True])
def test_a_stop_gives_the_figures_of_so_many_games(duplicate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = StoppingRule(difference=0.03)
    found = evaluate_until("greedy", "deterministic", 20000, 11, rule, duplicate=duplicate)
    assert found.verdict == "better" and found.games < 10000
    fixed = evaluate("greedy", "deterministic", found.games, 11, duplicate=duplicate)
    assert comparable(found) == comparable(fixed)
    # wider than the interval of a match whose length was fixed before, and around the same estimate
    assert found.ci_low < fixed.ci_low < fixed.win_rate < fixed.ci_high < found.ci_high
    assert found.normal_low is None
    monkeypatch.setattr(sequential, "_batch", lambda done, games: min(52, games - done))
    again = evaluate_until("greedy", "deterministic", 20000, 11, rule, duplicate=duplicate)
    assert replace(again, seconds=0) == replace(found, seconds=0)


def test_a_stop_without_luck_gives_the_figures_of_so_many_games() -> None:
    found = evaluate_until("greedy", "hand_max_avg", 20000, 11, StoppingRule(), luck=True)
    assert found.verdict == "worse"
    fixed = evaluate("greedy", "hand_max_avg", found.games, 11, luck=True)
    ours, theirs = found.luck_free, fixed.luck_free
    assert (ours.win_rate, ours.hand_margin) == (theirs.win_rate, theirs.hand_margin)
    assert ours.ci_low < theirs.ci_low < theirs.ci_high < ours.ci_high < 0.5
    assert ours.hand_margin_low is None
    assert found.ci_low < fixed.ci_low < fixed.ci_high < found.ci_high


def test_a_match_that_is_not_decided_says_so() -> None:
    found = evaluate_until("greedy", "greedy", 200, 1, StoppingRule())
    assert (found.verdict, found.games) == ("undecided", 200)
    assert "undecided after 200 games" in found.sentence()
    assert found.ci_low < 0.5 < found.ci_high
    assert found.to_dict()["level"] == 0.95


# --- the job ------------------------------------------------------------------------------------------------


def test_the_job_stops_and_prints_the_interval_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agent=greedy", "opponent=random", "until=significant", "duplicate=true", "games=2000", "seed=3"]
    assert main(["evaluate", *words, f"hydra.run.dir={tmp_path}/run"]) == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["verdict"] == "better" and summary["games"] < 400 and summary["max_games"] == 2000
    assert summary["normal_low"] is None
    printed = capsys.readouterr().out
    assert "95%, always valid" in printed and "normal" not in printed and "Wilson" not in printed
    assert f"decided after {summary['games']} games" in printed


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["until=sometimes"], "until=sometimes: expected one of significant"),
        (["difference=0.01"], "difference=0.01: only with until=significant"),
        (["until=significant", "difference=0"], "difference=0.0: expected more than 0"),
        (["until=significant", "alpha=0.7"], "alpha=0.7: expected more than 0 and less than 0.5"),
        (["until=significant", "games=7"], "games=7: until=significant counts in pairs of games, expected an even"),
    ],
)
def test_wrong_calls(words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "agent=greedy", "opponent=random", *words, f"hydra.run.dir={tmp_path}/run"]) == 2
    assert line in capsys.readouterr().err
    assert not list(tmp_path.glob("run/*"))
