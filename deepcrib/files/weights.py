"""Weights of agents: one format of files for all of them, read and written without PyTorch.

A file is safetensors. Its header names the agent, an entry of `specs.registry.LOADED`, and has metadata in JSON: what
the agent is made with beside its arrays, and how it was trained. Files are written to a temporary name, flushed to the
disk and renamed, so that a checkpoint is either the old one or the new one, whenever the process is killed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from deepcrib.errors import UserError
from deepcrib.files import write_atomic
from deepcrib.files.hub import HUB, fetched
from deepcrib.files.trust import FromFile, UntrustedError, is_trusting, lies_in, plain_of_file

_FORMAT = "deepcrib weights"
FORMAT_VERSION = "2"  # version 1 had a format for each kind of agent
WEIGHTS_FILE = "weights.safetensors"  # name of the final checkpoint in a run folder


class CheckpointError(UserError):
    """A checkpoint that cannot be read or does not fit this version; one clear line."""


@dataclass(frozen=True)
class SavedWeights:
    """What a file holds: arrays by name, and metadata in plain values.

    path: as it was given, of the file or the run folder. agent: an entry of `specs.registry.LOADED`, or the class of an
    agent from outside the package, `module:Class`.
    """

    path: str
    agent: str
    arrays: dict[str, NDArray[Any]]
    metadata: dict[str, Any]

    @property
    def file(self) -> Path:
        """The file itself, also where a run folder was given."""
        return weights_path(Path(self.path))

    @property
    def discards_by(self) -> FromFile | None:
        """The agent that discards in place of what was learned, where the file names one."""
        spec = self.metadata.get("discards_by")
        return None if spec is None else FromFile(spec, self.file, "discards_by")

    def plain(self, part: str, value: Any) -> Any:
        """A value of the file's, which names no code but what its reader names as well. Raises UntrustedError."""
        return plain_of_file(FromFile(value, self.file, part), f"{{path: {self.path}, plugins: [NAME]}}")

    def unpacking(self) -> AbstractContextManager[None]:
        """While an agent is made of them: what is missing or does not fit ends in one line, a CheckpointError."""
        return fitting(f"{self.path} has {self.agent} weights that cannot be used")


@contextmanager
def fitting(problem: str) -> Iterator[None]:
    """While something saved is taken over: whatever its contents make fail is a CheckpointError of one line."""
    try:
        yield
    except (CheckpointError, UntrustedError):
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise CheckpointError(f"{problem}: {reason}") from error


def write_weights(path: Path | str, agent: str, arrays: Mapping[str, NDArray], metadata: Mapping[str, Any]) -> None:
    """Write the weights of an agent, an entry of `specs.registry.LOADED`, with JSON values. Raises RunError."""
    header = {"format": _FORMAT, "format_version": FORMAT_VERSION, "agent": agent, "metadata": json.dumps(metadata)}
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_atomic(Path(path), _in_order(save(whole, header | {"digest": _digest(header, whole)})))


def _in_order(content: bytes) -> bytes:
    """A safetensors file with sorted keys in its header, which are in no order: so equal weights are equal files."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:end]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[end:]


def read_weights(path: Path | str, agent: str = "") -> SavedWeights:
    """The weights in a file, or the final ones of a run folder; of this agent, if one is named.

    Raises CheckpointError, with what was expected.
    """
    file = weights_path(Path(path))
    try:
        with safe_open(file, framework="np") as opened:
            header = opened.metadata() or {}
            _require_format(file, header)
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except OSError as error:
        raise cannot_read(file, error) from error
    except (SafetensorError, TypeError, AttributeError) as error:  # the last two: numbers that NumPy does not have
        raise CheckpointError(f"{file} is damaged or not a deepcrib checkpoint ({error})") from error
    if header.get("digest", "") not in ("", _digest(header, arrays)):  # files of an earlier version have none
        raise CheckpointError(f"{file} is damaged: its contents are not those that were written")
    try:
        found, metadata = header["agent"], json.loads(header["metadata"])
    except (KeyError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{file} has metadata that this deepcrib cannot read: {error!r}") from error
    if not isinstance(metadata, dict):
        raise CheckpointError(f"{file} has metadata that this deepcrib cannot read: expected a mapping")
    if agent not in ("", found):
        raise CheckpointError(f"{file} holds weights of the agent {found!r}, expected {agent!r}")
    return SavedWeights(str(path), found, arrays, metadata)


def _digest(header: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]) -> str:
    """A checksum of what a file of weights says and holds."""
    found = hashlib.blake2b(f"{header.get('agent')} {header.get('metadata')}".encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def cannot_read(path: Path, error: OSError) -> CheckpointError:
    """About a file that is not there, or may not be read."""
    if isinstance(error, FileNotFoundError):
        return CheckpointError(f"no checkpoint at {path}")
    return CheckpointError(f"cannot read {path}: {error.strerror or error}")


def weights_path(path: Path) -> Path:
    """The file of weights itself, of a run folder or a repository of the hub, too. Raises CheckpointError."""
    if str(path).startswith(HUB):
        path = fetched(str(path))
    if not path.is_dir():
        if path.exists() and not path.is_file():  # a pipe, say, which nobody may ever write to
            raise CheckpointError(f"{path} is no file")
        return path
    file = path / WEIGHTS_FILE
    if not file.is_file():
        names = [found.parent.name for found in sorted(path.glob(f"*/{WEIGHTS_FILE}"))]
        which = f"a run in it? {', '.join(names[:6])}{', ...' * (len(names) > 6)}" if names else "not a finished run?"
        raise CheckpointError(f"the folder {path} holds no {WEIGHTS_FILE}: {which}")
    if not is_trusting() and not lies_in(path, file):
        expected = "expected a file of its own (trust=true follows it)"
        raise CheckpointError(f"{file} is a link to {os.readlink(file)}, outside of the run folder: {expected}")
    return file


def _require_format(path: Path, header: Mapping[str, str]) -> None:
    found, version = header.get("format", ""), header.get("format_version")
    if not found.startswith("deepcrib "):
        raise CheckpointError(f"{path} is a safetensors file, but not of a deepcrib agent")
    if (found, version) != (_FORMAT, FORMAT_VERSION):
        raise CheckpointError(
            f"{path} was written by another deepcrib, in {found!r} version {version!r}; this one reads {_FORMAT!r} "
            f"version {FORMAT_VERSION!r}: train it again, or use the deepcrib that wrote it"
        )
