"""Draw the learning curve of the README: python -m benchmarks.learning_curve RUN_FOLDER... (one a seed)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import EngFormatter, PercentFormatter

from deepcrib.analysis.figures import lines_with_bands
from deepcrib.errors import RunError
from deepcrib.training.progress import read_progress

TARGET = Path(__file__).parents[1] / "docs" / "learning_curve.png"


def learning_curves(runs: Sequence[str], tags: Sequence[str], title: str) -> Any:
    """Figure of win rates by hands, a line a tag: the mean over runs in the band from the lowest to the highest."""
    lines = {}
    for tag in tags:
        read = [read_progress(run)[tag] for run in runs]
        steps = read[0][0]
        if any(not np.array_equal(steps, other) for other, _ in read):
            raise RunError(f"the runs were not measured at the same iterations ({tag})")
        found, hands = read_progress(runs[0])["progress/hands"]
        lines[tag.split("/")[0]] = hands[np.searchsorted(found, steps)], np.array([values for _, values in read])
    figure = lines_with_bands(lines, title=title, xlabel="hands", ylabel="win rate", legend="against")
    figure.axes[0].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return figure


def logarithmic(axes: Any) -> None:
    """Make an x axis logarithmic that begins at 0, and linear from there to its first point; ticks at powers of ten."""
    x = np.asarray(axes.lines[0].get_xdata())
    first, last = float(min(x[x > 0])), float(max(x))
    powers = 10.0 ** np.arange(np.floor(np.log10(first)), np.ceil(np.log10(last)) + 1)
    axes.set_xscale("symlog", linthresh=first, linscale=0.4)
    axes.set_xticks([0, *powers[powers >= first]])
    between = np.outer(powers, np.arange(2, 10)).ravel()
    axes.set_xticks(between[between >= first], minor=True)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))  # the scale has brought its own
    axes.set_xlim(-0.1 * first, 1.2 * last)  # last, since ticks beyond the ends widen it


if __name__ == "__main__":
    runs = sys.argv[1:]
    tags = ["deterministic/win_rate", "greedy/win_rate"]
    figure = learning_curves(runs, tags, f"experiment=quick: mean and range of {len(runs)} seeds")
    logarithmic(figure.axes[0])
    figure.savefig(TARGET, dpi=110)
    print(TARGET)
