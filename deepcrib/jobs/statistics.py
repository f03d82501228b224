"""`deepcrib statistics`: a hand's discards, the table of all hands, crib tables, pegging records."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from deepcrib.analysis.statistics import (
    OPPONENTS,
    best_first,
    discard_rows,
    extreme_sets,
    hand_table,
    overall_pegging,
    overall_table,
    pegging_rows,
    rank_grid,
    sets_table,
    target,
    write_csv,
)
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError, StatisticsError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.exact.classes import NUM_CLASSES
from deepcrib.exact.cribs import NUM_DISCARDS, uniform_weights
from deepcrib.exact.discards import CRIB_COMPLETIONS, HAND_STARTERS
from deepcrib.exact.experts import Experts, crib_table, experts
from deepcrib.exact.pegging import exact_records, sampled_records
from deepcrib.exact.table import TABLE_FILE, build_table, load_table, parse_lang_index, save_table
from deepcrib.files import runs
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, RANK_NAMES, format_cards
from deepcrib.jobs import JOBS, Outcome, Run
from deepcrib.jobs.shared.common import check_task, six_cards
from deepcrib.jobs.shared.console import Bars
from deepcrib.options import at_least, one_of, option, seed_value

CRIB_TABLE_FILE = "crib_table.csv"
CRIB_COLUMNS = ("rank_1", "rank_2", "own_crib", "opponent_crib")
_NUM_HANDS = comb(NUM_CARDS, 6)
_EXTREMES = 10

Work = Callable[[Run, Bars], Outcome]
"""A task whose options have proved usable: does it."""


@dataclass
class Config:
    """The schema of `conf/statistics.yaml`."""

    task: str = option("hand", "or build, crib_table, pegging; also as an argument: deepcrib statistics build")
    hand: str | None = option(None, "hand: six cards; also as arguments: deepcrib statistics 5H 5S JD 2C 3C KH")
    index: int | None = option(
        None, "hand: Lang's index of a discard, in place of the cards; prints that discard's row only"
    )
    dealer: bool | None = option(None, "hand: sort by hand + crib (true, null) or by hand - crib, as pone (false)")
    weights: str = option(
        "experts", "hand: opponent's discards that the crib of the totals assumes; or uniform", one_of(*OPPONENTS)
    )
    path: str | None = option(None, "build, crib_table: file to write; default discards.npy, crib_table.csv")
    opponent: str = option("experts", "crib_table: who discards the other two cards; or uniform", one_of(*OPPONENTS))
    records: str = option(
        "exact", "pegging: every pair of sets; or sampled, from random hands", one_of("exact", "sampled")
    )
    hands: int = option(100000, "pegging: number of random hands with records=sampled", at_least(1))
    seed: int = option(1, "of whatever is sampled", seed_value)


def run(config: Config, run: Run) -> Outcome:
    """Do what the task names."""
    check_task(config, {task: reads for task, (_, reads) in _TASKS.items()})
    work = _TASKS[config.task][0](config)
    run.start()
    with Bars(run.show_progress, run.show_lines) as bars:
        return work(run, bars)


# --- a hand -------------------------------------------------------------------------------------------------


def _plan_hand(config: Config) -> Work:
    if config.hand is not None and config.index is not None:
        raise OptionError(f"hand={config.hand} index={config.index}: expected one of them")
    if config.index is not None:
        return partial(_show_hand, config, *parse_lang_index(config.index))
    if config.hand is None:
        raise OptionError(
            f"option hand is missing: expected six cards, or one of the tasks {', '.join(JOBS['statistics'].tasks)}"
        )
    return partial(_show_hand, config, six_cards(config.hand), None)


def _show_hand(config: Config, hand: list[int], action: int | None, run: Run, bars: Bars) -> Outcome:
    rows = discard_rows(hand, config.weights)
    chosen = best_first(rows, config.dealer is not False) if action is None else [rows[action]]
    role = ROLES[config.dealer is not False]
    order = f"best first as {role}" if action is None else f"discard {config.index}"
    against = "experts" if config.weights == "experts" else "any two cards"
    title = f"{format_cards(hand)}: {order}, totals against {against}"
    summary = {
        "task": "hand",
        "hand": format_cards(hand),
        "weights": config.weights,
        "best_first_as": role if action is None else None,
        "discards": [asdict(row) for row in chosen],
    }
    return Outcome(summary, (hand_table(title, chosen),))


# --- all hands ----------------------------------------------------------------------------------------------


def _plan_build(config: Config) -> Work:
    default = runs.outputs_folder() / "statistics" / TABLE_FILE
    path = target(default if config.path is None else Path(config.path), "table of statistics", _is_discard_table)
    return partial(_build, config, path)


def _is_discard_table(path: Path) -> bool:
    try:
        load_table(path)
    except StatisticsError:
        return False
    return True


def _build(config: Config, path: Path, run: Run, bars: Bars) -> Outcome:
    bars.show("suit classes", 0, NUM_CLASSES)
    start = time.perf_counter()
    table = build_table()
    computed = time.perf_counter() - start
    bars.show("suit classes", NUM_CLASSES, NUM_CLASSES)
    save_table(table, path)
    written = time.perf_counter() - start - computed
    summary = {
        "task": "build",
        "path": str(path.absolute()),
        "bytes": path.stat().st_size,
        "hands": _NUM_HANDS,
        "suit_classes": NUM_CLASSES,
        "combinations": _NUM_HANDS * NUM_DISCARDS * (HAND_STARTERS + CRIB_COMPLETIONS),
        "seconds": computed,
        "seconds_to_write": written,
        "hands_a_second": _NUM_HANDS / computed,
    }
    return Outcome(summary, (_build_table(path, summary),))


def _build_table(path: Path, summary: dict[str, Any]) -> Any:
    each = f"{NUM_DISCARDS} x ({HAND_STARTERS} starters + {CRIB_COMPLETIONS:,} cribs)"
    rows = [
        ("hands", f"{_NUM_HANDS:,}"),
        ("suit classes", f"{NUM_CLASSES:,}"),
        ("combinations covered", f"{summary['combinations']:,}"),
        ("of a hand", each),
        ("seconds to compute", f"{summary['seconds']:.1f}"),
        ("hands a second", f"{summary['hands_a_second']:,.0f}"),
        ("seconds to write", f"{summary['seconds_to_write']:.1f}"),
        ("file size", f"{summary['bytes'] / 1e6:,.1f} MB"),
    ]
    return plain_table(f"exact statistics of every discard: {path}", ("metric", "value"), rows)


# --- cribs --------------------------------------------------------------------------------------------------


def _plan_crib_table(config: Config) -> Work:
    path = None if config.path is None else target(Path(config.path), "crib table", _is_crib_table)
    return partial(_write_crib_table, config, path)


def _is_crib_table(path: Path) -> bool:
    """Whether a file begins as one does."""
    with open(path, "rb") as file:
        return file.readline(100).strip() == ",".join(CRIB_COLUMNS).encode()


def _write_crib_table(config: Config, path: Path | None, run: Run, bars: Bars) -> Outcome:
    path = path or run.folder.path / CRIB_TABLE_FILE
    summary: dict[str, Any] = {"task": "crib_table", "opponent": config.opponent, "path": str(path.absolute())}
    found = experts() if config.opponent == "experts" else Experts(uniform_weights(), uniform_weights())
    cells = crib_table(found)
    write_csv(path, CRIB_COLUMNS, cells)
    run.notes.append(f"{len(cells)} rank pairs: {path}")
    grids = np.zeros((2, NUM_RANKS, NUM_RANKS))
    for first, second, *means in cells:
        a, b = RANK_NAMES.index(first), RANK_NAMES.index(second)
        grids[:, a, b] = grids[:, b, a] = means
    pairs = [{"ranks": a + b, "own_crib": own, "opponent_crib": other} for a, b, own, other in cells]
    tables = [
        rank_grid(f"{whose} crib by the ranks thrown: mean points v. {config.opponent}", grid)
        for whose, grid in zip(("one's own", "the opponent's"), grids, strict=True)
    ]
    return Outcome({**summary, "pairs": pairs}, tables)


# --- the play -----------------------------------------------------------------------------------------------


def _plan_pegging(config: Config) -> Work:
    if config.records == "exact" and config.hands != Config.hands:
        raise OptionError(f"hands={config.hands}: only with records=sampled, exact records are of every hand")
    return partial(_show_pegging, config)


def _show_pegging(config: Config, run: Run, bars: Bars) -> Outcome:
    bars.show(f"{config.records} records", 0, 1)
    exact = config.records == "exact"
    records = exact_records() if exact else sampled_records(config.hands, config.seed)
    rows, overall = pegging_rows(records), overall_pegging(records)
    plain = [row.to_dict() for row in rows]
    write_csv(run.folder.path / "pegging.csv", list(plain[0]), [list(row.values()) for row in plain])
    records.save(run.folder.path / "pegging_records.npz")
    run.notes.append("all sets: pegging.csv and pegging_records.npz in the run folder")
    what = "every pair of hands" if exact else f"{config.hands:,} random hands"
    tables = [overall_table(f"points of the play, greedy v. itself, {what}", overall, exact)]
    extremes = {role: extreme_sets(rows, role, _EXTREMES) for role in reversed(ROLES)}
    for role, (best, worst) in extremes.items():
        tables.append(sets_table(f"four cards that peg most and least as {role}", best, worst, exact))
    summary: dict[str, Any] = {"task": "pegging", "records": config.records}
    summary["overall"] = {row.role: row.to_dict() for row in overall}
    for place, name in enumerate(("most", "least")):
        summary[name] = {role: [row.to_dict() for row in both[place]] for role, both in extremes.items()}
    return Outcome(summary, tables)


_TASKS: dict[str, tuple[Callable[[Config], Work], tuple[str, ...]]] = {
    "hand": (_plan_hand, ("hand", "index", "dealer", "weights")),
    "build": (_plan_build, ("path",)),
    "crib_table": (_plan_crib_table, ("path", "opponent")),
    "pegging": (_plan_pegging, ("records", "hands")),
}
"""Each task with the options that it reads besides the seed."""
