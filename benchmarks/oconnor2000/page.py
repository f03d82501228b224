"""The tables and figures of docs/results/td_perceptron.md: python -m benchmarks.oconnor2000.page.

They are written from what `long_runs.py` keeps of its runs in docs/results/data/: the checks of the network, the simple
discard game, the full game, and the further work that the paper proposes. A table whose runs are not all there stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.long_runs import DATA, finished
from benchmarks.oconnor2000.values import (
    DISCARD_UNITS,
    FUNCTIONS,
    OPPONENTS,
    RATES,
    ROW_OF_CELL,
    ROWS,
    SEEDS,
    UNITS,
    Row,
)
from benchmarks.pages import filled, line
from deepcrib.analysis.figures import lines_with_bands, save_png
from deepcrib.files import write_atomic
from deepcrib.intervals import Interval, mean_interval

PAGE = DATA.parent / "td_perceptron.md"
FIGURES = DATA.parent
PUBLISHED_DISCARDS = {"random": "4.7", "ideal": "8.1", "cheating": "8.8"}
PUBLISHED_NETWORKS = "7.3 to 7.6"
PUBLISHED_PAIRS = 4.0
"""About so many points a pair of hands more than random, after two days."""
PUBLISHED_ERRORS = {"constant": "converged very quickly", "sum": "converged very quickly", "sine": "order of 1e-4"}
CHECKED = (2_000_000, 5_000_000)
DISCARDS_SHOWN = (100_000, 2_000_000)
COMPARED = (
    ("40 units", "20 units"),
    ("two layers of 40", "40 units"),
    ("20 units, lambda 0.7", "20 units"),
    ("20 units, points added", "20 units"),
    ("features", "40 units"),
)
"""Rows of the table and what they are compared with."""


def main() -> None:
    """Write them."""
    write_atomic(PAGE, page(PAGE.read_text(encoding="utf-8")))
    for number, figure in enumerate((figure_1(), figure_2(), figure_3()), start=1):
        if figure is not None:
            save_png(figure, FIGURES / f"oconnor_figure_{number:02d}.png", dpi=80)


def page(text: str) -> str:
    """The page with the tables of what is kept; one whose runs are not all there stays as it is."""
    tables = {"checks": checks, "discard game": discards, "counted": counted, "full game": full_game}
    tables |= {"games": games, "comparisons": comparisons, "grid": grid}
    found = {name: whole_table(table) for name, table in tables.items()}
    return filled(text, {name: table for name, table in found.items() if table is not None})


def whole_table(table: Any) -> str | None:
    """The lines of a table as text, or None where a run of it is missing."""
    try:
        return "\n".join(table())
    except KeyError:
        return None


# --- checks of the network, and the discard game ----------------------------------------------------------------


def checks() -> Iterator[str]:
    """Mean square errors by the number of points learned, of three seeds."""
    runs = finished("oconnor_checks")
    yield line("function; points:", *(f"{step:,}" for step in CHECKED), "paper, 5,000,000")
    yield "|---" * (2 + len(CHECKED)) + "|"
    for function in FUNCTIONS:
        errors = [
            ", ".join(f"{runs[f'{function}_seed{seed}']['figures'][f'mse.{step}']:.1e}" for seed in SEEDS)
            for step in CHECKED
        ]
        yield line(function, *errors, PUBLISHED_ERRORS[function])


def discards() -> Iterator[str]:
    """The players of the simple discard game, and its networks: means over seeds, Student's t."""
    runs = finished("oconnor_discard")
    players = runs["players"]["figures"]
    yield "| player | mean of 20,000 hands [95%] | exact | paper |"
    yield "|---|---|---|---|"
    for name, paper in PUBLISHED_DISCARDS.items():
        yield line(name, _points(players, f"measured.{name}"), f"{players[f'exact.{name}']:.4f}", paper)
    for units in DISCARD_UNITS:
        for step in DISCARDS_SHOWN:
            means = [runs[f"{units}_units_seed{seed}"]["figures"][f"curve.{step}.mean"] for seed in SEEDS]
            yield line(f"network of {units}, {step:,} hands", _mean(means, ".2f"), "", PUBLISHED_NETWORKS)


