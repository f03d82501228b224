"""Figures as rich tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from deepcrib.evaluation.evaluate import ROLES
from deepcrib.game.rules import KINDS

if TYPE_CHECKING:
    from deepcrib.evaluation.audit import Audit
    from deepcrib.evaluation.evaluate import Evaluation
    from deepcrib.evaluation.exploit import Exploitability
    from deepcrib.evaluation.hand_pairs import HandPairs
    from deepcrib.evaluation.hands import HandsWon
    from deepcrib.evaluation.league.tournament import Bracket, Pairing, Series, Standing
    from deepcrib.evaluation.regrets import Decision


def percent(share: float, low: float, high: float) -> str:
    """`53.5% [53.2, 53.8]`: a share with its 95% interval."""
    return f"{100 * share:.1f}% [{100 * low:.1f}, {100 * high:.1f}]"


def plain_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of text: the first column left-aligned, the others right-aligned."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=index > 0)
    for row in rows:
        table.add_row(*row)
    return table


def win_rates_table(title: str, evaluations: Mapping[str, Evaluation]) -> Table:
    """One row an opponent: win rate with its interval, games, points a hand (agent's - opponent's)."""
    rows = [
        (
            opponent,
            percent(figures.win_rate, figures.ci_low, figures.ci_high),
            f"{figures.games:,}",
            f"{figures.points_per_hand:.2f} - {figures.opponent_points_per_hand:.2f}",
            f"{figures.hands_per_game:.2f}",
        )
        for opponent, figures in evaluations.items()
    ]
    columns = ("opponent", "win rate [95%]", "games", "points\na hand", "hands\na game")
    return plain_table(title, columns, rows)


def hands_table(title: str, results: Mapping[str, HandsWon]) -> Table:
    """One row an opponent: share of hands won on play points, ties, margin."""
    rows = [
        (
            opponent,
            percent(result.win_rate, result.ci_low, result.ci_high),
            f"{result.hands:,}",
            f"{100 * result.ties / result.hands:.1f}%",
            f"{result.margin:+.3f}",
        )
        for opponent, result in results.items()
    ]
    return plain_table(title, ("opponent", "hands won [95%]", "hands", "ties", "play points\na hand"), rows)


def pairs_table(title: str, result: HandPairs) -> Table:
    """Points a pair of hands with their interval, and by the agent's role."""
    rows = [
        ("points a pair of hands [95%]", f"{result.margin:+.3f} [{result.low:+.3f}, {result.high:+.3f}]"),
        ("as dealer", f"{result.dealer_margin:+.3f}"),
        ("as pone", f"{result.pone_margin:+.3f}"),
    ]
    return plain_table(title, ("figure", "agent less opponent"), rows)


def exploit_table(title: str, found: Exploitability) -> Table:
    """Points a hand that a best responder gains, by its role."""
    rows = [
        (name, f"{gain.gain:.3f} [{gain.ci_low:.3f}, {gain.ci_high:.3f}]", f"{gain.discards:.3f}", f"{gain.play:.3f}")
        for name, gain in {**found.roles, "both": found.total}.items()
    ]
    return plain_table(title, ("responder's role", "points a hand [95%]", "by discards", "by play"), rows)


def audit_table(title: str, found: Audit) -> Table:
    """Points lost by kind of decision."""
    rows = [
        (
            kind,
            f"{regret.decisions:,}",
            f"{regret.regret:.3f} [{regret.ci_low:.3f}, {regret.ci_high:.3f}]",
            f"{100 * regret.right:.1f}%",
            f"{regret.per_hand:.3f}",
        )
        for kind, regret in found.kinds.items()
    ]
    return plain_table(title, ("decision", "number", "points lost [95%]", "best", "points lost\na hand"), rows)


def worst_table(title: str, decisions: Sequence[Decision]) -> Table:
    """Decisions with their cards; in parentheses own minus opponent's points from there on."""
    rows = [(f"{d.regret:.2f}", f"{d.kind}, {d.role}", d.cards, d.seen or "-", d.taken, d.best) for d in decisions]
    return plain_table(title, ("points\nlost", "decision", "cards", "seen", "taken", "best"), rows)


