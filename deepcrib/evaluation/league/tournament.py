"""Matches and round robins as the 2018 thesis plays them (Lang 2018, sections 3.3 and 4.1), with intervals.

A match of n games is scored by the rules of the American Cribbage Congress: 2 game points for a win, 3 for a win by a
skunk; the point spread, the sum of the differences of the final scores, breaks ties. The thesis prints spreads alone;
here each comes with its 95% interval.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, TypedDict, Unpack

import numpy as np

from deepcrib.agents import Agent
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import check_games, pair_means, summarise
from deepcrib.evaluation.metrics import Metrics
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.game.rules import MAX_SCORE
from deepcrib.intervals import Interval, mean_interval, wilson
from deepcrib.matches import MatchResult, play_match


class MatchOptions(TypedDict, total=False):
    """What every match of a tournament is played with; see `matches.play_match`."""

    duplicate: bool
    dealing: str
    progress: Callable[[int], None] | None


# --- matches ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MatchScore:
    """A match between A and B; pairs are (A's, B's), intervals 95%.

    game_points: 2 for a win, 3 for a win by a skunk (31 points or more). spread: A's points minus B's over the whole
    match, spread_per_game its mean over games, both in points. win_rate: A's, 0..1, with the interval of `summarise`.
    winner: 0 for A or 1 for B, by game points, then spread, then wins, and when all are equal A.
    """

    games: int
    wins: tuple[int, int]
    skunks: tuple[int, int]
    game_points: tuple[int, int]
    spread: int
    spread_low: float
    spread_high: float
    spread_per_game: float
    spread_per_game_low: float
    spread_per_game_high: float
    win_rate: float
    ci_low: float
    ci_high: float
    winner: int


def score_match(result: MatchResult) -> MatchScore:
    """Score the games of a match of two for its first agent, A."""
    evaluation = summarise(result)
    margins: np.ndarray = result.scores[:, 0].astype(np.int64) - result.scores[:, 1]
    low, high = margin_interval(pair_means(margins, result.pair))[1:]
    wins = (evaluation.wins, evaluation.games - evaluation.wins)
    game_points = (evaluation.game_points, evaluation.game_points_against)
    spread = int(margins.sum())
    return MatchScore(
        games=evaluation.games,
        wins=wins,
        skunks=(evaluation.skunks, evaluation.skunks_against),
        game_points=game_points,
        **Interval(spread, evaluation.games * low, evaluation.games * high).named("spread"),
        **Interval(evaluation.margin, low, high).named("spread_per_game"),
        win_rate=evaluation.win_rate,
        ci_low=evaluation.ci_low,
        ci_high=evaluation.ci_high,
        winner=acc_winner(game_points, spread, wins),
    )


def margin_interval(margins: np.ndarray) -> Interval:
    """Interval, in points, of the mean of margins [N] that are independent: of games, or means of duplicate pairs.

    Student's t within -121..121, or where all margins are alike (as with one game) Wilson's over the same range.
    """
    values = np.asarray(margins, dtype=np.float64)
    if np.all(values == values[0]):
        shares = wilson(float((0.5 + values / (2 * MAX_SCORE)).sum()), values.size)
        return Interval(*(2 * MAX_SCORE * (share - 0.5) for share in shares))
    return Interval(*np.clip(mean_interval(values), -MAX_SCORE, MAX_SCORE).tolist())


def acc_winner(game_points: tuple[int, int], spread: int, wins: tuple[int, int]) -> int:
    """0 or 1: who has more game points, then the better spread, then more wins; when all are equal, 0."""
    first, second = (game_points[0], spread, wins[0]), (game_points[1], -spread, wins[1])
    return int(second > first)


@dataclass
class Series(Metrics):
    """Several matches of the same number of games between A and B, such as the twenty of figures 6 to 8.

    scores: of each match. total: all their games as if they were one match. matches_won: (A's, B's).
    match_spread: mean spread of a match, in points, with its 95% interval, which is over games and not over matches.
    """

    scores: tuple[MatchScore, ...]
    total: MatchScore
    matches_won: tuple[int, int]
    match_spread: float
    match_spread_low: float
    match_spread_high: float


def repeated_matches(
    agent: Agent, opponent: Agent, games: int, matches: int, seed: int, **options: Unpack[MatchOptions]
) -> Series:
    """Play `matches` matches of `games` games each; match m has the games m * games and following of one long match.

    Seats and first deals are balanced over the whole. Raises OptionError for counts that cannot be played.
    """
    check_games(games, options.get("duplicate", False))
    if matches < 1:
        raise OptionError(f"matches={matches}: expected at least 1 match")
    result = play_match([agent, opponent], games * matches, seed, **options)
    starts = range(0, games * matches, games)
    scores = tuple(score_match(result.take(slice(start, start + games))) for start in starts)
    total = score_match(result)
    lost = sum(score.winner for score in scores)
    mean = (total.spread_per_game, total.spread_per_game_low, total.spread_per_game_high)
    return Series(scores, total, (matches - lost, lost), *(games * value for value in mean))


def against_checkpoints(
    agent: Agent, checkpoints: Mapping[int, Agent], games: int, matches: int, seed: int, **options: Unpack[MatchOptions]
) -> dict[int, Series]:
    """An agent against each checkpoint of a training (table 3, figures 6 to 8 and 14), in the order of their numbers.

    The games against a checkpoint follow from the seed and its number, whichever others there are.
    """
    return {
        number: repeated_matches(
            agent, checkpoints[number], games, matches, derive(seed, FINAL_MATCHES, number), **options
        )
        for number in sorted(checkpoints)
    }


# --- round robin --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """What an agent did in a round robin, summed over its pairings; spread in points."""

    name: str
    matches: int
    matches_won: int
    games: int
    wins: int
    skunks: int
    skunks_against: int
    game_points: int
    spread: int


@dataclass(frozen=True)
class RoundRobin:
    """standings: best first, by game points, then spread, then wins. pairings: by the two names, (A, B)."""

    standings: tuple[Standing, ...]
    pairings: dict[tuple[str, str], Series]

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        pairings = [{"agents": pair, **series.to_dict()} for pair, series in self.pairings.items()]
        return {"standings": [asdict(standing) for standing in self.standings], "pairings": pairings}


def round_robin(
    agents: Mapping[str, Agent], games: int, seed: int, *, matches: int = 1, **options: Unpack[MatchOptions]
) -> RoundRobin:
    """Every agent against every other one, `matches` matches of `games` games each.

    A pairing's games follow from the seed and the two names, A being the first in the alphabet: neither the order of
    the agents nor who else takes part changes them. Raises OptionError for fewer than two agents.
    """
    if len(agents) < 2:
        raise OptionError(f"agents={list(agents)}: expected two or more agents")
    pairings = {
        (a, b): repeated_matches(agents[a], agents[b], games, matches, pairing_seed(seed, a, b), **options)
        for a, b in combinations(sorted(agents), 2)
    }
    standings = [_standing(name, pairings) for name in sorted(agents)]
    standings.sort(key=lambda standing: (-standing.game_points, -standing.spread, -standing.wins))
    return RoundRobin(tuple(standings), pairings)


def pairing_seed(seed: int, *names: str) -> int:
    """The seed of the match between two agents, given by name in the order of the alphabet."""
    digest = hashlib.blake2b("\n".join(names).encode(), digest_size=8).digest()
    return derive(seed, FINAL_MATCHES, int.from_bytes(digest, "big") >> 1)


def _standing(name: str, pairings: Mapping[tuple[str, str], Series]) -> Standing:
    own = [(series, pair.index(name)) for pair, series in pairings.items() if name in pair]
    return Standing(
        name,
        matches=sum(len(series.scores) for series, _ in own),
        matches_won=sum(series.matches_won[side] for series, side in own),
        games=sum(series.total.games for series, _ in own),
        wins=sum(series.total.wins[side] for series, side in own),
        skunks=sum(series.total.skunks[side] for series, side in own),
        skunks_against=sum(series.total.skunks[1 - side] for series, side in own),
        game_points=sum(series.total.game_points[side] for series, side in own),
        spread=sum((1 - 2 * side) * series.total.spread for series, side in own),
    )
