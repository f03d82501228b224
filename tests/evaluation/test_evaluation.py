"""Win rates, intervals and points by role: against published figures, formulas by hand, and simulation."""

import math

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import evaluate, pair_means, summarise
from deepcrib.intervals import mean_interval, normal, pairs_interval, ratio_interval, wilson
from deepcrib.matches import MatchResult, play_match


def test_the_normal_interval_is_the_papers() -> None:
    """16 of 27 games won by people: 59.3% +- 18.5 (Bélanger et al. 2019)."""
    estimate, low, high = normal(16, 27)
    assert round(100 * estimate, 1) == 59.3
    assert round(100 * (high - low) / 2, 1) == 18.5


def test_wilson_solves_its_own_equation() -> None:
    """Its bounds are the shares p whose distance from the estimate is 1.96 standard errors under p itself."""
    for wins, n in [(16, 27), (1, 10), (9_990, 10_000)]:
        estimate, low, high = wilson(wins, n)
        for bound in (low, high):
            distance = abs(estimate - bound) / math.sqrt(bound * (1 - bound) / n)
            assert distance == pytest.approx(1.959964, abs=1e-5)


def test_intervals_stay_within_0_and_1() -> None:
    """Without a loss in n games Wilson's lower bound is n / (n + z^2)."""
    assert wilson(0, 10).low == normal(0, 10).low == 0.0
    assert wilson(10, 10).high == normal(10, 10).high == 1.0
    assert wilson(10, 10).low == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)


@pytest.mark.parametrize("call", [lambda: wilson(0, 0), lambda: normal(3, 2), lambda: pairs_interval([])])
def test_no_games_no_interval(call) -> None:
    with pytest.raises(ValueError, match="no share"):
        call()


def test_pairs_interval_is_wilsons_of_as_many_games_as_the_pairs_are_worth() -> None:
    """Means 0, 0.5, 1, 1: mean 0.625, variance 0.2292, so 4.091 games; t of 3 degrees of freedom 3.182.

    Wilson's bounds are where (mean - x)^2 = t^2 x (1 - x) / games.
    """
    estimate, low, high = pairs_interval([0.0, 0.5, 1.0, 1.0])
    assert estimate == 0.625
    for bound in (low, high):
        error = 3.182446 * math.sqrt(bound * (1 - bound) / (4 * 0.625 * 0.375 / 0.2291667))
        assert abs(0.625 - bound) == pytest.approx(error, rel=2e-3)  # the quantile is an expansion
    many = np.tile([0.0, 0.5, 0.5, 1.0], 1000)
    estimate, low, high = pairs_interval(many)
    assert high - estimate == pytest.approx(1.9606 * many.std(ddof=1) / math.sqrt(4000), rel=1e-3)


def test_equal_pairs_do_not_claim_certainty() -> None:
    """Ten pairs won both ways: the spread is 0, and the interval that of twenty games. Ten shared ones: of ten."""
    assert pairs_interval(np.ones(10)) == wilson(20, 20)
    assert pairs_interval(np.full(10, 0.5)) == wilson(5, 10)


