"""What a match on duplicate deals came to, as sums over its pairs of games: small, exact, and added part by part."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.rules import SKUNK_MARGIN
from deepcrib.intervals import Interval, Z, spread_interval
from deepcrib.matches import MatchResult


@dataclass
class Sums:
    """Sums over the games between A and B, for A, in integers, so that parts add up to the same in any grouping.

    pairs: of games, or of matches of several, with the same cards. wins, hands: of all games. points, opponent_points:
    of A and B. skunks, skunks_against: games won and lost by 31 points or more. The rest are over pairs, of wins, gain
    (A's points minus B's) and hands: squares, and a product.
    """

    games: int = 0
    pairs: int = 0
    wins: int = 0
    wins_squared: int = 0
    hands: int = 0
    points: int = 0
    opponent_points: int = 0
    skunks: int = 0
    skunks_against: int = 0
    gain_squared: int = 0
    hands_squared: int = 0
    gain_hands: int = 0

    def add(self, other: Sums) -> None:
        """Add the games of another part."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))

    @property
    def rate(self) -> float:
        """The win rate of A, 0..1."""
        return self.wins / self.games

    @property
    def _square(self) -> float:
        """Sum over pairs of the squares of A's shares of their games."""
        return self.wins_squared * (self.pairs / self.games) ** 2

    @property
    def variance(self) -> float:
        """Of the win rate, from the spread of the pairs; two halves of a pair, lost and won, keep it above 0."""
        pairs = self.pairs + 1
        rate, square = (self.pairs * self.rate + 0.5) / pairs, (self._square + 0.5) / pairs
        return (square - rate**2) / pairs

    @property
    def win_rate(self) -> Interval:
        """Of A, over pairs."""
        spread = (self._square - self.pairs * self.rate**2) / max(self.pairs - 1, 1)
        return spread_interval(self.pairs, self.rate, max(0.0, spread))

    @property
    def gain(self) -> Interval:
        """A's points a hand minus B's, in points: a ratio of two means over pairs, its error by the delta method."""
        pairs = self.pairs
        gain = self.points - self.opponent_points
        ratio = gain / self.hands
        if pairs < 2:
            return Interval(ratio, math.nan, math.nan)
        squares = self.gain_squared - 2 * ratio * self.gain_hands + ratio**2 * self.hands_squared
        half = Z * math.sqrt(max(0.0, squares) / (pairs - 1) / pairs) / (self.hands / pairs)
        return Interval(ratio, ratio - half, ratio + half)


def sum_up(result: MatchResult, games_per_match: int = 1) -> Sums:
    """The sums of matches, or of some of them, on duplicate deals for their first agent."""
    size = 2 * games_per_match
    wins = _by_pair(result.winner == 0, size)
    margins = result.scores[:, 0].astype(np.int64) - result.scores[:, 1]
    points = result.points.sum(axis=(2, 3), dtype=np.int64)  # [G, 2]
    gain, hands = _by_pair(points[:, 0] - points[:, 1], size), _by_pair(result.hands, size)
    sums = {
        "games": len(result.winner),
        "pairs": len(wins),
        "wins": wins.sum(),
        "wins_squared": (wins**2).sum(),
        "hands": hands.sum(),
        "points": points[:, 0].sum(),
        "opponent_points": points[:, 1].sum(),
        "skunks": (margins >= SKUNK_MARGIN).sum(),
        "skunks_against": (margins <= -SKUNK_MARGIN).sum(),
        "gain_squared": (gain**2).sum(),
        "hands_squared": (hands**2).sum(),
        "gain_hands": (gain * hands).sum(),
    }
    return Sums(**{name: int(value) for name, value in sums.items()})


def _by_pair(values: NDArray[Any], size: int) -> NDArray[np.int64]:
    return values.reshape(-1, size).sum(axis=1, dtype=np.int64)
