"""The agent that Lang 2018 prints: python -m benchmarks.lang2018.images FOLDER [--games 100000].

FOLDER holds the images of the thesis's figures 3 and 4 (images/findings/round1 of github.com/srlang/ms-thesis-paper):
one grey value a score location for each strategy and role, from which the weights are read. How they are spread over
the board, and what the agent wins against others, is kept in docs/results/data for the page (`lang2018/page.py`).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.image import imread
from numpy.typing import NDArray

from benchmarks.lang2018.rows import OPPONENTS
from benchmarks.lang2018.runs import weights_by_lead
from benchmarks.long_runs import DATA
from deepcrib.agents import make_agent
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.exact.strategies.discards import SCORES
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files import write_atomic
from deepcrib.learners.weighted.agent import WeightedAgent, pegging_figures

PRINTED = DATA / "lang2018_printed.json"
SUFFIXES = ("_pone", "")  # of the files, by role 0 and 1; figure 4 shows the first, figure 3 the second
SHADES = 256


def printed_weights(folder: Path) -> tuple[NDArray[np.float64], dict[str, float]]:
    """[121, 121, 2, 8], from the images' grey values, and the sums of a location's, which are checked to be near 1."""
    shades = np.round(255 * mpl.colormaps["Greys"](np.linspace(0, 1, SHADES))[:, :3]) / 255
    weights = np.empty((SCORES, SCORES, 2, len(THESIS_STRATEGIES)))
    for role, suffix in enumerate(SUFFIXES):
        for number, name in enumerate(THESIS_STRATEGIES):
            pixels = imread(folder / f"strategies_{name.replace('_', '')}{suffix}.png")[:, :, :3]
            distances = np.square(pixels[:, :, None] - shades).sum(axis=3)
            weights[:, :, role, number] = distances.argmin(axis=2) / (SHADES - 1)
    sums = weights.sum(axis=3, keepdims=True)
    if np.abs(sums - 1).max() > 0.05:
        raise SystemExit(f"{folder}: the weights of a location do not add up to 1")
    return weights / sums, {"least": sums.min(), "most": sums.max(), "mean": sums.mean()}


def main() -> None:
    """Read, play, and keep what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=100_000)
    options = parser.parse_args()
    weights, sums = printed_weights(options.folder)
    agent = WeightedAgent("printed", weights, THESIS_STRATEGIES, pegging_figures(THESIS_STRATEGIES))
    found: dict[str, Any] = {"command": f"python -m benchmarks.lang2018.images FOLDER --games {options.games}"}
    found |= {"sums": {name: round(value, 4) for name, value in sums.items()}, "weights": weights_by_lead(agent)}
    for seed, name in enumerate(OPPONENTS):
        match = evaluate(agent, make_agent(name), options.games, seed).to_dict()
        found[name] = {key: match[key] for key in ("games", "win_rate", "ci_low", "ci_high", "hand_margin")}
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    write_atomic(PRINTED, f"{{\n{rows}\n}}\n")


if __name__ == "__main__":
    main()
