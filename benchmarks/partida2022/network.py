"""Figure 5 of Partida 2022, and what `tables.py` fills its table with: python -m benchmarks.partida2022.network.

The network of 12 and of 16 inputs, and one of the same size by `partida2022/tuned`, each trained from several seeds:
the group `partida_network` of `long_runs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.long_runs import DATA, finished
from benchmarks.pages import interval
from benchmarks.partida2022.runs import NETWORKS
from deepcrib.intervals import Interval, mean_interval

DIFFERENCE = "play_only/difference"
RANDOM, BEST = -1.14, -0.6  # of the paper's random player, and of its network at best
LABELS = {
    "paper_12": "own hand and history (12 inputs)",
    "paper_16": "both hands and history (16 inputs)",
    "tuned_12": "own hand and history",
}
TUNED_HANDS = 1000
"""Of a session of the tuned setup."""
Runs = Mapping[str, Any]


def of(runs: Runs, setup: str) -> list[Runs]:
    """Those of a setup, by seed."""
    return [runs[f"{setup}_{seed}"] for seed in range(1, NETWORKS[setup][0] + 1)]


def curves(runs: Runs, setup: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(sessions [T], mean difference [seeds, T])."""
    found = [run["curve"] for run in of(runs, setup)]
    return np.array(found[0]["step"]), np.array([one[DIFFERENCE] for one in found])


def stage(sessions: NDArray[np.int64], found: NDArray[np.float64], first: int, last: int) -> Interval:
    """The mean of the measurements after sessions first..last, over seeds."""
    inside = (sessions >= first) & (sessions <= last)
    return mean_interval(found[:, inside].mean(axis=1))


def table(runs: Runs) -> list[dict[str, str]]:
    """What became of each setup: the play along the training and at its end, and full games."""
    rows = []
    for setup, (seeds, _) in NETWORKS.items():
        sessions, found = curves(runs, setup)
        last = int(sessions[-1])
        tenths = [(last * k // 10 + 1, last * (k + 1) // 10) for k in range(10)]
        low, high = max(tenths, key=lambda part: stage(sessions, found, *part).estimate)
        row = {"network": f"`{setup}`: {16 if '16' in setup else 12} inputs ({seeds} seeds)"}
        stages = {"untrained": (0, 0), "first tenth": tenths[0], "best tenth": (low, high), "last tenth": tenths[-1]}
        for title, part in stages.items():
            row |= interval(title, stage(sessions, found, *part), "+.2f")
            if title == "best tenth":
                row["of sessions"] = f"{low:,} to {high:,}"
        rows.append(row | _ends([run["figures"] for run in of(runs, setup)]))
    return rows


def _ends(figures: list[Runs]) -> dict[str, str]:
    """Columns of the play at the end, and of full games, whose interval is over seeds."""
    half = (figures[0]["play_only.ci_high"] - figures[0]["play_only.ci_low"]) / 2
    ends = ", ".join(f"{one['play_only.difference']:+.2f}" for one in figures)
    row, rates = {"end, each seed": f"{ends} (± {half:.2f} each)"}, [one.get("greedy.win_rate") for one in figures]
    if None in rates:
        return row | {"win rate %": "no agent", "win rate low": "", "win rate high": "", "win rate, each seed": ""}
    each = ", ".join(f"{100 * rate:.1f}" for rate in rates)
    return row | interval("win rate %", mean_interval(np.array(rates)), ".1f") | {"win rate, each seed": each}


def draw(runs: Runs, path: Path) -> None:
    """The paper's training to the left, by session; the tuned one to the right, by hand; means over seeds with 95%."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for setup, label in LABELS.items():
        tuned = int(setup.startswith("tuned"))
        sessions, found = curves(runs, setup)
        x = sessions * TUNED_HANDS if tuned else sessions
        mean, low, high = np.array([mean_interval(values) for values in found.T]).T
        (line,) = panels[tuned].plot(x, mean, linewidth=1.1, label=label)
        panels[tuned].fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        if setup == "paper_12":  # every run, as the mean of ten measurements
            smooth = np.array([np.convolve(values, np.full(10, 0.1), mode="valid") for values in found])
            panels[tuned].plot(x[9:] - x[9] / 2, smooth.T, color=line.get_color(), linewidth=0.5, alpha=0.7)
    for axes in panels:
        axes.axhline(0, color="0.3", linewidth=0.8)
        axes.axhline(RANDOM, color="0.3", linewidth=0.8, linestyle=":", label="random cards (paper)")
        axes.grid(alpha=0.3)
    panels[0].axhline(BEST, color="tab:red", linewidth=0.8, linestyle="--", label="best of figure 5 (paper)")
    panels[0].set(xlabel="training sessions of ten hands", title="as in the paper")
    panels[1].set(xlabel="hands of training", title="same size, trained otherwise")
    panels[0].set_ylim(-1.7, 0.8)
    panels[0].set_ylabel("own - greedy's play points a hand")
    for axes in panels:
        axes.legend(fontsize=8, loc="upper left" if axes is panels[0] else "lower right")
    figure.savefig(path, dpi=100)


def main() -> None:
    """Draw the figure."""
    draw(finished("partida_network"), DATA.parent / "partida_figure_05.png")


if __name__ == "__main__":
    main()
