"""`fit`: the training of any learner, with checkpoints, evaluation matches and resuming."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from deepcrib.agents import Agent, DivergenceError, make_agent, name_agents
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.randomness import MONITORING, derive
from deepcrib.networks import checkpoints
from deepcrib.training.interruption import deferred_interrupts
from deepcrib.training.learner import Learner, Metrics, Writer
from deepcrib.training.progress import ProgressFile
from deepcrib.training.run_files import STATE_FILE, fitting_state, require_like, weights_file, write_scalars

MATCH_METRICS = {"win_rate": "win_rate", "win_rate_low": "ci_low", "win_rate_high": "ci_high"}
MATCH_METRICS |= {tag: tag for tag in ("margin", "hand_margin", "hand_margin_low", "hand_margin_high")}
MATCH_METRICS |= {tag: tag for tag in ("points_per_hand", "opponent_points_per_hand")}
"""The end of a tag, and which field of a match's result it shows."""
Evaluate = Callable[[Agent, Any, int, int], Any]
"""(agent, opponent, games, seed) -> what has the fields of MATCH_METRICS: `evaluation` is no room to import here."""
Progress = Callable[[int, Mapping[str, float]], None]
"""(steps done, metrics by TensorBoard tag); before the first step as many below zero as stages have yet to do."""
Probe = Callable[[Agent, int], Mapping[str, float]]  # (agent, seed of the matches) -> additional metrics, by tag


class Callback(Protocol):
    """What `deepcrib.train` calls with the learner and the metrics of each row of `progress.csv`, once it is written.

    That is after every step, and before the first; metrics are by TensorBoard tag, those of matches among them where
    they were due. It may read the learner, whose `agent()` the next step changes, measure and log; it must not change
    it. Its time counts as the training's. An exception ends the training as Ctrl-C does, saved; `train` raises it.
    """

    def __call__(self, learner: Learner, metrics: Mapping[str, float], /) -> None: ...  # noqa: D102


def restore(learner: Learner, path: Path) -> None:
    """Restore the training state in a file. Raises CheckpointError if it is damaged or was saved with other options."""
    with fitting_state(path) as state:
        require_like(state, {"seed": 1, "seconds": 0.0, "metrics": {}}, "the state")
        metrics = {str(tag): float(value) for tag, value in state["metrics"].items()}
        if (seed := state["seed"]) != learner.setting.seed:
            raise ValueError(f"it is of seed={seed}, not {learner.setting.seed}")
        _take_over(learner, state)
        left = state["stages"]
        if (done := len(learner.stages) - len(left)) < 0:
            raise ValueError("what comes before its first step is not done: expected the same options")
        for stage in learner.stages[:done]:
            stage.steps_done = stage.num_steps
        for stage, saved in zip(learner.stages[done:], left, strict=True):
            _take_over(stage, saved)
        learner.seconds, learner.metrics = state["seconds"], metrics


def _saved(learner: Learner) -> dict[str, Any]:
    """What a learner, or a stage of it, goes on from."""
    return {"learner": type(learner).__name__, "steps": learner.steps_done, "state": learner.state_dict()}


def _take_over(learner: Learner, saved: Mapping[str, Any]) -> None:
    """Go on from what `_saved` gave. Raises ValueError and whatever odd contents make fail."""
    if saved["learner"] != type(learner).__name__:
        raise ValueError(f"it is of a {saved['learner']}")
    own = _saved(learner)
    learner.load_state_dict(saved["state"])
    require_like(saved, own, "the state")
    if saved["steps"] > learner.num_steps:
        raise ValueError(f"{saved['steps']:,} {learner.unit} are done, and {learner.num_steps:,} asked for")
    learner.steps_done = saved["steps"]


def next_event(learner: Learner) -> int:
    """The first step of TensorBoard events to come: what a killed process wrote from there on is dropped.

    Those of stages are below zero, up to -1; events at 0 are written again unless a step is done.
    """
    left = sum(stage.num_steps - stage.steps_done for stage in learner.stages)
    return learner.steps_done + 1 if learner.steps_done else -left


def match_metrics(name: str, found: Any) -> dict[str, float]:
    """A match against the opponent of that name, without bounds that there are not."""
    metrics = {f"{name}/{tag}": getattr(found, field) for tag, field in MATCH_METRICS.items()}
    return {tag: value for tag, value in metrics.items() if value is not None}


def fit(
    learner: Learner,
    run_dir: Path,
    evaluate: Evaluate,
    *,
    opponents: Mapping[str, Agent] | None = None,
    writer: Writer | None = None,
    progress: Progress = lambda steps, metrics: None,
    probe: Probe | None = None,
    resume: bool = False,
) -> Agent | None:
    """Train to the last step and save the weights; returns the trained agent, None if the learner has no agent.

    The stages of the learner come first. A restored learner continues where it was; with `resume`, it is restored from
    the run folder first. Ctrl-C, or a SIGTERM that has a handler, finishes the current step and saves the state; a
    second one stops at once.

    Args:
        learner: what learns.
        run_dir: the run folder.
        evaluate: plays the evaluation matches, (agent, opponent, games, seed) -> what `match_metrics` reads.
        opponents: of these matches, by name; None: those that the options name are made.
        writer: a TensorBoard SummaryWriter, or another `Writer`; None: nothing is written to one.
        progress: called after every step, and before the first; what it raises there ends the training, saved.
        probe: measures additional metrics of the agent where matches are played.
        resume: continue from the state in the run folder.

    Raises CheckpointError where a file cannot be read, RunError where one cannot be written, and what `step` raises.
    """
    if resume:
        restore(learner, run_dir / STATE_FILE)
    if opponents is None:
        setting = learner.setting
        opponents = name_agents([make_agent(spec, setting.device) for spec in setting.evaluation.opponents])
    return _Training(learner, run_dir, evaluate, opponents, writer, progress, probe).run()


