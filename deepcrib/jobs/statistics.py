"""`deepcrib statistics`: a hand's discards, crib tables, pegging."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deepcrib.analysis.statistics import (
    OPPONENTS,
    PEGGING_COLUMNS,
    discard_rows,
    hand_table,
    overall_pegging,
    pegging_rows,
    write_csv,
)
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.exact.experts import crib_table
from deepcrib.game.cards import format_cards
from deepcrib.jobs import JOBS, Outcome, Run
from deepcrib.jobs.shared.common import chosen_task, six_cards
from deepcrib.options import one_of, option

CRIB_TABLE_FILE, PEGGING_FILE = "crib_table.csv", "pegging.csv"
CRIB_COLUMNS = ("rank_1", "rank_2", "own_crib", "opponent_crib")


@dataclass
class Config:
    """The schema of `conf/statistics.yaml`."""

    task: str = option("hand", "or crib_table, pegging; also as an argument: deepcrib statistics pegging")
    hand: str | None = option(None, "hand: six cards; also as arguments: deepcrib statistics 5H 5S JD 2C 3C KH")
    dealer: bool | None = option(None, "hand: sort by hand + crib (true, null) or by hand - crib, as pone (false)")
    weights: str = option(
        "experts", "hand: opponent's discards that the crib of the totals assumes; or uniform", one_of(*OPPONENTS)
    )
    opponent: str = option("experts", "crib_table: who discards the other two cards; or uniform", one_of(*OPPONENTS))


def run(config: Config, run: Run) -> Outcome:
    """Do what the task names."""
    return chosen_task(config, _TASKS)(config, run)


def _show_hand(config: Config, run: Run) -> Outcome:
    if config.hand is None:
        raise OptionError(
            f"option hand is missing: expected six cards, or one of the tasks {', '.join(JOBS['statistics'].tasks)}"
        )
    hand, role = six_cards(config.hand), ROLES[config.dealer is not False]
    run.start()
    rows = sorted(discard_rows(hand, config.weights), key=lambda row: -row[f"total_{role}"])
    against = "experts" if config.weights == "experts" else "any two cards"
    title = f"{format_cards(hand)}: best first as {role}, totals against {against}"
    summary = {"task": "hand", "hand": format_cards(hand), "weights": config.weights, "best_first_as": role}
    return Outcome(summary | {"discards": rows}, (hand_table(title, rows),))


def _write_crib_table(config: Config, run: Run) -> Outcome:
    path = run.folder.path / CRIB_TABLE_FILE
    run.start()
    cells = crib_table(config.opponent)
    write_csv(path, CRIB_COLUMNS, cells)
    run.notes.append(f"mean points of the crib by the two ranks discarded: {path}")
    pairs = [dict(zip(CRIB_COLUMNS, row, strict=True)) for row in cells]
    summary = {"task": "crib_table", "opponent": config.opponent, "path": str(path.absolute())}
    return Outcome(summary | {"pairs": pairs})


def _show_pegging(config: Config, run: Run) -> Outcome:
    run.start()
    rows, path = pegging_rows(), run.folder.path / PEGGING_FILE
    write_csv(path, PEGGING_COLUMNS, [list(row.values()) for row in rows])
    run.notes.append(f"all sets of four ranks: {path}")
    overall = overall_pegging(rows)
    cells = [(role, *(f"{mean:.3f}" for mean in overall[role].values())) for role in ROLES]
    table = plain_table("points of the play, greedy v. itself, every pair of hands", ("as", "gained", "given"), cells)
    return Outcome({"task": "pegging", "overall": overall}, (table,))


_TASKS: dict[str, tuple[Callable[[Config, Run], Outcome], tuple[str, ...]]] = {
    "hand": (_show_hand, ("hand", "dealer", "weights")),
    "crib_table": (_write_crib_table, ("opponent",)),
    "pegging": (_show_pegging, ()),
}
"""Each task, which claims the run folder once its options have proved usable, with the options that it reads."""
