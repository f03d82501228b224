"""A match summarised: win rate with its interval, skunks, game points, points by role and kind."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import make_agent
from deepcrib.errors import OptionError
from deepcrib.evaluation.luck import LuckFree, card_luck, luck_free
from deepcrib.evaluation.metrics import Exploitability, Metrics
from deepcrib.game.rules import KINDS, SKUNK_GAME_POINTS, SKUNK_MARGIN, WIN_GAME_POINTS
from deepcrib.intervals import normal, pairs_interval, ratio_interval, wilson
from deepcrib.matches import MatchResult, Progress, play_match

ROLES = ("pone", "dealer")


@dataclass
class Evaluation(Metrics):
    """What one agent did in a match of two. Shares are 0..1, points are cribbage points.

    ci_low and ci_high: 95% interval of win_rate, Wilson's over games, or over pairs on duplicate deals, or over matches
        of several games or pairs of such; of a match that stopped by its own result, the one that is valid there
        (`sequential`).
    normal_low and normal_high: the 2019 paper's interval, as if all games were independent; None of a match
        that stopped by its own result, where it means nothing.
    points and opponent_points: `{role: {kind: mean}}`, the mean over the times that kind was counted, so a
        last hand cut short at 121 lowers none of them.
    points_per_hand: all points over all hands, the cut ones included. hand_margin: points_per_hand less the opponent's.
        Both with their 95% intervals (_low and _high) over games, or pairs; None of a single one.
    game_points: 2 for a win, 3 for a win by a skunk. luck_free: where it was measured.
    exploit: what the agent loses to a responder, where that was measured.
    """

    games: int
    wins: int
    win_rate: float
    ci_low: float
    ci_high: float
    normal_low: float | None
    normal_high: float | None
    duplicate: bool
    games_per_match: int
    points_per_hand: float
    points_per_hand_low: float | None
    points_per_hand_high: float | None
    opponent_points_per_hand: float
    hand_margin: float
    hand_margin_low: float | None
    hand_margin_high: float | None
    points: dict[str, dict[str, float]]
    opponent_points: dict[str, dict[str, float]]
    hands_per_game: float
    margin: float
    skunks: int
    skunks_against: int
    game_points: int
    game_points_against: int
    first_deal_win_rate: float | None
    second_deal_win_rate: float | None
    seconds: float
    luck_free: LuckFree | None = None
    exploit: Exploitability | None = None

    @property
    def interval(self) -> str:
        """What the interval of the win rate is."""
        over = ("pairs of " * self.duplicate + "matches") if self.games_per_match > 1 else "pairs"
        return f"95%, over {over}" if self.duplicate or over != "pairs" else "95%, Wilson"

    def __str__(self) -> str:
        """As `deepcrib evaluate` prints it."""
        return import_module("deepcrib.analysis.tables").evaluation_text(self)  # which only a print waits for


def evaluate(
    agent: Any,
    opponent: Any,
    games: int = 10_000,
    seed: int = 1,
    *,
    duplicate: bool = False,
    dealing: str = "acc",
    games_per_match: int = 1,
    luck: bool = False,
    device: str = "cpu",
    progress: Progress | None = None,
) -> Evaluation:
    """Play full games to 121 between two agents, or agent specs, and summarise them for the first.

    games_per_match: so many games are a match, of which agents remember what they saw (`play_match`). luck: also take
    the luck of the cards off. `progress` is called with the number of games finished since its last call.
    """
    check_games(games, duplicate, games_per_match)
    players = [make_agent(spec, device) for spec in (agent, opponent)]
    how: dict[str, Any] = {"duplicate": duplicate, "dealing": dealing, "games_per_match": games_per_match}
    how["measure"] = card_luck() if luck else None
    result = play_match(players, games, seed, **how, progress=progress)
    return summarise(result, duplicate=duplicate, games_per_match=games_per_match)


def check_games(games: int, duplicate: bool, games_per_match: int = 1) -> None:
    """Refuse game counts that cannot be played."""
    if games < 1:
        raise OptionError(f"games={games}: expected at least 1 game")
    if duplicate and games % 2:
        raise OptionError(f"games={games}: duplicate deals are played in pairs, expected an even number")
    unit = games_per_match * (2 if duplicate else 1)
    if games % unit:
        what = "pairs of matches" if duplicate else "matches"
        expected = f"expected a multiple of {unit}"
        raise OptionError(f"games={games}: {what} of games_per_match={games_per_match} are played whole, {expected}")


def summarise(
    result: MatchResult, agent: int = 0, *, duplicate: bool | None = None, games_per_match: int = 1
) -> Evaluation:
    """Metrics of one agent in a match of two; `duplicate=None` finds out from the pair ids."""
    opponent, won = 1 - agent, result.winner == agent
    games, wins = len(won), int(won.sum())
    duplicate = len(np.unique(result.pair)) < games if duplicate is None else duplicate
    paired = duplicate or games_per_match > 1
    interval = pairs_interval(pair_means(won, result.pair)) if paired else wilson(wins, games)
    paper = normal(wins, games)
    margin = result.scores[:, agent].astype(np.int64) - result.scores[:, opponent]
    skunks, skunks_against = int((margin >= SKUNK_MARGIN).sum()), int((margin <= -SKUNK_MARGIN).sum())
    hands, points = int(result.hands.sum()), result.points.sum(axis=(2, 3), dtype=np.int64)  # [G, 2]
    units = np.unique(result.pair, return_inverse=True)[1] if paired else np.arange(games)
    unit_hands = np.bincount(units, result.hands)
    own, other = (np.bincount(units, points[:, player]) for player in (agent, opponent))
    a_hand, hand_margin = ratio_interval(own, unit_hands), ratio_interval(own - other, unit_hands)
    dealt_first, beyond = result.first_dealer == agent, result.measured
    return Evaluation(
        games=games,
        wins=wins,
        **interval.named("win_rate", "ci"),
        normal_low=paper.low,
        normal_high=paper.high,
        duplicate=bool(duplicate),
        games_per_match=games_per_match,
        **a_hand.named("points_per_hand"),
        opponent_points_per_hand=float(points[:, opponent].sum() / hands),
        **hand_margin.named("hand_margin"),
        points=_points_by_role(result, agent),
        opponent_points=_points_by_role(result, opponent),
        hands_per_game=hands / games,
        margin=float(margin.mean()),
        skunks=skunks,
        skunks_against=skunks_against,
        game_points=wins * WIN_GAME_POINTS + skunks * (SKUNK_GAME_POINTS - WIN_GAME_POINTS),
        game_points_against=(games - wins) * WIN_GAME_POINTS + skunks_against * (SKUNK_GAME_POINTS - WIN_GAME_POINTS),
        first_deal_win_rate=_share(won[dealt_first]),
        second_deal_win_rate=_share(won[~dealt_first]),
        seconds=float(result.seconds),
        luck_free=luck_free(beyond[:, agent], won, units, unit_hands, hand_margin) if beyond.size else None,
    )


def pair_means(won: NDArray[np.bool_], pair: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of games won in each pair, [P] of 0, 0.5 or 1, from `won` [G] and pair ids `pair` [G]."""
    _, rows, sizes = np.unique(pair, return_inverse=True, return_counts=True)
    return np.bincount(rows, weights=won) / sizes


def _points_by_role(result: MatchResult, agent: int) -> dict[str, dict[str, float]]:
    """`{role: {kind: mean points}}` over the times each kind was counted; the crib is the dealer's alone."""
    points, counts = (sums[:, agent].sum(axis=0, dtype=np.int64) for sums in (result.points, result.counts))
    return {
        role: {
            kind: float(points[row, column] / counts[row, column])
            for column, kind in enumerate(KINDS)
            if counts[row, column] > 0
        }
        for row, role in enumerate(ROLES)
    }


def _share(won: NDArray[np.bool_]) -> float | None:
    return float(won.mean()) if len(won) else None