@dataclass
class _Training:
    learner: Learner
    run_dir: Path
    evaluate: Evaluate
    opponents: Mapping[str, Agent]
    writer: Writer | None
    progress: Progress
    probe: Probe | None

    def __post_init__(self) -> None:
        self.options = self.learner.setting.evaluation
        self.began = time.perf_counter() - self.learner.seconds
        self.file = ProgressFile(self.run_dir, self.learner.steps_done)
        self.interrupted = False

    def run(self) -> Agent | None:
        learner = self.learner
        for stage in learner.stages:
            while stage.steps_done < stage.num_steps:
                self._learn(stage)
        if learner.steps_done == 0:
            self._begin()
        elif self.file.seconds is None:  # interrupted before the last step was evaluated and reported
            self._report(learner.metrics | self._evaluate_if_due())
        else:  # the reported seconds include the evaluation, those of the saved state do not
            learner.seconds = max(learner.seconds, self.file.seconds)
            self.began = time.perf_counter() - learner.seconds
        while learner.steps_done < learner.num_steps:
            self._step()
        self.file.sync()
        learner.save(self.run_dir / WEIGHTS_FILE)
        learner.summary = learner.finish(self.run_dir)
        return learner.agent()

    def _begin(self) -> None:
        learner = self.learner
        with deferred_interrupts(self._stop):
            learner.metrics = learner.first_metrics()
            write_scalars(self.writer, 0, learner.metrics)
            self._save_weights()
            self._save_state()
        self.began = time.perf_counter()  # stages are not counted
        self._report(learner.metrics | self._evaluate_if_due())

    def _step(self) -> None:
        at_checkpoint = self._learn(self.learner)
        try:
            self._report(self.learner.metrics | self._evaluate_if_due())
        except BaseException as error:  # an interrupt, or what a callback raises
            if not at_checkpoint and not isinstance(error, DivergenceError):
                self._save_state()
            raise

    def _learn(self, learner: Learner) -> bool:
        """A step of the learner, or of a stage, and its state where one is due; whether a checkpoint was."""
        self.interrupted = learner.stopping = False
        learner.tick = partial(self._tick, learner)
        with deferred_interrupts(self._stop):
            learner.metrics = {tag: float(value) for tag, value in learner.step().items()}
            event = next_event(self.learner) - 1
            write_scalars(self.writer, event, learner.metrics)
            at_checkpoint = learner.is_due(learner.checkpoint_every)
            if learner is self.learner:
                learner.seconds = time.perf_counter() - self.began
                if at_checkpoint:
                    self._save_weights()
            elif learner.steps_done == learner.num_steps and self.writer is not None:
                learner.show(self.writer, event)
            if at_checkpoint or self.interrupted:
                self._save_state()
        return at_checkpoint

    def _stop(self) -> None:
        self.interrupted = True

    def _tick(self, learner: Learner, steps: int) -> None:
        """Show the progress within a step. An interrupt ends the step here: something has been learned in it."""
        learner.stopping = self.interrupted
        self.progress(steps if learner is self.learner else next_event(self.learner), {})

    def _report(self, metrics: Mapping[str, float]) -> None:
        """Write a row of `progress.csv`, with the matches that were due, and show it."""
        if metrics:
            self.file.add(self.learner.steps_done, self.learner.seconds, metrics)
        self.progress(self.learner.steps_done, metrics)

    def _save_state(self) -> None:
        """Save what a resumed training continues from.

        Events and rows are flushed first: those after the saved step are purged on resuming, those up to it must be on
        the disk. The row of this step is written after its matches, so the state holds its metrics.
        """
        self.file.sync()
        if self.writer is not None:
            self.writer.flush()
        learner = self.learner
        stages = [_saved(stage) for stage in learner.stages if stage.steps_done < stage.num_steps]
        state = _saved(learner) | {"stages": stages, "seed": learner.setting.seed}
        state |= {"seconds": learner.seconds, "metrics": learner.metrics}
        checkpoints.save_state(self.run_dir / STATE_FILE, state)

    def _save_weights(self) -> None:
        self.learner.save(weights_file(self.run_dir, self.learner.unit, self.learner.steps_done))

    def _evaluate_if_due(self) -> Metrics:
        """Metrics of evaluation matches and of the probe, if they are due; also for TensorBoard.

        They come after the state is saved and can take longer than the step: an interrupt loses them and no learning.
        """
        learner, options, begin = self.learner, self.options, time.perf_counter()
        if not learner.is_due(learner.evaluated_every):
            return {}
        due = options.due(number := learner.checkpoint_number)
        at_end = learner.steps_done >= learner.num_steps
        if self.writer is not None and (due or (options.monitored and at_end)):
            learner.show(self.writer, learner.steps_done)
        agent = learner.agent() if due else None
        if agent is None:
            return {}
        metrics, seed = Metrics(), derive(learner.setting.evaluation_seed, MONITORING, number)
        for name, opponent in self.opponents.items():
            metrics |= match_metrics(name, self.evaluate(agent, opponent, options.games, seed))
        metrics |= {} if self.probe is None else self.probe(agent, seed)
        metrics["speed/monitoring_seconds"] = time.perf_counter() - begin
        learner.seconds = time.perf_counter() - self.began
        write_scalars(self.writer, learner.steps_done, metrics)
        if self.writer is not None:
            self.writer.flush()
        return metrics | {f"{name}/games": float(options.games) for name in self.opponents}
