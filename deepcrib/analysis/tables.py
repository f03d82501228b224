"""Metrics as rich tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from deepcrib.evaluation.evaluate import ROLES, Evaluation
from deepcrib.evaluation.hands import HandPairs, HandsWon
from deepcrib.evaluation.league.tournament import Series, Standing
from deepcrib.evaluation.metrics import Exploitability
from deepcrib.game.rules import KINDS

if TYPE_CHECKING:  # it searches, which a match does not wait for
    from deepcrib.evaluation.regrets import Audit, Decision

Cell = str | Callable[..., str]  # the text of a row's cell: a format such as `{0.games:,}`, or a function of the row
NONE = "-"


def percent(share: float, low: float | None, high: float | None, *, suffix: str = "%", sign: str = "") -> str:
    """`53.5% [53.2, 53.8]`: a share with its 95% interval, or alone where there is none."""
    low, high = (None if end is None else 100 * end for end in (low, high))
    return bounds(100 * share, low, high, f"{sign}.1f", suffix)


def bounds(estimate: float, low: float | None, high: float | None, form: str = "+.2f", unit: str = "") -> str:
    """`+0.12 [-0.03, +0.27]`: an estimate with its interval, or alone where there is none."""
    shown = f"{estimate:{form}}{unit}"
    return shown if low is None or high is None or math.isnan(low) else f"{shown} [{low:{form}}, {high:{form}}]"


def win_rate(found: Any) -> str:
    """The win rate of metrics with its interval."""
    return percent(found.win_rate, found.ci_low, found.ci_high)


def plain_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], prose: bool = False) -> Table:
    """A table of text: the first column left-aligned, the others right-aligned, unless they are prose.

    Cells wrap where the screen is narrow.
    """
    table = Table(title=title, title_justify="left", title_style="bold", caption_justify="left", caption_style="dim")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index and not prose else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def table_of(title: str, rows: Iterable[Any], columns: Mapping[str, Cell], prose: bool = False) -> Table:
    """A table of a row each, whose cells stand by their heads; of rows that are tuples a cell gets every entry."""
    texts = []
    for row in rows:
        entries = row if isinstance(row, tuple) else (row,)
        texts.append([cell.format(*entries) if isinstance(cell, str) else cell(*entries) for cell in columns.values()])
    return plain_table(title, list(columns), texts, prose)


def win_rates_table(title: str, evaluations: Mapping[str, Evaluation]) -> Table:
    """One row an opponent: win rate with its interval, games, points a hand (agent's - opponent's)."""
    columns: dict[str, Cell] = {
        "opponent": "{0}",
        "win rate [95%]": lambda _, found: win_rate(found),
        "games": "{1.games:,}",
        "points\na hand": "{1.points_per_hand:.2f} - {1.opponent_points_per_hand:.2f}",
        "hands\na game": "{1.hands_per_game:.2f}",
    }
    return table_of(title, evaluations.items(), columns)


def hands_table(title: str, results: Mapping[str, HandsWon]) -> Table:
    """One row an opponent: share of hands won on play points, ties, margin."""
    columns: dict[str, Cell] = {
        "opponent": "{0}",
        "hands won [95%]": lambda _, found: win_rate(found),
        "hands": "{1.hands:,}",
        "ties": lambda _, found: f"{100 * found.ties / found.hands:.1f}%",
        "play points\na hand": "{1.margin:+.3f}",
    }
    return table_of(title, results.items(), columns)


def pairs_table(title: str, result: HandPairs) -> Table:
    """Points a pair of hands with their interval, and by the agent's role."""
    rows = [
        ("points a pair of hands [95%]", bounds(result.margin, result.low, result.high, "+.3f")),
        ("as dealer", f"{result.dealer_margin:+.3f}"),
        ("as pone", f"{result.pone_margin:+.3f}"),
    ]
    return plain_table(title, ("metric", "agent less opponent"), rows)


def exploit_table(title: str, found: Exploitability) -> Table:
    """Points a hand that a best responder gains, by its role; of another responder what it gains at least."""
    parts: dict[str, Cell] = {"by discards": "{1.discards:.3f}", "by play": "{1.play:.3f}"}
    least, parts = ("at least ", {}) if found.total.play is None else ("", parts)
    gain = f"{least}{{1.gain:.3f}} [{{1.ci_low:.3f}}, {{1.ci_high:.3f}}]"
    columns: dict[str, Cell] = {"responder's role": "{0}", "points a hand [95%]": gain, **parts}
    return table_of(title, {**found.roles, "both": found.total}.items(), columns)


def audit_table(title: str, found: Audit) -> Table:
    """Points lost by kind of decision."""
    columns: dict[str, Cell] = {
        "decision": "{0}",
        "number": "{1.decisions:,}",
        "points lost [95%]": "{1.regret:.3f} [{1.ci_low:.3f}, {1.ci_high:.3f}]",
        "best": "{1.right:.1%}",
        "points lost\na hand": "{1.per_hand:.3f}",
    }
    return table_of(title, found.kinds.items(), columns)