@pytest.mark.parametrize("together", [-0.2, 0.0, 0.2])  # correlation of the two games of a pair
@pytest.mark.parametrize("games", [100, 200, 1000, 10_000])
@pytest.mark.parametrize("rate", [0.5, 0.7, 0.9, 0.95, 0.984, 0.99])
def test_the_interval_of_duplicate_pairs_covers_however_lopsided_the_match(
    rate: float, games: int, together: float
) -> None:
    """4,000 matches: 93 to 97%, and a standard error of 0.4 beyond. With 100 games at 0.984 and more it is a matter of
    one game or two, and no interval that is a function of the result comes nearer than 91 to 99%.
    """
    apart = rate * (1 - rate)
    chances = np.array([(1 - rate) ** 2 + together * apart, 2 * (1 - together) * apart, rate**2 + together * apart])
    if chances.min() < 0:
        pytest.skip("there is no such pair of games")
    random = np.random.default_rng(int(1000 * rate) + games)
    counts = random.multinomial(games // 2, chances / chances.sum(), 4000)
    found, times = np.unique(counts, axis=0, return_counts=True)
    intervals = [pairs_interval(np.repeat([0.0, 0.5, 1.0], count)) for count in found]
    covered = times[[interval.low <= rate <= interval.high for interval in intervals]].sum() / 4000
    few = games == 100 and rate > 0.98
    assert (0.91 if few else 0.93) - 0.01 < covered < (0.99 if few else 0.97) + 0.01


def test_points_a_hand_are_a_ratio() -> None:
    """Units of equal size: the interval of their mean. Units that all have the ratio: no width, whatever their size."""
    totals = np.array([90.0, 120.0, 60.0])
    assert ratio_interval(totals, [10, 10, 10]) == pytest.approx(mean_interval(totals / 10))
    assert ratio_interval([90.0, 120.0], [9, 12]) == pytest.approx((10.0, 10.0, 10.0))
    assert np.isnan(ratio_interval([90.0], [9]).low)


def test_the_interval_of_points_a_hand_covers_their_mean_in_95_of_100() -> None:
    random = np.random.default_rng(5)
    size = random.integers(7, 13, (2000, 60))
    totals = random.poisson(12 * size)
    found = [ratio_interval(*units) for units in zip(totals, size, strict=True)]
    assert 0.935 < np.mean([interval.low <= 12 <= interval.high for interval in found]) < 0.965


def test_intervals_cover_the_true_rate_in_95_of_100() -> None:
    """20,000 matches of 200 games at 60%: coverage 95% +- 0.7 (beyond 4 standard deviations)."""
    rng = np.random.default_rng(0)
    wins = rng.binomial(200, 0.6, 20_000)
    for interval in (wilson, normal):
        bounds = [interval(int(w), 200) for w in wins]
        covered = np.mean([low <= 0.6 <= high for _, low, high in bounds])
        assert abs(covered - 0.95) < 0.012  # the lattice of 201 outcomes moves it by up to a percent
    pairs = rng.choice([0.0, 0.5, 1.0], size=(5_000, 100), p=[0.2, 0.4, 0.4])
    covered = np.mean([low <= 0.6 <= high for _, low, high in map(pairs_interval, pairs)])
    assert abs(covered - 0.95) < 0.015


def match() -> MatchResult:
    """Four games by hand, agents 0 and 1: 121-90 (a skunk), 121-91 (none), 100-121, 80-121 (a skunk)."""
    points = np.zeros((4, 2, 2, 4), dtype=np.int32)
    counts = np.zeros((4, 2, 2, 4), dtype=np.int32)
    points[:, 0, 1] = [[2, 30, 60, 20], [0, 26, 70, 25], [0, 20, 40, 15], [0, 10, 30, 10]]
    counts[:, 0, 1] = [[5, 5, 5, 4], [4, 4, 4, 4], [5, 5, 4, 4], [4, 4, 4, 4]]
    points[:, 0, 0, 1:3] = [[5, 4], [0, 0], [15, 10], [10, 20]]
    counts[:, 0, 0, 1:3] = 4
    points[:, 1, 0, 2] = 121
    counts[:, 1, 0, 2] = 5
    return MatchResult(
        winner=np.array([0, 0, 1, 1], dtype=np.int8),
        scores=np.array([[121, 90], [121, 91], [100, 121], [80, 121]], dtype=np.int16),
        hands=np.array([9, 9, 8, 10], dtype=np.int32),
        pair=np.array([0, 0, 1, 1]),
        points=points,
        counts=counts,
        first_dealer=np.array([0, 1, 0, 1], dtype=np.int8),
        seconds=2.0,
    )


def test_summary_of_four_games_by_hand() -> None:
    figures = summarise(match())
    assert (figures.games, figures.wins, figures.win_rate) == (4, 2, 0.5)
    assert (figures.skunks, figures.skunks_against) == (1, 1)
    assert (figures.game_points, figures.game_points_against) == (3 + 2, 2 + 3)
    assert figures.hands_per_game == 9.0
    assert figures.margin == (31 + 30 - 21 - 41) / 4
    assert figures.points["dealer"] == {"heels": 2 / 18, "play": 86 / 18, "hand": 200 / 17, "crib": 70 / 16}
    assert figures.points["pone"] == {"play": 30 / 16, "hand": 34 / 16}  # never heels, never a crib
    assert figures.points_per_hand == (2 + 86 + 200 + 70 + 30 + 34) / 36
    assert figures.opponent_points == {"pone": {"hand": 121 / 5}, "dealer": {}}
    assert figures.first_deal_win_rate == 0.5
    assert (figures.normal_low, figures.normal_high) == normal(2, 4)[1:]


def test_on_duplicate_deals_the_unit_is_the_pair() -> None:
    """The pairs came out 2-0 and 0-2: means 1 and 0, and not the interval of four games."""
    figures = summarise(match())
    assert figures.duplicate
    assert (figures.ci_low, figures.ci_high) == pairs_interval([1.0, 0.0])[1:]
    apart = summarise(match(), duplicate=False)
    assert (apart.ci_low, apart.ci_high) == wilson(2, 4)[1:]


@pytest.mark.parametrize("duplicate", [False, True])
def test_points_a_hand_ahead_have_the_interval_that_resampling_gives(duplicate: bool) -> None:
    """Games, or pairs on duplicate deals, drawn again and again with replacement (bootstrap)."""
    result = play_match([make_agent("greedy"), make_agent("random")], games=600, seed=4, duplicate=duplicate)
    figures = summarise(result)
    assert figures.hand_margin == pytest.approx(figures.points_per_hand - figures.opponent_points_per_hand)
    points = result.points.sum(axis=(2, 3), dtype=np.int64)
    sums = np.stack([points[:, 0] - points[:, 1], result.hands], axis=1)
    if duplicate:
        sums = sums[np.argsort(result.pair, kind="stable")].reshape(-1, 2, 2).sum(axis=1)
    drawn = sums[np.random.default_rng(5).integers(len(sums), size=(4000, len(sums)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    assert figures.hand_margin_low == pytest.approx(low, abs=0.15 * (high - low))
    assert figures.hand_margin_high == pytest.approx(high, abs=0.15 * (high - low))


def test_a_single_game_has_no_interval_of_points() -> None:
    figures = evaluate("greedy", "random", 1, 1)
    assert figures.hand_margin_low is None and figures.hand_margin_high is None


def test_the_two_sides_of_a_match_mirror_each_other() -> None:
    ours, theirs = summarise(match(), 0), summarise(match(), 1)
    assert (theirs.win_rate, theirs.margin) == (1 - ours.win_rate, -ours.margin)
    assert (theirs.game_points, theirs.skunks) == (ours.game_points_against, ours.skunks_against)
    assert theirs.points == ours.opponent_points


def test_pair_means_follow_the_ids_not_the_order() -> None:
    won = np.array([True, False, True, True])
    assert pair_means(won, np.array([7, 3, 3, 7])).tolist() == [0.5, 1.0]  # pairs 3, 7


@pytest.mark.parametrize(("games", "duplicate"), [(0, False), (-5, False), (7, True)])
def test_game_counts_that_cannot_be_played(games: int, duplicate: bool) -> None:
    with pytest.raises(OptionError, match=f"games={games}"):
        evaluate("random", "greedy", games, 1, duplicate=duplicate)


def test_evaluate_is_a_function_of_its_seed() -> None:
    first, again, other = (evaluate("greedy", "random", 400, seed) for seed in (5, 5, 6))
    assert {**first.to_dict(), "seconds": 0} == {**again.to_dict(), "seconds": 0}
    assert first.points_per_hand != other.points_per_hand


def test_seats_and_first_deals_are_balanced() -> None:
    """An agent against itself on duplicate deals plays the same two games from both sides: exactly half."""
    figures = evaluate("greedy", "greedy", 2000, 3, duplicate=True)
    assert figures.win_rate == 0.5
    assert figures.first_deal_win_rate is not None and figures.second_deal_win_rate is not None
    assert figures.first_deal_win_rate > figures.second_deal_win_rate
