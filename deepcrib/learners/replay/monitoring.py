"""Metrics of a run by TensorBoard tag: losses, value statistics, throughput.

docs/tensorboard.md explains every tag, and a test holds it to what runs write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents.base import require_finite
from deepcrib.agents.q_network import QFunction
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.rewards import discard_returns, play_totals
from deepcrib.matches.trajectories import Trajectories
from deepcrib.training.learner import Writer
from deepcrib.training.options import EvaluationOptions

SHOWN_SAMPLES = 10_000
"""The most samples of a histogram or a figure: enough to see, and little to compute beside a pass."""
FIGURES = 10
"""Predicted-against-return figures of a run: TensorBoard shows no more images of a tag."""
BINS = 30
"""Of a histogram: as many as TensorBoard draws."""


@dataclass(frozen=True)
class PassStatistics:
    """Means over one training pass; loss in points squared (`categorical`: nats), values in points."""

    loss: float
    value_mean: float
    value_std: float
    target_mean: float
    target_std: float
    samples: int

    @classmethod
    def of(
        cls,
        minibatches: Sequence[tuple[Tensor, Tensor, NDArray[np.float32] | None]],
        targets: NDArray[np.float32],
        lr: float,
    ) -> PassStatistics:
        """Of the losses and values [B] of all minibatches, by their weights [B] if any, and of all targets [E].

        Raises DivergenceError where the mean loss is no number at a learning rate.
        """
        parts = [list(part) for part in zip(*((losses, values) for losses, values, _ in minibatches), strict=True)]
        losses, values = (torch.cat(part).double().cpu().numpy() for part in parts)
        weights = np.concatenate([np.ones(len(part)) if given is None else given for part, _, given in minibatches])
        loss, mean = np.average(losses, weights=weights), np.average(values, weights=weights)
        require_finite(loss, lr)
        spread = np.average((values - mean) ** 2, weights=weights) ** 0.5
        target_mean, target_spread = float(targets.mean()), float(targets.std())
        return cls(float(loss), float(mean), float(spread), target_mean, target_spread, len(losses))


def playing_metrics(hands: Trajectories) -> dict[str, float]:
    """Metrics of an iteration's hands by TensorBoard tag: the learner's mean points, and how it did against others.

    points_ahead_per_hand: of all kinds but heels, in the hands where another agent sat opposite.
    """
    own, all_hands = hands.learned == 1, np.arange(len(hands))
    dealt = own[all_hands, hands.dealer]
    play = play_totals(hands.play_points, hands.play_seats)[own].sum(dtype=np.float64)
    metrics = {
        "self_play/play_points_per_hand": float(play / own.sum()),
        "self_play/hand_points_per_hand": float(hands.hand_points[own].mean()),
        "self_play/crib_points_per_hand": float(hands.crib_points[dealt].sum() / max(1, dealt.sum())),
    }
    others = own.sum(axis=1) == 1
    if others.any():
        ahead = discard_returns(hands, "difference")[own & others[:, None]]
        metrics |= {
            "opponents/share_of_hands": float(others.mean()),
            "opponents/points_ahead_per_hand": float(ahead.mean()),
        }
    return metrics


def pass_metrics(passes: Mapping[str, PassStatistics]) -> dict[str, float]:
    """Passes over the buffer, by the network, `discard` or `play`."""
    metrics: dict[str, float] = {}
    for part, passed in passes.items():
        metrics |= {
            f"loss/{part}": passed.loss,
            f"q/{part}_mean": passed.value_mean,
            f"q/{part}_std": passed.value_std,
            f"target/{part}_mean": passed.target_mean,
            f"target/{part}_std": passed.target_std,
            f"progress/{part}_samples": float(passed.samples),
        }
    return metrics


def speed_metrics(hands: int, samples: float, playing: float, learning: float) -> dict[str, float]:
    """Throughput of an iteration that played so many hands and learned so many samples, in so many seconds."""
    return {
        "speed/hands_per_second": hands / (playing + learning),
        "speed/samples_per_second": samples / learning,
        "speed/playing_seconds": playing,
        "speed/learning_seconds": learning,
    }


def show_values(
    writer: Writer,
    iteration: int,
    functions: Mapping[str, QFunction],
    learned: Mapping[str, Batch],
    figure: Callable[..., Any] | None = None,
) -> None:
    """Write histograms of values and targets of either network; what is learned never depends on it.

    learned: samples by network, none before the first iteration. figure: (predicted, true, title=...) -> a matplotlib
    figure or None, drawn of the discard network.
    """
    for part, samples in learned.items():
        rows = np.linspace(0, len(samples) - 1, min(len(samples), SHOWN_SAMPLES)).astype(np.int64)
        function = functions[part]
        values = function.values(samples.states[rows], samples.actions[rows])
        targets = samples.targets[rows]
        if targets.ndim == 2 and function.atoms is not None:  # distributions: their means are what values are of
            targets = targets @ function.atoms.cpu().numpy()
        for tag, shown in ((f"q/{part}", values), (f"target/{part}", targets)):
            writer.add_histogram(tag, shown, iteration, bins=histogram_edges(shown))
        if part == "discard" and figure is not None:
            title = f"Value of {len(rows):,} discards after iteration {iteration}"
            drawn = figure(values, targets, title=title, truth="return", cell=1.0)
            if drawn is not None:
                writer.add_figure("q/discard_against_return", drawn, iteration)


def draws_at(options: EvaluationOptions, iteration: int, iterations: int) -> bool:
    """Whether a figure is due: FIGURES times a run at most, and at its end."""
    shown = [one for one in range(1, iterations + 1) if one == iterations or options.due(one)]
    between = -(-len(shown) // FIGURES)
    return iteration == iterations or iteration in shown[between - 1 :: between]


def histogram_edges(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Edges of BINS bins at most; among whole points, as returns are, each holds the same number of them."""
    low, high = float(values.min()), float(values.max())
    if high - low < 2 or (values != np.rint(values)).any():
        return np.linspace(low, max(high, low + 1e-3), BINS + 1)
    width = -(-(high - low + 1) // BINS)
    return np.arange(low - 0.5, high + width, width)
