"""Draw the learning curve of the README: python -m benchmarks.learning_curve RUN_FOLDER... (one a seed)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import EngFormatter

from deepcrib.analysis.curves import learning_curves

TARGET = Path(__file__).parents[1] / "docs" / "learning_curve.png"


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
    figure = learning_curves(
        runs, tags, f"experiment=quick: mean and range of {len(runs)} seeds", x_tag="progress/hands"
    )
    logarithmic(figure.axes[0])
    figure.savefig(TARGET, dpi=110)
    print(TARGET)
