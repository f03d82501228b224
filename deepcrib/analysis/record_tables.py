"""Recorded games as rich tables: what people did against agents, and what the choices of a seat cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from deepcrib.analysis.tables import percent, plain_table
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.recorded import PAPER_GAMES, PAPER_OPPONENT, PAPER_WINS, Baseline
from deepcrib.evaluation.review import Loss, Review
from deepcrib.game.rules import KINDS
from deepcrib.intervals import Interval, wilson
from deepcrib.records import GameRecord

PAPER = "5 people (Bélanger et al. 2019)"


def baselines_table(title: str, baselines: Sequence[Baseline]) -> Table:
    """One row for each opponent, or person and opponent, and the published one."""
    rows = [_baseline_row(baseline) for baseline in baselines]
    published = percent(*wilson(PAPER_WINS, PAPER_GAMES))
    rows.append((PAPER, PAPER_OPPONENT, str(PAPER_GAMES), str(PAPER_WINS), published, "-", "-", "-"))
    columns = (
        *("people", "opponent", "games", "won", "win rate [95%]"),
        *("dealt\nfirst", "skunks for\n- against", "points a hand,\npeople - agent"),
    )
    return _names_table(title, columns, rows)


def _names_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table with names from files in it, in which nothing is markup."""
    return plain_table(escape(title), columns, [[escape(cell) for cell in row] for row in rows])


def _baseline_row(baseline: Baseline) -> tuple[str, ...]:
    figures = baseline.figures
    people = baseline.people[0] if len(baseline.people) == 1 else f"{len(baseline.people)} people"
    return (
        people,
        baseline.opponent,
        f"{figures.games:,}",
        f"{figures.wins:,}",
        percent(figures.win_rate, figures.ci_low, figures.ci_high),
        f"{100 * baseline.first_deals / figures.games:.0f}%",
        f"{figures.skunks} - {figures.skunks_against}",
        f"{figures.points_per_hand:.2f} - {figures.opponent_points_per_hand:.2f}",
    )


def recorded_points_table(title: str, baseline: Baseline) -> Table:
    """Mean points by role and kind with intervals over hands, the people's above the opponent's."""
    rows = []
    people = baseline.people[0] if len(baseline.people) == 1 else "people"
    for player, points in ((people, baseline.points), (baseline.opponent, baseline.opponent_points)):
        for role in reversed(ROLES):
            cells = [_mean(points[role][kind]) if kind in points[role] else "-" for kind in KINDS]
            rows.append((f"{player} as {role}", *cells))
    return _names_table(title, ("points when counted [95%]", *KINDS), rows)


def _mean(interval: Interval) -> str:
    """`6.31 [5.02, 7.60]`; the mean alone where one value gives no interval."""
    bounds = "" if math.isnan(interval.low) else f" [{interval.low:.2f}, {interval.high:.2f}]"
    return f"{interval.estimate:.2f}{bounds}"


def game_title(record: GameRecord, seat: int) -> str:
    """`Ann against greedy, won 121 - 98 (games.jsonl, line 1)`, from a seat's side."""
    name, other = record.players[seat].name, record.players[1 - seat].name
    result = "not finished"
    if record.finished:
        scores = record.events[-1].scores
        result = f"{'won' if record.winner == seat else 'lost'} {scores[seat]} - {scores[1 - seat]}"
    return f"{name} against {other}, {result}" + (f" ({record.source})" if record.source else "")


def review_table(title: str, review: Review) -> Table:
    """The costliest choices of a game; in parentheses own minus opponent's expected points from there on."""
    rows = [
        (f"{d.regret:.2f}", f"{d.hand + 1}, {d.role}", d.kind, d.cards, d.seen or "-", d.taken, d.best)
        for d in review.worst
    ]
    table = _names_table(title, ("points\nlost", "hand", "decision", "cards", "seen", "taken", "best"), rows)
    table.columns[4].no_wrap = False
    return table


def reviews_table(title: str, reviews: Mapping[str, Review]) -> Table:
    """One row a game: expected points lost, and whom the best response answered."""
    rows = [
        (
            name,
            f"{review.opponent}{' (stand-in)' if review.stand_in else ''}",
            str(len(review.hands)),
            f"{review.lost:.2f}",
            f"{review.per_hand:.2f}",
        )
        for name, review in reviews.items()
    ]
    return _names_table(title, ("game", "answered", "hands", "points lost", "a hand"), rows)


def losses_table(title: str, losses: Mapping[str, Loss]) -> Table:
    """Points lost a hand by kind of decision, and by all."""
    rows = [
        (kind, f"{loss.decisions:,}", f"{100 * loss.right:.1f}%", _mean(loss.per_hand)) for kind, loss in losses.items()
    ]
    return plain_table(title, ("decision", "number", "best", "points lost a hand [95%]"), rows)
