"""Speed of exact statistics, weighted training, search and devices: python -m benchmarks.speed.kernels [TASK ..].

Tasks are statistics, weighted and search, which are measured by default, and device, which takes minutes: self-play and
training steps on one core, and on a GPU beside it. `--to FILE` keeps the figures as JSON.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.speed.tasks import Tasks, measure
from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.analysis.tables import plain_table
from deepcrib.exact.classes import class_hands, suit_classes
from deepcrib.exact.cribs import NUM_DISCARDS, crib_sums, uniform_weights
from deepcrib.exact.discards import CRIB_COMPLETIONS, discard_statistics, uniform_sums
from deepcrib.game.cards import NUM_CARDS
from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.kernels.workers import num_workers, use_workers
from deepcrib.learners.replay.batch import PlayTargets, play_samples
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.learners.weighted.learner import WeightedLearner
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.matches import LOCKSTEP_GAMES, Recorder, play_hand
from deepcrib.matches.trajectories import self_play
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.search.minimax import SAMPLES, has_choice
from deepcrib.training.learner import Setting

# --- statistics and weighted training (Lang 2018) --------------------------------------------------------------

ALL_HANDS = 20_358_520
SAMPLE = 200_000  # hands on demand
SINGLE = 1_000  # hands one by one
PUBLISHED_RATE = 2
"""Games a second in the thesis (section 5.1), whose decision took 0.05 s, or 10 s without its database."""
PUBLISHED_DAYS = 5.5
"""In which the thesis's statistics were computed, on a cluster."""


def time_statistics(seed: int) -> tuple[dict[str, Any], Table]:
    """Seconds for all hands, by suit class, and microseconds a hand on demand."""
    rng = np.random.default_rng(seed)
    hands = np.sort(rng.permuted(np.tile(np.arange(NUM_CARDS, dtype=np.int8), (SAMPLE, 1)), axis=1)[:, :6], axis=1)
    discard_statistics(hands[:2])
    suit_classes()
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
        "threads": num_workers(),
    }
    every = f"all {ALL_HANDS:,} hands x {NUM_DISCARDS}, by suit class"
    rows = [
        (every, f"{found['all_hands_seconds']:.1f} s", f"{PUBLISHED_DAYS} days"),
        ("a hand x 15 on demand, many at once", f"{found['on_demand_us']:.1f} us", "10 s, or 0.05 s from a database"),
        ("a hand x 15 on demand, one call a hand", f"{found['one_by_one_us']:.1f} us", "10 s"),
    ]
    title = f"exact statistics of discards, {num_workers()} threads"
    return found, plain_table(title, ("what", "time", "thesis of 2018"), rows)


def time_weighted(games: int, seed: int) -> tuple[dict[str, Any], Table]:
    """Training games a second: one run, and one run on each core at once."""
    workers = num_workers()
    _train_weighted(100, seed)  # compiles
    alone = games / _seconds(lambda: _train_weighted(games, seed))
    with ThreadPoolExecutor(workers) as pool:
        seconds = _seconds(lambda: list(pool.map(lambda i: _train_weighted(games, seed + i), range(workers))))
    together = workers * games / seconds
    rows = [
        (name, f"{rate:,.0f}", f"{PUBLISHED_RATE}", f"{rate / PUBLISHED_RATE:,.0f} x")
        for name, rate in (("one run, one core", alone), (f"{workers} runs, {workers} cores", together))
    ]
    title = f"weighted training (s = 2, d = 0.1, e = 0.3), {games:,} games a run"
    table = plain_table(title, ("what", "games\na second", "thesis\nof 2018", "ratio"), rows)
    return {"games": games, "one_run": alone, "runs": workers, "all_runs": together}, table


def _train_weighted(games: int, seed: int) -> None:
    WeightedLearner(WeightedOptions(games=games, checkpoint_every=games), Setting(seed)).step()


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# --- search (Partida 2022) and the best response -----

