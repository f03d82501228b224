"""The agent that Lang 2018 prints: python benchmarks/thesis2018_images.py FOLDER --runs FOLDER [--games 40000].

FOLDER holds the images of the thesis's figures 3 and 4 (images/findings/round1 of github.com/srlang/ms-thesis-paper):
one grey value a score location for each strategy and role, from which the weights are read. It prints how they are
spread over the board, beside those of our runs of round 1 (`thesis2018.py`), and what the agent wins against others.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.image import imread
from numpy.typing import NDArray
from thesis2018 import LEADS, OPPONENTS

from deepcrib.agents import make_agent
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.exact.strategies.discards import SCORES
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.learners.weighted.agent import WeightedAgent, load_weighted, pegging_figures

SUFFIXES = ("_pone", "")  # of the files, by role 0 and 1; figure 4 shows the first, figure 3 the second
SHADES = 256


def printed_weights(folder: Path) -> NDArray[np.float64]:
    """[121, 121, 2, 8], from the images' grey values; those of a location add up to 1, which is checked."""
    shades = np.round(255 * mpl.colormaps["Greys"](np.linspace(0, 1, SHADES))[:, :3]) / 255
    weights = np.empty((SCORES, SCORES, 2, len(THESIS_STRATEGIES)))
    for role, suffix in enumerate(SUFFIXES):
        for number, name in enumerate(THESIS_STRATEGIES):
            pixels = imread(folder / f"strategies_{name.replace('_', '')}{suffix}.png")[:, :, :3]
            distances = np.square(pixels[:, :, None] - shades).sum(axis=3)
            weights[:, :, role, number] = distances.argmin(axis=2) / (SHADES - 1)
    sums = weights.sum(axis=3, keepdims=True)
    print(f"sums of weights: {sums.min():.3f} to {sums.max():.3f}, mean {sums.mean():.4f}")
    if np.abs(sums - 1).max() > 0.05:
        raise SystemExit(f"{folder}: the weights of a location do not add up to 1")
    return weights / sums


def by_lead(weights: NDArray[np.float64], role: int, strategy: int) -> str:
    """Mean weights over the locations with a lead in each of LEADS."""
    lead = np.subtract.outer(np.arange(SCORES), np.arange(SCORES))
    means = [weights[(lead >= low) & (lead <= high)][:, role, strategy].mean() for low, high in LEADS]
    return " | ".join(f"{mean:.2f}" for mean in means)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=40_000)
    parser.add_argument("--runs", type=Path, required=True, help="the folder of thesis2018.py")
    options = parser.parse_args()
    printed = printed_weights(options.folder)
    ours = [load_weighted(path.parent).weights for path in sorted(options.runs.glob("**/round_1*/weights.safetensors"))]
    for role, name in enumerate(("pone", "dealer")):
        for number, strategy in enumerate(THESIS_STRATEGIES):
            mean = np.mean(ours, axis=0)
            print(f"| {name} | {strategy} | {by_lead(printed, role, number)} | {by_lead(mean, role, number)} |")
    agent = WeightedAgent("printed", printed, THESIS_STRATEGIES, pegging_figures(THESIS_STRATEGIES))
    for seed, name in enumerate(OPPONENTS):
        found = evaluate(agent, make_agent(name), options.games, seed)
        rates = [100 * value for value in (found.win_rate, found.ci_low, found.ci_high)]
        print("{}: {:.1f}% [{:.1f}, {:.1f}], {:+.2f}".format(name, *rates, found.margin))


if __name__ == "__main__":
    main()
