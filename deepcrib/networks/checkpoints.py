"""What a run leaves behind: its networks' weights (safetensors with metadata) and the training state beside them.

Neither holds pickled code. Files appear whole or not at all, as `files.weights` writes them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from deepcrib.files.weights import (
    FORMAT,
    CheckpointError,
    cannot_read,
    file_header,
    metadata_of,
    read_weights,
    unreadable,
    weights_file,
    write_checkpoint,
)
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, QNetwork, make_discard_network, make_play_network
from deepcrib.networks.encoders import DiscardEncoder, PlayEncoder, make_discard_encoder, make_play_encoder

STATE_FORMAT = "deepcrib training state"
ZIP_MAGIC = b"PK\x03\x04"


@dataclass
class Checkpoint:
    """Networks with the encoders of their input, and what was recorded about their training.

    A network that the run did not train (a fixed discard agent, say) is None, and so is its encoder.
    """

    discard_network: QNetwork | None
    play_network: QNetwork | None
    discard_encoder: DiscardEncoder | None
    play_encoder: PlayEncoder | None
    metadata: dict[str, Any]


def save_weights(
    path: Path | str,
    discard_network: QNetwork | None,
    play_network: QNetwork | None,
    metadata: dict[str, Any],
) -> None:
    """Write both networks for inference; `metadata` (JSON values: rules, learner, iteration, ...) goes along.

    How the networks and their encoders are made again is taken from the networks themselves.
    """
    networks = {"discard": discard_network, "play": play_network}
    tensors: dict[str, torch.Tensor] = {}
    header = file_header(FORMAT, metadata)
    for part, network in networks.items():
        header[part] = json.dumps(None if network is None else _description(network))
        if network is not None:
            for name, value in network.state_dict().items():
                tensors[f"{part}.{name}"] = value.detach().cpu().contiguous()
    write_checkpoint(path, save(tensors, header))


def load_weights(path: Path | str, device: torch.device | str = "cpu") -> Checkpoint:
    """Read a checkpoint by its file, or by its run folder (the final checkpoint). Raises CheckpointError."""
    path = weights_file(path)
    header, tensors = read_weights(path, FORMAT, "pt")
    try:
        discard_network, discard_encoder = _rebuild(
            path, "discard", header, tensors, make_discard_encoder, DiscardNetworkConfig, make_discard_network
        )
        play_network, play_encoder = _rebuild(
            path, "play", header, tensors, make_play_encoder, PlayNetworkConfig, make_play_network
        )
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError, RecursionError) as error:
        raise unreadable(path, error) from error
    for network in (discard_network, play_network):
        if network is not None:
            network.to(device).eval()
    return Checkpoint(discard_network, play_network, discard_encoder, play_encoder, metadata_of(path, header))


def save_state(path: Path | str, state: dict[str, Any]) -> None:
    """Write a training state: nested dicts, lists and tuples of tensors, NumPy arrays and plain values.

    NumPy arrays come back as tensors. Anything else is refused with TypeError, as it could not be loaded.
    """
    buffer = io.BytesIO()
    torch.save({"format": STATE_FORMAT, "state": _plain(state, "state")}, buffer)
    write_checkpoint(path, buffer.getbuffer())


def load_state(path: Path | str) -> dict[str, Any]:
    """Read a training state; tensors are on the CPU. Raises CheckpointError."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error
    if not data.startswith(ZIP_MAGIC):  # torch would take other bytes for its format of old
        raise CheckpointError(f"{path} is damaged or not a training state of deepcrib")
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # torch's reader lets errors of every kind out of damaged bytes
        raise CheckpointError(f"{path} is damaged or not a training state of deepcrib") from error
    if not isinstance(content, dict) or content.get("format") != STATE_FORMAT:
        raise CheckpointError(f"{path} is not a training state of deepcrib")
    return content["state"]


# --- weights ------------------------------------------------------------------------------------------------


def _description(network: QNetwork) -> dict[str, Any]:
    spec = network.spec
    return {
        "network": asdict(network.config),
        "encoder": {"name": spec.name, "dealer": spec.dealer, "scores": spec.scores},
        "inputs": spec.width,
        "spec_hash": spec.hash(),
    }


def _rebuild(
    path: Path,
    part: str,
    header: dict[str, str],
    tensors: dict[str, torch.Tensor],
    make_encoder: Callable[..., Any],
    config_class: type,
    make_network: Callable[..., QNetwork],
) -> tuple[QNetwork | None, Any]:
    """Network and encoder of one part as the header describes them, filled with its tensors."""
    description = json.loads(header[part])
    if description is None:
        return None, None
    try:
        encoder = make_encoder(**description["encoder"])
        network = make_network(config_class(**description["network"]), encoder.spec)
    except (ValueError, RuntimeError) as error:  # the second is torch's, of sizes that no layer has
        raise CheckpointError(f"{path} needs what this deepcrib does not have: {error}") from error
    if description["spec_hash"] != encoder.spec.hash():
        raise CheckpointError(
            f"{path}: its {part} network was trained on other input channels than those of {encoder.name!r} "
            "in this deepcrib (the channel-spec hash differs)"
        )
    prefix = f"{part}."
    own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    try:
        network.load_state_dict(own)
    except RuntimeError as error:
        line = " ".join(str(error).split())
        raise CheckpointError(f"{path}: its {part} tensors do not fit its network: {line[:200]}") from error
    return network, encoder


# --- training state -----------------------------------------------------------------------------------------


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