def worst_table(title: str, decisions: Sequence[Decision]) -> Table:
    """Decisions with their cards, by the number of the hand; in parentheses own minus opponent's points from there."""
    chance: dict[str, Cell] = {"win%\nlost": lambda decision: f"{100 * (decision.chance_lost or 0.0):.1f}"}
    columns: dict[str, Cell] = {
        "points\nlost": "{0.regret:.2f}",
        **({} if any(one.chance_lost is None for one in decisions) else chance),
        "hand": lambda decision: f"{decision.hand + 1}",
        "decision": "{0.kind}, {0.role}",
        "cards": "{0.cards}",
        "seen": lambda decision: decision.seen or NONE,
        "taken": "{0.taken}",
        "best": "{0.best}",
    }
    return table_of(title, decisions, columns, prose=True)


def match_table(title: str, evaluation: Evaluation) -> Table:
    """All metrics of one match but the points by role."""
    rows = [(f"win rate [{evaluation.interval}]", win_rate(evaluation))]
    if evaluation.normal_low is not None and evaluation.normal_high is not None:
        interval = percent(evaluation.win_rate, evaluation.normal_low, evaluation.normal_high)
        rows.append(("win rate [95%, normal, by game]", interval))
    rates = (evaluation.first_deal_win_rate, evaluation.second_deal_win_rate)
    points = f"{evaluation.points_per_hand:.2f} / {evaluation.opponent_points_per_hand:.2f}"
    rows += [
        ("wins - losses", f"{evaluation.wins:,} - {evaluation.games - evaluation.wins:,}"),
        (
            "win rate dealing first / second",
            " / ".join(NONE if rate is None else f"{100 * rate:.1f}%" for rate in rates),
        ),
        ("skunks for - against", f"{evaluation.skunks:,} - {evaluation.skunks_against:,}"),
        ("game points for - against", f"{evaluation.game_points:,} - {evaluation.game_points_against:,}"),
        ("points a hand, agent / opponent", points),
        *_luck_rows(evaluation, evaluation.interval if evaluation.normal_low is None else "95%"),
        ("mean margin (points a game)", f"{evaluation.margin:+.2f}"),
        ("hands a game", f"{evaluation.hands_per_game:.2f}"),
    ]
    if evaluation.seconds > 0:  # none of recorded games, say
        speed = f"{evaluation.seconds:.2f} ({evaluation.games / evaluation.seconds:,.0f})"
        rows.append(("seconds (games a second)", speed))
    return plain_table(title, ("metric", "value"), rows)


def evaluation_text(evaluation: Evaluation) -> str:
    """The tables of a match as plain text."""
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(points_table("points", evaluation), match_table(f"{evaluation.games:,} games", evaluation))
        if evaluation.exploit is not None:
            console.print(exploit_table("what it loses to a responder", evaluation.exploit))
    return captured.get().rstrip()


def _luck_rows(evaluation: Evaluation, unit: str) -> list[tuple[str, str]]:
    """The difference a hand, and what is left without the luck of the cards, where that was measured."""
    free = evaluation.luck_free
    if free is None:
        return []
    rate = percent(free.win_rate, free.ci_low, free.ci_high)
    plain = bounds(evaluation.hand_margin, evaluation.hand_margin_low, evaluation.hand_margin_high)
    margin = bounds(free.hand_margin, free.hand_margin_low, free.hand_margin_high)
    return [
        (f"win rate without the cards' luck [{unit}]", f"{rate}{_as_games(free.times_win_rate)}"),
        ("points a hand, difference [95%]", plain),
        ("... without the cards' luck [95%]", f"{margin}{_as_games(free.times_hand_margin)}"),
    ]


def _as_games(times: float | None) -> str:
    return "" if times is None else f", as {times:.1f} times the games"


def points_table(title: str, evaluation: Evaluation) -> Table:
    """Mean points by role and kind, the agent's above the opponent's."""
    rows = []
    for player, points in (("agent", evaluation.points), ("opponent", evaluation.opponent_points)):
        for role in reversed(ROLES):
            kinds = points[role]
            cells = [f"{kinds[kind]:.2f}" if kind in kinds else NONE for kind in KINDS]
            rows.append((f"{player} as {role}", *cells, f"{sum(kinds.values()):.2f}"))
    return plain_table(title, ("points when counted", *KINDS, "total"), rows)


def standings_table(title: str, standings: Sequence[Standing]) -> Table:
    """One row an agent, in the order given."""
    columns: dict[str, Cell] = {
        "agent": "{0.name}",
        "game\npoints": "{0.game_points:,}",
        "matches\nwon": "{0.matches_won:,} of {0.matches:,}",
        "games\nwon": "{0.wins:,} of {0.games:,}",
        "skunks for\n- against": "{0.skunks:,} - {0.skunks_against:,}",
        "spread\n(points)": "{0.spread:+,}",
    }
    return table_of(title, standings, columns)


def series_table(title: str, label: str, series: Mapping[str, Series]) -> Table:
    """One row a pairing, all for its first agent; the spread is the mean of a match."""
    columns: dict[str, Cell] = {
        label: "{0}",
        "matches": "{1.matches_won[0]:,} - {1.matches_won[1]:,}",
        "game\npoints": "{1.total.game_points[0]:,} - {1.total.game_points[1]:,}",
        "games": "{1.total.wins[0]:,} - {1.total.wins[1]:,}",
        "spread a match\n(points) [95%]": lambda _, found: bounds(
            found.match_spread, found.match_spread_low, found.match_spread_high, "+,.0f"
        ),
        "win rate [95%]": lambda _, found: win_rate(found.total),
    }
    return table_of(title, series.items(), columns)
