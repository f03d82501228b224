"""Speed of a run: what bfloat16 may change, and devices."""

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.cli import main
from deepcrib.files import runs
from deepcrib.learners.replay import learner as replay
from deepcrib.learners.replay.batch import Batch, PlayTargets
from deepcrib.learners.replay.options import (
    AlgorithmOptions,
    PretrainingOptions,
    ReplayOptions,
    RewardOptions,
    StateOptions,
)
from deepcrib.learners.replay.play import Episodes
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_play_network
from deepcrib.networks.checkpoints import load_state, load_weights
from deepcrib.networks.encoders import legal_plays, make_play_encoder
from deepcrib.training.monitoring import MATCH_METRICS
from deepcrib.training.options import EvaluationOptions
from tests.replaying import train

CPU = torch.device("cpu")
HALF_PRECISION = 2**-8
"""bfloat16 keeps eight significant bits, so rounding moves a number by at most this share of it."""


@pytest.fixture(autouse=True)
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "outputs_folder", lambda: tmp_path / "outputs")


def call(command: str, folder: Path) -> int:
    return main([*shlex.split(command), f"hydra.run.dir={folder}"])


def tiny(device: str = "cpu", **learner: object) -> SimpleNamespace:
    """A run of two iterations with both networks of the paper, small."""
    options = {"iterations": 2, "episodes": 12, "unit": "hands", "epochs_kept": 2, "checkpoint_every": 1}
    return SimpleNamespace(
        seed=3,
        device=device,
        learner=ReplayOptions(**(options | learner)),
        algorithm=AlgorithmOptions("sarsa"),
        reward=RewardOptions(),
        state=StateOptions(),
        discard_network=DiscardNetworkConfig("cnn", hidden=[8], channels=2),
        play_network=PlayNetworkConfig("cnn_lstm", hidden=[8], channels=2, lstm_hidden=6),
        pretraining=PretrainingOptions(enabled=False),
        evaluation=EvaluationOptions(opponents=["random"], every=1, games=8),
    )


class Matches:
    """In the place of `evaluate`: remembers the agents that it is given."""

    def __init__(self) -> None:
        self.agents: list[object] = []

    def __call__(self, agent: object, opponent: object, games: int, seed: int) -> SimpleNamespace:
        self.agents.append(agent)
        return SimpleNamespace(**dict.fromkeys(MATCH_METRICS.values(), 0.5))


@pytest.fixture(scope="module")
def hands() -> Trajectories:
    return self_play(make_agent("random"), 0, 100, 5, unit="hands")


# --- bfloat16 ---


def test_a_layer_in_bfloat16_errs_by_its_rounding_alone(hands: Trajectories) -> None:
    """A network of one layer sums few inputs of 0 and 1, so only weights, sum and result are rounded."""
    torch.manual_seed(1)
    encoder = make_play_encoder("afterstate")
    network = make_play_network(PlayNetworkConfig("mlp", hidden=[]), encoder.spec)
    states, actions = hands.play_states[:, 0], hands.play_actions[:, 0]
    exact = QFunction(encoder, network, CPU).values(states, actions)
    values = QFunction(encoder, network, CPU, "bfloat16").values(states, actions)
    inputs = encoder.encode(states, actions, CPU)
    magnitude = sum(p.abs().max() for p in network.parameters()).item() * inputs.abs().sum(dim=1).max().item()
    assert values.dtype == np.float32
    assert 0 < np.abs(values - exact).max() <= 4 * HALF_PRECISION * magnitude


