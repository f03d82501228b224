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
from deepcrib.analysis.tables import plain_table
from deepcrib.game.cards import RANK_NAMES

_UNBOUNDED = 1000  # characters, more than any table of ours needs


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
