"""Figure 4 of Partida 2022, with intervals: what the number of sampled hands does to a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def differences_by_samples(
    curves: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]], published: Mapping[str, float]
) -> Figure | None:
    """Mean difference of play points against greedy by the number of samples, a line an agent, with 95% intervals.

    curves: by agent, (samples, figures of `evaluation.play_only`). published: points, dashed in the agent's colour.
    None when matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return None
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, points in curves.items():
        samples = np.array([number for number, _ in points])
        mean, low, high = (np.array([f[key] for _, f in points]) for key in ("difference", "ci_low", "ci_high"))
        drawn = axes.errorbar(samples, mean, yerr=(mean - low, high - mean), marker="o", markersize=3, label=name)
        if name in published:
            color = drawn.lines[0].get_color()
            axes.axhline(published[name], color=color, linestyle="--", linewidth=0.9, label=f"{name}, published")
    axes.axhline(0, color="0.6", linewidth=0.6)
    axes.set_xlabel("sampled hands")
    axes.set_ylabel("points a hand more than greedy")
    axes.set_title("Sampled search against greedy, play of random hands")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure
