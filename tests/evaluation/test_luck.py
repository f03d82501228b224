"""The luck of the cards taken off: exact means, no bias, coverage, and how much narrower intervals become."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.agents.expected_value import expectations_of
from deepcrib.cli import main
from deepcrib.evaluation import luck
from deepcrib.evaluation.evaluate import Evaluation, evaluate, summarise
from deepcrib.evaluation.luck import BEYOND, CHANCE, DEALT_MEANS, MARGIN, STARTERS, beyond_cards, recorded_luck
from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.game.engine import Games
from deepcrib.intervals import mean_interval
from deepcrib.matches import play_hand, play_match
from deepcrib.records import GameRecord
from tests.support import reference
from tests.support.recorded import played

CHANCE_OF_FAILURE = 3.3  # standard errors: by chance once in a thousand seeds, which are fixed


# --- the chance events ----------------------------------------------------------------------------------------------


def hand_played(agents: tuple[str, str], scores: tuple[int, int], number: int, seed: int = 4) -> Games:
    """Games after a hand that began at these scores, seat 0 dealing the even ones."""
    rows = np.arange(number)
    table = Games(rows, seed, first_dealer=rows % 2)
    table.state.scores[:] = scores
    table.state.points[:, :, 0, 0] = scores
    play_hand(table, [make_agent(agent) for agent in agents], np.tile([0, 1], (number, 1)))
    return table


@pytest.mark.parametrize("scores", [(0, 0), (70, 88), (112, 119)])
def test_the_starters_luck_is_0_over_the_40_that_could_come(scores: tuple[int, int]) -> None:
    """The hand's cards and points held, beyond_cards differs between starters by their luck alone.

    So the mean over the starters is what a starter without luck leaves, whose luck a plain count of the shows gives.
    """
    table = hand_played(("greedy", "random"), scores, 4)
    for row in range(4):
        game = table.state[row]
        unseen = sorted(set(range(52)) - set(game.dealt.ravel().tolist()))
        assert len(unseen) == STARTERS
        found, lucks = [], []
        for card in unseen:
            table.state.starter[row] = card
            found.append(beyond_cards(table, np.array([row]), np.tile(scores, (4, 1)))[0])
            lucks.append(shown_values(game, card, scores))
        by_starter = np.array(found)[:, game.dealer]
        expected = np.array(lucks) - np.mean(lucks, axis=0)
        assert by_starter.mean(axis=0) - by_starter == pytest.approx(expected, abs=1e-9)


def shown_values(game: Any, starter: int, scores: tuple[int, int]) -> list[float]:
    """The dealer's chance and margin with a starter, in plain Python, by the tables that are fixed beforehand."""
    dealer, pone = game.dealer, 1 - game.dealer
    heels = 2 if reference.rank(starter) == reference.JACK else 0
    shows = [
        reference.show(cards.tolist(), starter, is_crib)
        for cards, is_crib in ((game.kept[pone], False), (game.kept[dealer], False), (game.crib, True))
    ]
    totals = [0.0, 0.0]
    for pegged, given in luck._plays():
        now = {dealer: scores[dealer] + heels, pone: scores[pone]}
        for seat, points in ((dealer, pegged), (pone, given), *zip((pone, dealer, dealer), shows, strict=True)):
            if max(now.values()) < 121:
                now[seat] += points
        if max(now.values()) >= 121:
            values = [float(now[dealer] >= 121), now[dealer] - now[pone]]
        else:
            chance, margin = luck._values()[:, now[pone], now[dealer]]
            values = [1 - chance, -margin]
        totals = [total + value for total, value in zip(totals, values, strict=True)]
    return [total / len(luck._plays()) for total in totals]


@pytest.mark.parametrize("role", [0, 1])
def test_the_mean_of_the_deals_is_that_of_random_hands(role: int) -> None:
    random = np.random.default_rng(role)
    hands = np.sort(random.random((20_000, 52)).argsort(axis=1)[:, :6], axis=1)
    worth = expectations_of(hands, np.full(len(hands), bool(role))).total.max(axis=1)
    error = worth.std() / math.sqrt(len(worth))
    assert abs(worth.mean() - DEALT_MEANS[role]) < CHANCE_OF_FAILURE * error


