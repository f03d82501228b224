"""Figures of a run, drawn with matplotlib (an optional dependency: without it they are left out)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deepcrib.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL = 0.25  # height of a cell of the density, points, where there are hands enough
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Those of Okabe and Ito that show on white, which the colour-blind tell apart."""
MARKERS = "os^Dv<>P"  # one more than colours, so that lines differ in one of them up to the 56th
_LEGEND_WIDTH = 104  # characters
OUTSIDE = 20  # points beyond the true values from which a prediction is drawn at the edge: a network may diverge


def predicted_against_true(
    predicted: np.ndarray, true: np.ndarray, title: str = "", truth: str = "true value", cell: float = CELL
) -> Figure | None:
    """Figures 5 and 6 of Bélanger et al. 2019: density of the predictions at each true value, and their mean.

    predicted and true [N], points; true values are taken to the next whole point, and `truth` says what they are. A
    column is shaded by shares of the hands of its true value, so that rare values are as readable as frequent ones.
    None when matplotlib is not installed.
    """
    try:
        from matplotlib.colors import PowerNorm
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return None
    true = np.rint(true).astype(np.int64)
    values = np.unique(true)
    first, last = min(values[0], 0), max(values[-1], 1)
    predicted = predicted.clip(first - OUTSIDE, last + OUTSIDE)
    edges = np.arange(np.floor(min(predicted.min(), first)), np.ceil(max(predicted.max(), last)) + 1, cell)
    columns = np.arange(first, last + 2) - 0.5
    heights, *_ = np.histogram2d(predicted, true, (edges, columns))
    shares = heights / np.maximum(heights.sum(axis=0), 1)
    means = [predicted[true == value].mean() for value in values]

    figure = Figure(figsize=(6, 4.5), layout="constrained")  # TensorBoard shows it small
    axes = figure.add_subplot()
    norm = PowerNorm(0.4, vmin=0, vmax=1)  # small shares stay visible
    mesh = axes.pcolormesh(columns, edges, np.ma.masked_equal(shares, 0), cmap="Blues", norm=norm)
    axes.plot([first, last], [first, last], color="0.4", linewidth=0.8, label="equal")
    axes.plot(values, means, "o", color="tab:red", markersize=3, label="mean prediction")
    axes.set(xlabel=f"{truth} (points)", ylabel="predicted value (points)", title=title)
    axes.locator_params(integer=True)
    axes.legend(loc="upper left")
    figure.colorbar(mesh, ax=axes, label="share of the hands in a column")
    return figure


def lines_with_bands(
    lines: Mapping[str, tuple[Sequence[float], np.ndarray]], legend: str | None = None, **texts: str
) -> Figure:
    """A line a label, the mean over seeds in the band from the lowest to the highest.

    lines: (x [T], values [S, T]) by label. legend: title of the list of labels. texts: `title`, `xlabel` and `ylabel`
    of the axes. Needs matplotlib.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    columns = max(1, _LEGEND_WIDTH // (8 + max((len(label) for label in lines), default=0)))
    figure = Figure(figsize=(7, 4 + 0.2 * (-(-len(lines) // columns) - 1)), layout="constrained")
    axes = figure.add_subplot()
    for number, (label, (x, values)) in enumerate(lines.items()):
        color, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.plot(x, values.mean(axis=0), label=label, color=color, marker=marker, markersize=4)
        axes.fill_between(
            x, values.min(axis=0), values.max(axis=0), color=color, alpha=min(0.2, 0.8 / len(lines)), linewidth=0
        )
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set(**texts)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=columns, title=legend, fontsize="small")
    return figure


def save_png(figure: Figure, path: Path, dpi: int = 150) -> None:
    """Write a figure as PNG, whole or not at all. Raises RunError."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi)
    write_atomic(path, content.getvalue())