SEARCHES: Mapping[str, tuple[Any, int]] = {
    "minimax": ("minimax", 2_000),
    "greedy_minimax": ("greedy_minimax", 2_000),
    "minimax, hands: kept": ({"name": "minimax", "hands": "kept"}, 2_000),
    "best response to greedy": ({"name": "best_response", "to": "greedy"}, 200),
}
"""Agent by label, and the hands that it is given decisions of."""
FIRST, MIX = "first plays", "all plays with a choice"


class _Plays(Recorder):
    """Keeps the hands' rows and the observations of all their plays that are a choice."""

    def __init__(self) -> None:
        self.seen: list[tuple[NDArray[np.int64], PlayObservation]] = []

    def plays(self, rows: NDArray[np.int64], observation: PlayObservation, slots: Any) -> None:
        choices = has_choice(observation)
        self.seen.append((rows[choices], observation.take(choices)))


def time_search(seed: int) -> tuple[dict[str, Any], Table]:
    """Decisions a second of the searches: first plays of expected-value hands, and all plays with a choice.

    Positions are those of the expected-value player against itself; forced ranks are not counted.
    """
    most = max(hands for _, hands in SEARCHES.values())
    table, recorder = Games(np.arange(most), seed, stop_at_121=False), _Plays()
    player = make_agent("expected_value")
    play_hand(table, [player, player], np.zeros((most, 2), dtype=np.int64), recorder)
    found: dict[str, Any] = {"samples": SAMPLES, "threads": num_workers()}
    for name, (spec, hands) in SEARCHES.items():
        agent = make_agent(spec)
        agent.play(recorder.seen[0][1].take(slice(0, 2)))  # compiles, and learns how the opponent discards
        decisions, seconds = {FIRST: 0, MIX: 0}, {FIRST: 0.0, MIX: 0.0}
        for rows, observation in recorder.seen:
            chosen = observation.take(rows < hands)
            if not len(chosen):
                continue
            start = time.perf_counter()
            agent.play(chosen)
            spent = time.perf_counter() - start
            first = bool(((chosen.hand >= 0).sum(axis=1) == 4).all())
            for kind in (FIRST, MIX) if first else (MIX,):
                decisions[kind] += len(chosen)
                seconds[kind] += spent
        found[name] = {kind: decisions[kind] / seconds[kind] for kind in (FIRST, MIX)}
    lines = [(name, *(f"{found[name][kind]:,.0f}" for kind in (FIRST, MIX))) for name in SEARCHES]
    title = f"search, decisions a second: {SAMPLES} sampled hands, {num_workers()} threads"
    return found, plain_table(title, ("agent", FIRST, MIX), lines)


# --- devices ------

NETWORKS = {"mlp": ("basic", "mlp"), "belanger2019_cnn_lstm": ("belanger2019_cnn_lstm", "belanger2019")}
"""Play network -> its state, and the discard network beside it, on the state `basic`."""
BATCHES = {64: 200, 512: 50, 4096: 16}
"""Minibatch -> training steps of a turn; the play network learns."""
TURNS = 3
"""Of each figure, of which the median counts; all take turns, so that whatever else runs disturbs them alike."""
SELF_PLAY = "self-play, hands a second"
LR = 1e-4


@dataclass
class _Measure:
    """One figure in the making: `work` does `amount` of what is counted; turns are (seconds, processor seconds)."""

    device: str
    network: str
    what: str
    amount: int
    work: Callable[[], Any]
    turns: list[tuple[float, float]] = field(default_factory=list)

    def turn(self) -> None:
        """Do the work once more, and wait for the device to finish."""
        start, cpu = time.perf_counter(), time.process_time()
        self.work()
        if self.device != "cpu":
            torch.cuda.synchronize(self.device)
        self.turns.append((time.perf_counter() - start, time.process_time() - cpu))

    def rates(self) -> dict[str, float]:
        """Of the median turn, a second by the clock, and a second of this process's processor time."""
        wall, cpu = (statistics.median(clock) for clock in zip(*self.turns, strict=True))
        return {"per_second": self.amount / wall, "per_cpu_second": self.amount / max(cpu, 1e-9)}


