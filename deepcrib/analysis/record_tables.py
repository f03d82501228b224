"""Recorded games as rich tables: what people did against agents, and what the choices of a seat cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.markup import escape
from rich.table import Table

from deepcrib.analysis.tables import NONE, Cell, bounds, percent, plain_table, table_of, win_rate
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.recorded import PAPER_GAMES, PAPER_OPPONENT, PAPER_WINS, Baseline
from deepcrib.evaluation.review import Loss, Review
from deepcrib.game.rules import KINDS
from deepcrib.intervals import Interval, wilson
from deepcrib.records import GameRecord

PAPER = "5 people (Bélanger et al. 2019)"


def baselines_table(title: str, baselines: Sequence[Baseline]) -> Table:
    """One row for each opponent, or person and opponent, and the published one."""
    columns: dict[str, Cell] = {
        "people": lambda one: escape(one.people[0]) if len(one.people) == 1 else f"{len(one.people)} people",
        "opponent": lambda one: escape(one.opponent),
        "games": "{0.evaluation.games:,}",
        "won": "{0.evaluation.wins:,}",
        "win rate [95%]": lambda one: win_rate(one.evaluation) if one.evaluation.games > 1 else NONE,
        "dealt\nfirst": lambda one: f"{100 * one.first_deals / one.evaluation.games:.0f}%",
        "skunks for\n- against": "{0.evaluation.skunks} - {0.evaluation.skunks_against}",
        "points a hand,\npeople - agent": (
            "{0.evaluation.points_per_hand:.2f} - {0.evaluation.opponent_points_per_hand:.2f}"
        ),
    }
    table = table_of(escape(title), baselines, columns)
    published = (str(PAPER_GAMES), str(PAPER_WINS), percent(*wilson(PAPER_WINS, PAPER_GAMES)))
    table.add_row(PAPER, PAPER_OPPONENT, *published, NONE, NONE, NONE)
    return table


def recorded_points_table(title: str, baseline: Baseline) -> Table:
    """Mean points by role and kind with intervals over hands, the people's above the opponent's."""
    people = baseline.people[0] if len(baseline.people) == 1 else "people"
    players = ((people, baseline.points), (baseline.opponent, baseline.opponent_points))
    rows = [
        (escape(f"{player} as {role}"), *(escape(_mean(points[role].get(kind))) for kind in KINDS))
        for player, points in players
        for role in reversed(ROLES)
    ]
    return plain_table(escape(title), ("points when counted [95%]", *KINDS), rows)


def game_title(record: GameRecord, seat: int) -> str:
    """`Ann against greedy, won 121 - 98 (games.jsonl, line 1)`, from a seat's side."""
    name, other = record.players[seat].name, record.players[1 - seat].name
    result = "not finished"
    if record.finished:
        scores = record.events[-1].scores
        result = f"{'won' if record.winner == seat else 'lost'} {scores[seat]} - {scores[1 - seat]}"
    return f"{name} against {other}, {result}" + (f" ({record.source})" if record.source else "")


def reviews_table(title: str, reviews: Mapping[str, Review]) -> Table:
    """One row a game: choices that were best, points and chance to win lost, and points better than the cards."""
    columns: dict[str, Cell] = {
        "game": lambda name, _: escape(name),
        "hands": lambda _, review: str(len(review.hands)),
        "best\nchoices": "{1.right}",
        "points lost\n(a hand)": "{1.lost:.2f} ({1.per_hand:.2f})",
        "win% lost\n(a hand)": _games_lost,
        "better than\nthe cards": lambda _, review: f"{np.mean(review.beyond):+.2f}" if review.beyond else NONE,
    }
    return table_of(escape(title), reviews.items(), columns)


def _games_lost(_: str, review: Review) -> str:
    lost = 100 * review.chance_lost
    return f"{lost:.1f} ({lost / max(len(review.hands), 1):.1f})"


def beyond_cards_line(who: str, a_hand: Interval) -> str:
    """`Ann: +1.20 [+0.31, +2.09] points a hand better than the cards`."""
    return f"{who}: {bounds(*a_hand)} points a hand better than the cards"


def losses_table(title: str, losses: Mapping[str, Loss]) -> Table:
    """Points and chance to win lost a hand by kind of decision, and by all."""
    columns: dict[str, Cell] = {
        "decision": "{0}",
        "number": "{1.decisions:,}",
        "best": "{1.right:.1%}",
        "points lost\na hand [95%]": lambda _, loss: _mean(loss.per_hand),
        "win% lost\na hand [95%]": lambda _, loss: percent(*loss.chance_lost, suffix=""),
    }
    return table_of(title, losses.items(), columns)


def _mean(found: Interval | None) -> str:
    return NONE if found is None else bounds(found.estimate, found.low, found.high, ".2f")
