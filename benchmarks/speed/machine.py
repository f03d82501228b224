"""Speed on this machine: python -m benchmarks.speed.machine [games] [iteration] [--to FILE.json].

games: full games a second of agents against themselves. iteration: seconds of a replay iteration of Bélanger et al.
2019. Both by default; README.md of `benchmarks/` has the goals, and the speed of the published code.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from omegaconf import OmegaConf
from rich.table import Table

from benchmarks.speed.tasks import measure
from deepcrib.agents import make_agent
from deepcrib.analysis.tables import plain_table
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.help import default_config
from deepcrib.jobs.hydra.schema import register_schema
from deepcrib.jobs.shared.common import use_threads
from deepcrib.kernels.workers import num_workers, use_workers
from deepcrib.learners.registry import make_learner
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.matches import play_match
from deepcrib.training.fit import fit
from deepcrib.training.learner import Setting

REPEATS = 3  # of each match, of which the median counts
SCRIPTED = ("greedy", "deterministic", "random")
IN_LOCKSTEP = "greedy against itself, in lockstep"
LOCKSTEP_SHARE = 10  # a match in lockstep has one tenth of the games
SETUPS = ("cnn_lstm_sarsa", "cnn_lstm_monte_carlo", "mlp_sarsa", "mlp_monte_carlo")


def time_games(options: argparse.Namespace) -> tuple[dict[str, Any], Table]:
    """Full games a second of agents against themselves, by agent and path through the code."""
    matches: dict[str, tuple[Any, int]] = {name: (make_agent(name), options.games) for name in SCRIPTED}
    greedy = make_agent("greedy")
    # an agent that is not known to be scripted: its matches go decision by decision, as a network's do
    disguised = SimpleNamespace(name="greedy", num_players=frozenset({2}), discard=greedy.discard, play=greedy.play)
    matches[IN_LOCKSTEP] = disguised, max(1, options.games // LOCKSTEP_SHARE)
    rates, rows = {}, []
    for name, (agent, games) in matches.items():
        play_match([agent, agent], 100, options.seed)  # compiles
        seconds = [play_match([agent, agent], games, options.seed).seconds for _ in range(REPEATS)]
        rate = games / statistics.median(seconds)
        rates[name] = {"games_per_second": rate, "games": games, "threads": num_workers()}
        rows.append((name if name == IN_LOCKSTEP else f"{name} against itself", f"{games:,}", f"{rate:,.0f}"))
    title = f"full games to 121 a second, {num_workers()} threads"
    return rates, plain_table(title, ("match", "games", "games\na second"), rows)


def time_iterations(options: argparse.Namespace) -> tuple[dict[str, Any], Table]:
    """Seconds of an iteration whose buffer is full: 200 games played, five epochs learned from."""
    use_threads(options.threads)
    try:
        timed = {setup: time_iteration(setup, options) for setup in options.setups}
    finally:
        use_workers(None)
    parts = ("playing_seconds", "learning_seconds", "seconds", "cpu_seconds")
    rows = [(setup, *(f"{metrics[part]:.2f}" for part in parts)) for setup, metrics in timed.items()]
    title = f"seconds a replay iteration: 200 games, five epochs kept, batch 64, threads={options.threads}"
    return timed, plain_table(title, ("setup", "playing", "learning", "total", "CPU"), rows)


def time_iteration(setup: str, options: argparse.Namespace) -> dict[str, Any]:
    """Medians over the iterations of one setup that have a full buffer."""
    learner = make_setups_learner(setup, options)
    times: list[tuple[float, float, float]] = []
    cpu = time.process_time()

    def note(done: int, metrics: Mapping[str, float]) -> None:
        nonlocal cpu
        spent, cpu = time.process_time() - cpu, time.process_time()
        if done >= learner.options.epochs_kept:
            times.append((metrics["speed/playing_seconds"], metrics["speed/learning_seconds"], spent))

    with tempfile.TemporaryDirectory() as folder:
        fit(learner, Path(folder), no_match, progress=note)
    playing, learning, spent = (statistics.median(part) for part in zip(*times, strict=True))
    return {
        "playing_seconds": playing,
        "learning_seconds": learning,
        "seconds": playing + learning,
        "cpu_seconds": spent,
        "iterations_timed": len(times),
        "threads": options.threads,
    }


def make_setups_learner(setup: str, options: argparse.Namespace) -> ReplayLearner:
    """The learner of `deepcrib train experiment=paper2019/...`, without pretraining and matches."""
    register_schema(JOBS["train"])
    words = [f"experiment=paper2019/{setup}", f"learner.iterations={options.iterations}", "evaluation.every=0"]
    composed: Any = OmegaConf.to_object(default_config(JOBS["train"], *words, "pretraining.enabled=false"))
    setting = Setting(options.seed, composed.evaluation, composed.rules.name, options.device)
    learner = make_learner(composed.learner, setting, vars(composed))
    assert isinstance(learner, ReplayLearner)
    return learner


def no_match(*arguments: Any) -> Any:
    raise AssertionError("a benchmark plays no matches")


TASKS = {"games": time_games, "iteration": time_iterations}


def enough_iterations(word: str) -> int:
    """A number of iterations. Raises ArgumentTypeError where they do not fill the buffer."""
    if not word.isdecimal() or int(word) < 5:
        raise argparse.ArgumentTypeError(f"{word}: expected 5 or more, to fill the buffer")
    return int(word)


def main(words: Sequence[str] | None = None) -> None:
    """Measure what is named, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200_000, help="of each match")
    timed = "of each setup; the fifth and later ones are timed"
    parser.add_argument("--iterations", type=enough_iterations, default=6, help=timed)
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=SETUPS, help="of iteration")
    parser.add_argument("--device", default="cpu", help="of iteration")
    parser.add_argument("--threads", type=int, default=1, help="of iteration, 0: all; matches use all that there are")
    measure(parser, TASKS, list(TASKS), words)


if __name__ == "__main__":
    main()
