"""Training of a perceptron of the full game by temporal differences, in self-play hand by hand (O'Connor 2000)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, DivergenceError, make_agent, name_agents
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.engine.state import new_games
from deepcrib.game.randomness import MONITORING, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.td.agent import TdPerceptronAgent, make_network
from deepcrib.learners.td.games import ABSOLUTE, ERROR, STEPS, VALUE, Method, new_trace, play_hands
from deepcrib.learners.td.inputs import WIDTHS, tables
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.td.perceptron import layer_sizes, new_weights
from deepcrib.training.checkpointing import (
    STATE_FILE,
    Match,
    Progress,
    evaluation_seed,
    fitting_state,
    monitor,
    next_checkpoint,
    save_and_measure,
    weights_file,
)
from deepcrib.training.options import EvaluationOptions

PIECE = 10_000  # hands between two signs of life
FIRST_STATES = 2  # of a hand: one a player
Pairs = Callable[[Agent, Agent, int, int], Any]


class Settings(Protocol):
    """What the training reads: the config of the job `train`."""

    seed: int
    learner: TdOptions
    evaluation: EvaluationOptions


@dataclass
class LearnerState:
    """The perceptron's weights, float64 [W], and how far it is."""

    weights: NDArray[np.float64]
    hands: int = 0
    seconds: float = 0.0


@dataclass
class TdResult:
    """The trained agent, what it took, and the file of its weights."""

    agent: TdPerceptronAgent
    hands: int
    seconds: float
    weights: Path


def prepare(settings: Settings, state: Path | None = None) -> LearnerState:
    """The weights of a new run, or those of the training state in a file.

    Raises CheckpointError for a state that cannot be read or does not fit the options.
    """
    options = settings.learner
    sizes = layer_sizes(WIDTHS[options.inputs], options.hidden)
    new = LearnerState(new_weights(sizes, derive(settings.seed, NETWORKS), options.initial_deviation))
    if state is None:
        return new
    with fitting_state(state) as saved:
        what = [list(options.hidden), options.inputs, options.move_points]
        if saved["what"] != what or tuple(saved["weights"].shape) != new.weights.shape:
            raise ValueError(f"it has hidden, inputs and move_points {saved['what']}, expected {what}")
        return LearnerState(saved["weights"].numpy(), saved["hands"], saved["seconds"])


def train(
    settings: Settings,
    folder: Path,
    match: Match,
    pairs: Pairs,
    *,
    dealing: str = "acc",
    writer: Any = None,
    progress: Progress | None = None,
    resume: bool = False,
) -> TdResult:
    """Train the perceptron, with checkpoints; with `resume`, from the state in the folder.

    match(agent, opponent, games, seed) and pairs(agent, opponent, pairs, seed) measure the agent in games and in pairs
    of hands at every `evaluation.every`-th checkpoint; writer is a TensorBoard SummaryWriter or None. The same seed
    gives the same weights. Raises as `prepare` does, and DivergenceError where the learning rate is too high.
    """
    run, options = prepare(settings, folder / STATE_FILE if resume else None), settings.learner
    opponents = name_agents([make_agent(spec) for spec in settings.evaluation.opponents])
    if run.hands == 0:
        _save(run, settings, folder, dealing)
    begin = time.perf_counter() - run.seconds
    while run.hands < options.hands:
        last = next_checkpoint(run.hands, options.checkpoint_every, options.hands)
        figures = play_to(run, last, settings, progress)
        run.seconds = time.perf_counter() - begin
        _save(run, settings, folder, dealing)
        what = [list(options.hidden), options.inputs, options.move_points]
        state = {"weights": run.weights, "hands": run.hands, "seconds": run.seconds, "what": what}
        measure = partial(_monitor, run, settings, opponents, match, pairs, dealing)
        figures = save_and_measure(folder, run.hands, state, figures, measure, writer)
        if progress is not None:
            progress(run.hands, figures)
    agent, weights = _agent(run, settings, dealing), folder / WEIGHTS_FILE
    agent.save(weights)
    return TdResult(agent, run.hands, run.seconds, weights)


def play_to(run: LearnerState, last: int, settings: Settings, progress: Progress | None = None) -> dict[str, float]:
    """Play and learn up to hand `last`; returns figures of the learning and of the speed by TensorBoard tag."""
    options = settings.learner
    network = make_network(run.weights, tuple(options.hidden), options.inputs, options.move_points)
    method = Method(
        lr=float(options.lr),
        linear=options.lr_schedule == "linear",
        hands=options.hands,
        decay=float(options.trace_decay),
        epsilon=float(options.epsilon),
    )
    game, trace = new_games(np.zeros(1, dtype=np.int64), 2), new_trace(sum(options.hidden))
    seed, first, begin = derive(settings.seed, SELF_PLAY), run.hands, seconds_running()
    while run.hands < last:
        end = min(run.hands + PIECE, last)
        play_hands(game, run.hands, end, seed, network, tables(options.inputs), trace, method)
        run.hands = end
        if not math.isfinite(trace.totals.sum()):
            raise DivergenceError(f"learning diverged: errors are not finite at learning rate {options.lr:g}; lower it")
        if progress is not None:
            progress(run.hands, {})
    hands = last - first
    return {
        "loss/squared_error": float(trace.totals[ERROR] / trace.totals[STEPS]),
        "value/after_discard": float(trace.totals[VALUE] / (FIRST_STATES * hands)),
        "value/after_discard_absolute": float(trace.totals[ABSOLUTE] / (FIRST_STATES * hands)),
        "speed/hands_per_second": hands / (seconds_running() - begin),
    }


def _monitor(
    run: LearnerState,
    settings: Settings,
    opponents: Mapping[str, Agent],
    match: Match,
    pairs: Pairs,
    dealing: str,
) -> dict[str, float]:
    """Measure the agent at every `evaluation.every`-th checkpoint; returns figures by TensorBoard tag."""
    number = -(-run.hands // settings.learner.checkpoint_every)
    figures = monitor(settings, number, partial(_agent, run, settings, dealing), opponents, match)
    if figures and settings.learner.pairs >= 2:  # one has no interval
        agent, seed = _agent(run, settings, dealing), derive(evaluation_seed(settings), MONITORING)
        for name, opponent in opponents.items():
            figures[f"{name}/pair_margin"] = pairs(agent, opponent, settings.learner.pairs, seed).margin
    return figures


def _agent(run: LearnerState, settings: Settings, dealing: str) -> TdPerceptronAgent:
    options = settings.learner
    metadata = {"learner": options.name, "hands": run.hands, "seed": settings.seed, "rules": dealing}
    return TdPerceptronAgent(
        "trained", run.weights.copy(), tuple(options.hidden), options.inputs, options.move_points, metadata
    )


def _save(run: LearnerState, settings: Settings, folder: Path, dealing: str) -> None:
    """The weights after so many hands, in the folder of checkpoints."""
    _agent(run, settings, dealing).save(weights_file(folder, f"hands_{run.hands:09d}"))
