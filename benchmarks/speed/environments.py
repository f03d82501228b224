"""Environments side by side, with random legal actions: python -m benchmarks.speed.environments FOLDER [--seconds 5].

Ours as a Gymnasium vector environment on all cores, by its number of games; OpenSpiel's cribbage driven from Python,
and an environment in plain Python (`naive_environment.py`), each in one process and in one for every core. All are
measured in one run, in turns, so that whatever else the machine does meets all of them alike; steps a CPU second suffer
least from it. Writes FOLDER/environments.json and FOLDER/speed.csv, the table of docs/results/data/environments/.

A step is a discard or a card played by the player who is asked. Chance and passes are not counted, nor are the
opponent's moves, which a step of ours carries out, too: there a game has half as many steps. Games compare directly.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from deepcrib.files import write_atomic
from deepcrib.files.runs import environment

PASS = 2756  # of OpenSpiel: what it asks for where a player can only say go
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Sample:
    """What was done in some seconds."""

    steps: int
    games: float
    seconds: float
    cpu: float  # seconds, of all threads


Measure = Callable[[float, int], list[Sample]]
"""From seconds and a seed to a sample for each process."""


@dataclass(frozen=True)
class Contender:
    """A row of the table."""

    name: str
    label: str
    cores: int
    measure: Measure


# --- the environments -----------------------------------------------------------------------------------------


def steps_of_ours(num_envs: int, seconds: float, seed: int) -> list[Sample]:
    """Steps of the vector environment; each game's step after its end, which only resets it, is not counted.

    A game that is going on at the end counts for its share of the steps of a finished one.
    """
    from deepcrib.envs import random_actions

    env, rng = _vector_env(num_envs), np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    resetting = int(env.metadata["autoreset_mode"].name == "NEXT_STEP")
    number = games = 0
    begun_at = np.zeros(num_envs, dtype=np.int64)
    start, cpu = time.perf_counter(), time.process_time()
    while (spent := time.perf_counter() - start) < seconds:
        actions = random_actions(observation["action_mask"], rng)
        observation, _, terminated, truncated, _ = env.step(actions)
        number += 1
        over = np.flatnonzero(terminated | truncated)
        begun_at[over] = number + resetting
        games += len(over)
    cpu = time.process_time() - cpu
    env.close()
    unfinished = int((number - begun_at).clip(min=0).sum())
    steps = number * num_envs - games * resetting
    return [Sample(steps, games * steps / max(1, steps - unfinished), spent, cpu)]


def _vector_env(num_envs: int) -> Any:
    import gymnasium

    return gymnasium.make_vec("deepcrib/Cribbage-v1", num_envs=num_envs, opponent="random")


def steps_of_openspiel(seconds: float, seed: int) -> Sample:
    """Random games of OpenSpiel's cribbage."""
    import pyspiel

    game, uniform = pyspiel.load_game("cribbage"), random.Random(seed).random
    steps = games = 0
    start, cpu = time.perf_counter(), time.process_time()
    while (spent := time.perf_counter() - start) < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            action = legal[int(uniform() * len(legal))]
            steps += action != PASS and not state.is_chance_node()
            state.apply_action(action)
        games += 1
    return Sample(steps, games, spent, time.process_time() - cpu)


def steps_of_naive(seconds: float, seed: int) -> Sample:
    """Random games of the plain-Python environment."""
    from benchmarks.speed.naive_environment import NaiveCribbage

    env, uniform = NaiveCribbage(seed), random.Random(seed + 1).random
    steps = games = 0
    start, cpu = time.perf_counter(), time.process_time()
    while (spent := time.perf_counter() - start) < seconds:
        observation, _ = env.reset()
        over = False
        while not over:
            legal = observation["legal_actions"]
            observation, _, over, _, _ = env.step(legal[int(uniform() * len(legal))])
            steps += 1
        games += 1
    return Sample(steps, games, spent, time.process_time() - cpu)


def _alone(play: Callable[[float, int], Sample], seconds: float, seed: int) -> list[Sample]:
    return [play(seconds, seed)]


def _together(
    pool: ProcessPoolExecutor, play: Callable[[float, int], Sample], seconds: float, seed: int
) -> list[Sample]:
    return list(pool.map(play, [seconds] * CORES, range(seed, seed + CORES)))


