"""Devices: refused where they are not there, and runs that move between them."""

import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from deepcrib.agents.q_network import QFunction
from deepcrib.cli import main
from deepcrib.files import runs
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.replay.options import AlgorithmOptions, ReplayOptions, RewardOptions, StateOptions
from deepcrib.matches.trajectories import self_play
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.networks.encoders import legal_plays
from deepcrib.training.fit import MATCH_METRICS
from deepcrib.training.options import EvaluationOptions
from tests.support.checkpoints import load_weights
from tests.support.replaying import train

CPU = torch.device("cpu")


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
        state=StateOptions("belanger2019_cnn_lstm"),
        discard_network=DiscardNetworkConfig("belanger2019", hidden=[8], channels=2),
        play_network=PlayNetworkConfig("belanger2019_cnn_lstm", hidden=[8], channels=2, lstm_hidden=6),
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


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device")
@pytest.mark.parametrize("job", ["train", "evaluate agent=greedy opponent=random"])
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
        loaded = load_weights(result.weights)
        values.append(QFunction(loaded.play_encoder, loaded.play_network, device).all_values(states, legal))
    np.testing.assert_allclose(values[0][legal], values[1][legal], rtol=1e-3, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("options", ["", "learner.sampling=prioritised"])
def test_jobs_on_a_gpu(options: str, tmp_path: Path) -> None:
    """Pretraining, training, its matches, and `evaluate`, all by device=cuda."""
    assert call(f"train experiment=smoke device=cuda {options}", tmp_path / "run") == 0
    games = f"evaluate agent={tmp_path / 'run'} opponent=random games=20"
    for device in ("cpu", "cuda"):
        assert call(f"{games} device={device}", tmp_path / device) == 0
