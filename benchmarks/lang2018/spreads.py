"""Point spreads of an agent's matches against checkpoints of a training (Lang 2018, figures 6 to 8, 14, 19 and 22)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deepcrib.evaluation.league.tournament import Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SpreadPanel:
    """An agent's matches. series: by the number of games after which the opponent's checkpoint was written."""

    title: str
    series: Mapping[int, Series]

    @property
    def games(self) -> int:
        """Games of one match."""
        return next(iter(self.series.values())).scores[0].games

    @property
    def matches(self) -> int:
        """Matches against each checkpoint."""
        return len(next(iter(self.series.values())).scores)

    def to_dict(self) -> dict[str, Any]:
        """Spreads of the matches, their means and 95% intervals, in points, for `summary.json`."""
        checkpoints = {
            str(number): {
                "spreads": [score.spread for score in series.scores],
                "mean": series.match_spread,
                "ci_low": series.match_spread_low,
                "ci_high": series.match_spread_high,
            }
            for number, series in self.series.items()
        }
        return {"title": self.title, "games": self.games, "matches": self.matches, "checkpoints": checkpoints}


def spread_figure(panels: Sequence[SpreadPanel], title: str) -> Figure:
    """One panel or two a row: a dot a match, and the mean with its 95% interval, by checkpoint.

    A positive spread is in favour of the agent; the right-hand axis is the same in points a game.
    """
    from matplotlib.figure import Figure

    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.2 * columns, 3.3 * rows + 0.7), layout="constrained")
    figure.suptitle(title, fontsize=11)
    axes = figure.subplots(rows, columns, squeeze=False)
    for place, part in enumerate(axes.flat):
        if place < len(panels):
            _draw(part, panels[place])
        else:
            part.set_axis_off()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _several(number: int, what: str, ending: str) -> str:
    return f"{number:,} {what}{ending if number > 1 else ''}"


def _draw(axes: Any, panel: SpreadPanel) -> None:
    from matplotlib.ticker import EngFormatter, StrMethodFormatter

    numbers = sorted(panel.series)
    found = [panel.series[number] for number in numbers]
    for index, (number, series) in enumerate(zip(numbers, found, strict=True)):
        spreads = [score.spread for score in series.scores]
        label = None if index else "a match"
        axes.plot([number] * len(spreads), spreads, "o", color="0.55", ms=2.6, mew=0, alpha=0.75, label=label)
    means = np.array([series.match_spread for series in found])
    bounds = np.array([(series.match_spread_low, series.match_spread_high) for series in found]).T
    errors = np.abs(bounds - means)
    axes.errorbar(
        numbers, means, errors, color="tab:blue", marker="o", ms=3.5, lw=1.1, capsize=2.5, label="mean, 95% interval"
    )
    axes.axhline(0, color="0.2", linewidth=0.7, zorder=0)
    matches, games = _several(panel.matches, "match", "es"), _several(panel.games, "game", "s")
    axes.set_title(f"{panel.title} {matches} of {games} against each", fontsize=9)
    axes.set_xlabel("games of training of the opponent's checkpoint", fontsize=8)
    axes.set_ylabel("spread of a match (points)", fontsize=8)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    a_game = axes.secondary_yaxis("right", functions=(lambda y: y / panel.games, lambda y: y * panel.games))
    a_game.set_ylabel("points a game", fontsize=8)
    for part in (axes, a_game):
        part.tick_params(labelsize=7)
    axes.grid(alpha=0.25)
