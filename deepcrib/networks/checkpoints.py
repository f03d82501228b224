"""What a run leaves behind: its networks' weights (safetensors with metadata) and the training state beside them.

Neither holds pickled code. Files appear whole or not at all, as `files.weights` writes them.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deepcrib.files import write_atomic
from deepcrib.files.runs import is_number
from deepcrib.files.weights import CheckpointError, SavedWeights, cannot_read, write_weights
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, QNetwork, make_discard_network, make_play_network
from deepcrib.networks.encoders import Encoder, make_discard_encoder, make_play_encoder

STATE_FORMAT = "deepcrib training state 2"
ZIP_MAGIC = b"PK\x03\x04"
_PARTS: dict[str, tuple[Any, Any, Any]] = {
    "discard": (make_discard_encoder, DiscardNetworkConfig, make_discard_network),
    "play": (make_play_encoder, PlayNetworkConfig, make_play_network),
    "policy": (make_play_encoder, PlayNetworkConfig, make_play_network),
}
"""What makes the encoder, the config and the network of each part."""


def save_weights(path: Path | str, metadata: Mapping[str, Any], **networks: QNetwork | None) -> None:
    """Write the networks of an agent for inference: `discard` and `play`, or `policy`, whose values are its logits.

    How they and their encoders are made again is taken from the networks themselves. metadata: JSON values that go
    along (rules, learner, iteration, ...). Raises RunError.
    """
    arrays = {
        f"{part}.{name}": value.detach().cpu().numpy()
        for part, network in networks.items()
        if network is not None
        for name, value in network.state_dict().items()
    }
    described = {part: None if network is None else description(network) for part, network in networks.items()}
    agent = "policy_network" if "policy" in networks else "q_network"
    write_weights(path, agent, arrays, {**metadata, "networks": described})


def make_networks(saved: SavedWeights, *parts: str) -> list[tuple[QNetwork, Encoder] | None]:
    """The network of each part of weights with its encoder, in evaluation mode, on the CPU. Raises CheckpointError.

    None for a part that the run did not train, since a fixed agent discards, say.
    """
    with saved.unpacking():
        described = saved.plain("networks", saved.metadata["networks"])
        return [_rebuild(saved, part, described[part]) for part in parts]


def save_state(path: Path | str, state: dict[str, Any]) -> None:
    """Write a training state: nested dicts, lists and tuples of tensors, NumPy arrays and plain values.

    NumPy arrays come back as tensors. Anything else is refused with TypeError, as it could not be loaded.
    """
    buffer = io.BytesIO()
    torch.save({"format": STATE_FORMAT, "state": _plain(state, "state")}, buffer)
    write_atomic(Path(path), buffer.getbuffer())


def load_optimizer(optimizer: torch.optim.Optimizer, saved: Mapping[str, Any]) -> None:
    """Let an optimiser of one group, Adam or SGD, go on from a saved state of its like, at the learning rate saved.

    Raises ValueError for other settings, and for what no steps can have led to.
    """
    (own,), (group,) = optimizer.state_dict()["param_groups"], saved["param_groups"]
    others = {name: value for name, value in own.items() if name != "lr" and group.get(name, value) != value}
    if others or not is_number(group["lr"]) or group["lr"] < 0:
        raise ValueError(f"its optimiser has other settings: expected {others or 'a learning rate'}")
    parameters = dict(enumerate(optimizer.param_groups[0]["params"]))
    names = {"momentum_buffer"} if isinstance(optimizer, torch.optim.SGD) else {"step", "exp_avg", "exp_avg_sq"}
    for number, moments in saved["state"].items():
        parameter = parameters[number]
        if set(moments) != names:
            raise ValueError(
                f"its optimiser has {', '.join(map(str, moments))} of parameter {number}: expected {names}"
            )
        for name, value in moments.items():
            shape = () if name == "step" else tuple(parameter.shape)
            least = -math.inf if name in ("exp_avg", "momentum_buffer") else 0
            fits = isinstance(value, torch.Tensor) and value.dtype == parameter.dtype and tuple(value.shape) == shape
            if not fits or not ((value >= least) & value.isfinite()).all():
                raise ValueError(f"its optimiser has another {name} of parameter {number}: expected {shape}, finite")
    optimizer.load_state_dict({"state": saved["state"], "param_groups": [own | {"lr": group["lr"]}]})


def load_state(path: Path | str) -> dict[str, Any]:
    """Read a training state; tensors are on the CPU. Raises CheckpointError."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error
    try:
        if not data.startswith(ZIP_MAGIC):  # torch would take other bytes for its format of old
            raise ValueError
        with zipfile.ZipFile(io.BytesIO(data)) as archive:  # torch does not compare the checksums that it writes
            if archive.testzip() is not None:
                raise ValueError
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        _require_plain(content, len(data))
    except Exception as error:  # these readers let errors of every kind out of damaged bytes
        raise CheckpointError(f"{path} is damaged or not a training state of deepcrib") from error
    if not isinstance(content, dict) or content.get("format") != STATE_FORMAT:
        raise CheckpointError(f"{path} is not a training state of this version of deepcrib")
    return content["state"]


