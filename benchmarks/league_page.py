"""The standings and the heat map of docs/results/league.md: python -m benchmarks.league_page.

They are those of docs/results/league.csv and docs/results/data/league_pairings.csv, which `zoo.py league` takes from
the folder of a league (`league.csv` and `pairings.csv` there). The league in matches of ten games is
docs/results/data/league_of_ten.csv, a copy of its `league.csv`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import zoo
from benchmarks.long_runs import DATA
from benchmarks.pages import filled, line
from benchmarks.zoo import PAIRINGS, estimate
from deepcrib.analysis.tables import bounds, percent
from deepcrib.files import write_atomic

PAGE = DATA.parent / "league.md"
FIGURE = PAGE.with_suffix(".png")
OF_TEN = DATA / "league_of_ten.csv"


def main() -> None:
    """Write the table and the figure."""
    write_atomic(PAGE, page(PAGE.read_text(encoding="utf-8")))
    with PAIRINGS.open(encoding="utf-8", newline="") as lines:
        heat_map(list(zoo.standings()), list(csv.DictReader(lines))).savefig(FIGURE, dpi=90)


def page(text: str) -> str:
    """The page with the league's standings."""
    return filled(text, {"standings": "\n".join(standings()), "of_ten": "\n".join(of_ten())})


def standings() -> Iterator[str]:
    """A line an agent, the best first."""
    yield line("", "agent", "rating [95%]", "win rate [95%]", "points a hand [95%]", "a best responder gains [95%]")
    yield "|--:|---|--:|--:|--:|--:|"
    for name, row in zoo.standings().items():
        figures = bounds(*estimate(row, "rating"), ".0f"), percent(*estimate(row, "win_rate"))
        yield line(row["rank"], f"`{name}`", *figures, bounds(*estimate(row, "gain")), zoo.ceiling(row) or "-")


def of_ten() -> Iterator[str]:
    """The same of the league in matches of ten games, without a best responder."""
    yield line("", "agent", "rating [95%]", "win rate [95%]", "points a hand [95%]", "games")
    yield "|--:|---|--:|--:|--:|--:|"
    for name, row in zoo.standings(OF_TEN).items():
        figures = bounds(*estimate(row, "rating"), ".0f"), percent(*estimate(row, "win_rate"))
        yield line(row["rank"], f"`{name}`", *figures, bounds(*estimate(row, "gain")), f"{int(row['games']):,}")


def heat_map(names: list[str], pairings: list[dict[str, str]]) -> Any:
    """Per cent of the games that the row's agent wins from the column's."""
    from matplotlib.figure import Figure

    rates = np.full((len(names), len(names)), np.nan)
    for row in pairings:
        first, second = names.index(row["agent"]), names.index(row["opponent"])
        rates[first, second] = 100 * float(row["win_rate"])
        rates[second, first] = 100 - rates[first, second]
    size = 0.32 * len(names)
    figure = Figure(figsize=(2.6 + size, 0.8 + size), layout="constrained")
    axes = figure.add_subplot()
    mesh = axes.imshow(rates, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    numbers = range(len(names))
    axes.set_yticks(numbers, [f"{name}  {number + 1}" for number, name in enumerate(names)])
    axes.set_xticks(numbers, [str(number + 1) for number in numbers])
    axes.set(xlabel="opponent, by its rank", title="Games won by the row's agent, %")
    for first, second in zip(*np.nonzero(~np.isnan(rates)), strict=True):
        value = rates[first, second]
        colour = "white" if abs(value - 50) > 33 else "black"
        axes.text(second, first, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
    figure.colorbar(mesh, ax=axes, fraction=0.04)
    return figure


if __name__ == "__main__":
    main()
