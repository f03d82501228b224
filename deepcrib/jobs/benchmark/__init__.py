"""`deepcrib benchmark`: games a second, replay iterations, devices, statistics, training, search."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from hydra import compose
from numpy.typing import NDArray
from omegaconf import OmegaConf
from rich.table import Table

from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.jobs import JOBS, Outcome, Run
from deepcrib.jobs.benchmark.device import devices, devices_table, time_devices
from deepcrib.jobs.benchmark.exact import statistics_table, time_statistics, time_weighted, weighted_table
from deepcrib.jobs.benchmark.search import search_table, time_search
from deepcrib.jobs.hydra.schema import register_schema
from deepcrib.jobs.shared.checks import torch_device
from deepcrib.jobs.shared.common import use_threads
from deepcrib.jobs.shared.console import Bars
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
PUBLISHED_GAMES = {"deterministic": 31, "random": 80}
"""Full games a second of the 2019 paper's code, each agent against itself, one core."""
PUBLISHED_SECONDS = {
    ("cnn_lstm", "sarsa"): (36.7, 76.0),
    ("cnn_lstm", "monte_carlo"): (35.2, 12.5),
    ("mlp", "sarsa"): (14.1, 7.1),
}
"""Seconds of playing and of learning in an iteration of the 2019 paper's code, five epochs kept, one core."""
SETUPS = (*PUBLISHED_SECONDS, ("mlp", "monte_carlo"))
APART = ("device",)
"""Tasks that `all` leaves out, since they take minutes."""


@dataclass
class Config:
    """The schema of `conf/benchmark.yaml`."""

    task: str = option("all", "one of the tasks, or all but device; also as a bare word: deepcrib benchmark games")
    games: int = option(200000, "of each match, and of each weighted run", at_least(1))
    iterations: int = option(6, "of each setup; those with a full buffer are timed")
    setups: list[str] = option(["_".join(setup) for setup in SETUPS], "of `iteration`")
    seed: int = option(1, check=seed_value)
    device: str = option("cpu", "of `iteration` and `profile`; `device` measures every one that is there", torch_device)
    threads: int = option(1, "of `iteration`; matches use all that there are, `profile` and `device` one", at_least(0))


