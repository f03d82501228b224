"""`deepcrib benchmark`: games a second, replay iterations."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hydra import compose
from omegaconf import OmegaConf
from rich.table import Table

from deepcrib.agents import make_agent
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.jobs import JOBS, Outcome, Run
from deepcrib.jobs.hydra.schema import register_schema
from deepcrib.jobs.shared.common import working
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.shared.options import torch_device
from deepcrib.kernels.workers import num_workers, use_workers
from deepcrib.learners.registry import make_learner
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.matches import play_match
from deepcrib.options import at_least, option, seed_value
from deepcrib.training.fit import fit
from deepcrib.training.learner import Setting

REPEATS = 3  # of each match, of which the median counts
SCRIPTED = ("greedy", "deterministic", "random")
IN_LOCKSTEP = "greedy against itself, in lockstep"
LOCKSTEP_SHARE = 10  # a match in lockstep has one tenth of the games
SETUPS = ("cnn_lstm_sarsa", "cnn_lstm_monte_carlo", "mlp_sarsa", "mlp_monte_carlo")
"""Of Bélanger et al. 2019; benchmarks/README.md has the speed of its own code."""


@dataclass
class Config:
    """The schema of `conf/benchmark.yaml`."""

    task: str = option("all", "one of the tasks, or all; also as an argument: deepcrib benchmark games")
    games: int = option(200000, "of each match", at_least(1))
    iterations: int = option(6, "of each setup; those with a full buffer are timed")
    setups: list[str] = option(list(SETUPS), "of `iteration`")
    seed: int = option(1, "of everything random", seed_value)
    device: str = option("cpu", "of `iteration`", torch_device)
    threads: int = option(1, "of `iteration`; matches use all that there are", at_least(0))


def run(config: Config, run: Run) -> Outcome:
    """Measure what the task names."""
    if config.task not in (*_TASKS, "all"):
        raise OptionError(f"task={config.task}: expected one of {', '.join(_TASKS)}, all")
    for name in config.setups:
        if name not in SETUPS:
            raise OptionError(f"setups={name}: expected some of {', '.join(SETUPS)}")
    full = ReplayOptions().epochs_kept
    if config.iterations < full:
        raise OptionError(f"iterations={config.iterations}: expected {full} or more, to fill the buffer")
    summary: dict[str, Any] = {}
    tables: list[Table] = []
    with working(run, threads=0) as bars:
        for task, measure in _TASKS.items():
            if config.task in (task, "all"):
                summary[task], table = measure(config, bars)
                tables.append(table)
    summary["load"] = os.getloadavg()[0]
    run.notes.append(f"load of the last minute: {summary['load']:.1f} (1 to {os.cpu_count()} when nothing else runs)")
    return Outcome(summary, tables)


def _time_games(config: Config, bars: Bars) -> tuple[dict[str, Any], Table]:
    """Full games a second of agents against themselves, by agent and path through the code."""
    matches: dict[str, tuple[Any, int]] = {name: (make_agent(name), config.games) for name in SCRIPTED}
    greedy = make_agent("greedy")
    # an agent that is not known to be scripted: its matches go decision by decision, as a network's do
    disguised = SimpleNamespace(name="greedy", num_players=frozenset({2}), discard=greedy.discard, play=greedy.play)
    matches[IN_LOCKSTEP] = disguised, max(1, config.games // LOCKSTEP_SHARE)
    rates, rows = {}, []
    for number, (name, (agent, games)) in enumerate(matches.items()):
        bars.show("matches", number, len(matches))
        play_match([agent, agent], 100, config.seed)  # compiles
        seconds = [play_match([agent, agent], games, config.seed).seconds for _ in range(REPEATS)]
        rate = games / statistics.median(seconds)
        rates[name] = {"games_per_second": rate, "games": games, "threads": num_workers()}
        rows.append((name if name == IN_LOCKSTEP else f"{name} against itself", f"{games:,}", f"{rate:,.0f}"))
    title = f"full games to 121 a second, {num_workers()} threads"
    return rates, plain_table(title, ("match", "games", "games\na second"), rows)


def _time_iterations(config: Config, bars: Bars) -> tuple[dict[str, Any], Table]:
    """Seconds of an iteration whose buffer is full: 200 games played, five epochs learned from."""
    timed = {}
    use_workers(config.threads)
    try:
        for number, setup in enumerate(config.setups):
            bars.show("setups", number, len(config.setups))
            timed[setup] = _time_iteration(config, setup)
    finally:
        use_workers(None)
    parts = ("playing_seconds", "learning_seconds", "seconds", "cpu_seconds")
    rows = [(setup, *(f"{metrics[part]:.2f}" for part in parts)) for setup, metrics in timed.items()]
    title = f"seconds a replay iteration: 200 games, five epochs kept, batch 64, threads={config.threads}"
    return timed, plain_table(title, ("setup", "playing", "learning", "total", "CPU"), rows)


def _time_iteration(config: Config, setup: str) -> dict[str, Any]:
    learner = _learner(f"paper2019/{setup}", config)
    times: list[tuple[float, float, float]] = []
    cpu = time.process_time()

    def note(done: int, metrics: Mapping[str, float]) -> None:
        nonlocal cpu
        spent, cpu = time.process_time() - cpu, time.process_time()
        if done >= learner.options.epochs_kept:
            times.append((metrics["speed/playing_seconds"], metrics["speed/learning_seconds"], spent))

    with tempfile.TemporaryDirectory() as folder:
        fit(learner, Path(folder), _no_match, progress=note)
    playing, learning, spent = (statistics.median(part) for part in zip(*times, strict=True))
    return {
        "playing_seconds": playing,
        "learning_seconds": learning,
        "seconds": playing + learning,
        "cpu_seconds": spent,
        "iterations_timed": len(times),
        "threads": config.threads,
    }


def _learner(experiment: str, config: Config) -> ReplayLearner:
    """The learner of `deepcrib train experiment=...`, without pretraining and matches, while Hydra is initialised."""
    register_schema(JOBS["train"])
    options = [f"experiment={experiment}", f"learner.iterations={config.iterations}", "pretraining.enabled=false"]
    composed: Any = OmegaConf.to_object(compose("train", overrides=[*options, "evaluation.every=0"]))
    setting = Setting(config.seed, composed.evaluation, composed.rules.name, config.device)
    learner = make_learner(composed.learner, setting, vars(composed))
    assert isinstance(learner, ReplayLearner)
    return learner


def _no_match(*arguments: Any) -> Any:
    raise AssertionError("a benchmark plays no matches")


_TASKS: dict[str, Callable[[Config, Bars], tuple[dict[str, Any], Table]]] = {
    "games": _time_games,
    "iteration": _time_iterations,
}
"""By task, in the order of `all`: what it measures, for the summary, and a table of it."""
