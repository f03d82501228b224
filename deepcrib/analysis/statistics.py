"""Exact statistics of a hand's discards, of cribs and of sets in the play: rows, rich tables and files."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table

from deepcrib.analysis.tables import NONE, Cell, plain_table, table_of
from deepcrib.errors import RunError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.exact.discards import CRIB_COMPLETIONS, HAND_STARTERS, crib_means, discard_statistics
from deepcrib.exact.experts import expert_sums
from deepcrib.exact.pegging import MEAN_GAINED, PeggingRecords, exact_records
from deepcrib.exact.table import lang_index
from deepcrib.files import csv_text, write_atomic, writing
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, RANK_NAMES, format_cards
from deepcrib.game.rank_sets import rank_set_of_kept, rank_sets
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6

PONE, DEALER = 0, 1
OPPONENTS = ("experts", "uniform")
"""Whose discards a mean of the crib is against: those of `exact.experts`, or any two cards alike."""


@dataclass(frozen=True)
class DiscardRow:
    """One discard of a hand; all but names and index in points, and but for lowest, median and highest means.

    crib_uniform: against any two cards alike; crib_dealer, crib_pone: against an expert, from the view of either role.
    total_dealer is hand plus crib, total_pone hand minus crib. play_dealer, play_pone: what the kept cards peg.
    """

    keep: str
    toss: str
    index: int
    hand_min: int
    hand_mean: float
    hand_median: float
    hand_max: int
    crib_uniform: float
    crib_dealer: float
    crib_pone: float
    total_dealer: float
    total_pone: float
    play_dealer: float
    play_pone: float


def discard_rows(hand: Sequence[int], opponent: str) -> list[DiscardRow]:
    """The 15 discards of a sorted hand of six, by action; opponent, of OPPONENTS, is whom the totals are against."""
    cards = np.array(hand)
    own = discard_statistics(cards)[0]
    keeps, tosses = cards[KEPT_SLOTS_6], cards[DISCARD_SLOTS_6]
    mean, uniform = own["hand_sum"] / HAND_STARTERS, own["crib_sum"] / CRIB_COMPLETIONS
    dealer, pone = (crib_means(cards, expert_sums(is_dealer))[0] for is_dealer in (True, False))
    totals = (mean + uniform, mean - uniform) if opponent == "uniform" else (mean + dealer, mean - pone)
    pegged = exact_records().summary()[[rank_set_of_kept(keep) for keep in keeps], :, MEAN_GAINED]
    columns = (
        *(own["hand_min"], mean, own["hand_median_2"] / 2, own["hand_max"], uniform, dealer, pone),
        *(*totals, pegged[:, DEALER], pegged[:, PONE]),
    )
    names = [(format_cards(k), format_cards(t), lang_index(k, t)) for k, t in zip(keeps, tosses, strict=True)]
    values = zip(*(column.tolist() for column in columns), strict=True)
    return [DiscardRow(*name, *row) for name, row in zip(names, values, strict=True)]


def best_first(rows: Sequence[DiscardRow], is_dealer: bool) -> list[DiscardRow]:
    """By hand plus crib for the dealer, hand minus crib for the pone; ties stay in the order of their actions."""
    return sorted(rows, key=lambda row: -(row.total_dealer if is_dealer else row.total_pone))


# --- the play -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PeggingRow:
    """What one rank multiset of four did in one role: points a hand, with standard errors of the means.

    nan, None in `to_dict`, where too few hands are recorded.
    """

    rank_set: str
    role: str
    hands: int
    mean_gained: float
    median_gained: float
    mean_given: float
    se_gained: float
    se_given: float

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def pegging_rows(records: PeggingRecords, names: Sequence[str] | None = None) -> list[PeggingRow]:
    """All 1,820 sets, or those of the records by these names, each as pone and as dealer."""
    hands, errors = records.hands, records.standard_error
    values = records.summary()
    return [
        PeggingRow(
            name, ROLES[role], int(hands[number, role]), *values[number, role].tolist(), *errors[number, role].tolist()
        )
        for number, name in enumerate(names or rank_set_names(HAND_SIZE))
        for role in (PONE, DEALER)
    ]


def extreme_sets(rows: Sequence[PeggingRow], role: str, count: int) -> tuple[list[PeggingRow], list[PeggingRow]]:
    """The sets that gain most and least in a role, each from the most on; those without a record are left out."""
    recorded = [row for row in rows if row.role == role and row.hands > 0]
    recorded.sort(key=lambda row: -row.mean_gained)
    return recorded[:count], recorded[count:][-count:]


def overall_pegging(records: PeggingRecords) -> list[PeggingRow]:
    """One row a role, over all sets as often as they are dealt; what is sampled weighs what it is recorded."""
    weights = _times_dealt() if records.exact else np.ones(len(records.gained), dtype=np.int64)
    gained, given = (
        (weights[:, None, None] * counts).sum(axis=0, keepdims=True) for counts in (records.gained, records.given)
    )
    return pegging_rows(PeggingRecords(gained, given, records.exact), ["all"])


def _times_dealt() -> NDArray[np.int64]:
    """[1820] hands of four cards with the ranks of each set: 270,725 in all."""
    counts = (rank_sets(HAND_SIZE)[:, :, None] == np.arange(NUM_RANKS)).sum(axis=1)
    return np.array([prod(comb(NUM_SUITS, count) for count in row) for row in counts.tolist()])


def rank_set_names(size: int) -> list[str]:
    """`A2JK` for each multiset of ranks, in the order of their numbers."""
    return ["".join(RANK_NAMES[rank] for rank in row) for row in rank_sets(size).tolist()]


# --- tables -------------------------------------------------------------------------------------------------

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


_DISCARD: dict[str, Cell] = {"keep": "{0.keep}", "toss": "{0.toss}"}
_HAND: dict[str, Cell] = {
    "hand\nmin": "{0.hand_min}",
    "hand\nmean": "{0.hand_mean:.2f}",
    "hand\nmedian": "{0.hand_median:.1f}",
    "hand\nmax": "{0.hand_max}",
    "dealer:\nhand\n+ crib": "{0.total_dealer:.2f}",
    "pone:\nhand\n- crib": "{0.total_pone:.2f}",
}
_CRIB_AND_PLAY: dict[str, Cell] = {
    "crib\nv. any\ncards": "{0.crib_uniform:.2f}",
    "crib v.\nexperts\ndealer": "{0.crib_dealer:.2f}",
    "crib v.\nexperts\npone": "{0.crib_pone:.2f}",
    "play\nas\ndealer": "{0.play_dealer:.2f}",
    "play\nas\npone": "{0.play_pone:.2f}",
}


def hand_table(title: str, rows: Sequence[DiscardRow]) -> Fitted:
    """One row a discard, in the order given."""
    wide, hand, others = (
        table_of(text, rows, _DISCARD | columns)
        for text, columns in (
            (title, _HAND | _CRIB_AND_PLAY),
            (title, _HAND),
            ("crib and play, in the same order", _CRIB_AND_PLAY),
        )
    )
    for table in (wide, hand, others):
        table.columns[0].no_wrap = True
    return Fitted(wide, (hand, others))


def rank_grid(title: str, means: NDArray) -> Table:
    """13 x 13 mean points of the crib by the two ranks thrown into it."""
    rows = [(name, *(f"{mean:.2f}" for mean in row)) for name, row in zip(RANK_NAMES, means, strict=True)]
    table = plain_table(title, ("", *RANK_NAMES), rows)
    table.box, table.padding, table.pad_edge = box.SIMPLE_HEAD, (0, 0, 0, 0), False
    table.columns[0].style = "bold"
    return table


def _pegging_columns(exact: bool) -> dict[str, Cell]:
    def error(row: PeggingRow) -> str:
        return "exact" if exact else NONE if math.isnan(row.se_gained) else f"{row.se_gained:.3f}"

    return {
        "mean\ngained": "{0.mean_gained:.3f}",
        "median\ngained": "{0.median_gained:.1f}",
        "mean\ngiven": "{0.mean_given:.3f}",
        "standard error\nof gained": error,
        "hands": "{0.hands:,}",
    }


def overall_table(title: str, rows: Sequence[PeggingRow], exact: bool) -> Table:
    """One row a role."""
    return table_of(title, rows, {"as": "{0.role}"} | _pegging_columns(exact))


def sets_table(title: str, best: Sequence[PeggingRow], worst: Sequence[PeggingRow], exact: bool) -> Table:
    """The sets that gain most above those that gain least."""
    table = table_of(title, [*best, *worst], {"four cards": "{0.rank_set}"} | _pegging_columns(exact))
    table.rows[len(best) - 1].end_section = True
    return table


# --- files --------------------------------------------------------------------------------------------------


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A line a row: numbers with eight digits, an empty cell for None."""
    cells = [[f"{value:.8g}" if isinstance(value, float) else value for value in row] for row in rows]
    write_atomic(path, csv_text([columns, *cells]))


def target(path: Path, what: str, is_ours: Callable[[Path], bool]) -> Path:
    """A file to write. Raises RunError where it cannot be written, or where something else stands in its place."""
    with writing(path):
        if path.exists() and not (path.is_file() and is_ours(path)):
            raise RunError(f"path={path}: exists and is no {what}; delete it, or name another file")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    return path
