"""What dealing first is worth: published figures, four games by hand, and intervals that cover."""

import math

import numpy as np
import pytest

from benchmarks.exact.martin2000 import first_dealer_advantage, summarise_first_dealer
from deepcrib.agents import make_agent
from deepcrib.intervals import wilson
from deepcrib.matches import MatchResult, play_match
from deepcrib.matches.trajectories import self_play

Z = 1.959964


def test_first_dealer_of_greedy_against_itself() -> None:
    """People: 55.5% (Cribbage Pro) to 56% (Colvert), 16.2 points a hand as dealer and 10.2 as pone (Chambers)."""
    figures = first_dealer_advantage(make_agent("greedy"), 20_000, seed=1)
    assert figures.games == 20_000 and figures.wins == round(20_000 * figures.win_rate)
    assert figures.ci_low < 0.56 and figures.ci_high > 0.555
    assert figures.ci_high - figures.ci_low == pytest.approx(2 * Z * math.sqrt(0.555 * 0.445 / 20_000), rel=0.01)
    assert figures.dealer_points == pytest.approx(16.2, abs=0.6)
    assert figures.pone_points == pytest.approx(10.2, abs=0.3)
    assert figures.hand_margin == figures.dealer_points - figures.pone_points
    assert 2 < figures.margin_low < figures.margin < figures.margin_high < 4


def test_points_a_hand_are_those_of_hands_played_out() -> None:
    """Single hands that no game's end cuts short, within five standard errors and what the cut takes away."""
    figures = first_dealer_advantage(make_agent("greedy"), 20_000, seed=2)
    hands = self_play(make_agent("greedy"), 0, 40_000, seed=3, unit="hands")
    rows, dealer = np.arange(len(hands)), hands.dealer.astype(np.int64)
    play = hands.play_points.astype(np.int64)
    as_dealer = np.where(hands.play_seats == dealer[:, None], play, 0).sum(axis=1)
    as_pone = play.sum(axis=1) - as_dealer + hands.hand_points[rows, 1 - dealer]
    as_dealer += hands.heels + hands.hand_points[rows, dealer] + hands.crib_points
    margin = as_dealer - as_pone
    error = math.hypot(margin.std() / math.sqrt(len(margin)), (figures.hand_margin_high - figures.hand_margin) / Z)
    assert figures.hand_margin == pytest.approx(margin.mean(), abs=5 * error)
    assert figures.dealer_points == pytest.approx(as_dealer.mean(), abs=5 * error + 0.05)
    assert figures.pone_points == pytest.approx(as_pone.mean(), abs=5 * error + 0.05)


def four_games() -> MatchResult:
    """Agent 0 deals first in games 0 and 2; the first dealer wins games 0, 1 and 2."""
    points = np.zeros((4, 2, 2, 4), dtype=np.int32)
    counts = np.zeros((4, 2, 2, 4), dtype=np.int32)
    points[:, 0, 1] = [[2, 30, 60, 20], [0, 26, 70, 25], [0, 20, 40, 15], [0, 10, 30, 10]]
    points[:, 1, 1] = [[0, 10, 20, 15], [2, 14, 30, 10], [0, 20, 40, 15], [0, 30, 50, 30]]
    counts[:, :, 1] = [[[5, 5, 5, 4], [4, 4, 4, 4]]] * 4
    points[:, :, 0, 1:3] = [[[10, 40], [20, 50]], [[8, 30], [12, 40]], [[9, 35], [11, 25]], [[14, 42], [6, 28]]]
    counts[:, :, 0, 1:3] = [[4, 4], [5, 4]]
    return MatchResult(
        winner=np.array([0, 1, 0, 0], dtype=np.int8),
        scores=np.array([[121, 90], [111, 121], [121, 118], [121, 120]], dtype=np.int16),
        hands=np.array([9, 9, 9, 9], dtype=np.int32),
        pair=np.arange(4),
        points=points,
        counts=counts,
        first_dealer=np.array([0, 1, 0, 1], dtype=np.int8),
        seconds=1.0,
    )


def test_four_games_by_hand() -> None:
    figures = summarise_first_dealer(four_games())
    assert (figures.games, figures.wins) == (4, 3)
    assert (figures.win_rate, figures.ci_low, figures.ci_high) == wilson(3, 4)
    leads = [31, 10, 3, -1]
    assert figures.margin == sum(leads) / 4
    half = Z * math.sqrt(sum((lead - 10.75) ** 2 for lead in leads) / 3) / 2
    assert figures.margin_high == pytest.approx(10.75 + half, rel=1e-6)
    assert figures.margin_low == pytest.approx(10.75 - half, rel=1e-6)
    assert figures.dealer_points == pytest.approx(4 / 36 + 160 / 36 + 340 / 36 + 140 / 32)
    assert figures.pone_points == pytest.approx(90 / 36 + 290 / 32)
    assert figures.hand_margin == pytest.approx(figures.dealer_points - figures.pone_points)


def test_what_moves_both_roles_alike_does_not_widen_their_difference() -> None:
    """The dealer pegs 8 points fewer than the pone in 4 hands of every game: 2 a hand, for certain."""
    match = four_games()
    match.points[:], match.counts[:] = 0, 0
    match.points[:, 0, :, 1] = [[12, 4], [22, 14], [38, 30], [10, 2]]
    match.counts[:, 0, :, 1] = 4
    figures = summarise_first_dealer(match)
    assert figures.hand_margin == figures.hand_margin_low == figures.hand_margin_high == -2
    assert (figures.dealer_points, figures.pone_points) == (50 / 16, 82 / 16)


def test_intervals_cover_the_truth_in_95_of_100() -> None:
    """300 matches of 200 games: coverage 95% +- 1.3; beyond four standard deviations it would be wrong."""
    result = play_match([make_agent("greedy")] * 2, 60_000, seed=10)
    whole = summarise_first_dealer(result)
    parts = []
    for low in range(0, 60_000, 200):
        columns = {name: column[low : low + 200] for name, column in vars(result).items() if name != "seconds"}
        parts.append(summarise_first_dealer(MatchResult(**columns, seconds=0.0)))
    for figure, low, high in [
        ("win_rate", "ci_low", "ci_high"),
        ("margin", "margin_low", "margin_high"),
        ("hand_margin", "hand_margin_low", "hand_margin_high"),
    ]:
        truth = getattr(whole, figure)
        covered = np.mean([getattr(part, low) <= truth <= getattr(part, high) for part in parts])
        assert abs(covered - 0.95) < 0.05, figure