class Lockstep:
    """An agent in disguise: its matches go decision by decision through observations, as a network's do."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.name = agent.name
        self.num_players = agent.num_players

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return self.agent.discard(observation)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self.agent.play(observation)


def run(config: Config, run: Run) -> Outcome:
    """Measure what the task names."""
    tasks = JOBS["benchmark"].tasks
    if config.task not in (*tasks, "all"):
        raise OptionError(f"task={config.task}: expected one of {', '.join(tasks)}, all")
    setups = _chosen_setups(config)
    use_threads(0)
    run.start()
    summary: dict[str, Any] = {}
    tables: list[Table] = []
    with Bars(run.show_progress) as bars:
        for task, (measure, table) in _measures(config, setups, bars).items():
            if config.task == task or (config.task == "all" and task not in APART):
                summary[task] = measure()
                tables.append(table(summary[task]))
    if config.task == "device" and len(devices()) == 1:
        run.notes.append("PyTorch finds no GPU here: one core was measured alone")
    summary["load"] = os.getloadavg()[0]
    run.notes.append(f"load of the last minute: {summary['load']:.1f} (1 to {os.cpu_count()} when nothing else runs)")
    return Outcome(summary, tables)


def _measures(
    config: Config, setups: list[tuple[str, str]], bars: Bars
) -> dict[str, tuple[Callable[[], dict[str, Any]], Callable[[Any], Table]]]:
    """What each task measures, and the table of it."""
    return {
        "games": (lambda: _time_games(config, bars), _games_table),
        "iteration": (lambda: _time_iterations(config, setups, bars), partial(_iterations_table, config)),
        "device": (lambda: _on_threads(1, partial(time_devices, config.seed)), devices_table),
        "statistics": (lambda: time_statistics(config.seed), statistics_table),
        "weighted": (lambda: time_weighted(config.games, config.seed), weighted_table),
        "search": (lambda: time_search(config.seed), search_table),
    }


def _chosen_setups(config: Config) -> list[tuple[str, str]]:
    known = {"_".join(setup): setup for setup in SETUPS}
    for name in config.setups:
        if name not in known:
            raise OptionError(f"setups={name}: expected some of {', '.join(known)}")
    full = ReplayOptions().epochs_kept
    if config.iterations < full:
        raise OptionError(f"iterations={config.iterations}: expected {full} or more, to fill the buffer")
    return [known[name] for name in config.setups]


def _time_games(config: Config, bars: Bars) -> dict[str, Any]:
    """Full games a second of agents against themselves, by agent and path through the code."""
    slow = max(1, config.games // LOCKSTEP_SHARE)
    matches: dict[str, tuple[Agent, int]] = {name: (make_agent(name), config.games) for name in SCRIPTED}
    matches[IN_LOCKSTEP] = (Lockstep(make_agent("greedy")), slow)
    rates: dict[str, Any] = {}
    for number, (name, (agent, games)) in enumerate(matches.items()):
        bars.show("matches", number, len(matches))
        play_match([agent, agent], 100, config.seed)  # compiles
        seconds = [play_match([agent, agent], games, config.seed).seconds for _ in range(REPEATS)]
        rates[name] = {
            "games_per_second": games / statistics.median(seconds),
            "games": games,
            "threads": num_workers(),
        }
    return rates


def _games_table(rates: Mapping[str, Any]) -> Table:
    rows = []
    for name, figures in rates.items():
        rate, published = figures["games_per_second"], PUBLISHED_GAMES.get(name)
        ratio = ("-", "-") if published is None else (f"{published}", f"{rate / published:,.0f} x")
        rows.append(
            (name if name == IN_LOCKSTEP else f"{name} against itself", f"{figures['games']:,}", f"{rate:,.0f}", *ratio)
        )
    title = f"full games to 121 a second, {num_workers()} threads"
    return plain_table(title, ("match", "games", "games\na second", "2019 code\n(1 core)", "ratio"), rows)


def _time_iterations(config: Config, setups: list[tuple[str, str]], bars: Bars) -> dict[str, Any]:
    """Seconds of an iteration whose buffer is full: 200 games played, five epochs learned from."""

    def measure() -> dict[str, Any]:
        timed = {}
        for number, setup in enumerate(setups):
            bars.show("setups", number, len(setups))
            timed["_".join(setup)] = _time_iteration(config, *setup)
        return timed

    return _on_threads(config.threads, measure)


def _on_threads(threads: int, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is measured with so many threads."""
    use_workers(threads)
    try:
        return measure()
    finally:
        use_workers(None)


def _time_iteration(config: Config, network: str, algorithm: str) -> dict[str, Any]:
    learner = _learner(f"paper2019_{network}_{algorithm}", config)
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
    published = PUBLISHED_SECONDS.get((network, algorithm))
    return {
        "playing_seconds": playing,
        "learning_seconds": learning,
        "seconds": playing + learning,
        "cpu_seconds": spent,
        "published_seconds": None if published is None else sum(published),
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


def _iterations_table(config: Config, timed: Mapping[str, Any]) -> Table:
    rows = []
    for name, figures in timed.items():
        published = figures["published_seconds"]
        ratio = ("-", "-") if published is None else (f"{published:.1f}", f"{published / figures['seconds']:.1f} x")
        parts = [figures[key] for key in ("playing_seconds", "learning_seconds", "seconds", "cpu_seconds")]
        rows.append((name, *(f"{part:.2f}" for part in parts), *ratio))
    title = f"seconds a replay iteration: 200 games, five epochs kept, batch 64, threads={config.threads}"
    columns = ("setup", "playing", "learning", "total", "CPU", "2019 code\n(1 core)", "ratio")
    return plain_table(title, columns, rows)