def test_matches_are_played_in_float32_and_targets_and_self_play_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run says of its agent is what the saved weights do."""
    played, targets, matches = [], [], Matches()
    play, samples = Episodes.play, replay.play_samples

    def note_player(episodes: Episodes, agent: QNetworkAgent, *rest: Any) -> Trajectories:
        played.append(agent)
        return play(episodes, agent, *rest)

    def note_targets(hands: Trajectories, how: PlayTargets, frozen: QFunction, *rest: Any, **options: Any) -> Batch:
        targets.append(frozen)
        return samples(hands, how, frozen, *rest, **options)

    monkeypatch.setattr(Episodes, "play", note_player)
    monkeypatch.setattr(replay, "play_samples", note_targets)
    result = train(tiny(inference="bfloat16"), tmp_path, matches)
    loaded = load_weights(result.weights)
    states = self_play(result.agent, 0, 12, 9, unit="hands").play_states[:, 0]
    legal = legal_plays(states)
    saved = QFunction(loaded.play_encoder, loaded.play_network, CPU)
    half = QFunction(loaded.play_encoder, loaded.play_network, CPU, "bfloat16").all_values(states, legal)
    for agent in (matches.agents[-1], result.agent):
        assert np.array_equal(agent.play_q.all_values(states, legal), saved.all_values(states, legal))
    assert not np.array_equal(half, saved.all_values(states, legal))
    for function in [agent.play_q for agent in played] + [agent.discard_q for agent in played] + targets:
        assert function._half is not None and {p.dtype for p in function._half.parameters()} == {torch.bfloat16}


def test_with_the_same_hands_monte_carlo_learns_the_same_in_any_inference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hands: Trajectories
) -> None:
    """Returns are counted, so that only the hands can differ."""
    monkeypatch.setattr(Episodes, "play", lambda *arguments: hands)
    states = []
    for inference in ("float32", "bfloat16"):
        settings = tiny(inference=inference)
        settings.algorithm = AlgorithmOptions("monte_carlo")
        train(settings, tmp_path / inference, Matches())
        states.append(load_state(tmp_path / inference / "state.pt"))
    for part in ("play", "discard"):
        first, second = (state["state"][part]["network"] for state in states)
        assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("benchmark iteration device=abacus", "device=abacus: expected"),
        (
            "train learner.inference=float16",
            "learner.inference=float16: did you mean bfloat16? expected one of float32, bfloat16",
        ),
    ],
)
def test_refusals(command: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(command, tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert words in error and len(error.splitlines()) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device")
@pytest.mark.parametrize("job", ["train", "pretrain", "evaluate agent=greedy opponent=random", "benchmark iteration"])
def test_a_gpu_that_is_not_there_is_refused_in_one_line(
    job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(f"{job} device=cuda", tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert "device=cuda: expected a device of this machine (0 GPUs)" in error and len(error.splitlines()) == 1
    assert not (tmp_path / "run").exists()


# --- devices ---


@pytest.mark.gpu
def test_a_run_on_a_gpu_goes_on_there_and_plays_anywhere(tmp_path: Path) -> None:
    """Train, resume from the saved state, and load the weights on both devices."""
    first = tiny("cuda", iterations=1)
    train(first, tmp_path, Matches())
    result = train(tiny("cuda"), tmp_path, Matches(), resume=True)
    assert result.iterations == 2 and next(result.agent.play_q.network.parameters()).is_cuda
    states = self_play(result.agent, 0, 50, 1, unit="hands").play_states[:, 0]
    legal = legal_plays(states)
    values = []
    for device in ("cpu", "cuda"):
        loaded = load_weights(result.weights, device)
        values.append(QFunction(loaded.play_encoder, loaded.play_network, device).all_values(states, legal))
    np.testing.assert_allclose(values[0][legal], values[1][legal], rtol=1e-3, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("options", ["", "learner.inference=bfloat16 learner.sampling=prioritised"])
def test_jobs_on_a_gpu(options: str, tmp_path: Path) -> None:
    """Pretraining, training, its matches, and `evaluate`, all by device=cuda."""
    assert call(f"train experiment=smoke device=cuda {options}", tmp_path / "run") == 0
    games = f"evaluate agent={tmp_path / 'run'} opponent=random games=20"
    for device in ("cpu", "cuda"):
        assert call(f"{games} device={device}", tmp_path / device) == 0
