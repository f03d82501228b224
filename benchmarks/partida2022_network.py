"""Figure 5 of Partida 2022 again, with seeds and intervals: python benchmarks/partida2022_network.py FOLDER.

Trains its network of 12 and of 16 inputs, and one of the same size by `partida2022_tuned`, each from several seeds, one
after the other, as `deepcrib train` does. A run that is complete is not repeated. Writes the figure
FOLDER/partida_figure_05.png and the table FOLDER/results.md.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.analysis.curves import read_scalar
from deepcrib.cli import main as deepcrib
from deepcrib.intervals import mean_interval, wilson

DIFFERENCE = "play_only/difference"
GAMES = 20_000  # against greedy, over all seeds
RANDOM, BEST = -1.14, -0.6  # of the paper's random player, and of its network at best


@dataclass(frozen=True)
class Setup:
    """Runs that differ in their seed alone, 1, 2, .. seeds. hands: of a session."""

    name: str
    label: str
    experiment: str
    overrides: tuple[str, ...] = ()
    hands: int = 10
    seeds: int = 5


BOTH_HANDS = ("learner.inputs=16", "evaluation.opponents=[]")
SETUPS = (
    Setup("paper_12", "own hand and history (12 inputs)", "partida2022"),
    Setup("paper_16", "both hands and history (16 inputs)", "partida2022", BOTH_HANDS),
    Setup("tuned_12", "own hand and history", "partida2022_tuned", hands=1000, seeds=3),
)


def train(setup: Setup, seed: int, root: Path) -> Path:
    """The folder of a run, which is trained unless it is complete."""
    folder = root / setup.name / f"seed_{seed}"
    if not (folder / "summary.json").is_file():
        words = ["train", f"experiment={setup.experiment}", *setup.overrides, f"seed={seed}", f"hydra.run.dir={folder}"]
        words.append(f"evaluation.final_games={math.ceil(GAMES / setup.seeds)}")
        if folder.exists():
            words = ["train", f"resume={folder}"]
        if deepcrib(words):
            raise SystemExit(f"{folder}: not trained")
    return folder


def curves(folders: Sequence[Path]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(sessions [T], mean difference [runs, T])."""
    read = [read_scalar(folder, DIFFERENCE) for folder in folders]
    return read[0][0], np.array([values for _, values in read])


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean over seeds and half of its 95% interval, by Student's t."""
    found = mean_interval(values)
    return found.estimate, found.high - found.estimate


def stage(sessions: NDArray[np.int64], found: NDArray[np.float64], first: int, last: int) -> str:
    """The mean of the measurements after sessions first..last as `-0.70 [-0.75, -0.65]`."""
    inside = (sessions >= first) & (sessions <= last)
    mean, half = interval(found[:, inside].mean(axis=1))
    return f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}]"


def table(runs: dict[Setup, list[Path]]) -> str:
    """What became of each setup, as Markdown: the play along the training and at its end, and full games."""
    lines = [
        "| network | untrained | first tenth | best tenth | last tenth | end, each seed | win rate [95%] |",
        "|---" * 7 + "|",
    ]
    for setup, folders in runs.items():
        sessions, found = curves(folders)
        last = int(sessions[-1])
        tenths = [(last * k // 10 + 1, last * (k + 1) // 10) for k in range(10)]
        means = [found[:, (sessions >= low) & (sessions <= high)].mean() for low, high in tenths]
        best = tenths[int(np.argmax(means))]
        cells = [
            stage(sessions, found, 0, 0),
            *(stage(sessions, found, *part) for part in (tenths[0], best, tenths[-1])),
        ]
        cells[2] += f" (sessions {best[0]:,} to {best[1]:,})"
        summaries = [json.loads((folder / "summary.json").read_text()) for folder in folders]
        ends = [summary["play_only"] for summary in summaries]
        cells.append(", ".join(f"{end['difference']:+.2f}" for end in ends) + f" (± {_half(ends[0]):.2f} each)")
        lines.append(f"| {setup.name} | " + " | ".join([*cells, _win_rate(summaries)]) + " |")
    return "\n".join(lines) + "\n"


def _half(end: dict[str, Any]) -> float:
    return (end["ci_high"] - end["ci_low"]) / 2


def _win_rate(summaries: Sequence[dict[str, Any]]) -> str:
    found = [summary["greedy"] for summary in summaries if "greedy" in summary]
    if not found:
        return "no agent"
    games, wins = sum(one["games"] for one in found), sum(one["wins"] for one in found)
    rate, low, high = (100 * value for value in wilson(wins, games))
    each = ", ".join(f"{100 * one['win_rate']:.1f}" for one in found)
    return f"{rate:.1f} [{low:.1f}, {high:.1f}] ({each})"


def draw(runs: dict[Setup, list[Path]], path: Path) -> None:
    """The paper's training to the left, by session; the tuned one to the right, by hand; means over seeds with 95%."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for setup, folders in runs.items():
        tuned = int(setup.name.startswith("tuned"))
        sessions, found = curves(folders)
        x = sessions * setup.hands if tuned else sessions
        mean, half = np.array([interval(values) for values in found.T]).T
        (line,) = panels[tuned].plot(x, mean, linewidth=1.1, label=setup.label)
        panels[tuned].fill_between(x, mean - half, mean + half, color=line.get_color(), alpha=0.2, linewidth=0)
        if setup.name == "paper_12":  # every run, as the mean of ten measurements
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
    """Train everything, then write figure and table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--setups", nargs="*", default=[setup.name for setup in SETUPS])
    options = parser.parse_args()
    root = options.folder.resolve()
    chosen = [setup for setup in SETUPS if setup.name in options.setups]
    runs = {setup: [train(setup, seed, root) for seed in range(1, setup.seeds + 1)] for setup in chosen}
    draw(runs, root / "partida_figure_05.png")
    text = table(runs)
    (root / "results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
