"""Runs of `learner=replay` that take a moment, and what is compared of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import safe_open

from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.replay.options import AlgorithmOptions, ReplayOptions, RewardOptions, StateOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.training.options import EvaluationOptions
from tests.support.figures import no_match
from tests.support.replaying import Trained, saved, train

PUBLISHED = "belanger2019_cnn_lstm"
"""The play network, and the state that it reads."""


def small(
    seed: int = 1,
    algorithm: str = "sarsa",
    play: str = "mlp",
    discard: str = "mlp",
    opponents: tuple[str, ...] = (),
    every: int = 0,
    targets: dict[str, Any] | None = None,
    **learner: Any,
) -> Any:
    """Settings of a run that takes a moment: 20 hands an iteration, small networks, no pretraining."""
    defaults = {"iterations": 4, "unit": "hands", "episodes": 20, "epochs_kept": 2, "checkpoint_every": 2}
    return SimpleNamespace(
        seed=seed,
        device="cpu",
        learner=ReplayOptions(**(defaults | learner)),
        algorithm=AlgorithmOptions(algorithm, **(targets or {})),
        reward=RewardOptions(),
        state=StateOptions(PUBLISHED if play == PUBLISHED else "full", "full", dealer=True),
        discard_network=DiscardNetworkConfig(discard, [16], channels=2),
        play_network=PlayNetworkConfig(play, [16], channels=2, lstm_hidden=8),
        pretraining=PretrainingOptions(enabled=False),
        evaluation=EvaluationOptions(list(opponents), every=every, games=7, epsilon=0.0),
    )


def run(folder: Path, settings: Any, **options: Any) -> Trained:
    folder.mkdir(exist_ok=True)
    return train(settings, folder, options.pop("evaluate", no_match), **options)


def same(one: Any, two: Any) -> bool:
    """Bit for bit, through dicts and lists."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, torch.Tensor):
        return one.dtype == two.dtype and torch.equal(one, two)
    return bool(one == two)


def assert_same_runs(one: Path, two: Path) -> None:
    """The same weights, and the same state (optimisers, buffer, counters) but for the time it took."""
    assert weights(one) == weights(two)
    states = [saved(folder) for folder in (one, two)]
    for state in states:
        assert {"discard", "play", "buffer", "iteration", "hands"} <= state.keys()
    assert same(*states)


def weights(folder: Path) -> dict[str, Any]:
    """Everything in the final checkpoint, comparable bit for bit."""
    with safe_open(folder / "weights.safetensors", framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        return {"metadata": file.metadata()} | {
            name: (value.shape, str(value.dtype), value.tobytes()) for name, value in tensors.items()
        }


def learned(part: str, network: str, seed: int = 3) -> LearnedNetwork:
    torch.manual_seed(seed)
    if part == "play":
        encoder: Any = make_play_encoder(PUBLISHED if network == PUBLISHED else "full")
        config: Any = PlayNetworkConfig(network, [64], channels=2, lstm_hidden=32)
        return LearnedNetwork(encoder, make_play_network(config, encoder.spec), torch.device("cpu"))
    encoder = make_discard_encoder("full")
    config = DiscardNetworkConfig(network, [64], channels=2)
    return LearnedNetwork(encoder, make_discard_network(config, encoder.spec), torch.device("cpu"))
