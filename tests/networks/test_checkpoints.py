"""Checkpoints: what is saved comes back the same, and every other file is refused with one clear line."""

import errno
import os
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import AgentError, make_agent
from deepcrib.errors import RunError
from deepcrib.files import weights as formats
from deepcrib.files.weights import CheckpointError
from deepcrib.networks import (
    DiscardNetworkConfig,
    PlayNetworkConfig,
    checkpoints,
    make_discard_network,
    make_play_network,
)
from deepcrib.networks.checkpoints import load_state, save_state, save_weights
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from tests.support.checkpoints import load_weights
from tests.support.encoded import sample

METADATA = {"rules": "acc", "learner": {"name": "replay", "iterations": 7}, "ties": None}


def networks(discard=("mlp", "afterstate"), play=("mlp", "afterstate"), scores=False, dealer=True):
    discard_spec = make_discard_encoder(discard[1], scores=scores).spec
    play_spec = make_play_encoder(play[1], dealer, scores).spec
    return (
        make_discard_network(DiscardNetworkConfig(discard[0], hidden=[8, 8], channels=2), discard_spec),
        make_play_network(PlayNetworkConfig(play[0], hidden=[8], channels=2, lstm_hidden=4), play_spec),
    )


def named(pair):
    return dict(zip(("discard", "play"), pair, strict=True))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "agent.safetensors"
    save_weights(path, METADATA, **named(networks()))
    return path


def refusal(path: Path, read=load_weights) -> str:
    with pytest.raises(CheckpointError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path.name) in message
    return message


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize(
    ("discard", "play"),
    [
        (("belanger2019", "basic"), ("belanger2019_cnn_lstm", "belanger2019_cnn_lstm")),
        (("belanger2019", "full"), ("belanger2019_mlp", "belanger2019_mlp")),
        (("mlp", "afterstate"), ("mlp", "afterstate")),
    ],
)
def test_saved_networks_give_the_same_values(tmp_path: Path, discard, play, scores: bool) -> None:
    saved = networks(discard, play, scores)
    save_weights(tmp_path / "x.safetensors", METADATA, **named(saved))
    loaded = load_weights(str(tmp_path / "x.safetensors"))
    assert loaded.metadata == METADATA
    for before, after, encoder in (
        (saved[0], loaded.discard_network, loaded.discard_encoder),
        (saved[1], loaded.play_network, loaded.play_encoder),
    ):
        assert not after.training
        assert after.config == before.config
        assert encoder.spec == before.spec == after.spec
        inputs = encoder.encode(*sample(encoder))[:30]
        assert torch.equal(before(inputs), after(inputs))


def test_one_of_the_networks_may_be_absent(tmp_path: Path) -> None:
    discard, play = networks()
    save_weights(tmp_path / "play.safetensors", {}, discard=None, play=play)
    loaded = load_weights(tmp_path / "play.safetensors")
    assert loaded.discard_network is None and loaded.discard_encoder is None
    assert loaded.play_network is not None
    save_weights(tmp_path / "discard.safetensors", {}, discard=discard, play=None)
    assert load_weights(tmp_path / "discard.safetensors").play_encoder is None


def test_a_run_folder_stands_for_its_final_checkpoint(tmp_path: Path) -> None:
    assert "holds no weights.safetensors" in refusal(tmp_path)
    save_weights(tmp_path / formats.WEIGHTS_FILE, METADATA, **named(networks()))
    assert load_weights(tmp_path).metadata == METADATA
    assert os.listdir(tmp_path) == [formats.WEIGHTS_FILE]  # no temporary file is left


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no checkpoint at" in refusal(tmp_path / "none.safetensors")
    assert "no checkpoint at" in refusal(tmp_path / "none.pt", load_state)


@pytest.mark.parametrize("content", [b"hello, this is no checkpoint at all", pickle.dumps({"a": 1}), b"\xff" * 400])
def test_a_foreign_file_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "damaged or not a deepcrib checkpoint" in refusal(path)
    assert "not a training state" in refusal(path, load_state)


def rewrite(path: Path, where: str, value: Any) -> None:
    """Change an entry of a checkpoint, of its tensors or of what it says of its networks; None: leave out."""
    saved = formats.read_weights(path)
    group, _, name = where.partition("/")
    inside: Any = {"tensors": saved.arrays, "metadata": saved.metadata}[group]
    *names, last = [name] if group == "tensors" else name.split("/")
    for key in names:
        inside = inside[key]
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    formats.write_weights(path, saved.agent, saved.arrays, saved.metadata)


