"""Training of weighted strategies (Lang 2018, chapter 3): Monte Carlo over games, with exploring starts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import make_agent, name_agents
from deepcrib.exact.pegging import PeggingRecords, exact_records, sampled_records
from deepcrib.exact.strategies.discards import SCORES, strategy_codes
from deepcrib.exact.strategies.plays import PLAY_STRATEGIES
from deepcrib.exact.table import DiscardTable, cached_table
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.engine.state import new_games
from deepcrib.game.randomness import PRETRAINING, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.weighted.agent import NEIGHBOURS, WeightedAgent, initial_weights
from deepcrib.learners.weighted.games import play_games
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.learners.weighted.state import READINGS, Method, Tables, new_memory, new_scratch
from deepcrib.training.checkpointing import (
    STATE_FILE,
    Match,
    Progress,
    fitting_state,
    monitor,
    next_checkpoint,
    save_and_measure,
    weights_file,
)
from deepcrib.training.options import EvaluationOptions

PIECE = 10_000  # games between two signs of life


class Settings(Protocol):
    """What the training reads: the config of the job `train`."""

    seed: int
    learner: WeightedOptions
    evaluation: EvaluationOptions


@dataclass
class LearnerState:
    """A pool of members, of which member 0 is the run's agent, and how far they are.

    pool: [K, 121, 121, 2, m]. play_pool: [K, 121, 121, 2, 2]. games, hands: played so far. outcomes: what `baseline`
    goes by (`weighted_state.Memory`).
    """

    pool: NDArray[np.float64]
    play_pool: NDArray[np.float64]
    records: PeggingRecords
    games: int = 0
    hands: int = 0
    seconds: float = 0.0
    outcomes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((SCORES, SCORES, 2, 2)))
    summary: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.summary = self.records.known()

    def state(self) -> dict[str, Any]:
        """For `checkpoints.save_state`."""
        names = ("pool", "play_pool", "games", "hands", "seconds", "summary", "outcomes")
        records = {"gained": self.records.gained, "given": self.records.given}
        return {name: getattr(self, name) for name in names} | records


@dataclass
class WeightedResult:
    """The trained agent, what it took, and the file of its weights."""

    agent: WeightedAgent
    games: int
    hands: int
    seconds: float
    weights: Path


def prepare(settings: Settings, state: Path | None = None) -> LearnerState:
    """The pool of a new run, or of the training state in a file.

    Raises OptionError for initial weights and strategies that there are not, CheckpointError for a state that cannot
    be read or does not fit the options.
    """
    options = settings.learner
    strategy_codes(options.strategies)
    members = [options.initial, *options.opponents]
    pool = np.stack([initial_weights(name, options.strategies, settings.seed, i) for i, name in enumerate(members)])
    play = np.stack(
        [initial_weights("random", PLAY_STRATEGIES, settings.seed, len(members) + i) for i in range(len(members))]
    )
    if state is None:
        return LearnerState(pool, play, _records(settings))
    with fitting_state(state) as saved:
        if tuple(saved["pool"].shape) != pool.shape:
            raise ValueError(f"its pool has the shape {tuple(saved['pool'].shape)}, expected {pool.shape}")
        if saved.get("strategies", options.strategies) != list(options.strategies):
            raise ValueError(f"it weighs {', '.join(saved['strategies'])}")
        records = PeggingRecords(saved["gained"].numpy(), saved["given"].numpy())
        found = LearnerState(saved["pool"].numpy(), saved["play_pool"].numpy(), records)
        found.summary, found.outcomes = saved["summary"].numpy(), saved["outcomes"].numpy()
        found.games, found.hands, found.seconds = saved["games"], saved["hands"], saved["seconds"]
    return found


def train(
    settings: Settings,
    folder: Path,
    match: Match,
    *,
    dealing: str = "acc",
    writer: Any = None,
    progress: Progress | None = None,
    resume: bool = False,
) -> WeightedResult:
    """Train member 0 (and its opponents, if they learn), with checkpoints; with `resume`, from the state in the folder.

    match(agent, opponent, games, seed) measures the agent at every `evaluation.every`-th checkpoint; writer is a
    TensorBoard SummaryWriter or None. The same seed gives the same weights. Raises as `prepare` does.
    """
    run = prepare(settings, folder / STATE_FILE if resume else None)
    opponents = name_agents([make_agent(spec) for spec in settings.evaluation.opponents])
    table, options = cached_table(), settings.learner
    if run.games == 0:
        _save(run, settings, folder, dealing)
    begin = time.perf_counter() - run.seconds
    while run.games < options.games:
        last = next_checkpoint(run.games, options.checkpoint_every, options.games)
        figures = play_to(run, last, settings, table, dealing, progress)
        run.seconds = time.perf_counter() - begin
        _save(run, settings, folder, dealing)
        number = -(-run.games // options.checkpoint_every)
        matches = partial(monitor, settings, number, partial(_agent, run, settings, dealing), opponents, match)
        state = run.state() | {"strategies": list(options.strategies)}
        figures = save_and_measure(folder, run.games, state, figures, matches, writer)
        if progress is not None:
            progress(run.games, figures)
    weights = folder / WEIGHTS_FILE
    for member in range(len(run.pool)):
        if member and options.opponents_learn:
            _agent(run, settings, dealing, member).save(folder / f"opponent_{member}.safetensors")
    agent = _agent(run, settings, dealing)
    agent.save(weights)
    return WeightedResult(agent, run.games, run.hands, run.seconds, weights)


def method(options: WeightedOptions, dealing: str = "acc") -> Method:
    """The options as the compiled games read them."""
    return Method(
        reading=READINGS[options.reading],
        scaling=float(options.scaling),
        decay=float(options.decay),
        punishment=float(options.punishment),
        baseline=bool(options.baseline),
        cap=np.inf if options.cap is None else float(options.cap),
        by_variance=options.exploration == "variance",
        epsilon=float(options.epsilon),
        by_preference=options.explore_by == "preference",
        neighbours=NEIGHBOURS.index(options.neighbours),
        neighbour_share=float(options.neighbour_share),
        exploring_starts=bool(options.exploring_starts),
        spread=int(options.start_spread),
        update_records=bool(options.update_records),
        weighted_play=options.play == "weighted",
        random_pairs=options.pairs == "random",
        random_dealer=dealing == "random_dealer",
    )


def _records(settings: Settings) -> PeggingRecords:
    options = settings.learner
    if options.records == "sampled":
        return sampled_records(options.record_hands, derive(settings.seed, PRETRAINING)).pooled()
    return exact_records().pooled()


def play_to(
    run: LearnerState, last: int, settings: Settings, table: DiscardTable, dealing: str, progress: Progress | None
) -> dict[str, float]:
    """Play up to game `last`, and return figures of the pool and of the speed."""
    options = settings.learner
    learns = np.array([True] + [options.opponents_learn] * (len(run.pool) - 1))
    records = run.records
    tables = Tables(
        np.asarray(table.rows),
        table.classes.keys,
        table.classes.starts,
        records.gained,
        records.given,
        run.summary,
    )
    codes = strategy_codes(options.strategies)
    game, scratch = new_games(np.zeros(1, dtype=np.int64), 2), new_scratch(len(codes))
    memory = new_memory()._replace(outcomes=run.outcomes)
    seed, first, begin = derive(settings.seed, SELF_PLAY), run.games, seconds_running()
    how = method(options, dealing)
    before = run.pool[0].copy()
    while run.games < last:
        end = min(run.games + PIECE, last)
        run.hands += play_games(
            game,
            run.games,
            end,
            seed,
            run.pool,
            run.play_pool,
            learns,
            options.switch_every,
            codes,
            tables,
            how,
            memory,
            scratch,
        )
        run.games = end
        if progress is not None:
            progress(run.games, {})
    seconds = seconds_running() - begin
    return {"speed/games_per_second": (last - first) / seconds} | _weight_figures(run.pool[0], before, options)


def _weight_figures(
    weights: NDArray[np.float64], before: NDArray[np.float64], options: WeightedOptions
) -> dict[str, float]:
    """Means over score locations, by role: each strategy's weight, the largest weight, and how much changed."""
    figures = {}
    for role, name in enumerate(("pone", "dealer")):
        for i, strategy in enumerate(options.strategies):
            figures[f"weights_{name}/{strategy}"] = float(weights[:, :, role, i].mean())
        figures[f"weights_{name}/largest"] = float(weights[:, :, role].max(axis=2).mean())
        figures[f"weights_{name}/change"] = float(np.abs(weights - before)[:, :, role].sum(axis=2).mean())
    return figures


def _agent(run: LearnerState, settings: Settings, dealing: str, member: int = 0) -> WeightedAgent:
    options = settings.learner
    return WeightedAgent(
        "trained",
        run.pool[member].astype(np.float32),
        tuple(options.strategies),
        run.summary.copy(),
        run.play_pool[member].copy() if options.play == "weighted" else None,
        options.neighbours,
        options.neighbour_share,
        {"learner": "weighted", "games": run.games, "seed": settings.seed, "rules": dealing, "member": member},
    )


def _save(run: LearnerState, settings: Settings, folder: Path, dealing: str) -> None:
    """The weights after so many games, in the folder of checkpoints."""
    _agent(run, settings, dealing).save(weights_file(folder, f"games_{run.games:08d}"))
