"""What it is worth to deal first (Martin 2000, by Lang 2018, section 2.2), in games and in points."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.evaluation.evaluate import check_games
from deepcrib.intervals import LEVEL, wilson
from deepcrib.matches import MatchResult, Progress, play_match

if TYPE_CHECKING:
    from deepcrib.agents import Agent

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

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return asdict(self)


def first_dealer_advantage(
    agent: Agent, games: int, seed: int, *, dealing: str = "acc", progress: Progress | None = None
) -> FirstDealer:
    """Let an agent play itself, each seat dealing first in half of the games. Raises OptionError for games < 1."""
    check_games(games, duplicate=False)
    return summarise_first_dealer(play_match([agent, agent], games, seed, dealing=dealing, progress=progress))


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