@pytest.mark.slow
@pytest.mark.parametrize("role", [0, 1])
def test_the_mean_of_the_deals_is_exact(role: int) -> None:
    """Over all suit classes, each as often as it has hands."""
    keys = suit_classes().keys
    worth = expectations_of(class_hands(keys), np.full(len(keys), bool(role))).total.max(axis=1)
    assert worth @ class_sizes(keys) / math.comb(52, 6) == pytest.approx(DEALT_MEANS[role], abs=1e-9)


# --- matches --------------------------------------------------------------------------------------------------------


def errors_of(found: Any) -> tuple[float, float]:
    """Standard errors of win rate and points a hand."""
    return (found.ci_high - found.ci_low) / 3.92, (found.hand_margin_high - found.hand_margin_low) / 3.92


def test_an_agent_is_no_better_than_itself() -> None:
    found = evaluate("expected_value", "expected_value", 4000, seed=2, luck=True).luck_free
    rate_error, margin_error = errors_of(found)
    assert abs(found.win_rate - 0.5) < CHANCE_OF_FAILURE * rate_error
    assert abs(found.hand_margin) < CHANCE_OF_FAILURE * margin_error


@cache
def truth_of(opponent: str, **options: Any) -> Evaluation:
    """greedy's true figures: of 200,000 games of scripted players, whose cards the matches here do not have."""
    return evaluate("greedy", opponent, 200_000, seed=5, **options)


@pytest.mark.parametrize(
    ("opponent", "options"),
    [
        ("deterministic", {}),
        ("random", {}),
        ("deterministic", {"duplicate": True}),
        ("deterministic", {"dealing": "random_dealer"}),
        ("deterministic", {"games_per_match": 10}),
    ],
)
def test_it_has_the_mean_of_many_plain_games(opponent: str, options: dict[str, Any]) -> None:
    truth = truth_of(opponent, **options)
    found = evaluate("greedy", opponent, 4000, seed=6, luck=True, **options).luck_free
    for name, error, known in zip(("win_rate", "hand_margin"), errors_of(found), errors_of(truth), strict=True):
        difference = getattr(found, name) - getattr(truth, name)
        assert abs(difference) < CHANCE_OF_FAILURE * math.hypot(error, known), name


def test_intervals_cover() -> None:
    """Of 300 matches of 40 games, 95% and three standard errors."""
    truth = truth_of("deterministic")
    match = play_match([make_agent("greedy"), make_agent("deterministic")], 12_000, 8, measure=beyond_cards)
    parts = [summarise(match.take(slice(low, low + 40))).luck_free for low in range(0, 12_000, 40)]
    for low, high, true in (
        ("ci_low", "ci_high", truth.win_rate),
        ("hand_margin_low", "hand_margin_high", truth.hand_margin),
    ):
        covered = np.mean([getattr(part, low) <= true <= getattr(part, high) for part in parts])
        assert abs(covered - 0.95) < CHANCE_OF_FAILURE * math.sqrt(0.95 * 0.05 / len(parts))


def test_intervals_over_the_hands_of_a_game_cover() -> None:
    """Of 120 recorded games, each by itself: hands are as good as independent once their cards are taken off."""
    truth = truth_of("random").hand_margin
    covered = []
    for seed in range(120):
        found = mean_interval(recorded_luck(played(seed, agents=("greedy", "random")))[BEYOND][:, 0, MARGIN])
        covered.append(found.low <= truth <= found.high)
    assert abs(np.mean(covered) - 0.95) < CHANCE_OF_FAILURE * math.sqrt(0.95 * 0.05 / len(covered))


def test_variance_is_less_than_a_third_in_points_and_half_in_wins() -> None:
    found = evaluate("expected_value", "greedy", 4000, seed=3, luck=True).luck_free
    assert found.times_hand_margin > 3
    assert found.times_win_rate > 2


def test_duplicate_deals_gain_as_well() -> None:
    found = evaluate("expected_value", "greedy", 4000, seed=3, duplicate=True, luck=True).luck_free
    assert found.times_hand_margin > 1.3
    assert found.times_win_rate > 1.3


