"""Statistics of discards, cribs and the play as rich tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import NDArray
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table

from deepcrib.analysis.statistics.rows import DiscardRow, PeggingRow
from deepcrib.analysis.tables import percent, plain_table
from deepcrib.evaluation.studies.first_dealer import FirstDealer
from deepcrib.game.cards import RANK_NAMES

_UNBOUNDED = 1000  # characters, more than any table of ours needs
_BLOCKS = 3  # of the rank pairs, side by side
PUBLISHED_ADVANTAGES = {
    "Cribbage\nPro": {"win_rate": "55.5%"},
    "ACC\ntips": {"win_rate": "56%", "dealer_points": "16.2", "pone_points": "10.2", "hand_margin": "+6.0"},
    "Martin\n2000": {"margin": "about 5"},
}
"""What others found of dealing first: people's games on Cribbage Pro, several million of them; the tips of the American
Cribbage Congress (Colvert, Chambers); Martin 2000 as Lang 2018 (section 2.2) quotes him."""


@dataclass
class Fitted:
    """A table where the terminal is wide enough for it, else narrower ones that together show the same."""

    wide: Table
    narrow: Sequence[Table]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What fits."""
        needed = Measurement.get(console, options.update(max_width=_UNBOUNDED), self.wide).maximum
        yield from (self.wide,) if needed <= options.max_width else self.narrow


# --- a hand -------------------------------------------------------------------------------------------------

_DISCARD = ("keep", "toss")
_HAND = ("hand\nmin", "hand\nmean", "hand\nmedian", "hand\nmax")
_TOTALS = ("dealer:\nhand\n+ crib", "pone:\nhand\n- crib")
_CRIBS = ("crib\nv. any\ncards", "crib v.\nexperts\ndealer", "crib v.\nexperts\npone")
_PLAY = ("play\nas\ndealer", "play\nas\npone")


def hand_table(title: str, rows: Sequence[DiscardRow]) -> Fitted:
    """One row a discard, in the order given."""
    hand = [(str(row.hand_min), f"{row.hand_mean:.2f}", f"{row.hand_median:.1f}", str(row.hand_max)) for row in rows]
    totals = [_means(row.total_dealer, row.total_pone) for row in rows]
    others = [_means(row.crib_uniform, row.crib_dealer, row.crib_pone, row.play_dealer, row.play_pone) for row in rows]
    discards = [(row.keep, row.toss) for row in rows]
    return Fitted(
        _parts(title, (*_DISCARD, *_HAND, *_TOTALS, *_CRIBS, *_PLAY), discards, hand, totals, others),
        (
            _parts(title, (*_DISCARD, *_HAND, *_TOTALS), discards, hand, totals),
            _parts("crib and play, in the same order", (*_DISCARD, *_CRIBS, *_PLAY), discards, others),
        ),
    )


def _parts(title: str, columns: Sequence[str], *parts: Sequence[tuple[str, ...]]) -> Table:
    table = plain_table(title, columns, [sum(cells, ()) for cells in zip(*parts, strict=True)])
    table.columns[0].no_wrap = True
    return table


def _means(*values: float) -> tuple[str, ...]:
    return tuple(f"{value:.2f}" for value in values)


# --- cribs --------------------------------------------------------------------------------------------------


def rank_grid(title: str, means: NDArray) -> Table:
    """13 x 13 mean points of the crib by the two ranks thrown into it."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("", style="bold")
    for name in RANK_NAMES:
        table.add_column(name, justify="right", no_wrap=True)
    for name, row in zip(RANK_NAMES, means, strict=True):
        table.add_row(name, *_means(*row))
    return table


def bounds_table(title: str, names: Sequence[str], bounds: NDArray) -> Table:
    """Rank pairs with the lowest, mean and highest crib, [n, 3] points: the richest mean first, down three blocks."""
    order = (-bounds[:, 1]).argsort(kind="stable")
    cells = [(names[number], *_means(*bounds[number])) for number in order]
    height = -(-len(cells) // _BLOCKS)
    cells += [("", "", "", "")] * (height * _BLOCKS - len(cells))
    rows = [sum((cells[block * height + line] for block in range(_BLOCKS)), ()) for line in range(height)]
    table = plain_table(title, ("toss", "low", "mean", "high") * _BLOCKS, rows)
    table.box, table.padding, table.pad_edge = box.SIMPLE_HEAD, (0, 1, 0, 0), False
    return table


# --- the play -----------------------------------------------------------------------------------------------

_PEGGING = ("mean\ngained", "median\ngained", "mean\ngiven", "standard error\nof gained", "hands")


def overall_table(title: str, rows: Sequence[PeggingRow], exact: bool) -> Table:
    """One row a role."""
    cells = [(row.role, *_pegged(row, exact)) for row in rows]
    return plain_table(title, ("as", *_PEGGING), cells)


def sets_table(title: str, best: Sequence[PeggingRow], worst: Sequence[PeggingRow], exact: bool) -> Table:
    """The sets that gain most above those that gain least."""
    table = plain_table(title, ("four cards", *_PEGGING), [])
    for rows in (best, worst):
        for row in rows:
            table.add_row(row.rank_set, *_pegged(row, exact))
        table.add_section()
    return table


def _pegged(row: PeggingRow, exact: bool) -> tuple[str, ...]:
    error = "exact" if exact else "-" if math.isnan(row.se_gained) else f"{row.se_gained:.3f}"
    means = (f"{row.mean_gained:.3f}", f"{row.median_gained:.1f}", f"{row.mean_given:.3f}")
    return (*means, error, f"{row.hands:,}")


# --- the first dealer ---------------------------------------------------------------------------------------


def first_dealer_table(title: str, name: str, figures: FirstDealer) -> Table:
    """The dealer's advantage in one agent's games beside what others found."""
    own = {
        "win_rate": ("first dealer wins", percent(figures.win_rate, figures.ci_low, figures.ci_high)),
        "margin": (
            "points ahead at the end",
            _signed(figures.margin, figures.margin_low, figures.margin_high),
        ),
        "dealer_points": ("points a hand, dealer", f"{figures.dealer_points:.2f}"),
        "pone_points": ("points a hand, pone", f"{figures.pone_points:.2f}"),
        "hand_margin": (
            "dealer minus pone",
            _signed(figures.hand_margin, figures.hand_margin_low, figures.hand_margin_high),
        ),
    }
    rows = [
        (label, value, *(others.get(key, "-") for others in PUBLISHED_ADVANTAGES.values()))
        for key, (label, value) in own.items()
    ]
    return plain_table(title, ("figure [95%]", f"{name},\n{figures.games:,} games", *PUBLISHED_ADVANTAGES), rows)


def _signed(value: float, low: float, high: float) -> str:
    return f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"