HIDDEN = "metadata/networks/play/network/hidden"


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ("metadata/networks/play/spec_hash", "0" * 64, "trained on other input channels than those of 'afterstate'"),
        ("metadata/networks/discard/encoder/name", "future", "unknown discard encoder 'future'"),
        ("metadata/networks/play/network/name", "transformer", "unknown play network 'transformer'"),
        ("metadata/networks/play/network/heads", 8, "cannot be used: .*unexpected keyword argument 'heads'"),
        ("metadata/networks/play/encoder", None, "cannot be used: it lacks 'encoder'"),
        (HIDDEN, [9], "play tensors do not fit its network"),
        ("tensors/discard.layers.layers.0.weight", None, "discard tensors do not fit its network"),
        (HIDDEN, [-1], "needs what this deepcrib does not have"),
        (HIDDEN, [2**20, 2**20], "play tensors do not fit its network"),  # 4 TiB
        (HIDDEN, [1] * 100_000, "100,000 hidden layers, which its 4 arrays do not fill"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(path: Path, where: str, value: Any, message: str) -> None:
    rewrite(path, where, value)
    assert re.search(message, refusal(path))


def test_an_agent_that_a_checkpoint_names_and_nobody_knows_is_refused_with_the_file(path: Path) -> None:
    rewrite(path, "metadata/discards_by", {"name": "nobody"})
    with pytest.raises(AgentError, match="unknown agent 'nobody'") as error:
        make_agent(str(path))
    assert str(error.value).startswith(f"{path} names an agent that cannot be made: ")


@pytest.mark.parametrize("links", [1, 2])
def test_a_checkpoint_that_leaves_decisions_to_itself_is_refused(tmp_path: Path, links: int) -> None:
    """By itself, or by way of another one."""
    files = [tmp_path / f"{number}.safetensors" for number in range(links)]
    for number, file in enumerate(files):
        save_weights(file, {"discards_by": str(files[number - 1])}, discard=None, play=networks()[1])
    with pytest.raises(AgentError, match=f"{files[0]}: discards_by comes back to this file"):
        make_agent(str(files[0]))


def test_a_full_disk_leaves_the_old_checkpoint(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    for write in (lambda: save_weights(path, {}, **named(networks())), lambda: save_state(path, {})):
        with pytest.raises(RunError, match=r"cannot write .*agent.safetensors: No space left on device"):
            write()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"cannot write .*file.x\.pt: Not a directory"):
        save_state(tmp_path / "file" / "x.pt", {})
    with pytest.raises(RunError, match=r"cannot write .*none.x\.pt: No such file"):
        save_weights(tmp_path / "none" / "x.pt", {}, **named(networks()))


def test_a_training_state_comes_back(tmp_path: Path) -> None:
    network = networks()[1]
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    network(torch.rand(4, network.spec.width)).sum().backward()
    optimizer.step()
    generator = torch.Generator().manual_seed(5)
    state = {
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "generator": generator.get_state(),
        "buffer": {"states": np.arange(12, dtype=np.int8).reshape(3, 4), "keys": np.array([2**63], np.uint64)},
        "counters": [1, 2.5, "three", None, True, (np.int64(4), np.float32(0.5))],
    }
    save_state(tmp_path / "state.pt", state)
    loaded = load_state(str(tmp_path / "state.pt"))
    assert list(loaded) == list(state)
    assert loaded["counters"] == [1, 2.5, "three", None, True, (4, 0.5)]
    assert loaded["buffer"]["states"].numpy().tolist() == state["buffer"]["states"].tolist()
    assert loaded["buffer"]["keys"].numpy()[0] == 2**63
    other = networks()[1]
    other.load_state_dict(loaded["network"])
    torch.optim.Adam(other.parameters(), lr=0.3).load_state_dict(loaded["optimizer"])
    restored = torch.Generator()
    restored.set_state(loaded["generator"])
    assert torch.equal(torch.rand(3, generator=restored), torch.rand(3, generator=generator))


def test_objects_are_refused_when_saved_and_when_loaded(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"state\['a'\]\[1\] cannot be saved.*PosixPath|WindowsPath"):
        save_state(tmp_path / "state.pt", {"a": [1, tmp_path]})
    assert not os.listdir(tmp_path)
    torch.save({"format": checkpoints.STATE_FORMAT, "state": subprocess.Popen}, tmp_path / "state.pt")
    assert "not a training state" in refusal(tmp_path / "state.pt", load_state)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_training_state_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "state.pt"
    save_state(path, {"weights": torch.arange(1000)})
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "not a training state" in refusal(path, load_state)


@pytest.mark.parametrize("content", [{"epoch": 3}, {"format": "deepcrib training state", "state": {"steps": 3}}])
def test_weights_of_another_program_or_version_are_no_training_state(content: dict[str, Any], tmp_path: Path) -> None:
    torch.save(content, tmp_path / "state.pt")
    assert "not a training state of this version" in refusal(tmp_path / "state.pt", load_state)