# --- weights ------------------------------------------------------------------------------------------------


def description(network: QNetwork) -> dict[str, Any]:
    """What makes a network and its encoder again, and tells whether they are the same: plain values."""
    spec = network.spec
    return {
        "network": asdict(network.config),
        "encoder": {"name": spec.name, "dealer": spec.dealer, "scores": spec.scores},
        "inputs": spec.width,
        "spec_hash": spec.hash(),
    }


def _rebuild(saved: SavedWeights, part: str, description: dict[str, Any] | None) -> tuple[QNetwork, Encoder] | None:
    """Network and encoder of one part as they are described, filled with its tensors.

    They are held against a sketch first, a network of sizes alone, whatever memory its values would take.
    """
    if description is None:
        return None
    make_encoder, config_class, make_network = _PARTS[part]
    prefix = f"{part}."
    own = {name.removeprefix(prefix): array for name, array in saved.arrays.items() if name.startswith(prefix)}
    try:
        encoder = make_encoder(**description["encoder"])
        network = {name: value for name, value in description["network"].items() if name != "noisy"}  # of old files
        config = config_class(**network)
        if len(config.hidden) > len(own):
            raise ValueError(f"{len(config.hidden):,} hidden layers, which its {len(own):,} arrays do not fill")
        with torch.device("meta"):
            sketch: QNetwork = make_network(config, encoder.spec)
    except (ValueError, RuntimeError) as error:  # the second is torch's, of sizes that no layer has
        raise CheckpointError(f"{saved.path} needs what this deepcrib does not have: {error}") from error
    if description["spec_hash"] != encoder.spec.hash():
        raise CheckpointError(
            f"{saved.path}: its {part} network was trained on other input channels than those of {encoder.name!r} "
            "in this deepcrib (the channel-spec hash differs)"
        )
    try:
        values = {name: torch.from_numpy(array) for name, array in own.items()}
        sketch.load_state_dict(values, assign=True)
        made: QNetwork = make_network(config, encoder.spec)
        made.load_state_dict(values)
        return made.eval(), encoder
    except RuntimeError as error:
        line = " ".join(str(error).split())
        raise CheckpointError(f"{saved.path}: its {part} tensors do not fit its network: {line[:200]}") from error


# --- training state -----------------------------------------------------------------------------------------


def _require_plain(value: Any, size: int) -> None:
    """Refuse what `save_state` does not write: other types, and tensors that are larger than their own bytes."""
    if isinstance(value, torch.Tensor):
        plain = value.layout == torch.strided and value.device.type == "cpu" and not value.is_quantized
        if not plain or not value.nbytes <= value.untyped_storage().nbytes() <= size:
            raise ValueError
    elif type(value) in (dict, list, tuple):
        for item in value.values() if isinstance(value, dict) else value:
            _require_plain(item, size)
    elif value is not None and type(value) not in (bool, int, float, str, bytes):
        raise ValueError


def _plain(value: Any, where: str) -> Any:
    """Copy nested containers, with NumPy values as tensors and plain numbers."""
    if isinstance(value, dict):
        return {key: _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(value))
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str, bytes, torch.Tensor)):
        return value
    raise TypeError(f"{where} cannot be saved in a training state: {type(value).__name__}")
