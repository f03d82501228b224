"""What a run leaves behind: inference weights (safetensors with metadata) and the training state beside them.

Neither holds pickled code. Files are written to a temporary name, flushed to the disk and renamed, so that a
checkpoint is either the old one or the new one, whenever the process is killed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from deepcrib.encoders import DiscardEncoder, PlayEncoder, make_discard_encoder, make_play_encoder
from deepcrib.errors import RunError, UserError
from deepcrib.files import write_atomic
from deepcrib.networks import (
    DiscardNetworkConfig,
    PlayNetworkConfig,
    QNetwork,
    make_discard_network,
    make_play_network,
)

FORMAT = "deepcrib weights"
FORMAT_VERSION = 1
WEIGHTED_FORMAT = "deepcrib weighted strategies"
WEIGHTED_NETWORK_FORMAT = "deepcrib weighted network"
PARTIDA_FORMAT = "deepcrib partida network"
TD_FORMAT = "deepcrib td perceptron"
EVOLUTIONARY_FORMAT = "deepcrib evolutionary weights"
FORMATS = (FORMAT, WEIGHTED_FORMAT, WEIGHTED_NETWORK_FORMAT, PARTIDA_FORMAT, TD_FORMAT, EVOLUTIONARY_FORMAT)
"""Of agents."""
STATE_FORMAT = "deepcrib training state"
ZIP_MAGIC = b"PK\x03\x04"
WEIGHTS_FILE = "weights.safetensors"
"""Name of the final checkpoint in a run folder."""


class CheckpointError(UserError):
    """A checkpoint that cannot be read, does not fit this version, or cannot be written; one clear line."""


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
    header = {"format": FORMAT, "format_version": str(FORMAT_VERSION), "metadata": json.dumps(metadata)}
    for part, network in networks.items():
        header[part] = json.dumps(None if network is None else _description(network))
        if network is not None:
            for name, value in network.state_dict().items():
                tensors[f"{part}.{name}"] = value.detach().cpu().contiguous()
    _write(Path(path), save(tensors, header))


def load_weights(path: Path | str, device: torch.device | str = "cpu") -> Checkpoint:
    """Read a checkpoint by its file, or by its run folder (the final checkpoint). Raises CheckpointError."""
    path = _weights_file(Path(path))
    header, tensors = _read_weights(path)
    _require_format(path, header, FORMAT)
    try:
        discard_network, discard_encoder = _rebuild(
            path, "discard", header, tensors, make_discard_encoder, DiscardNetworkConfig, make_discard_network
        )
        play_network, play_encoder = _rebuild(
            path, "play", header, tensors, make_play_encoder, PlayNetworkConfig, make_play_network
        )
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError, RecursionError) as error:
        raise _unreadable(path, error) from error
    for network in (discard_network, play_network):
        if network is not None:
            network.to(device).eval()
    return Checkpoint(discard_network, play_network, discard_encoder, play_encoder, _metadata(path, header))


def save_arrays(path: Path | str, kind: str, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write arrays of a format of their own, `kind` (such as WEIGHTED_FORMAT), with metadata (JSON values)."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    header = {"format": kind, "format_version": str(FORMAT_VERSION), "metadata": json.dumps(metadata)}
    _write(Path(path), save(tensors, header))


def load_arrays(path: Path | str, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and metadata that `save_arrays` wrote, by file or run folder. Raises CheckpointError."""
    path = _weights_file(Path(path))
    header, tensors = _read_weights(path)
    _require_format(path, header, kind)
    return {name: tensor.numpy() for name, tensor in tensors.items()}, _metadata(path, header)


def read_format(path: Path | str) -> str:
    """The format of a checkpoint, by file or run folder, "" for another safetensors file. Raises CheckpointError."""
    return _read_weights(_weights_file(Path(path)))[0].get("format", "")


def read_metadata(path: Path | str) -> dict[str, Any]:
    """The metadata of a checkpoint of any format, empty for another safetensors file. Raises CheckpointError."""
    path = _weights_file(Path(path))
    return _metadata(path, {"metadata": "{}"} | _read_weights(path)[0])


def other_agents(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Specs of the agents that take the decisions which were not learned: `discards_by`, `plays_by`, where there are.

    Older metadata of `learner=replay` say `discard_agent`.
    """
    discards_by = metadata.get("discards_by", metadata.get("discard_agent"))
    specs = {"discards_by": discards_by, "plays_by": metadata.get("plays_by")}
    return {part: spec for part, spec in specs.items() if spec is not None}


def save_state(path: Path | str, state: dict[str, Any]) -> None:
    """Write a training state: nested dicts, lists and tuples of tensors, NumPy arrays and plain values.

    NumPy arrays come back as tensors. Anything else is refused with TypeError, as it could not be loaded.
    """
    buffer = io.BytesIO()
    torch.save({"format": STATE_FORMAT, "state": _plain(state, "state")}, buffer)
    _write(Path(path), buffer.getbuffer())


def load_state(path: Path | str) -> dict[str, Any]:
    """Read a training state; tensors are on the CPU. Raises CheckpointError."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _cannot_read(path, error) from error
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


def _weights_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    if not (path / WEIGHTS_FILE).is_file():
        raise CheckpointError(f"the folder {path} holds no {WEIGHTS_FILE}: not a finished run?")
    return path / WEIGHTS_FILE


def _read_weights(path: Path) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise _cannot_read(path, error) from error
    except SafetensorError as error:
        raise CheckpointError(f"{path} is damaged or not a deepcrib checkpoint ({error})") from error


def _require_format(path: Path, header: Mapping[str, str], kind: str) -> None:
    found, version = header.get("format"), header.get("format_version")
    if found not in FORMATS:
        raise CheckpointError(f"{path} is a safetensors file, but not of a deepcrib agent")
    if found != kind:
        raise CheckpointError(f"{path} holds {found}, expected {kind}")
    if version != str(FORMAT_VERSION):
        raise CheckpointError(f"{path} has format version {version}; this deepcrib reads {FORMAT_VERSION}")


def _metadata(path: Path, header: Mapping[str, str]) -> dict[str, Any]:
    """What `save_weights` or `save_arrays` was told."""
    try:
        found = json.loads(header["metadata"])
    except (KeyError, ValueError, RecursionError) as error:
        raise _unreadable(path, error) from error
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} has metadata that this deepcrib cannot read: expected a mapping")
    return found


def _unreadable(path: Path, error: Exception) -> CheckpointError:
    return CheckpointError(f"{path} has metadata that this deepcrib cannot read: {error!r}")


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


# --- files --------------------------------------------------------------------------------------------------


def _write(path: Path, content: bytes | memoryview) -> None:
    try:
        write_atomic(path, content)
    except RunError as error:
        raise CheckpointError(str(error)) from error


def _cannot_read(path: Path, error: OSError) -> CheckpointError:
    if isinstance(error, FileNotFoundError):
        return CheckpointError(f"no checkpoint at {path}")
    return CheckpointError(f"cannot read {path}: {error.strerror or error}")
