"""A league as tables on the screen and in CSV, and as a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from rich.table import Table

from deepcrib.analysis.tables import NONE, plain_table
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.league.league import Pairing
from deepcrib.evaluation.league.ratings import bradley_terry, misfit
from deepcrib.files import csv_text
from deepcrib.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESPONDER = ("both", *ROLES)
"""The roles in which a best responder is measured, and first the mean of them."""


class Ceiling(msgspec.Struct):
    """Points a hand that a responder gains on an agent, `{role: (estimate, low, high)}`, by RESPONDER.

    terms: what it was measured with. Where these have `hands`, networks learned from so many to beat the agent: a best
    responder gains that at least. Else it is the best one's.
    """

    terms: dict[str, Any]
    roles: dict[str, tuple[float, float, float]]

    @property
    def least(self) -> str:
        """What stands before the figure."""
        return "at least " if self.terms.get("hands") else ""


Ceilings = Mapping[str, Ceiling]
"""By agent."""
_UNKNOWN = Ceiling({}, {})
_NAME_WIDTH = 28


class Row(NamedTuple):
    """An agent's place; win_rate (0..1) and gain (points a hand, own minus opponent's): means over its opponents."""

    agent: str
    rating: Interval | None
    win_rate: Interval | None
    gain: Interval | None
    games: int


@dataclass(frozen=True)
class League:
    """rows: best first. cells: by (agent, opponent), win rate and gain of the agent. misfit: as in `ratings`."""

    rows: tuple[Row, ...]
    cells: dict[tuple[str, str], tuple[Interval, Interval]]
    misfit: float

    @property
    def names(self) -> list[str]:
        """Best first."""
        return [row.agent for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        standings = [row._asdict() for row in self.rows]
        cross = [{"agents": pair, "win_rate": rate, "gain": gain} for pair, (rate, gain) in self.cells.items()]
        return {"standings": standings, "misfit": self.misfit, "cross": cross}


def league_of(pairings: Sequence[Pairing]) -> League:
    """Rank the agents of pairings that have been played, by rating, those without one last, by win rate."""
    played = {pairing.names: pairing.sums for pairing in pairings if pairing.complete}
    ratings = bradley_terry(played)
    cells: dict[tuple[str, str], tuple[Interval, Interval]] = {}
    for (a, b), sums in played.items():
        rate, gain = sums.win_rate, sums.gain
        cells[a, b] = rate, gain
        cells[b, a] = _turned(rate, 1), _turned(gain, 0)
    rows = []
    for name in sorted({name for pairing in pairings for name in pairing.names}):
        own = [cell for (agent, _), cell in cells.items() if agent == name]
        games = sum(sums.games for names, sums in played.items() if name in names)
        means = [_mean([cell[part] for cell in own]) for part in (0, 1)]
        rows.append(Row(name, ratings.get(name), means[0], means[1], games))
    rows.sort(key=lambda row: (-(row.rating.estimate if row.rating else -math.inf), -(row.win_rate or (-1,))[0]))
    return League(tuple(rows), cells, misfit(played, ratings))


def _mean(values: Sequence[Interval]) -> Interval | None:
    """Of independent estimates, with its interval."""
    if not values:
        return None
    mean = sum(value.estimate for value in values) / len(values)
    half = math.sqrt(sum((value.high - value.low) ** 2 for value in values)) / 2 / len(values)
    return Interval(mean, mean - half, mean + half)


def _turned(value: Interval, total: float) -> Interval:
    return Interval(total - value.estimate, total - value.high, total - value.low)


def _half(value: Interval | None, scale: float, form: str) -> str:
    """`52.3 ±0.4`, the interval by half of its width."""
    if value is None:
        return NONE
    return f"{scale * value.estimate:{form}} ±{scale * (value.high - value.low) / 2:{form.lstrip('+')}}"


# --- on the screen ----------------------------------------------------------------------------------------------


def league_tables(title: str, league: League, ceilings: Ceilings) -> tuple[Table, Table]:
    """The cross table and the standings, readable on 100 columns with 20 agents.

    In the cross table columns are ranks, cells win rates in whole per cent; the intervals are in the files.
    """
    ranked, columns = [(str(rank), name) for rank, name in enumerate(league.names, start=1)], ("", "agent")
    rows = [(rank, name, *(_whole(league, name, other) for other in league.names)) for rank, name in ranked]
    cross = plain_table(f"{title}: win rate (%) by rank", (*columns, *(rank for rank, _ in ranked)), rows)
    cross.box, cross.pad_edge, cross.padding = None, False, (0, 1, 0, 0)
    heads = ("rating", "win rate (%)", "points a hand,\nown - other's", "best responder\nas pone / dealer")
    rows = [
        (
            *ranked[place],
            *(_half(row.rating, 1, ".0f"), _half(row.win_rate, 100, ".1f"), _half(row.gain, 1, "+.2f")),
            known.least + " / ".join(f"{known.roles[role][0]:+.2f}" if role in known.roles else NONE for role in ROLES),
        )
        for place, row in enumerate(league.rows)
        for known in [ceilings.get(row.agent, _UNKNOWN)]
    ]
    standings = plain_table("standings, ± 95%", (*columns, *heads), rows)
    for table in (cross, standings):
        rank, name = table.columns[:2]
        rank.justify, rank.no_wrap, name.justify, name.max_width = "right", True, "left", _NAME_WIDTH
    return cross, standings


def _whole(league: League, name: str, other: str) -> str:
    if name == other:
        return "."
    return f"{100 * league.cells[name, other][0].estimate:.0f}" if (name, other) in league.cells else NONE


# --- files ------------------------------------------------------------------------------------------------------


def standings_csv(league: League, ceilings: Ceilings) -> str:
    """One line an agent, each figure with its bounds; empty where it is not known.

    ceiling_hands: from which a responder learned that gains the ceiling at least; empty where it is the best one's.
    """
    figures = ("rating", "win_rate", "gain", *(f"ceiling_{role}" for role in RESPONDER))
    heads = [f"{figure}{bound}" for figure in figures for bound in ("", "_low", "_high")]
    lines: list[list[Any]] = [["rank", "agent", "games", *heads, "ceiling_hands"]]
    for number, row in enumerate(league.rows, start=1):
        known = ceilings.get(row.agent, _UNKNOWN)
        values = [row.rating, row.win_rate, row.gain, *(known.roles.get(role) for role in RESPONDER)]
        figures_of = [x for value in values for x in (value or ("", "", ""))]
        lines.append([number, row.agent, row.games, *figures_of, known.terms.get("hands", "")])
    return csv_text(lines)


def pairings_csv(pairings: Sequence[Pairing]) -> str:
    """One line a pairing that has been played, for its first agent."""
    lines: list[list[Any]] = [
        ["agent", "opponent", "games", "win_rate", "win_rate_low", "win_rate_high", "gain", "gain_low", "gain_high"]
        + ["pairs", "wins", "wins_squared", "skunks", "skunks_against", "hands", "seconds"]
    ]
    for pairing in pairings:
        s = pairing.sums
        if pairing.complete:
            counts = [s.pairs, s.wins, s.wins_squared, s.skunks, s.skunks_against, s.hands, round(pairing.seconds, 2)]
            lines.append([*pairing.names, s.games, *s.win_rate, *s.gain, *counts])
    return csv_text(lines)


# --- figure -----------------------------------------------------------------------------------------------------


def league_figure(league: League) -> Figure | None:
    """Ratings with their intervals, and beside them win rates of every pair; None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return None
    num = len(league.rows)
    rates = np.full((num, num), np.nan)
    for (name, other), (rate, _) in league.cells.items():
        rates[league.names.index(name), league.names.index(other)] = 100 * rate.estimate
    figure = Figure(figsize=(7 + 0.32 * num, 1.8 + 0.32 * num), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(4, 2 + 0.32 * num))
    rated = [(place, row.rating) for place, row in enumerate(league.rows) if row.rating]
    errors = np.array([(rating.estimate - rating.low, rating.high - rating.estimate) for _, rating in rated]).T
    style = {"fmt": "o", "color": "tab:blue", "markersize": 4, "capsize": 2}
    left.errorbar([rating.estimate for _, rating in rated], [place for place, _ in rated], xerr=errors, **style)
    labels = [f"{row.agent}  {place}" for place, row in enumerate(league.rows, start=1)]
    left.set(xlabel="rating [95%]", ylim=(num - 0.5, -0.5), yticks=range(num), yticklabels=labels)
    left.grid(alpha=0.3)
    mesh = right.imshow(rates, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    right.set(xticks=range(num), xticklabels=range(1, num + 1), yticks=range(num), yticklabels=range(1, num + 1))
    right.set(xlabel="against the agent of rank", title="win rate (%)")
    for place, other in zip(*np.nonzero(~np.isnan(rates)), strict=True):
        value = rates[place, other]
        colour = "white" if abs(value - 50) > 33 else "black"
        right.text(other, place, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
    figure.colorbar(mesh, ax=right)
    return figure
