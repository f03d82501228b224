"""What scripts that write a page's tables share: a page holds each between two comments, which name it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepcrib.files import csv_text, write_atomic
from deepcrib.intervals import Interval


def filled(page: str, tables: Mapping[str, str]) -> str:
    """A page with tables in their places. Raises SystemExit where it has no place for one."""
    for name, table in tables.items():
        begin, end = f"<!-- table: {name} -->", f"<!-- end: {name} -->"
        place = re.compile(rf"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if len(place.findall(page)) != 1:
            raise SystemExit(f"expected one place for a table in the page, {begin} to {end}")
        whole = f"{begin}\n\n{table}\n\n{end}"
        page = place.sub(lambda _, whole=whole: whole, page)
    return page


def line(*cells: object) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def interval(name: str, found: Interval, form: str = ".2f") -> dict[str, str]:
    """The columns of a number and its interval; `name %` takes a share, which is written in per cent."""
    bare = name.removesuffix(" %")
    shown = [format(value * (1 if bare == name else 100), form) for value in found]
    return dict(zip((name, f"{bare} low", f"{bare} high"), shown, strict=True))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A line a row: numbers with eight digits, an empty cell for None."""
    cells = [[f"{value:.8g}" if isinstance(value, float) else value for value in row] for row in rows]
    write_atomic(path, csv_text([columns, *cells]))
