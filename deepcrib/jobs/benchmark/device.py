"""What `deepcrib benchmark device` measures: self-play and training steps on one core, and on a GPU beside it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from rich.table import Table

from deepcrib.agents.q_network import INFERENCE, QNetworkAgent
from deepcrib.analysis.tables import plain_table
from deepcrib.kernels.workers import use_workers
from deepcrib.learners.replay.experience import PlayTargets, play_samples
from deepcrib.learners.replay.learning import LearnedNetwork
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions
from deepcrib.matches import LOCKSTEP_GAMES
from deepcrib.matches.trajectories import self_play
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder

NETWORKS = {"mlp": "mlp", "cnn_lstm": "cnn"}
"""Play network -> discard network: the two pairs of Bélanger et al. 2019, on the state `basic`."""
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
    play_encoder, discard_encoder = make_play_encoder("basic"), make_discard_encoder("basic")
    play = LearnedNetwork(play_encoder, make_play_network(PlayNetworkConfig(network), play_encoder.spec), place)
    discard_config = DiscardNetworkConfig(NETWORKS[network])
    discard = LearnedNetwork(discard_encoder, make_discard_network(discard_config, discard_encoder.spec), place)
    measures = []
    for inference in INFERENCE:
        agent = QNetworkAgent(discard.q_function(None, inference), play.q_function(None, inference), 0.05)
        playing = partial(self_play, agent, 0, hands, seed, unit="hands")
        measures.append(_Measure(device, network, f"{SELF_PLAY}, {inference}", hands, playing))
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