def _points(figures: Mapping[str, float], name: str) -> str:
    return "{:.2f} [{:.2f}, {:.2f}]".format(*(figures[f"{name}.{end}"] for end in ("mean", "low", "high")))


def counted() -> Iterator[str]:
    """Means of the players by what is counted in a hand."""
    players = finished("oconnor_discard")["players"]["figures"]
    yield line("counted", *PUBLISHED_DISCARDS)
    yield "|---|---|---|---|"
    for way in ("everything", "no nobs", "no flush", "neither"):
        yield line(way, *(f"{players[f'counted.{way}.{name}.mean']:.3f}" for name in PUBLISHED_DISCARDS))
    yield line("the paper", *PUBLISHED_DISCARDS.values())


def figure_1() -> Any:
    """Mean points of the networks by hands learned, or None."""
    runs = finished("oconnor_discard")
    names = {units: [f"{units}_units_seed{seed}" for seed in SEEDS] for units in DISCARD_UNITS}
    if not {"players", *names[20], *names[40]} <= set(runs):
        return None
    lines = {}
    for units in DISCARD_UNITS:
        curves = [_by_step(runs[name]["figures"]) for name in names[units]]
        lines[f"{units} hidden units"] = list(curves[0]), np.array([list(curve.values()) for curve in curves])
    levels = {name: runs["players"]["figures"][f"exact.{name}"] for name in ("ideal", "random")}
    return with_levels(
        *(lines, levels),
        title="The simple discard game: networks by hands trained",
        xlabel="hands trained",
        ylabel="mean points over 20,000 hands",
    )


def with_levels(lines: Mapping[str, Any], levels: Mapping[str, float], **words: str) -> Any:
    """The figure of some lines, and named horizontal ones."""
    figure = lines_with_bands(lines, **words)
    axes = figure.axes[0]
    for label, level in levels.items():
        axes.axhline(level, color="0.4", linewidth=0.8, linestyle="--")
        axes.annotate(label, (0.25, level), xycoords=("axes fraction", "data"), va="bottom", fontsize=8)
    return figure


def _by_step(figures: Mapping[str, float]) -> dict[int, float]:
    return {int(name.split(".")[1]): value for name, value in figures.items() if name.endswith(".mean")}


# --- the full game ----------------------------------------------------------------------------------------------


def margins(row: Row | str, opponent: str) -> NDArray[np.float64]:
    """[seeds] points a pair of hands more than an opponent at the end of a row's trainings. Raises KeyError."""
    row = next(one for one in ROWS if row in (one, one.label))
    runs = finished("oconnor_game")
    return np.array([runs[f"{row.name}_seed{seed}"]["curve"][f"{opponent}/pair_margin"][-1] for seed in row.seeds])


def full_game() -> Iterator[str]:
    """A line a row: points a pair of hands against each opponent."""
    yield "Points per pair of hands at the end of training, 20,000 pairs a seed, means over seeds [95%]:"
    yield ""
    yield line("run", "hands of training", "seeds", *(f"against {name}" for name in OPPONENTS))
    yield "|---" * 6 + "|"
    for row in ROWS:
        cells = (_mean(margins(row, name)) for name in OPPONENTS)
        yield line(row.label, f"{row.hands:,}", len(row.seeds), *cells)


def _mean(values: Sequence[float] | NDArray[np.float64], form: str = "+.2f") -> str:
    """A mean with its interval over seeds; of one seed the value."""
    mean, low, high = mean_interval(values)
    return f"{mean:{form}} [{low:{form}}, {high:{form}}]" if len(values) > 1 else f"{mean:{form}}"


def games() -> Iterator[str]:
    """Win rates of the rows that play full games."""
    runs = finished("oconnor_game")
    yield "Win rates in 25,000 full games to 121, per cent, means over seeds [95%]:"
    yield ""
    yield line("run", "seeds", *(f"against {name}" for name in OPPONENTS))
    yield "|---" * 5 + "|"
    for row in (row for row in ROWS if row.games):
        figures = [runs[f"{row.name}_seed{seed}"]["figures"] for seed in row.seeds]
        rates = ([100 * each[f"{name}.win_rate"] for each in figures] for name in OPPONENTS)
        yield line(row.label, len(row.seeds), *(_mean(rate, ".1f") for rate in rates))