@pytest.mark.parametrize("agents", [("greedy", "random"), ("expected_value", "greedy")])
def test_nothing_else_changes(agents: tuple[str, str]) -> None:
    plain, measured = (evaluate(*agents, 200, seed=9, luck=luck).to_dict() for luck in (False, True))
    assert plain.pop("luck_free") is None and measured.pop("luck_free") is not None
    assert {**plain, "seconds": 0} == {**measured, "seconds": 0}


def test_what_one_has_beyond_the_cards_the_other_has_not() -> None:
    result = play_match([make_agent("greedy"), make_agent("random")], 40, 1, measure=beyond_cards)
    assert result.measured.shape == (40, 2, 2)
    assert result.measured[:, 0] == pytest.approx(-result.measured[:, 1], abs=1e-12)
    one, other = (summarise(result, agent).luck_free for agent in (0, 1))
    assert one.win_rate + other.win_rate == pytest.approx(1)
    assert one.hand_margin == pytest.approx(-other.hand_margin)


def test_a_single_game_has_no_interval() -> None:
    found = evaluate("greedy", "random", 1, luck=True).luck_free
    assert found.ci_low is found.hand_margin_low is found.times_win_rate is None


def test_equals_with_equal_cards_are_equal() -> None:
    found = evaluate("greedy", "greedy", 400, duplicate=True, luck=True).luck_free
    assert (found.win_rate, found.hand_margin) == pytest.approx((0.5, 0), abs=1e-12)
    assert found.times_win_rate is None


# --- recorded games -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["acc", "random_dealer"])
def test_a_recorded_game_is_measured_as_in_the_match(rules: str) -> None:
    record = played(5, rules=rules, agents=("greedy", "random"))
    table = Games([3], 5, dealing=rules)
    parts = []
    while len(table.unfinished):
        before = table.scores.copy()
        rows = play_hand(table, [make_agent("greedy"), make_agent("random")], np.array([[0, 1]]))
        parts.append(beyond_cards(table, rows, before))
    assert recorded_luck(record)[BEYOND] == pytest.approx(np.concatenate(parts), abs=1e-12)


def test_an_unfinished_hand_is_left_out() -> None:
    record = played(5, agents=("greedy", "random"))
    cut = GameRecord(record.players, record.rules, events=record.events[:-20])
    whole = recorded_luck(record)[BEYOND]
    assert 0 < len(recorded_luck(cut)[BEYOND]) < len(whole)
    assert recorded_luck(cut)[BEYOND] == pytest.approx(whole[: len(recorded_luck(cut)[BEYOND])])
    assert len(recorded_luck(GameRecord(record.players))[BEYOND]) == 0


@pytest.mark.parametrize("rules", ["acc", "random_dealer"])
def test_what_a_hand_brings_is_luck_and_the_rest(rules: str) -> None:
    """Value, luck and rest of a hand come to the next one's value (by acc), those of the last to the result."""
    record = played(5, rules=rules, agents=("greedy", "random"))
    value, luck, beyond = recorded_luck(record)
    after = value + luck + beyond
    if rules == "acc":
        assert after[:-1] == pytest.approx(value[1:])
    end = record.events[-1]
    assert after[-1, :, CHANCE] == pytest.approx([float(seat == end.seat) for seat in (0, 1)])
    pegged = [sum(event.points for event in record.events if event.seat == seat) for seat in (0, 1)]
    assert after[-1, :, MARGIN] == pytest.approx([pegged[0] - pegged[1], pegged[1] - pegged[0]])
    assert value[..., CHANCE].sum(axis=1) == pytest.approx(1) and luck.sum(axis=1) == pytest.approx(0)
    assert value[..., MARGIN].sum(axis=1) == pytest.approx(0)


# --- the job --------------------------------------------------------------------------------------------------------


def test_the_job_shows_how_many_games_that_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agent=greedy", "opponent=deterministic", "games=400", "luck=true"]
    assert main(["evaluate", *words, f"hydra.run.dir={tmp_path}"]) == 0
    found = json.loads((tmp_path / "summary.json").read_text())["luck_free"]
    assert found["ci_low"] < found["win_rate"] < found["ci_high"]
    text = capsys.readouterr().out
    assert "win rate without the cards' luck [95%]" in text
    assert f"as {found['times_hand_margin']:.1f} times the games" in text