def match_table(title: str, figures: Evaluation, unit: str | None = None) -> Table:
    """All figures of one match but the points by role; unit: what the interval of the win rate is, if not the usual."""
    unit = unit or ("95%, over pairs" if figures.duplicate else "95%, Wilson")
    loss = figures.games - figures.wins
    rows = [
        (f"win rate [{unit}]", percent(figures.win_rate, figures.ci_low, figures.ci_high)),
        *_normal_row(figures),
        ("wins - losses", f"{figures.wins:,} - {loss:,}"),
        ("win rate dealing first / second", _first_second(figures)),
        ("skunks for - against", f"{figures.skunks:,} - {figures.skunks_against:,}"),
        ("game points for - against", f"{figures.game_points:,} - {figures.game_points_against:,}"),
        ("points a hand, agent / opponent", _pair(figures.points_per_hand, figures.opponent_points_per_hand)),
        ("mean margin (points a game)", f"{figures.margin:+.2f}"),
        ("hands a game", f"{figures.hands_per_game:.2f}"),
        *_seconds_row(figures),
    ]
    return plain_table(title, ("figure", "value"), rows)


def _normal_row(figures: Evaluation) -> list[tuple[str, str]]:
    if figures.normal_low is None or figures.normal_high is None:
        return []
    return [("win rate [95%, normal, by game]", percent(figures.win_rate, figures.normal_low, figures.normal_high))]


def _seconds_row(figures: Evaluation) -> list[tuple[str, str]]:
    if figures.seconds <= 0:  # recorded games, say
        return []
    return [("seconds (games a second)", f"{figures.seconds:.2f} ({figures.games / figures.seconds:,.0f})")]


def points_table(title: str, figures: Evaluation) -> Table:
    """Mean points by role and kind, the agent's above the opponent's."""
    rows = []
    for player, points in (("agent", figures.points), ("opponent", figures.opponent_points)):
        for role in reversed(ROLES):
            kinds = points[role]
            cells = [f"{kinds[kind]:.2f}" if kind in kinds else "-" for kind in KINDS]
            rows.append((f"{player} as {role}", *cells, f"{sum(kinds.values()):.2f}"))
    return plain_table(title, ("points when counted", *KINDS, "total"), rows)


def standings_table(title: str, standings: Sequence[Standing]) -> Table:
    """One row an agent, in the order given."""
    rows = [
        (
            standing.name,
            f"{standing.game_points:,}",
            f"{standing.matches_won:,} of {standing.matches:,}",
            f"{standing.wins:,} of {standing.games:,}",
            f"{standing.skunks:,} - {standing.skunks_against:,}",
            f"{standing.spread:+,}",
        )
        for standing in standings
    ]
    columns = ("agent", "game\npoints", "matches\nwon", "games\nwon", "skunks for\n- against", "spread\n(points)")
    return plain_table(title, columns, rows)


def series_table(title: str, label: str, series: Mapping[str, Series]) -> Table:
    """One row a pairing, all for its first agent; the spread is the mean of a match."""
    rows = [
        (
            name,
            _record(result.matches_won),
            _record(result.total.game_points),
            _record(result.total.wins),
            spread(result.match_spread, result.match_spread_low, result.match_spread_high),
            percent(result.total.win_rate, result.total.ci_low, result.total.ci_high),
        )
        for name, result in series.items()
    ]
    columns = (label, "matches", "game\npoints", "games", "spread a match\n(points) [95%]", "win rate [95%]")
    return plain_table(title, columns, rows)


def bracket_table(title: str, bracket: Bracket) -> Table:
    """One row a contest, round by round; the champion is the winner of the last."""
    rows = [
        _bracket_row(number, pairing)
        for number, played in enumerate(bracket.rounds, start=1)
        for pairing in played.pairings
    ]
    columns = ("round", "winner", "game\npoints", "games", "skunks", "spread\n(points) [95%]")
    return plain_table(title, columns, rows)


def spread(points: float, low: float, high: float) -> str:
    """`+39 [-171, +249]`: a sum of points with its 95% interval."""
    return f"{points:+,.0f} [{low:+,.0f}, {high:+,.0f}]"


def _bracket_row(number: int, pairing: Pairing) -> tuple[str, ...]:
    score = pairing.score
    if score is None:
        return (f"{number}: {pairing.entrants[0]} (bye)", pairing.entrants[0], "-", "-", "-", "-")
    return (
        f"{number}: {' - '.join(pairing.entrants)}",
        pairing.entrants[pairing.winner],
        _record(score.game_points),
        _record(score.wins),
        _record(score.skunks),
        spread(score.spread, score.spread_low, score.spread_high),
    )


def _record(pair: tuple[int, int]) -> str:
    return f"{pair[0]:,} - {pair[1]:,}"


def _pair(first: float, second: float) -> str:
    return f"{first:.2f} / {second:.2f}"


def _first_second(figures: Evaluation) -> str:
    rates = (figures.first_deal_win_rate, figures.second_deal_win_rate)
    return " / ".join("-" if rate is None else f"{100 * rate:.1f}%" for rate in rates)
