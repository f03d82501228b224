"""The tables of pages of measurements, from the data beside them: python -m benchmarks.tables [PAGE ...].

docs/results/data/PAGE/TABLE.csv is a table, a line a row. It is the only record of what was measured there, to the
digits that were printed, until the runs of its group in the queue (MEASURED) are all done: then their figures count,
and the file goes. A cell is joined from columns `x`, `x low` and `x high` (its interval), `x ±`, `x n` or `x value` (in
brackets). `x %` is a share in per cent. `bold` names the columns that are bold, with `;` between them; it, `commit`,
`seed` and columns that begin with `_` are not shown, nor is a table whose file begins so: they are data alone. A cell
`=PAGE/TABLE; ROW; COLUMN` is that of another table, ROW being its first cell.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.equilibrium import ceiling as best_response_ceiling
from benchmarks.evolution import page as evolution
from benchmarks.long_runs import DATA, finished
from benchmarks.long_runs_list import long_runs
from benchmarks.pages import filled, line
from benchmarks.partida2022 import network as partida2022_network
from benchmarks.people import expert_figure
from benchmarks.people.probes import PROBES
from deepcrib.files import write_atomic

Row = Mapping[str, str]
MEASURED: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], list[dict[str, str]]]]] = {
    "best_response/ceiling": ("best_response_ceiling", best_response_ceiling.table),
    "evolution/references": ("evolution_references", evolution.reference_table),
    "evolution/curves": ("evolution", evolution.curve_table),
    "evolution/games": ("evolution", evolution.game_table),
    "evolution/climbs": ("evolution", evolution.climb_table),
    "partida_network/setups": ("partida_network", partida2022_network.table),
    "expert_rules/rules": ("expert_rules", expert_figure.rule_rows),
    "expert_rules/worth": ("expert_rules", expert_figure.worth_rows),
    **{
        f"expert_rules/probe_{hand.name}": ("expert_rules", partial(expert_figure.probe_rows, hand=hand))
        for hand in PROBES
    },
}
"""By table: the group of the queue that measures it, and its rows from the figures of that group's runs."""
HIDDEN = ("bold", "commit", "seed")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def page_file(page: str) -> Path:
    """Where it stands: in docs/results/, or else in docs/."""
    found = DATA.parent / f"{page}.md"
    return found if found.exists() else DATA.parent.parent / f"{page}.md"


def tables(page: str) -> list[str]:
    """Names of those of a page that have data, as PAGE/TABLE."""
    recorded = {f"{page}/{path.stem}" for path in (DATA / page).glob("[!_]*.csv")}
    return sorted(recorded | {name for name in MEASURED if name.startswith(f"{page}/") and rows(name)})


def pages() -> list[str]:
    """Those whose tables this script writes."""
    return sorted({path.parent.name for path in DATA.glob("*/*.csv")} | {name.partition("/")[0] for name in MEASURED})


def rows(table: str) -> Sequence[Row]:
    """By column; those of the queue where all of the group's runs are done, else those of the CSV file."""
    if table in MEASURED:
        group, of = MEASURED[table]
        done = finished(group)
        if {run.name for run in long_runs() if run.group == group} <= set(done):
            return of(done)
    path = DATA / f"{table}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def written(page: str) -> str:
    """The page's text with its tables as they are to be."""
    found = {table.partition("/")[2]: markdown(rows(table)) for table in tables(page)}
    return filled(page_file(page).read_text(encoding="utf-8"), found)


def markdown(table: Sequence[Row]) -> str:
    """Its lines."""
    names = {column.removesuffix(" %") for column in table[0]}
    joined = {f"{name} {end}" for name in names for end in ("low", "high", "±", "n", "value")}
    shown = [column for column in table[0] if column not in joined and column not in HIDDEN and column[0] != "_"]
    titles = [name + " [95%]" * (f"{name} low" in names) for name in (column.removesuffix(" %") for column in shown)]
    cells = [[cell(row, column) for column in shown] for row in table]
    return "\n".join([line(*titles), f"|{'---|' * len(shown)}", *(line(*texts) for texts in cells)])


def cell(row: Row, column: str) -> str:
    """The text of a column and of those that are joined to it."""
    name, text = column.removesuffix(" %"), row[column]
    parts = {end: number(row.get(f"{name} {end}") or "") for end in ("low", "high", "±", "n", "value")}
    if text.startswith("="):
        text = _referred(*text[1:].split("; "))
    elif NUMBER.fullmatch(text):
        text = number(text) + "%" * column.endswith(" %")
    if name in (row.get("bold") or "").split(";"):
        text = f"**{text}**"
    text += f" [{parts['low']}, {parts['high']}]" if parts["low"] else ""
    text += f" ± {parts['±']}" if parts["±"] else ""
    return text + "".join(f" ({parts[end]})" for end in ("n", "value") if parts[end])


def number(text: str) -> str:
    """With commas where it is a whole number."""
    return f"{int(text):,}" if text.isdecimal() else text


def _referred(table: str, label: str, column: str) -> str:
    (row,) = [row for row in rows(table) if next(iter(row.values())) == label]
    return cell({**row, "bold": ""}, column)


def main(words: Sequence[str] | None = None) -> None:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"by default all: {', '.join(pages())}")
    options = parser.parse_args(words)
    if unknown := set(options.pages) - set(pages()):
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(pages())}")
    for page in options.pages or pages():
        write_atomic(page_file(page), written(page))
        print(page_file(page))


if __name__ == "__main__":
    main()
