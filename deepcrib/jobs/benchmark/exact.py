"""What `deepcrib benchmark` measures of statistics and of weighted training (Lang 2018)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from deepcrib.analysis.tables import plain_table
from deepcrib.exact.classes import class_hands, suit_classes
from deepcrib.exact.cribs import NUM_DISCARDS, crib_sums, uniform_weights
from deepcrib.exact.discards import CRIB_COMPLETIONS, discard_statistics, uniform_sums
from deepcrib.exact.table import cached_table
from deepcrib.game.cards import NUM_CARDS
from deepcrib.kernels.workers import num_workers
from deepcrib.learners.weighted.learner import WeightedLearner
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.training.learner import Setting

ALL_HANDS = 20_358_520
SAMPLE = 200_000  # hands on demand
SINGLE = 1_000  # hands one by one
PUBLISHED_RATE = 2
"""Games a second in the thesis (section 5.1), whose decision took 0.05 s, or 10 s without its database."""
PUBLISHED_DAYS = 5.5
"""In which the thesis's statistics were computed, on a cluster."""


def time_statistics(seed: int) -> tuple[dict[str, Any], Table]:
    """Seconds for all hands, by suit class, and microseconds a hand on demand and from the table."""
    rng = np.random.default_rng(seed)
    hands = np.sort(rng.permuted(np.tile(np.arange(NUM_CARDS, dtype=np.int8), (SAMPLE, 1)), axis=1)[:, :6], axis=1)
    discard_statistics(hands[:2])
    table = cached_table()  # and compiles what follows
    table.lookup(hands[:2])
    parts = {
        "classes": _seconds(suit_classes.__wrapped__),
        "crib_sums": _seconds(lambda: crib_sums(uniform_weights())),
        "statistics": _seconds(lambda: discard_statistics(class_hands(suit_classes().keys))),
    }
    uniform_sums()
    single = statistics.median(_seconds(partial(discard_statistics, hand)) for hand in hands[:SINGLE])
    found = {
        "all_hands_seconds": sum(parts.values()),
        "parts_seconds": parts,
        "hands": ALL_HANDS,
        "combinations": ALL_HANDS * NUM_DISCARDS * CRIB_COMPLETIONS,
        "on_demand_us": _seconds(lambda: discard_statistics(hands)) / SAMPLE * 1e6,
        "one_by_one_us": single * 1e6,
        "lookup_us": _seconds(lambda: table.lookup(hands)) / SAMPLE * 1e6,
        "threads": num_workers(),
    }
    every = f"all {ALL_HANDS:,} hands x {NUM_DISCARDS}, by suit class"
    rows = [
        (every, f"{found['all_hands_seconds']:.1f} s", f"{PUBLISHED_DAYS} days"),
        ("a hand x 15 on demand, many at once", f"{found['on_demand_us']:.1f} us", "10 s"),
        ("a hand x 15 on demand, one call a hand", f"{found['one_by_one_us']:.1f} us", "10 s"),
        ("a hand x 15 from the table", f"{found['lookup_us']:.2f} us", "0.05 s"),
    ]
    title = f"exact statistics of discards, {num_workers()} threads"
    return found, plain_table(title, ("what", "time", "thesis of 2018"), rows)


def time_weighted(games: int, seed: int) -> tuple[dict[str, Any], Table]:
    """Training games a second: one run, and one run on each core at once."""
    workers = num_workers()
    _train(100, seed)  # compiles
    alone = games / _seconds(lambda: _train(games, seed))
    with ThreadPoolExecutor(workers) as pool:
        seconds = _seconds(lambda: list(pool.map(lambda i: _train(games, seed + i), range(workers))))
    together = workers * games / seconds
    rows = [
        (name, f"{rate:,.0f}", f"{PUBLISHED_RATE}", f"{rate / PUBLISHED_RATE:,.0f} x")
        for name, rate in (("one run, one core", alone), (f"{workers} runs, {workers} cores", together))
    ]
    title = f"weighted training (s = 2, d = 0.1, e = 0.3), {games:,} games a run"
    table = plain_table(title, ("what", "games\na second", "thesis\nof 2018", "ratio"), rows)
    return {"games": games, "one_run": alone, "runs": workers, "all_runs": together}, table


def _train(games: int, seed: int) -> None:
    WeightedLearner(WeightedOptions(games=games, checkpoint_every=games), Setting(seed)).step()


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
