"""What a run shows while it learns: matches, what its networks believe, how fast it is, by TensorBoard tag.

docs/tensorboard.md explains every tag, and a test holds it to what runs write.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.game.randomness import MONITORING, derive
from deepcrib.learners.replay.learning import PassStatistics, Samples
from deepcrib.training.monitoring import Evaluate, Probe, match_figures
from deepcrib.training.options import EvaluationOptions

SHOWN_SAMPLES = 10_000
"""The most samples of a histogram or a figure: enough to see, and little to compute beside a pass."""
FIGURES = 10
"""Predicted-against-return figures of a run: TensorBoard shows no more images of a tag."""
BINS = 30
"""Of a histogram: as many as TensorBoard draws."""


def pass_figures(part: str, passed: PassStatistics) -> dict[str, float]:
    """A network's pass over the buffer; part: `discard` or `play`."""
    return {
        f"loss/{part}": passed.loss,
        f"q/{part}_mean": passed.value_mean,
        f"q/{part}_std": passed.value_std,
        f"target/{part}_mean": passed.target_mean,
        f"target/{part}_std": passed.target_std,
        f"progress/{part}_samples": float(passed.samples),
    }


def speed_figures(hands: int, samples: float, playing: float, learning: float) -> dict[str, float]:
    """Throughput of an iteration that played so many hands and learned so many samples, in so many seconds."""
    return {
        "speed/hands_per_second": hands / (playing + learning),
        "speed/samples_per_second": samples / learning,
        "speed/playing_seconds": playing,
        "speed/learning_seconds": learning,
    }


@dataclass(frozen=True)
class Monitor:
    """Measures and shows the agent after the iterations that `options` names; what is learned never depends on it.

    seed: of the matches. iterations: of the run. figure: (predicted, true, title=...) -> a matplotlib figure or None.
    writer: a TensorBoard SummaryWriter, or None, which leaves out histograms and figures.
    """

    options: EvaluationOptions
    seed: int
    iterations: int
    opponents: Mapping[str, Agent]
    evaluate: Evaluate
    probe: Probe | None = None
    figure: Callable[..., Any] | None = None
    writer: Any = None

    def __call__(self, iteration: int, agent: QNetworkAgent, learned: Mapping[str, Samples]) -> dict[str, float]:
        """Figures of an iteration, after which this is the agent; learned: samples by network, none before the first.

        Iterations count from 1: 0 is the agent before the first, as pretraining and a teacher leave it.
        """
        begin, figures = time.perf_counter(), dict[str, float]()
        due = self.options.due(iteration)
        last = self.options.monitored and iteration == self.iterations
        if self.writer is not None and (due or last):
            self._show(iteration, agent, learned)
        if due:
            seed = derive(self.seed, MONITORING, iteration)
            for name, opponent in self.opponents.items():
                figures |= match_figures(name, self.evaluate(agent, opponent, self.options.games, seed))
            figures |= {} if self.probe is None else self.probe(agent)
            figures["speed/monitoring_seconds"] = time.perf_counter() - begin
        return figures

    def _show(self, iteration: int, agent: QNetworkAgent, learned: Mapping[str, Samples]) -> None:
        """Histograms of values and targets of either network; from time to time the figure of the discard network."""
        functions: dict[str, QFunction | None] = {"discard": agent.discard_q, "play": agent.play_q}
        for part, samples in learned.items():
            rows = np.linspace(0, len(samples) - 1, min(len(samples), SHOWN_SAMPLES)).astype(np.int64)
            function = functions[part]
            if function is None:
                continue
            values = function.values(samples.states[rows], samples.actions[rows])
            targets = samples.targets[rows]
            if targets.ndim == 2 and function.atoms is not None:  # distributions: their means are what values are of
                targets = targets @ function.atoms.cpu().numpy()
            for tag, shown in ((f"q/{part}", values), (f"target/{part}", targets)):
                self.writer.add_histogram(tag, shown, iteration, bins=histogram_edges(shown))
            if part == "discard" and self.figure is not None and self._draws(iteration):
                title = f"Value of {len(rows):,} discards after iteration {iteration}"
                drawn = self.figure(values, targets, title=title, truth="return", cell=1.0)
                if drawn is not None:
                    self.writer.add_figure("q/discard_against_return", drawn, iteration)

    def _draws(self, iteration: int) -> bool:
        """Whether a figure is due: FIGURES times a run at most, and at its end."""
        shown = [one for one in range(1, self.iterations + 1) if one == self.iterations or self.options.due(one)]
        between = -(-len(shown) // FIGURES)
        return iteration == self.iterations or iteration in shown[between - 1 :: between]


def histogram_edges(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Edges of BINS bins at most; among whole points, as returns are, each holds the same number of them."""
    low, high = float(values.min()), float(values.max())
    if high - low < 2 or (values != np.rint(values)).any():
        return np.linspace(low, max(high, low + 1e-3), BINS + 1)
    width = -(-(high - low + 1) // BINS)
    return np.arange(low - 0.5, high + width, width)