def comparisons() -> Iterator[str]:
    """Differences of rows, Welch's t over seeds."""
    yield "Differences between rows, with Welch's interval over seeds:"
    yield ""
    yield line("run", "less", *(f"against {name}" for name in OPPONENTS))
    yield "|---" * 5 + "|"
    for one, other in COMPARED:
        found = (welch(margins(one, name), margins(other, name)) for name in OPPONENTS)
        yield line(one, other, *("{:+.1f} [{:+.1f}, {:+.1f}]".format(*difference) for difference in found))


def welch(one: Sequence[float] | NDArray[np.float64], other: Sequence[float] | NDArray[np.float64]) -> Interval:
    """The difference of two means of independent values, with Welch's interval."""
    low, high = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    return Interval(float(np.mean(one) - np.mean(other)), float(low), float(high))


def cells() -> NDArray[np.float64]:
    """[rates, units, seeds] points a pair of hands more than random after 200,000 hands. Raises KeyError."""
    runs = finished("oconnor_grid")
    found = [
        margins(ROW_OF_CELL[units, rate], "random")
        if (units, rate) in ROW_OF_CELL
        else [runs[f"{units}_units_lr{rate:g}_seed{seed}"]["curve"]["random/pair_margin"][-1] for seed in SEEDS]
        for rate in RATES
        for units in UNITS
    ]
    return np.array(found).reshape(len(RATES), len(UNITS), len(SEEDS))


def grid() -> Iterator[str]:
    """Learning rate by hidden units, and the analysis of variance of their seeds."""
    values = cells()
    yield "Points per pair of hands more than random after 200,000 hands, by learning rate and hidden units:"
    yield ""
    yield line("learning rate", *(f"{units} units [95%]" for units in UNITS))
    yield "|---" * (1 + len(UNITS)) + "|"
    for rate, row in zip(RATES, values, strict=True):
        yield line(f"{rate:g}", *(_mean(cell) for cell in row))
    tests = analysis(values)
    shown = [f"{name} F({a}, {b}) = {f:.1f}, p = {p:.2g}" for name, (a, b, f, p) in tests.items()]
    together = "depends" if tests["interaction"][-1] < 0.05 else "does not show to depend"
    yield from (
        "",
        f"What a learning rate is worth {together} on the units (analysis of variance: {'; '.join(shown)}).",
    )


def analysis(values: NDArray[np.float64]) -> dict[str, tuple[int, int, float, float]]:
    """(degrees of freedom, those within cells, F, p) of two factors and their interaction; values [A, B, repeats]."""
    a, b, n = values.shape
    mean, cell = values.mean(), values.mean(axis=2)
    first, second = cell.mean(axis=1) - mean, cell.mean(axis=0) - mean
    both = cell - mean - first[:, None] - second
    freedom = a * b * (n - 1)
    error = ((values - cell[:, :, None]) ** 2).sum() / freedom
    squares = {
        "learning rate": (b * n * (first**2).sum(), a - 1),
        "units": (a * n * (second**2).sum(), b - 1),
        "interaction": (n * (both**2).sum(), (a - 1) * (b - 1)),
    }
    ratios = {name: (own, float(total / own / error)) for name, (total, own) in squares.items()}
    return {name: (own, freedom, f, float(stats.f.sf(f, own, freedom))) for name, (own, f) in ratios.items()}


def figure_2() -> Any:
    """Points a pair of hands against random by hands trained, or None."""
    return _curves("The full game: a perceptron against random", "")


def figure_3() -> Any:
    """The same of ten times as many hands."""
    return _curves("The full game, ten times as long", "_longer")


def _curves(title: str, end: str) -> Any:
    runs, lines = finished("oconnor_game"), {}
    for units in DISCARD_UNITS:
        found = [runs.get(f"{units}_units{end}_seed{seed}", {}).get("curve") for seed in SEEDS]
        if None in found:
            return None
        values = np.array([curve["random/pair_margin"] for curve in found])
        lines[f"{units} hidden units"] = found[0]["step"], values
    return with_levels(
        *(lines, {"the paper after two days": PUBLISHED_PAIRS}),
        title=title,
        xlabel="hands of self-play",
        ylabel="points a pair of hands",
    )


if __name__ == "__main__":
    main()