def devices() -> list[str]:
    """The CPU, and the GPU where PyTorch has one."""
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def time_devices(seed: int, hands: int = LOCKSTEP_GAMES, turns: int = TURNS) -> tuple[dict[str, Any], Table]:
    """{device: {network: {what: rates}}} of self-play, `hands` in lockstep, and of training steps, on one thread."""
    use_workers(1)
    try:
        measures = [m for device in devices() for network in NETWORKS for m in _measures(device, network, seed, hands)]
        for measure in measures:  # compiles, and lets the GPU choose its kernels
            measure.turn()
            measure.turns.clear()
        for _ in range(turns):
            for measure in measures:
                measure.turn()
    finally:
        use_workers(None)
    rates: dict[str, Any] = {}
    for measure in measures:
        rates.setdefault(measure.device, {}).setdefault(measure.network, {})[measure.what] = measure.rates()
    gpu = torch.cuda.get_device_name() if "cuda" in rates else None
    found = {"rates": rates, "hands_in_lockstep": hands, "turns": turns, "gpu": gpu}
    return found, _table(rates, f"one core and a GPU ({gpu or 'none here'}), {hands:,} hands in lockstep")


def _measures(device: str, network: str, seed: int, hands: int) -> list[_Measure]:
    place = torch.device(device)
    torch.manual_seed(seed)
    state, discarding = NETWORKS[network]
    play_encoder, discard_encoder = make_play_encoder(state), make_discard_encoder("basic")
    play = LearnedNetwork(play_encoder, make_play_network(PlayNetworkConfig(network), play_encoder.spec), place)
    discard_config = DiscardNetworkConfig(discarding)
    discard = LearnedNetwork(discard_encoder, make_discard_network(discard_config, discard_encoder.spec), place)
    measures = []
    agent = QNetworkAgent(discard.q_function(), play.q_function(), 0.05)
    playing = partial(self_play, agent, 0, hands, seed, unit="hands")
    measures.append(_Measure(device, network, SELF_PLAY, hands, playing))
    played = self_play(agent, 0, hands, seed, unit="hands")
    how = PlayTargets(AlgorithmOptions("monte_carlo"), RewardOptions())
    samples = play_samples(played, how, play.q_function(), 0.0)
    for batch, steps in BATCHES.items():
        trained = min(len(samples), batch * steps)
        training = partial(_train, play, samples, batch, min(1.0, batch * steps / len(samples)))
        what = f"training steps a second, batch {batch}"
        measures.append(_Measure(device, network, what, max(1, round(trained / batch)), training))
    return measures


def _train(network: LearnedNetwork, samples: Any, batch: int, passes: float) -> None:
    network.train_pass(samples, LR, batch, passes, np.random.default_rng(1))


def _table(rates: Mapping[str, Any], title: str) -> Table:
    """Rates of the CPU by both clocks, and of the GPU."""
    rows = []
    for network, measured in rates["cpu"].items():
        for what, rate in measured.items():
            gpu = rates["cuda"][network][what]["per_second"] if "cuda" in rates else None
            row = [f"{rate['per_second']:,.1f}", f"{rate['per_cpu_second']:,.1f}"]
            row += ["-", "-"] if gpu is None else [f"{gpu:,.1f}", f"{gpu / rate['per_second']:.1f} x"]
            rows.append((f"{network}: {what}", *row))
    return plain_table(title, ("what", "one core", "a second of\nits own time", "GPU", "ratio"), rows)


TASKS: Tasks = {
    "statistics": lambda options: time_statistics(options.seed),
    "weighted": lambda options: time_weighted(options.games, options.seed),
    "search": lambda options: time_search(options.seed),
    "device": lambda options: time_devices(options.seed),
}
"""What each measures, for the file, and a table of it."""


def main(words: Sequence[str] | None = None) -> None:
    """Measure what is named, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200_000, help="of each weighted run")
    measure(parser, TASKS, ("statistics", "weighted", "search"), words)


if __name__ == "__main__":
    main()