def contenders(sizes: Sequence[int], pool: ProcessPoolExecutor) -> list[Contender]:
    """All rows: ours for each number of games, the others alone and on all cores."""
    rows = [
        Contender("ours", f"deepcrib, {size:,} games at once", CORES, partial(steps_of_ours, size)) for size in sizes
    ]
    for name, label, play in (
        ("openspiel", "OpenSpiel", steps_of_openspiel),
        ("naive", "plain Python", steps_of_naive),
    ):
        rows.append(Contender(name, f"{label}, 1 process", 1, partial(_alone, play)))
        if CORES > 1:
            rows.append(Contender(name, f"{label}, {CORES} processes", CORES, partial(_together, pool, play)))
    return rows


# --- measuring ------------------------------------------------------------------------------------------------


UNITS = ("steps_per_second", "games_per_second", "steps_per_cpu_second")


def rates(samples: Sequence[Sample]) -> tuple[float, float, float]:
    """The units' values, all processes together."""
    steps, games = (sum(getattr(s, unit) / s.seconds for s in samples) for unit in ("steps", "games"))
    return steps, games, sum(s.steps for s in samples) / sum(s.cpu for s in samples)


def measure(rows: Sequence[Contender], seconds: float, repeats: int, seed: int) -> dict[str, dict[str, Any]]:
    """Figures by label. All rows in turn, as often as said; a short turn before compiles and imports."""
    found: dict[str, list[tuple[float, float, float]]] = {row.label: [] for row in rows}
    for row in rows:
        row.measure(min(0.2, seconds), seed)
    for repeat in range(repeats):
        for row in rows:
            found[row.label].append(rates(row.measure(seconds, seed + 1000 * (repeat + 1))))
    return {row.label: _figures(row, found[row.label]) for row in rows}


def _figures(row: Contender, found: Sequence[tuple[float, float, float]]) -> dict[str, Any]:
    figures: dict[str, Any] = {"environment": row.name, "cores": row.cores}
    for unit, values in zip(UNITS, zip(*found, strict=True), strict=True):
        figures[unit] = {
            "best": max(values),
            "median": statistics.median(values),
            "worst": min(values),
            "all": list(values),
        }
    return figures


# --- tables ---------------------------------------------------------------------------------------------------

COLUMNS = (
    "environment",
    "steps\na second",
    "slowest\nturn",
    "games\na second",
    "slowest\nturn",
    "steps a\nCPU second",
    "games:\nx plain",
)


def cells(found: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    """The table's text: best and slowest turns, and best games a second over those of plain Python in one process."""
    plain = [one["games_per_second"]["best"] for one in found.values() if one["environment"] == "naive"]
    table = []
    for label, figures in found.items():
        steps, games, cpu = (figures[unit] for unit in UNITS)
        values = (steps["best"], steps["worst"], games["best"], games["worst"], cpu["best"])
        ratio = f"{games['best'] / plain[0]:,.1f}" if plain else "-"
        table.append((label, *(f"{value:,.0f}" for value in values), ratio))
    return table


def record(found: dict[str, dict[str, Any]], path: Path) -> None:
    """Write the table as CSV, as `tables.py` reads it: no two columns have one name, and numbers have no commas."""
    columns = [column.replace("\n", " ") for column in COLUMNS]
    columns[2], columns[4] = "steps, slowest turn", "games, slowest turn"
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows([label, *(text.replace(",", "") for text in texts)] for label, *texts in cells(found))


def show(found: dict[str, dict[str, Any]], title: str) -> None:
    """Print the table."""
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for line in cells(found):
        table.add_row(*line)
    Console(width=None if sys.stdout.isatty() else 100).print(table)


def main() -> None:
    """Measure what is wanted; print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each turn")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each environment")
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 1024, 16384], help="numbers of games of ours")
    parser.add_argument("--only", nargs="+", choices=("ours", "openspiel", "naive"), help="measure these alone")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in ("seconds", "repeats"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} {getattr(options, name)}: expected more than 0")
    options.folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(CORES, mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = [row for row in contenders(options.sizes, pool) if options.only is None or row.name in options.only]
        found = measure(rows, options.seconds, options.repeats, options.seed)
    settings = {name: getattr(options, name) for name in ("seconds", "repeats", "seed")}
    content = {**settings, "load": os.getloadavg()[0], "rows": found, "environment": environment()}
    write_atomic(options.folder / "environments.json", json.dumps(content, indent=1) + "\n")
    record(found, options.folder / "speed.csv")
    show(found, f"random legal actions, {options.repeats} turns of {options.seconds:g} s each, {CORES} cores")


if __name__ == "__main__":
    main()
