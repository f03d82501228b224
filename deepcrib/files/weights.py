"""Files of agents, without PyTorch: formats of weights (safetensors with metadata), and arrays of formats of their own.

Files are written to a temporary name, flushed to the disk and renamed, so that a checkpoint is either the old one or
the new one, whenever the process is killed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from deepcrib.errors import RunError, UserError
from deepcrib.files import write_atomic

FORMAT = "deepcrib weights"
FORMAT_VERSION = 1
WEIGHTED_FORMAT = "deepcrib weighted strategies"
WEIGHTED_NETWORK_FORMAT = "deepcrib weighted network"
PARTIDA_FORMAT = "deepcrib partida network"
TD_FORMAT = "deepcrib td perceptron"
EVOLUTIONARY_FORMAT = "deepcrib evolutionary weights"
FORMATS = (FORMAT, WEIGHTED_FORMAT, WEIGHTED_NETWORK_FORMAT, PARTIDA_FORMAT, TD_FORMAT, EVOLUTIONARY_FORMAT)
"""Of agents."""
WEIGHTS_FILE = "weights.safetensors"
"""Name of the final checkpoint in a run folder."""


class CheckpointError(UserError):
    """A checkpoint that cannot be read, does not fit this version, or cannot be written; one clear line."""


def save_arrays(path: Path | str, kind: str, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write arrays of a format of their own, `kind` (such as WEIGHTED_FORMAT), with metadata (JSON values)."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_checkpoint(path, save(contiguous, file_header(kind, metadata)))


def load_arrays(path: Path | str, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and metadata that `save_arrays` wrote, by file or run folder. Raises CheckpointError."""
    path = weights_file(path)
    header, arrays = read_weights(path, kind, "np")
    return arrays, metadata_of(path, header)


def read_format(path: Path | str) -> str:
    """The format of a checkpoint, by file or run folder, "" for another safetensors file. Raises CheckpointError."""
    with _opened(weights_file(path), "np") as file:
        return (file.metadata() or {}).get("format", "")


def read_metadata(path: Path | str) -> dict[str, Any]:
    """The metadata of a checkpoint of any format, empty for another safetensors file. Raises CheckpointError."""
    path = weights_file(path)
    with _opened(path, "np") as file:
        return metadata_of(path, {"metadata": "{}"} | (file.metadata() or {}))


def other_agents(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Specs of the agents that take the decisions which were not learned: `discards_by`, `plays_by`, where there are.

    Older metadata of `learner=replay` say `discard_agent`.
    """
    discards_by = metadata.get("discards_by", metadata.get("discard_agent"))
    specs = {"discards_by": discards_by, "plays_by": metadata.get("plays_by")}
    return {part: spec for part, spec in specs.items() if spec is not None}


# --- what `checkpoints` shares ----------------------------------------------------------------------------------


def file_header(kind: str, metadata: Mapping[str, Any]) -> dict[str, str]:
    """What every file of an agent says of itself."""
    return {"format": kind, "format_version": str(FORMAT_VERSION), "metadata": json.dumps(metadata)}


def weights_file(path: Path | str) -> Path:
    """The file of a checkpoint, given by file or run folder (the final checkpoint). Raises CheckpointError."""
    path = Path(path)
    if not path.is_dir():
        return path
    if not (path / WEIGHTS_FILE).is_file():
        raise CheckpointError(f"the folder {path} holds no {WEIGHTS_FILE}: not a finished run?")
    return path / WEIGHTS_FILE


def read_weights(path: Path, kind: str, framework: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Header and contents of a file of one format: arrays of NumPy (`np`), or tensors of PyTorch (`pt`) on the CPU."""
    with _opened(path, framework) as file:
        header = file.metadata() or {}
        _require_format(path, header, kind)
        return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def metadata_of(path: Path, header: Mapping[str, str]) -> dict[str, Any]:
    """What `save_weights` or `save_arrays` was told."""
    try:
        found = json.loads(header["metadata"])
    except (KeyError, ValueError, RecursionError) as error:
        raise unreadable(path, error) from error
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} has metadata that this deepcrib cannot read: expected a mapping")
    return found


def write_checkpoint(path: Path | str, content: bytes | memoryview) -> None:
    """Write a file whole or not at all. Raises CheckpointError."""
    try:
        write_atomic(Path(path), content)
    except RunError as error:
        raise CheckpointError(str(error)) from error


def unreadable(path: Path, error: Exception) -> CheckpointError:
    """About metadata of another version, or damaged."""
    return CheckpointError(f"{path} has metadata that this deepcrib cannot read: {error!r}")


def cannot_read(path: Path, error: OSError) -> CheckpointError:
    """About a file that is not there, or may not be read."""
    if isinstance(error, FileNotFoundError):
        return CheckpointError(f"no checkpoint at {path}")
    return CheckpointError(f"cannot read {path}: {error.strerror or error}")


@contextmanager
def _opened(path: Path, framework: str) -> Iterator[Any]:
    try:
        with safe_open(path, framework=framework, device="cpu") as file:
            yield file
    except OSError as error:
        raise cannot_read(path, error) from error
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
