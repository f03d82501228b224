"""Learning curves: metrics read back from run folders, and the figure of several seeds with their band."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.analysis.figures import lines_with_bands
from deepcrib.errors import RunError
from deepcrib.training.progress import PROGRESS_FILE, Curve, read_progress


def read_scalar(folder: Path | str, tag: str) -> Curve:
    """A metric of a run folder, by its TensorBoard tag. Raises RunError where there is none."""
    found = read_progress(folder)
    if tag not in found:
        raise RunError(f"{Path(folder) / PROGRESS_FILE} has no column {tag!r} with values")
    return found[tag]


def learning_curves(runs: Sequence[Path | str], tags: Sequence[str], title: str, x_tag: str | None = None) -> Any:
    """Figure of a line a tag, the mean over runs, in the band from the lowest to the highest run.

    The horizontal axis is the iteration, or the value of `x_tag` at that iteration. The runs must have been
    measured at the same iterations. Needs matplotlib. Raises RunError.
    """
    from matplotlib.ticker import PercentFormatter

    lines: dict[str, tuple[Any, NDArray[np.float64]]] = {}
    for tag in tags:
        read = [read_scalar(run, tag) for run in runs]
        steps = read[0][0]
        if any(not np.array_equal(steps, other) for other, _ in read):
            raise RunError(f"the runs were not measured at the same iterations ({tag})")
        x: Any = steps
        if x_tag is not None:  # which is written every iteration
            found, values = read_scalar(runs[0], x_tag)
            x = values[np.searchsorted(found, steps)]
        lines[tag.split("/")[0]] = x, np.array([values for _, values in read])
    xlabel = "iteration" if x_tag is None else x_tag.split("/")[-1].replace("_", " ")
    ylabel = tags[0].split("/")[-1].replace("_", " ")
    figure = lines_with_bands(lines, title=title, xlabel=xlabel, ylabel=ylabel, legend="against")
    axes = figure.axes[0]
    if tags[0].endswith("rate"):
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return figure
